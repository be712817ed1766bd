//! Rows that wait for their block to be full.
//!
//! Sums are added up a block at a time, at a cost that hardly depends on how many rows the block has, and their last bits
//! depend on where blocks begin. Rows that come one by one or in chunks of any size are therefore kept until there are
//! [`Block::ROWS`] of them, so that their sums are those of one pass. Waiting rows have been
//! checked, so adding them later cannot fail.

use crate::rows::block::Block;
use crate::rows::row_store::{Donor, RowStore, Turned};

/// Up to a block of rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    rows: RowStore,
    /// The place of each row's segment, where there are segments.
    places: Vec<u32>,
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

    /// The places of the rows' segments, to be told those of rows that are about to come.
    pub(crate) fn places_mut(&mut self) -> &mut Vec<u32> {
        &mut self.places
    }

    /// Takes in the rows of a block that has been checked: no more than fill a block. `like` has the columns that are kept.
    pub(crate) fn take(&mut self, block: &Block, like: &Block) {
        let donor = Donor::new(block, like, &mut self.turned);
        (0..block.rows()).for_each(|row| self.rows.push(&donor, row));
    }

    /// Moves the rows to `block` and shows them with the places of their segments, if there are any.
    pub(crate) fn empty(&mut self, block: &mut Block, show: impl FnOnce(&Block, &[u32])) {
        if self.rows() > 0 {
            self.rows.move_to(block);
            show(block, &self.places);
            self.places.clear();
        }
    }
}
