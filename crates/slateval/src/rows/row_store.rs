//! Rows one behind the other, rather than column by column.
//!
//! A row that goes elsewhere than its neighbours, as those of segments do, touches one or two cache lines here; in a
//! [`Block`] it would touch one for each of its columns. Columns are turned into rows, and back, eight at a time. Most logs
//! are in single precision, and their rows are kept so: half the memory, and no bit is lost.

use crate::math::column::{Column, groups_of};
use crate::math::fetch::fetch;
use crate::math::lanes::{Eight, LANES, Lanes, wide};
use crate::rows::block::Block;

/// Up to a block of rows, of blocks with the same columns. Segments are left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowStore {
    rows: usize,
    /// Of the longest slate.
    slots: usize,
    /// Numbers of a row: those of slots first. In a slot that a slate does not have they are NaN, as no checked number is.
    width: usize,
    numbers: Numbers,
    /// Whether a slate may lack slots that others have.
    ragged: bool,
    /// The group that each row's cluster belongs to; empty without clusters.
    groups: Vec<u16>,
}

/// Rows without gaps. There is room for a group of [`LANES`] behind the last one, so that rows are written and read in whole
/// groups: what is too much is written over by the next row, or not looked at.
#[derive(Debug, Clone)]
enum Numbers {
    Singles(Vec<f32>),
    Doubles(Vec<f64>),
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers::Singles(Vec::new())
    }
}

/// Columns of a block, row by row: each row begins a group of [`LANES`], and takes as many as it needs. A buffer to be used
/// again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turned {
    singles: Vec<[f32; LANES]>,
    doubles: Vec<Lanes>,
    /// Whether all numbers are of single precision. Then there are no doubles.
    single: bool,
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
    turned: &'b Turned,
}

impl<'b> Donor<'b> {
    /// `like` has the columns that are wanted.
    pub(crate) fn new(block: &'b Block, like: &Block, turned: &'b mut Turned) -> Self {
        let (columns, of_slots) = block.columns_like(like);
        turned.fill(block.rows(), &columns);
        Donor { block, columns, of_slots, kinds: like.kinds(), turned }
    }
}

impl Turned {
    fn fill(&mut self, rows: usize, columns: &[&Column]) {
        let lines = groups_of(rows) * LANES * lines_of(columns.len());
        self.singles.resize(lines, [0.0; LANES]);
        self.single = turn_to_singles(rows, columns, &mut self.singles);
        if !self.single {
            self.doubles.resize(lines, [0.0; LANES]);
            turn(rows, columns, &mut self.doubles);
        }
    }
}

/// Groups of [`LANES`] that so many numbers take.
fn lines_of(width: usize) -> usize {
    width.div_ceil(LANES)
}

/// Numbers that a store of rows of this width has room for.
fn room(width: usize) -> usize {
    Block::ROWS * width + LANES
}

impl RowStore {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Slots of the longest slate.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Numbers of a row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Takes in a row.
    ///
    /// # Panics
    /// If there are [`Block::ROWS`] rows already.
    #[inline(always)]
    pub(crate) fn push(&mut self, donor: &Donor<'_>, row: usize) {
        if self.rows == 0 {
            self.begin(donor);
        }
        let is_plain = donor.block.slots() == self.slots && !donor.block.has_missing();
        let at = self.rows * self.width;
        match &mut self.numbers {
            Numbers::Singles(own) if is_plain && donor.turned.single => {
                copy_row(&donor.turned.singles, row, lines_of(self.width), &mut own[at..]);
            }
            Numbers::Doubles(own) if is_plain && !donor.turned.single => {
                copy_row(&donor.turned.doubles, row, lines_of(self.width), &mut own[at..]);
            }
            _ => self.push_other(donor, row),
        }
        if let Some(&group) = donor.block.groups().get(row) {
            self.groups.push(group);
        }
        self.rows += 1;
    }

    /// Makes room for rows like those of a block.
    #[cold]
    fn begin(&mut self, donor: &Donor<'_>) {
        (self.slots, self.width, self.ragged) = (donor.block.slots(), donor.columns.len(), false);
        match &mut self.numbers {
            Numbers::Singles(own) if donor.turned.single => resize(own, room(self.width)),
            Numbers::Doubles(own) if !donor.turned.single => resize(own, room(self.width)),
            own if donor.turned.single => *own = Numbers::Singles(vec![0.0; room(self.width)]),
            own => *own = Numbers::Doubles(vec![0.0; room(self.width)]),
        }
    }

