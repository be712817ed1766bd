//! Sums by bin.

use crate::summary::bins::Moves;
use crate::summary::index::Shared;

/// One row of sums per bin, laid out by [`RowLayout`](crate::summary::layout::RowLayout).
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) width: usize,
    /// Whether a row has the least and the greatest reward, [`Shared::Min`] and [`Shared::Max`], which are no sums.
    extremes: bool,
    pub(crate) sums: Vec<f64>,
}

const MIN: usize = Shared::Min.place();
const MAX: usize = Shared::Max.place();

impl Table {
    pub(crate) fn new(width: usize) -> Self {
        Table { width, extremes: true, sums: Vec::new() }
    }

    /// A table of sums alone.
    pub(crate) fn without_extremes(width: usize) -> Self {
        Table { width, extremes: false, sums: Vec::new() }
    }

    pub(crate) fn row(&self, row: u32) -> &[f64] {
        &self.sums[row as usize * self.width..][..self.width]
    }

    #[inline(always)]
    pub(crate) fn row_mut(&mut self, row: u32) -> &mut [f64] {
        &mut self.sums[row as usize * self.width..][..self.width]
    }

    /// Reads the ends of some rows, so that they are on their way from memory at the same time.
    #[inline(always)]
    pub(crate) fn fetch(&self, rows: &[u32]) {
        let ends = |&row: &u32| {
            let start = row as usize * self.width;
            self.sums[start].to_bits() ^ self.sums[start + self.width - 1].to_bits()
        };
        std::hint::black_box(rows.iter().fold(0, |all, row| all ^ ends(row)));
    }

    /// Rows that nothing has been added to.
    fn empty(&self, width: usize, rows: usize) -> Self {
        let mut table = Table { width, extremes: self.extremes, sums: Vec::new() };
        table.resize(rows);
        table
    }

    pub(crate) fn resize(&mut self, rows: usize) {
        let old = self.sums.len() / self.width;
        self.sums.resize(rows * self.width, 0.0);
        if !self.extremes {
            return;
        }
        for row in self.sums.chunks_exact_mut(self.width).skip(old) {
            row[MIN] = f64::INFINITY;
            row[MAX] = f64::NEG_INFINITY;
        }
    }

    /// Adds rows together as the bins were, and makes room for new ones.
    pub(crate) fn move_rows(&mut self, moves: Option<&Moves>, rows: usize) {
        if let Some(moves) = moves {
            let mut moved = self.empty(self.width, moves.size.max(rows));
            for &(old, new) in &moves.rows {
                // A bin that was only just added has no row yet.
                if (old as usize) < self.sums.len() / self.width {
                    moved.add(new, self.row(old));
                }
            }
            *self = moved;
        }
        self.resize(rows);
    }

    pub(crate) fn rearranged(&self, width: usize, places: &[(usize, usize)]) -> Table {
        let mut out = self.empty(width, self.sums.len() / self.width);
        for (from, to) in self.sums.chunks_exact(self.width).zip(out.sums.chunks_exact_mut(width)) {
            places.iter().for_each(|&(a, b)| to[b] = from[a]);
        }
        out
    }

    /// Adds a row of another table to one of this.
    pub(crate) fn add(&mut self, row: u32, from: &[f64]) {
        let extremes = self.extremes;
        let to = self.row_mut(row);
        let range = extremes.then(|| (to[MIN].min(from[MIN]), to[MAX].max(from[MAX])));
        for (to, from) in to.iter_mut().zip(from) {
            *to += from;
        }
        if let Some((min, max)) = range {
            to[MIN] = min;
            to[MAX] = max;
        }
    }
}
