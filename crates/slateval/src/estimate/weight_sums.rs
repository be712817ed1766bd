//! The sums of one weight `G`: what the estimators' formulas are written in.

use std::borrow::Cow;

use crate::summary::cell::{Cell, PolicySums};
use crate::summary::features::{Coefficients, Features};
use crate::summary::gram::Gram;
use crate::summary::table::bin;
use crate::summary::tally::{Tally, WeightTally};

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

/// Sums over the rows of a bin of some weight times each factor `(1, G, Z_k)`, and with chi `(chi_k, G Z_k)`: what
/// adjustments are linear functions of.
pub(crate) type Factors = Vec<f64>;

/// Where each of the factors stands.
pub(crate) mod factor {
    pub(crate) const ONE: usize = 0;
    pub(crate) const G: usize = 1;

    pub(crate) fn z(k: usize) -> usize {
        2 + k
    }

    pub(crate) fn chi(slots: usize, k: usize) -> usize {
        2 + slots + k
    }

    pub(crate) fn gz(slots: usize, k: usize) -> usize {
        2 + 2 * slots + k
    }

    pub(crate) fn len(slots: usize, has_chi: bool) -> usize {
        if has_chi { gz(slots, slots) } else { z(slots) }
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

/// One policy's sums for one weight that can be made of its basis.
#[derive(Debug)]
pub(crate) struct WeightSums<'a> {
    pub(crate) n: f64,
    pub(crate) slots: usize,
    pub(crate) origin: f64,
    pub(crate) policy: usize,
    pub(crate) coefficients: Coefficients,
    /// Which of the tallied weights this is.
    tallied: usize,
    sums: &'a PolicySums,
    features: Features,
    gram: Cow<'a, Gram>,
    /// For each occupied bin, ascending: the factors of `G`.
    pub(crate) of_weight: Vec<Factors>,
    /// The factors of 1.
    pub(crate) of_one: Vec<Factors>,
}

impl<'a> WeightSums<'a> {
    /// The weight of a fixed structure.
    pub(crate) fn of_structure(cell: &'a Cell, policy: usize, occupied: &[u32]) -> Self {
        Self::new(cell, policy, vec![0.0, 1.0], 0, occupied)
    }

    /// The weight of an order, where sums of several are kept.
    pub(crate) fn of_order(cell: &'a Cell, policy: usize, order: usize, occupied: &[u32]) -> Self {
        let used = |j: usize| f64::from(u8::from(j <= order));
        let coefficients = (0..=cell.kept.basis).map(used).collect();
        Self::new(cell, policy, coefficients, order - 1, occupied)
    }

    /// The weight 1 of the logging policy, beside some policy's ratios.
    pub(crate) fn of_logging(cell: &'a Cell, policy: usize, occupied: &[u32]) -> Self {
        let coefficients = (0..=cell.kept.basis).map(|j| f64::from(u8::from(j == 0))).collect();
        Self::new(cell, policy, coefficients, 0, occupied)
    }

    fn new(cell: &'a Cell, policy: usize, coefficients: Coefficients, tallied: usize, occupied: &[u32]) -> Self {
        let sums = &cell.policies[policy];
        let gram = match coefficients[..] {
            [0.0, 1.0] => Cow::Borrowed(&sums.gram),
            _ => Cow::Owned(sums.gram.transform(&sums.features.combined(&coefficients))),
        };
        let one: Coefficients = (0..coefficients.len()).map(|j| f64::from(u8::from(j == 0))).collect();
        let factors = |left: &[f64]| {
            let right = (policy, coefficients.as_slice());
            occupied.iter().map(|&row| bin_factors(cell, (policy, left), right, row)).collect()
        };
        let (of_weight, of_one) = (factors(&coefficients), factors(&one));
        WeightSums {
            n: cell.rows as f64,
            slots: cell.slots,
            origin: cell.origin,
            policy,
            tallied,
            sums,
            features: Features { basis: 1, ..sums.features },
            gram,
            of_weight,
            of_one,
            coefficients,
        }
    }

    pub(crate) fn tally(&self) -> &'a Tally {
        &self.sums.tally
    }

