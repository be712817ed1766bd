//! Rows that wait for their block to be full.
//!
//! Sums are added up a block at a time, at a cost that hardly depends on how many rows the block has, and their last bits
//! depend on where blocks begin. Rows that come one by one or in chunks of any size are therefore kept until there are
//! [`Block::ROWS`] of them, so that their sums are those of one pass. Waiting rows have been
//! checked, so adding them later cannot fail.

use crate::rows::block::Block;
use crate::rows::row_store::{Donor, RowStore, Turned};

/// Fewer rows than a block has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    rows: RowStore,
    /// Buffer for the rows of a block.
    turned: Turned,
}

impl Waiting {
    /// How many rows wait.
    pub(crate) fn rows(&self) -> usize {
        self.rows.rows()
    }

    /// Slots of the longest slate that waits.
    pub(crate) fn slots(&self) -> usize {
        if self.rows() == 0 { 0 } else { self.rows.slots() }
    }

    /// Takes in the rows of a block that has been checked. Whenever they fill a block, all rows are moved to `full` and
    /// shown.
    pub(crate) fn take(&mut self, block: &Block, full: &mut Block, mut show: impl FnMut(&Block)) {
        let mut turned = std::mem::take(&mut self.turned);
        let donor = Donor::new(block, full, &mut turned);
        for row in 0..block.rows() {
            self.rows.push(&donor, row);
            if self.rows() == Block::ROWS {
                self.empty(full, &mut show);
            }
        }
        self.turned = turned;
    }

    /// Moves the rows to `block` and shows them, if there are any.
    pub(crate) fn empty(&mut self, block: &mut Block, take: impl FnOnce(&Block)) {
        if self.rows() > 0 {
            self.rows.move_to(block);
            take(block);
        }
    }
}
