//! Rows that wait for others of their segment.
//! See docs/methods.md, section 3.6.
//!
//! Rows of many segments come in any order, and the sums of all segments are larger than the processor's nearer caches. So
//! rows wait until there are many of them, and are then added segment by segment, while the sums of each are near.

use crate::block::Block;

/// Blocks of rows that wait, as they came.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// Those from `used` on are buffers.
    blocks: Vec<Block>,
    used: usize,
    /// The place of each row's segment, block by block.
    places: Vec<u32>,
    /// Numbers in all blocks.
    numbers: usize,
}

/// Blocks that wait at most. With a hundred segments, that is some six hundred rows of each.
const MOST_BLOCKS: usize = 512;

/// Numbers that wait at most.
pub(crate) const MOST_NUMBERS: usize = 3 << 20;

impl Backlog {
    /// Takes in the rows of a block, given the place of each row's segment.
    pub(crate) fn push(&mut self, block: &Block, places: impl Iterator<Item = u32>) {
        if self.used == self.blocks.len() {
            self.blocks.push(block.without_segments());
        }
        self.blocks[self.used].copy_rows_of(block);
        self.numbers += Block::ROWS * block.width_of(block.slots());
        self.used += 1;
        self.places.extend(places);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.used >= MOST_BLOCKS || self.numbers >= MOST_NUMBERS
    }

    /// Hands on all rows, segment by segment, at most a block of them at a time, with the place of their segment.
    pub(crate) fn empty(&mut self, segments: usize, block: &mut Block, mut take: impl FnMut(usize, &Block)) {
        let blocks = &self.blocks[..self.used];
        let rows = blocks.iter().zip(0u32..).flat_map(|(from, b)| (0..from.rows() as u32).map(move |row| (b, row)));
        let mut by_segment: Vec<Vec<(u32, u32)>> = vec![Vec::new(); segments];
        self.places.iter().zip(rows).for_each(|(&place, row)| by_segment[place as usize].push(row));
        for (place, rows) in by_segment.iter().enumerate() {
            for rows in rows.chunks(Block::ROWS) {
                block.gather(blocks, rows);
                take(place, block);
            }
        }
        self.places.clear();
        (self.used, self.numbers) = (0, 0);
    }
}
