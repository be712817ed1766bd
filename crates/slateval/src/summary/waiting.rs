//! Rows that wait for their block to be full.
//!
//! Sums are added up a block at a time, at a cost that hardly depends on how many rows the block has, and their last bits
//! depend on where blocks begin. Rows of a segment are therefore kept until there are [`Block::ROWS`] of them; so are rows
//! that come one by one or in chunks of any size, whose sums are then those of one pass. Waiting rows have been checked, so
//! adding them later cannot fail.

use std::collections::HashMap;

use crate::question::segment::Segment;
use crate::rows::block::Block;

/// A block of waiting rows for each segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    segments: Vec<(Segment, Block)>,
    places: HashMap<Segment, usize>,
    /// Places of the segments of the block that came last, by their numbers there.
    seen: Seen,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    /// Whose numbers they are.
    identity: u64,
    places: Vec<Option<usize>>,
}

impl Waiting {
    /// Takes rows in. Full blocks go to `full`.
    pub(crate) fn add(&mut self, block: &Block, mut full: impl FnMut(&Segment, &Block)) {
        self.see(block);
        for row in 0..block.rows() {
            let id = block.segment_ids().get(row).copied().unwrap_or(0);
            let place = match self.seen.places.get(id as usize) {
                Some(Some(place)) => *place,
                _ => self.find_place(id, block),
            };
            let (segment, own) = &mut self.segments[place];
            own.push_row(block, row);
            if own.rows() == Block::ROWS {
                full(segment, own);
                own.reset(0, 0);
            }
        }
    }

    /// Hands over all rows.
    pub(crate) fn empty(&mut self, mut take: impl FnMut(&Segment, &Block)) {
        for (segment, block) in &mut self.segments {
            block.fill_up();
            take(segment, block);
            block.reset(0, 0);
        }
    }

    /// Whether rows of all segments of a block have come before. Most blocks' have.
    pub(crate) fn knows_all(&mut self, block: &Block) -> bool {
        self.see(block);
        let is_known = |&id: &u32| matches!(self.seen.places.get(id as usize), Some(Some(_)));
        block.segment_ids().iter().all(is_known)
    }

    /// Forgets the numbers of other blocks.
    fn see(&mut self, block: &Block) {
        let identity = block.segment_names().identity();
        if self.seen.identity != identity {
            self.seen = Seen { identity, places: Vec::new() };
        }
    }

    fn find_place(&mut self, id: u32, block: &Block) -> usize {
        let place = self.place(block.segment_names().name(id), block);
        let places = &mut self.seen.places;
        places.resize(places.len().max(id as usize + 1), None);
        places[id as usize] = Some(place);
        place
    }

    fn place(&mut self, segment: &Segment, like: &Block) -> usize {
        if let Some(&place) = self.places.get(segment) {
            return place;
        }
        let place = self.segments.len();
        self.segments.push((segment.clone(), like.for_one_segment()));
        self.places.insert(segment.clone(), place);
        place
    }

    /// Whether rows of a segment wait, or have waited.
    pub(crate) fn has(&self, segment: &Segment) -> bool {
        self.places.contains_key(segment)
    }

    /// The blocks that have rows, each with its segment.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (&Segment, &Block)> {
        self.segments.iter().map(|(segment, block)| (segment, block)).filter(|(_, block)| block.rows() > 0)
    }

    /// How many rows wait.
    pub(crate) fn rows(&self) -> usize {
        self.blocks().map(|(_, block)| block.rows()).sum()
    }
}
