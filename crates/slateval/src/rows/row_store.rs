//! Rows one behind the other, rather than column by column.
//!
//! A row that goes elsewhere than its neighbours, as those of segments do, touches one or two cache lines here; in a
//! [`Block`] it would touch one for each of its columns. Columns are turned into rows, and back, eight at a time.

use crate::math::column::{Column, groups_of};
use crate::math::lanes::{Eight, LANES, Lanes, wide};
use crate::rows::block::Block;

/// Rows of blocks with the same columns. Segments are left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowStore {
    rows: usize,
    /// Of the longest slate.
    slots: usize,
    /// Numbers of a row: those of slots first. In a slot that a slate does not have they are NaN, as no checked number is.
    width: usize,
    /// Each row begins a group of [`LANES`], and takes as many as it needs.
    numbers: Vec<Lanes>,
    /// Whether a slate may lack slots that others have.
    ragged: bool,
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
    /// The columns, row by row.
    turned: Vec<Lanes>,
}

impl<'b> Donor<'b> {
    /// `like` has the columns that are wanted.
    pub(crate) fn new(block: &'b Block, like: &Block) -> Self {
        let (columns, of_slots) = block.columns_like(like);
        let mut turned = vec![[0.0; LANES]; groups_of(block.rows()) * LANES * lines_of(columns.len())];
        turn(block.rows(), &columns, &mut turned);
        Donor { block, columns, of_slots, kinds: like.kinds(), turned }
    }
}

/// Groups of [`LANES`] that so many numbers take.
fn lines_of(width: usize) -> usize {
    width.div_ceil(LANES)
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
            (self.slots, self.width, self.ragged) = (donor.block.slots(), donor.columns.len(), false);
            self.numbers.reserve(lines_of(self.width) * Block::ROWS);
        }
        if donor.block.slots() == self.slots && !donor.block.has_missing() {
            let lines = lines_of(self.width);
            self.numbers.extend_from_slice(&donor.turned[row * lines..][..lines]);
        } else {
            self.push_ragged(donor, row);
        }
        self.groups.extend(donor.block.groups().get(row));
        self.rows += 1;
    }

    /// Takes in a row that may lack slots, or have more than those before.
    fn push_ragged(&mut self, donor: &Donor<'_>, row: usize) {
        let (block, kinds) = (donor.block, donor.kinds);
        self.ragged = true;
        if block.slots() > self.slots {
            self.widen(block.slots(), kinds);
        }
        let mut numbers = Vec::with_capacity(self.width);
        for kind in 0..kinds {
            let has = |slot: usize| slot < block.slots() && !block.is_missing(row, slot);
            let number = |slot: usize| donor.columns[kind * block.slots() + slot].get(row);
            numbers.extend((0..self.slots).map(|slot| if has(slot) { number(slot) } else { f64::NAN }));
        }
        numbers.extend(donor.columns[donor.of_slots..].iter().map(|column| column.get(row)));
        extend_in_lines(&mut self.numbers, &numbers);
    }

    /// Makes room for longer slates.
    fn widen(&mut self, slots: usize, kinds: usize) {
        let (width, mut wide) = (self.width + kinds * (slots - self.slots), Vec::new());
        let mut numbers = Vec::with_capacity(width);
        for row in self.numbers.chunks_exact(lines_of(self.width).max(1)).take(self.rows) {
            let (of_slots, others) = row.as_flattened()[..self.width].split_at(kinds * self.slots);
            numbers.clear();
            for kind in 0..kinds {
                numbers.extend_from_slice(&of_slots[kind * self.slots..][..self.slots]);
                numbers.resize(numbers.len() + slots - self.slots, f64::NAN);
            }
            numbers.extend_from_slice(others);
            extend_in_lines(&mut wide, &numbers);
        }
        (self.numbers, self.width, self.slots) = (wide, width, slots);
    }

    /// Moves all rows into a block with the same columns.
    pub(crate) fn move_to(&mut self, block: &mut Block) {
        block.reset(self.rows, self.slots);
        // Rows that fill up the last group.
        self.numbers.resize(groups_of(self.rows) * LANES * lines_of(self.width), [0.0; LANES]);
        let mut columns: Vec<&mut Column> = block.all_columns_mut().collect();
        turn_back(self.rows, &self.numbers, &mut columns);
        block.fill_up();
        if self.ragged {
            block.mark_undecided();
        }
        block.set_groups(&self.groups);
        self.numbers.clear();
        self.groups.clear();
        self.rows = 0;
    }
}

