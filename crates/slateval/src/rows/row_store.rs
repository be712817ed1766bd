//! Rows one behind the other, rather than column by column.
//!
//! A row that goes elsewhere than its neighbours, as those of segments do, touches one or two cache lines here; in a
//! [`Block`] it would touch one for each of its columns.

use crate::math::column::Column;
use crate::rows::block::Block;

/// Rows of blocks with the same columns. Segments are left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowStore {
    rows: usize,
    /// Of the longest slate.
    slots: usize,
    /// Numbers of a row: those of slots first. In a slot that a slate does not have they are NaN, as no checked number is.
    width: usize,
    numbers: Vec<f64>,
    /// The group that each row's cluster belongs to; empty without clusters.
    groups: Vec<u16>,
}

/// A block to take rows from.
#[derive(Debug)]
pub(crate) struct Donor<'b> {
    block: &'b Block,
    columns: Vec<&'b Column>,
    /// How many of the columns are those of a slot.
    of_slots: usize,
    /// Kinds of columns that a slot has; slates may have none.
    kinds: usize,
}

impl<'b> Donor<'b> {
    /// `like` has the columns that are wanted.
    pub(crate) fn new(block: &'b Block, like: &Block) -> Self {
        let (columns, of_slots) = block.columns_like(like);
        Donor { block, columns, of_slots, kinds: like.kinds() }
    }
}

impl RowStore {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Slots of the longest slate.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Takes in a row.
    #[inline]
    pub(crate) fn push(&mut self, donor: &Donor<'_>, row: usize) {
        if self.rows == 0 {
            (self.slots, self.width) = (donor.block.slots(), donor.columns.len());
            self.numbers.reserve(self.width * Block::ROWS);
        }
        if donor.block.slots() == self.slots && !donor.block.has_missing() {
            self.numbers.extend(donor.columns.iter().map(|column| column.get(row)));
        } else {
            self.push_ragged(donor, row);
        }
        self.groups.extend(donor.block.groups().get(row));
        self.rows += 1;
    }

    /// Takes in a row that may lack slots, or have more than those before.
    fn push_ragged(&mut self, donor: &Donor<'_>, row: usize) {
        let (block, kinds) = (donor.block, donor.kinds);
        if block.slots() > self.slots {
            self.widen(block.slots(), kinds);
        }
        for kind in 0..kinds {
            let has = |slot: usize| slot < block.slots() && !block.is_missing(row, slot);
            let number = |slot: usize| donor.columns[kind * block.slots() + slot].get(row);
            let numbers = (0..self.slots).map(|slot| if has(slot) { number(slot) } else { f64::NAN });
            self.numbers.extend(numbers);
        }
        self.numbers.extend(donor.columns[donor.of_slots..].iter().map(|column| column.get(row)));
    }

    /// Makes room for longer slates.
    fn widen(&mut self, slots: usize, kinds: usize) {
        let mut wide = Vec::with_capacity((self.width + kinds * (slots - self.slots)) * Block::ROWS);
        for row in self.numbers.chunks_exact(self.width) {
            let (of_slots, others) = row.split_at(kinds * self.slots);
            for kind in 0..kinds {
                wide.extend_from_slice(&of_slots[kind * self.slots..][..self.slots]);
                wide.resize(wide.len() + slots - self.slots, f64::NAN);
            }
            wide.extend_from_slice(others);
        }
        self.numbers = wide;
        self.width += kinds * (slots - self.slots);
        self.slots = slots;
    }

    /// Moves all rows into a block with the same columns.
    pub(crate) fn move_to(&mut self, block: &mut Block) {
        block.reset(self.rows, self.slots);
        for (place, column) in block.all_columns_mut().enumerate() {
            let numbers = self.numbers[place..].iter().step_by(self.width);
            column.first_mut(self.rows).iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
        }
        block.mark_undecided();
        block.set_groups(&self.groups);
        self.numbers.clear();
        self.groups.clear();
        self.rows = 0;
    }
}