    pub(crate) fn weight_tally(&self) -> &'a WeightTally {
        &self.sums.tally.weights[self.tallied]
    }

    pub(crate) fn has_chi(&self) -> bool {
        self.features.chi
    }

    /// The features whose products [`gram`](Self::gram) holds: those of the one weight.
    pub(crate) fn features(&self) -> Features {
        self.features
    }

    pub(crate) fn gram(&self) -> &Gram {
        &self.gram
    }

    /// The place among the features of each factor.
    pub(crate) fn feature_of_factor(&self, f: usize) -> usize {
        let features = self.features;
        match f {
            factor::ONE => Features::ONE,
            factor::G => features.w(0),
            f if f < factor::chi(self.slots, 0) => features.z(f - factor::z(0)),
            f if f < factor::gz(self.slots, 0) => features.chi(f - factor::chi(self.slots, 0)),
            f => features.wz(0, f - factor::gz(self.slots, 0)),
        }
    }

    /// A linear function of the factors as one of the features.
    pub(crate) fn in_features(&self, factors: &[(usize, f64)]) -> Vec<f64> {
        let mut x = vec![0.0; self.features.len()];
        factors.iter().for_each(|&(f, c)| x[self.feature_of_factor(f)] += c);
        x
    }

    /// The terms of each occupied bin, ascending.
    pub(crate) fn by_bin(&self) -> impl Iterator<Item = Terms> {
        self.of_one.iter().zip(&self.of_weight).map(|(of_one, of_weight)| {
            let mut terms = vec![0.0; term::len(self.slots)];
            terms[term::ONE] = of_one[factor::ONE];
            terms[term::G] = of_one[factor::G];
            terms[term::GG] = of_weight[factor::G];
            for k in 0..self.slots {
                terms[term::z(k)] = of_one[factor::z(k)];
                terms[term::gz(self.slots, k)] = of_weight[factor::z(k)];
            }
            terms
        })
    }

    /// The terms of `Y = 1`, for all rows.
    pub(crate) fn totals(&self) -> Terms {
        self.terms_of(Features::ONE, self.features.w(0))
    }

    /// The terms of `Y = R - origin`.
    pub(crate) fn rewards(&self) -> Terms {
        self.terms_of(self.features.r(), self.features.wr(0))
    }

    /// The terms of `Y = (R - origin)^2`.
    pub(crate) fn squared_rewards(&self) -> Terms {
        self.terms_of(self.features.r2(), self.features.wr2(0))
    }

    /// Given the places of the features `Y` and `G Y`.
    fn terms_of(&self, y: usize, gy: usize) -> Terms {
        let (f, gram) = (self.features, &self.gram);
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
        let gr = self.features.wr(0);
        self.gram.get(gr, gr)
    }

    /// `sum Z_j Z_k`.
    pub(crate) fn zz(&self, j: usize, k: usize) -> f64 {
        self.gram.get(self.features.z(j), self.features.z(k))
    }

    /// `sum chi_k`. Only with chi, as the next.
    pub(crate) fn chi(&self, k: usize) -> f64 {
        self.gram.get(Features::ONE, self.features.chi(k))
    }

    /// `sum (G Z_k - chi_k)^2`.
    pub(crate) fn chi_error_squared(&self, k: usize) -> f64 {
        let (gz, chi) = (self.features.wz(0, k), self.features.chi(k));
        self.gram.get(gz, gz) - 2.0 * self.gram.get(gz, chi) + self.gram.get(chi, chi)
    }
}

/// The factors of a bin for a left weight and a right one, each a policy with its coefficients: sums of the left weight
/// times `(1, G, Z_k, chi_k, G Z_k)` of the right one.
pub(crate) fn bin_factors(cell: &Cell, left: (usize, &[f64]), right: (usize, &[f64]), row: u32) -> Factors {
    let (slots, basis) = (cell.slots, cell.kept.basis);
    let sums = BinProducts::new(cell, left.0, right.0, row);
    let has_chi = cell.kept.chi[right.0];
    let mut factors = vec![0.0; factor::len(slots, has_chi)];
    for (i, &c) in left.1.iter().enumerate().filter(|(_, c)| **c != 0.0) {
        let of_one = sums.one(i);
        factors[factor::ONE] += c * of_one;
        factors[factor::G] += c * right.1[0] * of_one;
        for j in 0..basis {
            factors[factor::G] += c * right.1[j + 1] * sums.right(i, sums.layout.w(j));
        }
        for k in 0..slots {
            let z = sums.right(i, sums.layout.z(k));
            factors[factor::z(k)] += c * z;
            if has_chi {
                factors[factor::chi(slots, k)] += c * sums.right(i, sums.layout.chi(k));
                let weighted: f64 = (0..basis).map(|j| right.1[j + 1] * sums.weighted_ratio(i, j, k)).sum();
                factors[factor::gz(slots, k)] += c * (right.1[0] * z + weighted);
            }
        }
    }
    factors
}

/// A bin's sums of one policy's `W_i` times another's right factors.
struct BinProducts<'a> {
    row: &'a [f64],
    layout: crate::summary::features::BinSums,
    /// Where those of `W_1` begin; those of the next follow.
    first: usize,
    /// Where those of 1 begin.
    of_one: usize,
    /// Where the left policy's own `W_1` times 1 stands.
    left_own: usize,
}

impl<'a> BinProducts<'a> {
    fn new(cell: &'a Cell, left: usize, right: usize, row: u32) -> Self {
        let own = &cell.layout.own[right];
        let first = if left == right {
            own.start + own.sums.row(1)
        } else {
            let among = |s: &&crate::summary::layout::Section<crate::summary::layout::CrossSums>| {
                [(left, right), (right, left)].contains(&(s.sums.policy, s.sums.baseline))
            };
            // Only policies that are compared are ever paired.
            cell.layout.cross.iter().find(among).map_or(own.start, |section| {
                let place =
                    if section.sums.policy == left { section.sums.of_policy(1) } else { section.sums.of_baseline(1) };
                section.start + place
            })
        };
        let left_own = cell.layout.own[left].start;
        BinProducts { row: cell.table.row(row), layout: own.sums, first, of_one: own.start, left_own }
    }

    /// `sum W_i`, with `W_0 = 1`.
    fn one(&self, i: usize) -> f64 {
        if i == 0 { self.row[bin::ROWS] } else { self.row[self.left_own + self.layout.w(i - 1)] }
    }

    /// `sum W_i` times a right factor.
    fn right(&self, i: usize, place: usize) -> f64 {
        let start = if i == 0 { self.of_one } else { self.first + (i - 1) * self.layout.right() };
        self.row[start + place]
    }

    /// `sum W_i W_j Z_k` of the right policy's `W_j Z_k`.
    fn weighted_ratio(&self, i: usize, j: usize, k: usize) -> f64 {
        if i == 0 {
            // 1 times W_j Z_k is the right policy's own W_j times Z_k.
            return self.row[self.of_one + self.layout.row(j + 1) + self.layout.z(k)];
        }
        self.right(i, self.layout.wz(j, k))
    }
}
