//! Rows of segments that wait, blocks of them.
//! See docs/methods.md, section 3.6.
//!
//! Rows of many segments come in any order, and the sums of all segments are larger than the processor's nearer caches. So
//! full blocks of a segment wait until there are many of them, and are then added one after the other, while the sums of
//! that segment stay near. Blocks are those that there would be if none waited: sums have the same bits however long they
//! wait.

use crate::rows::block::Block;
use crate::rows::row_store::{Donor, RowStore};

/// Rows of all segments that wait, by the place of their segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backlog {
    queues: Vec<Queue>,
    /// Full blocks of all segments.
    full: usize,
    /// Memory to be used again.
    spare: Vec<RowStore>,
}

#[derive(Debug, Clone, Default)]
struct Queue {
    /// Fewer rows than a block has.
    open: RowStore,
    full: Vec<RowStore>,
}

/// Blocks of one segment that wait at most: more of them would save little.
const MOST_OF_ONE: usize = 32;

/// Numbers of all segments that wait in full blocks at most.
pub(crate) const MOST_NUMBERS: usize = 3 << 20;

impl Backlog {
    /// Makes room for one more segment.
    pub(crate) fn add_segment(&mut self) {
        self.queues.push(Queue::default());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.iter().all(|queue| queue.open.rows() == 0 && queue.full.is_empty())
    }

    /// Takes a row in. Says whose full blocks should wait no longer, if the row filled a block and there are many.
    #[inline]
    pub(crate) fn push(&mut self, place: usize, donor: &Donor<'_>, row: usize) -> Option<usize> {
        let open = &mut self.queues[place].open;
        open.push(donor, row);
        if open.rows() == Block::ROWS { self.close(place, donor.width()) } else { None }
    }

    fn close(&mut self, place: usize, width: usize) -> Option<usize> {
        let Queue { open, full } = &mut self.queues[place];
        full.push(std::mem::replace(open, self.spare.pop().unwrap_or_default()));
        self.full += 1;
        if full.len() >= MOST_OF_ONE {
            return Some(place);
        }
        // However precise the numbers are: how long rows wait may depend on the rows, and not on how they are kept.
        let is_too_much = self.full * Block::ROWS * width >= MOST_NUMBERS;
        let waiting = |place: &usize| self.queues[*place].full.len();
        if is_too_much { (0..self.queues.len()).max_by_key(waiting) } else { None }
    }

    /// Moves the full blocks of a segment to `block` one by one, and shows them.
    pub(crate) fn empty(&mut self, place: usize, block: &mut Block, mut take: impl FnMut(&Block)) {
        let full = &mut self.queues[place].full;
        self.full -= full.len();
        for mut rows in full.drain(..) {
            rows.move_to(block);
            take(block);
            self.spare.push(rows);
        }
    }

    /// The same for all rows of a segment, and all segments.
    pub(crate) fn empty_all(&mut self, block: &mut Block, mut take: impl FnMut(usize, &Block)) {
        for (place, Queue { open, full }) in self.queues.iter_mut().enumerate() {
            let open = std::mem::take(open);
            for mut rows in full.drain(..).chain((open.rows() > 0).then_some(open)) {
                rows.move_to(block);
                take(place, block);
            }
        }
        (self.full, self.spare) = (0, Vec::new());
    }
}