    /// Takes in a row that may lack slots, have more than those before, or have another precision.
    #[cold]
    fn push_other(&mut self, donor: &Donor<'_>, row: usize) {
        let (block, kinds) = (donor.block, donor.kinds);
        self.ragged |= block.slots() != self.slots || block.has_missing();
        let rows = self.rows;
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
        let at = rows * self.width;
        self.doubles()[at..][..numbers.len()].copy_from_slice(&numbers);
    }

    /// All numbers, in double precision from now on.
    fn doubles(&mut self) -> &mut Vec<f64> {
        if let Numbers::Singles(singles) = &self.numbers {
            self.numbers = Numbers::Doubles(singles.iter().copied().map(f64::from).collect());
        }
        match &mut self.numbers {
            Numbers::Doubles(doubles) => doubles,
            Numbers::Singles(_) => unreachable!("they have just become doubles"),
        }
    }

    /// Makes room for longer slates.
    fn widen(&mut self, slots: usize, kinds: usize) {
        let (old_slots, old_width, rows) = (self.slots, self.width, self.rows);
        let width = old_width + kinds * (slots - old_slots);
        let mut wide = Vec::with_capacity(room(width));
        for row in self.doubles().chunks_exact(old_width.max(1)).take(rows) {
            let (of_slots, others) = row.split_at(kinds * old_slots);
            for kind in 0..kinds {
                wide.extend_from_slice(&of_slots[kind * old_slots..][..old_slots]);
                wide.resize(wide.len() + slots - old_slots, f64::NAN);
            }
            wide.extend_from_slice(others);
        }
        wide.resize(room(width), 0.0);
        (self.numbers, self.width, self.slots) = (Numbers::Doubles(wide), width, slots);
    }

    /// Adds a column to a list.
    pub(crate) fn list_column(&self, column: usize, list: &mut Vec<f64>) {
        let places = (0..self.rows).map(|row| row * self.width + column);
        match &self.numbers {
            Numbers::Singles(numbers) => list.extend(places.map(|place| f64::from(numbers[place]))),
            Numbers::Doubles(numbers) => list.extend(places.map(|place| numbers[place])),
        }
    }

    /// Asks for the rows to be brought nearer, for they will be moved soon.
    pub(crate) fn fetch(&self) {
        let numbers = self.rows * self.width;
        match &self.numbers {
            Numbers::Singles(singles) => fetch(singles, 0, numbers),
            Numbers::Doubles(doubles) => fetch(doubles, 0, numbers),
        }
    }

    /// Moves all rows into a block with the same columns.
    pub(crate) fn move_to(&mut self, block: &mut Block) {
        block.reset(self.rows, self.slots);
        let mut columns: Vec<&mut Column> = block.all_columns_mut().collect();
        match &self.numbers {
            Numbers::Singles(numbers) => turn_singles_back(self.rows, numbers, &mut columns),
            Numbers::Doubles(numbers) => turn_back(self.rows, numbers, &mut columns),
        }
        block.fill_up();
        if self.ragged {
            block.mark_undecided();
        }
        block.set_groups(&self.groups);
        self.groups.clear();
        self.rows = 0;
    }
}

/// Makes room for so many numbers. Memory that one long slate needed is given back.
fn resize<T: Clone + Default>(numbers: &mut Vec<T>, room: usize) {
    numbers.resize(room, T::default());
    if numbers.capacity() > 2 * room {
        numbers.shrink_to_fit();
    }
}

/// Copies a row in whole groups. How many there are is mostly known to the compiler, which then needs no call.
#[inline(always)]
fn copy_row<T: Copy>(rows: &[[T; LANES]], row: usize, lines: usize, to: &mut [T]) {
    let (from, to) = (&rows[row * lines..][..lines], to.as_chunks_mut::<LANES>().0);
    match lines {
        1 => copy_lines::<T, 1>(from, to),
        2 => copy_lines::<T, 2>(from, to),
        3 => copy_lines::<T, 3>(from, to),
        _ => to[..lines].copy_from_slice(from),
    }
}

#[inline(always)]
fn copy_lines<T: Copy, const LINES: usize>(from: &[[T; LANES]], to: &mut [[T; LANES]]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<LINES>(), to.first_chunk_mut::<LINES>()) {
        *to = *from;
    }
}

wide! {
    /// Lays columns out row by row; zeros fill up the last group of a row.
    fn turn(rows: usize, columns: &[&Column], out: &mut [Lanes]) = turn_groups
}

#[inline(always)]
fn turn_groups<F: Eight>(rows: usize, columns: &[&Column], out: &mut [Lanes]) {
    each_turned::<F>(rows, columns, |turned, at| turned.store(&mut out[at]));
}

