//! Sums by bin.

use crate::summary::bins::Moves;

/// One row of sums per bin, laid out by [`RowLayout`](crate::summary::layout::RowLayout).
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) width: usize,
    pub(crate) sums: Vec<f64>,
    /// The least and the greatest reward of each bin, which are no sums; empty in a table of sums alone.
    pub(crate) extremes: Vec<Extremes>,
    has_extremes: bool,
}

/// The least and the greatest reward of a bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extremes {
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Extremes {
    /// Those of a bin without rows.
    const NONE: Self = Extremes { min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// Rewards rarely lie beyond those seen: two comparisons, and hardly ever a store.
    #[inline(always)]
    pub(crate) fn add(&mut self, reward: f64) {
        if reward < self.min {
            self.min = reward;
        }
        if reward > self.max {
            self.max = reward;
        }
    }

    fn merge(&mut self, other: Extremes) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

impl Table {
    pub(crate) fn new(width: usize) -> Self {
        Table { width, sums: Vec::new(), extremes: Vec::new(), has_extremes: true }
    }

    /// A table of sums alone.
    pub(crate) fn without_extremes(width: usize) -> Self {
        Table { has_extremes: false, ..Table::new(width) }
    }

    pub(crate) fn row(&self, row: u32) -> &[f64] {
        &self.sums[row as usize * self.width..][..self.width]
    }

    #[inline(always)]
    pub(crate) fn row_mut(&mut self, row: u32) -> &mut [f64] {
        &mut self.sums[row as usize * self.width..][..self.width]
    }

    /// The sums of some places over all bins.
    pub(crate) fn totals(&self, places: std::ops::Range<usize>) -> Vec<f64> {
        let mut totals = vec![0.0; places.len()];
        for row in self.sums.chunks_exact(self.width) {
            totals.iter_mut().zip(&row[places.clone()]).for_each(|(total, sum)| *total += sum);
        }
        totals
    }

    /// Rows that nothing has been added to.
    fn empty(&self, width: usize, rows: usize) -> Self {
        let mut table = Table { has_extremes: self.has_extremes, ..Table::new(width) };
        table.resize(rows);
        table
    }

    pub(crate) fn resize(&mut self, rows: usize) {
        self.sums.resize(rows * self.width, 0.0);
        if self.has_extremes {
            self.extremes.resize(rows, Extremes::NONE);
        }
    }

    /// Adds rows together as the bins were, and makes room for new ones.
    pub(crate) fn move_rows(&mut self, moves: Option<&Moves>, rows: usize) {
        if let Some(moves) = moves {
            let mut moved = self.empty(self.width, moves.size.max(rows));
            for &(old, new) in &moves.rows {
                // A bin that was only just added has no row yet.
                if (old as usize) < self.sums.len() / self.width {
                    moved.add(new, self, old);
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
        out.extremes.clone_from(&self.extremes);
        out
    }

    /// Adds a row of another table of the same width to one of this.
    pub(crate) fn add(&mut self, row: u32, other: &Table, from: u32) {
        for (to, from) in self.row_mut(row).iter_mut().zip(other.row(from)) {
            *to += from;
        }
        if self.has_extremes {
            self.extremes[row as usize].merge(other.extremes[from as usize]);
        }
    }
}