/// Appends a row; zeros fill up its last group.
fn extend_in_lines(lines: &mut Vec<Lanes>, row: &[f64]) {
    for part in row.chunks(LANES) {
        let mut line = [0.0; LANES];
        line[..part.len()].copy_from_slice(part);
        lines.push(line);
    }
}

wide! {
    /// Lays columns out row by row; zeros fill up the last group of a row.
    fn turn(rows: usize, columns: &[&Column], out: &mut [Lanes]) = turn_groups
}

#[inline(always)]
fn turn_groups<F: Eight>(rows: usize, columns: &[&Column], out: &mut [Lanes]) {
    let lines = columns.len().div_ceil(LANES);
    for (line, columns) in columns.chunks(LANES).enumerate() {
        let mut eight = [&Column::ZERO; LANES];
        eight[..columns.len()].copy_from_slice(columns);
        for (group, out) in (0..groups_of(rows)).zip(out.chunks_exact_mut(LANES * lines)) {
            let mut numbers = [F::splat(0.0); LANES];
            for lane in 0..LANES {
                numbers[lane] = F::load(&eight[lane].groups()[group]);
            }
            let turned = F::transpose(numbers);
            for row in 0..LANES {
                turned[row].store(&mut out[row * lines + line]);
            }
        }
    }
}

wide! {
    /// The inverse of `turn`.
    fn turn_back(rows: usize, numbers: &[Lanes], columns: &mut [&mut Column]) = turn_groups_back
}

#[inline(always)]
fn turn_groups_back<F: Eight>(rows: usize, numbers: &[Lanes], columns: &mut [&mut Column]) {
    let lines = columns.len().div_ceil(LANES);
    for (line, columns) in columns.chunks_mut(LANES).enumerate() {
        for (group, numbers) in (0..groups_of(rows)).zip(numbers.chunks_exact(LANES * lines)) {
            let mut eight = [F::splat(0.0); LANES];
            for row in 0..LANES {
                eight[row] = F::load(&numbers[row * lines + line]);
            }
            let turned = F::transpose(eight);
            for (lane, column) in columns.iter_mut().enumerate() {
                turned[lane].store(&mut column.groups_mut()[group]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows_and_columns_again() {
        for (width, rows) in [(1, 1), (3, 8), (8, 128), (11, 77), (17, 9)] {
            let number = |row: usize, column: usize| (1000 * column + row) as f64;
            let mut columns = vec![Column::ZERO; width];
            for (c, column) in columns.iter_mut().enumerate() {
                column.first_mut(rows).iter_mut().enumerate().for_each(|(row, x)| *x = number(row, c));
            }
            let lines = lines_of(width);
            let mut turned = vec![[0.0; LANES]; groups_of(rows) * LANES * lines];
            turn(rows, &columns.iter().collect::<Vec<_>>(), &mut turned);
            for row in 0..rows {
                let found = turned[row * lines..][..lines].as_flattened();
                let expected = (0..lines * LANES).map(|c| if c < width { number(row, c) } else { 0.0 });
                assert!(found.iter().copied().eq(expected), "row {row} of {width} columns");
            }
            let mut back = vec![Column::ZERO; width];
            turn_back(rows, &turned, &mut back.iter_mut().collect::<Vec<_>>());
            assert!(back.iter().zip(&columns).all(|(a, b)| a.first(rows) == b.first(rows)));
        }
    }
}