wide! {
    /// The same in single precision. False if a number is not the same there.
    fn turn_to_singles(rows: usize, columns: &[&Column], out: &mut [[f32; LANES]]) -> bool = turn_groups_to_singles
}

#[inline(always)]
fn turn_groups_to_singles<F: Eight>(rows: usize, columns: &[&Column], out: &mut [[f32; LANES]]) -> bool {
    let mut same = F::every_lane();
    each_turned::<F>(rows, columns, |turned, at| {
        turned.store_singles(&mut out[at]);
        same = F::both(same, F::load_singles(&out[at]).equals(turned));
    });
    F::is_every_lane(same)
}

/// Shows each group of each row, and where it stands.
#[inline(always)]
fn each_turned<F: Eight>(rows: usize, columns: &[&Column], mut show: impl FnMut(F, usize)) {
    let lines = columns.len().div_ceil(LANES);
    for (line, columns) in columns.chunks(LANES).enumerate() {
        let mut eight = [&Column::ZERO; LANES];
        eight[..columns.len()].copy_from_slice(columns);
        for group in 0..groups_of(rows) {
            let mut numbers = [F::splat(0.0); LANES];
            for lane in 0..LANES {
                numbers[lane] = F::load(&eight[lane].groups()[group]);
            }
            let turned = F::transpose(numbers);
            for (row, turned) in turned.into_iter().enumerate() {
                show(turned, (group * LANES + row) * lines + line);
            }
        }
    }
}

wide! {
    /// Lays rows without gaps out column by column. Behind the last group of a row there may be anything.
    fn turn_back(rows: usize, numbers: &[f64], columns: &mut [&mut Column]) = turn_doubles_back
}

#[inline(always)]
fn turn_doubles_back<F: Eight>(rows: usize, numbers: &[f64], columns: &mut [&mut Column]) {
    turn_groups_back(rows, columns, |at| eight_from(numbers, at).map_or(F::splat(0.0), F::load));
}

wide! {
    /// The same for rows in single precision.
    fn turn_singles_back(rows: usize, numbers: &[f32], columns: &mut [&mut Column]) = turn_singles_in_groups_back
}

#[inline(always)]
fn turn_singles_in_groups_back<F: Eight>(rows: usize, numbers: &[f32], columns: &mut [&mut Column]) {
    turn_groups_back(rows, columns, |at| eight_from(numbers, at).map_or(F::splat(0.0), F::load_singles));
}

/// Eight numbers from a place on, where there are so many.
#[inline(always)]
fn eight_from<T>(numbers: &[T], at: usize) -> Option<&[T; LANES]> {
    numbers.get(at..).and_then(|numbers| numbers.first_chunk())
}

#[inline(always)]
fn turn_groups_back<F: Eight>(rows: usize, columns: &mut [&mut Column], load: impl Fn(usize) -> F) {
    let width = columns.len();
    for (line, columns) in columns.chunks_mut(LANES).enumerate() {
        for group in 0..groups_of(rows) {
            let mut eight = [F::splat(0.0); LANES];
            for (row, eight) in eight.iter_mut().enumerate() {
                *eight = load((group * LANES + row) * width + line * LANES);
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
        for (width, rows, part) in
            [(1, 1, 0.5), (3, 8, 0.1), (8, 128, 0.25), (11, 77, 0.0), (17, 9, 0.3), (33, 128, 0.5)]
        {
            let number = |row: usize, column: usize| (1000 * column + row) as f64 + part;
            let mut columns = vec![Column::ZERO; width];
            for (c, column) in columns.iter_mut().enumerate() {
                column.first_mut(rows).iter_mut().enumerate().for_each(|(row, x)| *x = number(row, c));
            }
            let mut turned = Turned::default();
            turned.fill(rows, &columns.iter().collect::<Vec<_>>());
            assert_eq!(turned.single, f64::from(part as f32) == part);
            let lines = lines_of(width);
            let (mut singles, mut doubles) = (vec![f32::NAN; room(width)], vec![f64::NAN; room(width)]);
            let mut back = vec![Column::ZERO; width];
            for row in 0..rows {
                match turned.single {
                    true => copy_row(&turned.singles, row, lines, &mut singles[row * width..]),
                    false => copy_row(&turned.doubles, row, lines, &mut doubles[row * width..]),
                }
            }
            let mut to: Vec<&mut Column> = back.iter_mut().collect();
            match turned.single {
                true => turn_singles_back(rows, &singles, &mut to),
                false => turn_back(rows, &doubles, &mut to),
            }
            assert!(back.iter().zip(&columns).all(|(a, b)| a.first(rows) == b.first(rows)));
        }
    }
}
