//! The sums of one weight `G`: what the estimators' formulas are written in.

use crate::cell::{Cell, PolicySums};
use crate::features::Features;
use crate::table::bin;
use crate::tally::Tally;

/// A bin of rewards as the log filled it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bin {
    pub(crate) rows: f64,
    pub(crate) min: f64,
    pub(crate) mean: f64,
    pub(crate) max: f64,
}

/// Sums of `T Y` over rows, for the terms `T = (1, G, G^2, Z_1.., G Z_1..)` and some `Y`: the indicator of a bin, `R`,
/// `R^2` or 1. Every corrected weight is a linear function of `T`.
pub(crate) type Terms = Vec<f64>;

/// Where each of the terms stands.
pub(crate) mod term {
    pub(crate) const ONE: usize = 0;
    pub(crate) const G: usize = 1;
    pub(crate) const GG: usize = 2;

    pub(crate) fn z(k: usize) -> usize {
        3 + k
    }

    pub(crate) fn gz(slots: usize, k: usize) -> usize {
        3 + slots + k
    }

    pub(crate) fn len(slots: usize) -> usize {
        3 + 2 * slots
    }
}

/// The occupied bins of a cell, ascending, with their place in the table.
pub(crate) fn occupied(cell: &Cell) -> (Vec<Bin>, Vec<u32>) {
    let rows = cell.bins.ascending().into_iter().map(|(_, row)| row);
    let occupied: Vec<u32> = rows.filter(|&row| cell.table.row(row)[bin::ROWS] > 0.0).collect();
    let bin = |&row: &u32| {
        let sums = cell.table.row(row);
        let (min, max) = (sums[bin::MIN], sums[bin::MAX]);
        let mean = (sums[bin::REWARD] / sums[bin::ROWS]).clamp(min, max);
        Bin { rows: sums[bin::ROWS], min, mean, max }
    };
    (occupied.iter().map(bin).collect(), occupied)
}

/// One policy's sums for its weight.
#[derive(Debug)]
pub(crate) struct Weighted<'a> {
    pub(crate) n: f64,
    pub(crate) slots: usize,
    pub(crate) origin: f64,
    sums: &'a PolicySums,
    /// Terms of each occupied bin, ascending.
    pub(crate) by_bin: Vec<Terms>,
}

impl<'a> Weighted<'a> {
    pub(crate) fn new(cell: &'a Cell, policy: usize, occupied: &[u32]) -> Self {
        let sums = &cell.policies[policy];
        let offset = cell.offsets()[policy];
        let (slots, layout) = (cell.slots, sums.bin_sums());
        let terms = |&row: &u32| {
            let (shared, own) = (cell.table.row(row), &cell.table.row(row)[offset..][..layout.len()]);
            let mut terms = vec![0.0; term::len(slots)];
            terms[term::ONE] = shared[bin::ROWS];
            terms[term::G] = own[layout.w(0)];
            terms[term::GG] = own[layout.ww(0, 0)];
            for k in 0..slots {
                terms[term::gz(slots, k)] = own[layout.wz(0, k)];
                if layout.chi {
                    terms[term::z(k)] = own[layout.z(k)];
                }
            }
            terms
        };
        let by_bin = occupied.iter().map(terms).collect();
        Weighted { n: cell.rows as f64, slots, origin: cell.origin, sums, by_bin }
    }

    pub(crate) fn tally(&self) -> &'a Tally {
        &self.sums.tally
    }

    pub(crate) fn has_chi(&self) -> bool {
        self.sums.features.chi
    }

    fn features(&self) -> Features {
        self.sums.features
    }

    /// The terms of `Y = 1`, for all rows.
    pub(crate) fn totals(&self) -> Terms {
        self.terms_of(Features::ONE, self.features().w(0))
    }

    /// The terms of `Y = R - origin`.
    pub(crate) fn rewards(&self) -> Terms {
        self.terms_of(self.features().r(), self.features().wr(0))
    }

    /// The terms of `Y = (R - origin)^2`.
    pub(crate) fn squared_rewards(&self) -> Terms {
        self.terms_of(self.features().r2(), self.features().wr2(0))
    }

    /// Given the places of the features `Y` and `G Y`.
    fn terms_of(&self, y: usize, gy: usize) -> Terms {
        let (f, gram) = (self.features(), &self.sums.gram);
        let mut terms = vec![0.0; term::len(self.slots)];
        terms[term::ONE] = gram.get(Features::ONE, y);
        terms[term::G] = gram.get(Features::ONE, gy);
        terms[term::GG] = gram.get(f.w(0), gy);
        for k in 0..self.slots {
            terms[term::z(k)] = gram.get(f.z(k), y);
            terms[term::gz(self.slots, k)] = gram.get(f.z(k), gy);
        }
        terms
    }

    /// `sum (G Y)^2` for `Y = R - origin`.
    pub(crate) fn squared_weighted_rewards(&self) -> f64 {
        let gr = self.features().wr(0);
        self.sums.gram.get(gr, gr)
    }

    /// `sum Z_j Z_k`.
    pub(crate) fn zz(&self, j: usize, k: usize) -> f64 {
        let f = self.features();
        self.sums.gram.get(f.z(j), f.z(k))
    }

    /// `sum chi_k`. Only with chi, as the next.
    pub(crate) fn chi(&self, k: usize) -> f64 {
        self.sums.gram.get(Features::ONE, self.features().chi(k))
    }

    /// `sum (G Z_k - chi_k)^2`.
    pub(crate) fn chi_error_squared(&self, k: usize) -> f64 {
        let (f, gram) = (self.features(), &self.sums.gram);
        let (gz, chi) = (f.wz(0, k), f.chi(k));
        gram.get(gz, gz) - 2.0 * gram.get(gz, chi) + gram.get(chi, chi)
    }

    /// Whether every sum is a number.
    pub(crate) fn is_finite(&self) -> bool {
        self.sums.gram.to_packed().iter().all(|x| x.is_finite())
    }
}
