//! Rows that wait for their block to be full.
//!
//! Sums are added up a block at a time, at a cost that hardly depends on how many rows the block has, and their last bits
//! depend on where blocks begin. Rows that come one by one or in chunks of any size are therefore kept until there are
//! [`Block::ROWS`] of them, so that their sums are those of one pass; so are rows of a segment. Waiting rows have been
//! checked, so adding them later cannot fail.

use crate::rows::block::Block;
use crate::rows::row_store::{Donor, RowStore};

/// Fewer rows than a block has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    rows: RowStore,
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

    /// Takes a row in. If it fills a block, all rows are moved to `block` and shown to `full`.
    #[inline]
    pub(crate) fn push(&mut self, donor: &Donor<'_>, row: usize, block: &mut Block, full: impl FnOnce(&Block)) {
        self.rows.push(donor, row);
        if self.rows() == Block::ROWS {
            self.empty(block, full);
        }
    }

    /// Moves the rows to `block` and shows them, if there are any.
    pub(crate) fn empty(&mut self, block: &mut Block, take: impl FnOnce(&Block)) {
        if self.rows() > 0 {
            self.rows.move_to(block);
            take(block);
        }
    }
}
