//! Where sums over the whole log stand that are no sums over bins: products with powers of the reward, of two ratios, and
//! of two errors of chi.
//! See docs/methods.md, section 3.2.

use crate::summary::index::{Layout, Shape};

/// A sum over all rows of a policy. `i` is no larger than `j` where both count the same things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MomentSum {
    /// `R^q`, `q` from 1 to 4.
    Reward { power: usize },
    /// `W_j R^q`, `q` from 1 to 4.
    Weight { j: usize, power: usize },
    /// `W_i W_j R^q`, `q` from 1 to 4.
    Weights { i: usize, j: usize, power: usize },
    /// `Z_k R^q`, `q` 1 or 2.
    Ratio { k: usize, power: usize },
    /// `W_j Z_k R^q`, `q` 1 or 2.
    WeightedRatio { j: usize, k: usize, power: usize },
    /// `Z_i Z_k`.
    Ratios { i: usize, k: usize },
    /// `chi_k R^q`, `q` 1 or 2.
    Chi { k: usize, power: usize },
    /// `G_m D_mk R^q`, `q` 1 or 2.
    ChiError { m: usize, k: usize, power: usize },
    /// `D_mi D_mk`.
    ChiErrors { m: usize, i: usize, k: usize },
}

/// The sums of one policy over all rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MomentLayout {
    pub(crate) shape: Shape,
}

/// Powers of the reward beside weights: the variance of a variance needs the fourth.
pub(crate) const POWERS: usize = 4;

/// Powers of the reward beside ratios and errors of chi: those of the mean and the second moment.
pub(crate) const FEW_POWERS: usize = 2;

impl MomentLayout {
    /// Products of two functions out of 1 and `W_j`, the first no later than the second.
    #[inline(always)]
    fn pairs(self) -> usize {
        let functions = 1 + self.shape.basis.len();
        functions * (functions + 1) / 2
    }

    #[inline(always)]
    fn ratios(self) -> usize {
        self.pairs() * POWERS
    }

    #[inline(always)]
    fn ratio_pairs(self) -> usize {
        self.ratios() + (1 + self.shape.basis.len()) * self.shape.slots * FEW_POWERS
    }

    #[inline(always)]
    fn chi(self) -> usize {
        self.ratio_pairs() + triangle(self.shape.slots)
    }

    #[inline(always)]
    fn chi_pairs(self) -> usize {
        self.chi() + (1 + self.shape.basis.len()) * self.shape.slots * FEW_POWERS
    }
}

/// Pairs of so many things, each also with itself.
#[inline(always)]
fn triangle(count: usize) -> usize {
    count * (count + 1) / 2
}

/// The place of `i <= j` among the pairs: row by row of the lower triangle, so that it does not depend on their number.
#[inline(always)]
fn pair(i: usize, j: usize) -> usize {
    triangle(j) + i
}

impl Layout for MomentLayout {
    type Key = MomentSum;

    fn keys(&self) -> Vec<MomentSum> {
        let (slots, basis) = (self.shape.slots, self.shape.basis.len());
        let few = || 1..=FEW_POWERS;
        let mut keys = Vec::with_capacity(self.len());
        for j in 0..=basis {
            for i in 0..=j {
                keys.extend((1..=POWERS).map(|power| match (i, j) {
                    (0, 0) => MomentSum::Reward { power },
                    (0, j) => MomentSum::Weight { j: j - 1, power },
                    (i, j) => MomentSum::Weights { i: i - 1, j: j - 1, power },
                }));
            }
        }
        for j in 0..=basis {
            let sum = |(k, power): (usize, usize)| match j {
                0 => MomentSum::Ratio { k, power },
                j => MomentSum::WeightedRatio { j: j - 1, k, power },
            };
            keys.extend((0..slots).flat_map(|k| few().map(move |power| (k, power))).map(sum));
        }
        keys.extend((0..slots).flat_map(|k| (0..=k).map(move |i| MomentSum::Ratios { i, k })));
        if self.shape.chi {
            for m in 0..=basis {
                let sum = |(k, power): (usize, usize)| match m {
                    0 => MomentSum::Chi { k, power },
                    m => MomentSum::ChiError { m: m - 1, k, power },
                };
                keys.extend((0..slots).flat_map(|k| few().map(move |power| (k, power))).map(sum));
            }
            let pairs = (0..slots).flat_map(|k| (0..=k).map(move |i| (i, k)));
            let of_weight = |m: usize| pairs.clone().map(move |(i, k)| MomentSum::ChiErrors { m, i, k });
            keys.extend((0..basis).flat_map(of_weight));
        }
        keys
    }

    #[inline(always)]
    fn place(&self, key: MomentSum) -> usize {
        let slots = self.shape.slots;
        let of_rewards = |i: usize, j: usize, power: usize| pair(i, j) * POWERS + power - 1;
        let of_ratios = |j: usize, k: usize, power: usize| (j * slots + k) * FEW_POWERS + power - 1;
        match key {
            MomentSum::Reward { power } => of_rewards(0, 0, power),
            MomentSum::Weight { j, power } => of_rewards(0, 1 + j, power),
            MomentSum::Weights { i, j, power } => of_rewards(1 + i.min(j), 1 + i.max(j), power),
            MomentSum::Ratio { k, power } => self.ratios() + of_ratios(0, k, power),
            MomentSum::WeightedRatio { j, k, power } => self.ratios() + of_ratios(1 + j, k, power),
            MomentSum::Ratios { i, k } => self.ratio_pairs() + pair(i.min(k), i.max(k)),
            MomentSum::Chi { k, power } => self.chi() + of_ratios(0, k, power),
            MomentSum::ChiError { m, k, power } => self.chi() + of_ratios(1 + m, k, power),
            MomentSum::ChiErrors { m, i, k } => self.chi_pairs() + m * triangle(slots) + pair(i.min(k), i.max(k)),
        }
    }

    fn len(&self) -> usize {
        match self.shape.chi {
            false => self.chi(),
            true => self.chi_pairs() + self.shape.basis.len() * triangle(self.shape.slots),
        }
    }
}
