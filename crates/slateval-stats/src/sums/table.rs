//! Sums by bin.

use crate::sums::bins::Moves;
use crate::sums::index::Shared;

/// Numbers that kernels add at once: runs of sums begin at multiples of so many places.
pub const LANES: usize = 8;

/// As many numbers as are added at once.
pub type Lanes = [f64; LANES];

/// One row of sums per bin, laid out by [`RowLayout`](crate::sums::RowLayout).
#[derive(Debug, Clone)]
pub struct Table {
    /// Numbers in a row.
    pub width: usize,
    /// From the beginning of a row to that of the next: whole cache lines.
    stride: usize,
    sums: Vec<f64>,
    /// Where the first row begins: where a cache line does, for a row that did not would lie in one line more. A clone may
    /// lie elsewhere; this costs time and nothing else.
    start: usize,
    rows: usize,
    /// Whether rows begin with what is [`Shared`].
    has_shared: bool,
}

impl Table {
    /// Of rows that begin with what is [`Shared`].
    pub(crate) fn new(width: usize) -> Self {
        Table { width, stride: width.next_multiple_of(LANES), sums: Vec::new(), start: 0, rows: 0, has_shared: true }
    }

    /// Of sums alone.
    pub(crate) fn of_sums(width: usize) -> Self {
        Table { has_shared: false, ..Table::new(width) }
    }

    /// One row.
    #[inline(always)]
    pub fn row(&self, row: u32) -> &[f64] {
        &self.sums[self.start + row as usize * self.stride..][..self.width]
    }

    /// One row, to be added to.
    #[inline(always)]
    pub fn row_mut(&mut self, row: u32) -> &mut [f64] {
        let begin = self.start + row as usize * self.stride;
        &mut self.sums[begin..][..self.width]
    }

    /// All rows in groups of [`LANES`], each a cache line, and how many of them a row takes.
    #[inline(always)]
    pub fn lines_mut(&mut self) -> (&mut [Lanes], usize) {
        (self.sums[self.start..].as_chunks_mut().0, self.stride / LANES)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// All rows, in no particular order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.rows as u32).map(|row| self.row(row))
    }

    /// Rows that nothing has been added to.
    fn empty(&self, width: usize, rows: usize) -> Self {
        let mut table = Table { has_shared: self.has_shared, ..Table::new(width) };
        table.resize(rows);
        table
    }

    /// Makes room for more rows.
    pub(crate) fn resize(&mut self, rows: usize) {
        let before = std::mem::replace(&mut self.rows, rows);
        self.reserve(before, rows);
        let end = self.start + rows * self.stride;
        if end > self.sums.len() {
            self.sums.resize(end, 0.0);
        }
        if self.has_shared {
            for row in before..rows {
                self.row_mut(row as u32)[..Shared::NONE.len()].copy_from_slice(&Shared::NONE);
            }
        }
    }

    /// Makes sure that so many rows have a place in memory: twice as much as is there, so that rows that come one by one are
    /// not moved again each time. Memory grows where it is, if the system can do that, and what no row needs yet is not
    /// touched.
    fn reserve(&mut self, before: usize, rows: usize) {
        let (stride, used) = (self.stride, before * self.stride);
        if rows * stride + LANES <= self.sums.capacity() {
            return;
        }
        let room = rows.max(2 * before) * stride + LANES;
        if used == 0 {
            self.sums = Vec::with_capacity(room);
        } else {
            self.sums.reserve_exact(room - self.sums.len());
        }
        let start = self.sums.as_ptr().align_offset(LANES * size_of::<f64>()).min(LANES);
        let old = std::mem::replace(&mut self.start, start);
        if used > 0 && start != old {
            self.sums.resize(self.sums.len().max(start + used), 0.0);
            self.sums.copy_within(old..old + used, start);
            self.sums.truncate(start + used);
        }
    }

    /// Adds rows together as the bins were, and makes room for new ones.
    pub fn move_rows(&mut self, moves: Option<&Moves>, rows: usize) {
        if let Some(moves) = moves {
            let mut moved = self.empty(self.width, moves.size.max(rows));
            for &(old, new) in &moves.rows {
                // A bin that was only just added has no row yet.
                if (old as usize) < self.len() {
                    moved.add(new, self, old);
                }
            }
            *self = moved;
        }
        if rows > self.len() {
            self.resize(rows);
        }
    }

    pub(crate) fn rearranged(&self, width: usize, places: &[(usize, usize)]) -> Table {
        let mut out = self.empty(width, self.len());
        for (row, from) in self.rows().enumerate() {
            let to = out.row_mut(row as u32);
            places.iter().for_each(|&(a, b)| to[b] = from[a]);
        }
        out
    }

    /// Adds a row of another table of the same width to one of this.
    pub(crate) fn add(&mut self, row: u32, other: &Table, from: u32) {
        let has_shared = self.has_shared;
        let (to, from) = (self.row_mut(row), other.row(from));
        let sums = if has_shared {
            Shared::merge(to, from);
            Shared::ALL.len()
        } else {
            0
        };
        for (to, from) in to[sums..].iter_mut().zip(&from[sums..]) {
            *to += from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_what_they_are_while_others_come() {
        let mut table = Table::new(13);
        for rows in 1..200 {
            table.resize(rows);
            assert!(table.row(rows as u32 - 1).iter().eq(Shared::NONE.iter().chain(&[0.0; 9])), "row {rows} is new");
            table.row_mut(rows as u32 - 1).fill(rows as f64);
            if rows % 7 == 0 {
                // It may lie elsewhere, so that rows have to move when more come.
                table = table.clone();
            }
            assert!(table.rows().enumerate().all(|(row, sums)| sums.iter().all(|&sum| sum == (row + 1) as f64)));
        }
        assert_eq!(table.lines_mut().0.len(), 199 * 2);
    }
}
