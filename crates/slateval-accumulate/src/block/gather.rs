//! Rows that move from one block to another.

use crate::block::Block;
use crate::block::block_columns::undecided;
use crate::kernel::simd::column::Column;

impl Block {
    /// Makes this block hold all rows of another with the same columns. Segments are left out.
    pub(crate) fn copy_rows_of(&mut self, other: &Block) {
        (self.rows, self.slots) = (other.rows, other.slots);
        self.ranges.clone_from(&other.ranges);
        self.single.clone_from(&other.single);
        self.weights.clone_from(&other.weights);
        self.by_slot.clone_from(&other.by_slot);
        self.missing.clone_from(&other.missing);
        self.groups.clone_from(&other.groups);
    }

    /// Makes this block hold some rows of others with the same columns, given the block and the row of each. Slots that none
    /// of these slates has are left out.
    pub(crate) fn gather(&mut self, from: &[Block], rows: &[(u32, u32)]) {
        let rows = || rows.iter().map(|&(block, row)| (&from[block as usize], row as usize));
        let slots = rows().map(|(block, row)| block.slots_of(row)).max().unwrap_or(0);
        self.reset(rows().len(), slots);
        for (kind, columns) in self.by_slot.iter_mut().enumerate() {
            for (slot, column) in columns.iter_mut().enumerate() {
                let number = |(block, row): (&Block, usize)| {
                    block.by_slot[kind].get(slot).map_or(undecided(kind), |column| column.get(row))
                };
                fill(column, rows().map(number));
            }
        }
        for (i, column) in self.single.iter_mut().enumerate() {
            fill(column, rows().map(|(block, row)| block.single[i].get(row)));
        }
        for (i, column) in self.weights.iter_mut().enumerate() {
            fill(column, rows().map(|(block, row)| block.weights[i].get(row)));
        }
        for (to, (block, row)) in self.groups.iter_mut().zip(rows()) {
            *to = block.groups[row];
        }
        for (i, (block, row)) in rows().enumerate() {
            self.set_all_missing(i, block, row);
        }
    }

    /// Adds the only row of another block with the same columns.
    ///
    /// # Panics
    /// If there are [`Block::ROWS`] rows already.
    pub(crate) fn append(&mut self, one: &Block) {
        let (row, before) = (self.rows, self.slots);
        (self.rows, self.slots) = (row + 1, before.max(one.slots));
        self.ranges.forget_all();
        self.missing.iter_mut().filter(|rows| !rows.is_empty()).for_each(|rows| rows.push(false));
        for (kind, columns) in self.by_slot.iter_mut().enumerate().filter(|(kind, _)| one.columns.has(*kind)) {
            columns.resize(self.slots, Column::ZERO);
            self.ranges.by_slot[kind].resize(self.slots, None);
            columns.iter_mut().zip(&one.by_slot[kind]).for_each(|(to, from)| to.first_mut(row + 1)[row] = from.get(0));
        }
        let single = self.single.iter_mut().zip(&one.single).chain(self.weights.iter_mut().zip(&one.weights));
        single.for_each(|(to, from)| to.first_mut(row + 1)[row] = from.get(0));
        self.groups.extend(&one.groups);
        for &id in &one.segments {
            let id = self.segment_names.id(one.segment_names.name(id));
            self.segments.push(id);
        }
        self.fill_up();
        (before..self.slots).for_each(|slot| (0..row).for_each(|row| self.set_missing(row, slot)));
        self.set_all_missing(row, one, 0);
    }

    /// How many slots the slate in `row` has, those in between that it lacks included.
    fn slots_of(&self, row: usize) -> usize {
        (0..self.slots).rev().find(|&slot| !self.is_missing(row, slot)).map_or(0, |slot| slot + 1)
    }

    /// Marks what a row of another block lacks in a row of this.
    fn set_all_missing(&mut self, row: usize, from: &Block, from_row: usize) {
        if from.slots == self.slots && !from.has_missing() {
            return;
        }
        for slot in 0..self.slots {
            if slot >= from.slots || from.is_missing(from_row, slot) {
                self.set_missing(row, slot);
            }
        }
    }
}

fn fill(column: &mut Column, numbers: impl ExactSizeIterator<Item = f64>) {
    column.first_mut(numbers.len()).iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
}
