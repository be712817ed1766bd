//! Rows that move from one block to another.

use crate::block::Block;
use crate::block::kinds::undecided;

impl Block {
    /// Makes this block hold all rows of another with the same columns. Segments are left out.
    pub(crate) fn copy_rows_of(&mut self, other: &Block) {
        (self.rows, self.slots) = (other.rows, other.slots);
        self.columns.clone_from(&other.columns);
        self.ranges.clone_from(&other.ranges);
        self.missing.clone_from(&other.missing);
        self.groups.clone_from(&other.groups);
    }

    /// Makes this block hold some rows of others with the same columns, given the block and the row of each. Slots that none
    /// of these slates has are left out.
    pub(crate) fn gather(&mut self, from: &[Block], rows: &[(u32, u32)]) {
        let rows = || rows.iter().map(|&(block, row)| (&from[block as usize], row as usize));
        let slots = rows().map(|(block, row)| block.slots_of(row)).max().unwrap_or(0);
        self.reset(rows().len(), slots);
        for (kind, columns) in self.columns.iter_mut().enumerate() {
            for (slot, column) in columns.iter_mut().enumerate() {
                let number = |(block, row): (&Block, usize)| {
                    block.columns[kind].get(slot).map_or(undecided(kind), |column| column.get(row))
                };
                column.first_mut(self.rows).iter_mut().zip(rows().map(number)).for_each(|(to, number)| *to = number);
            }
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
        self.make_room(self.slots);
        self.forget_ranges();
        self.missing.iter_mut().filter(|rows| !rows.is_empty()).for_each(|rows| rows.push(false));
        let kinds = self.columns.iter_mut().zip(&one.columns);
        for (to, from) in kinds.flat_map(|(to, from)| to.iter_mut().zip(from)) {
            to.first_mut(row + 1)[row] = from.get(0);
        }
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
