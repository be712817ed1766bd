//! Where sums over the whole log stand that are no sums over bins: products with powers of the reward, of two ratios, and
//! of two errors of chi.
//! See docs/methods.md, section 3.2.
//!
//! Points, and the standard errors of single estimates, need these sums exactly. Where two different weights meet, a sum
//! with a power of the reward is had from the bins, each at its mean reward: it serves standard errors alone.

use crate::sums::index::{Layout, Shape};

/// A sum over all rows of a policy. `i` is no larger than `k` where both count the same things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are the indices of the formula above them")]
pub enum MomentSum {
    /// `R^q`, `q` from 1 to 4.
    Reward { power: usize },
    /// `G_m R^q`, `q` 1 or 2.
    Weight { m: usize, power: usize },
    /// `G_m^2 R^q`, `q` from 1 to 4.
    SquaredWeight { m: usize, power: usize },
    /// `Z_k R^q`, `q` 1 or 2.
    Ratio { k: usize, power: usize },
    /// `G_m Z_k R^q`, `q` 1 or 2.
    WeightedRatio { m: usize, k: usize, power: usize },
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
pub struct MomentLayout {
    /// What the policy's sums are of.
    pub shape: Shape,
}

/// Powers of the reward by itself and beside squared weights: the variance of a variance needs the fourth.
pub const POWERS: usize = 4;

/// Powers of the reward beside anything else: those of the mean and the second moment.
pub(crate) const FEW_POWERS: usize = 2;

impl MomentLayout {
    #[inline(always)]
    fn basis(self) -> usize {
        self.shape.basis.count()
    }

    /// Where the sums of a weight and of its square begin.
    #[inline(always)]
    fn weights(self) -> usize {
        POWERS
    }

    #[inline(always)]
    fn ratios(self) -> usize {
        self.weights() + self.basis() * (FEW_POWERS + POWERS)
    }

    #[inline(always)]
    fn ratio_pairs(self) -> usize {
        self.ratios() + (1 + self.basis()) * self.shape.slots * FEW_POWERS
    }

    #[inline(always)]
    fn chi(self) -> usize {
        self.ratio_pairs() + triangle(self.shape.slots)
    }

    #[inline(always)]
    fn chi_pairs(self) -> usize {
        self.chi() + (1 + self.basis()) * self.shape.slots * FEW_POWERS
    }
}

/// The place of `i <= j` in the lower triangle: it does not depend on how many columns there are.
#[inline(always)]
pub fn place_among(i: usize, j: usize) -> usize {
    j * (j + 1) / 2 + i
}

/// Pairs of so many things, each also with itself.
#[inline(always)]
fn triangle(count: usize) -> usize {
    count * (count + 1) / 2
}

impl Layout for MomentLayout {
    type Key = MomentSum;

    fn keys(&self) -> Vec<MomentSum> {
        let (slots, basis) = (self.shape.slots, self.basis());
        let by_slot = || (1..=FEW_POWERS).flat_map(|power| (0..slots).map(move |k| (k, power)));
        let pairs = || (0..slots).flat_map(|k| (0..=k).map(move |i| (i, k)));
        let mut keys = Vec::with_capacity(self.width());
        keys.extend((1..=POWERS).map(|power| MomentSum::Reward { power }));
        for m in 0..basis {
            keys.extend((1..=FEW_POWERS).map(|power| MomentSum::Weight { m, power }));
            keys.extend((1..=POWERS).map(|power| MomentSum::SquaredWeight { m, power }));
        }
        keys.extend(by_slot().map(|(k, power)| MomentSum::Ratio { k, power }));
        for m in 0..basis {
            keys.extend(by_slot().map(|(k, power)| MomentSum::WeightedRatio { m, k, power }));
        }
        keys.extend(pairs().map(|(i, k)| MomentSum::Ratios { i, k }));
        if self.shape.chi {
            keys.extend(by_slot().map(|(k, power)| MomentSum::Chi { k, power }));
            for m in 0..basis {
                keys.extend(by_slot().map(|(k, power)| MomentSum::ChiError { m, k, power }));
            }
            for m in 0..basis {
                keys.extend(pairs().map(|(i, k)| MomentSum::ChiErrors { m, i, k }));
            }
        }
        keys
    }

    #[inline(always)]
    fn place(&self, key: MomentSum) -> usize {
        let slots = self.shape.slots;
        let of_weight = |m: usize| self.weights() + m * (FEW_POWERS + POWERS);
        let by_slot = |j: usize, k: usize, power: usize| (j * FEW_POWERS + power - 1) * slots + k;
        match key {
            MomentSum::Reward { power } => power - 1,
            MomentSum::Weight { m, power } => of_weight(m) + power - 1,
            MomentSum::SquaredWeight { m, power } => of_weight(m) + FEW_POWERS + power - 1,
            MomentSum::Ratio { k, power } => self.ratios() + by_slot(0, k, power),
            MomentSum::WeightedRatio { m, k, power } => self.ratios() + by_slot(1 + m, k, power),
            MomentSum::Ratios { i, k } => self.ratio_pairs() + place_among(i.min(k), i.max(k)),
            MomentSum::Chi { k, power } => self.chi() + by_slot(0, k, power),
            MomentSum::ChiError { m, k, power } => self.chi() + by_slot(1 + m, k, power),
            MomentSum::ChiErrors { m, i, k } => {
                self.chi_pairs() + m * triangle(slots) + place_among(i.min(k), i.max(k))
            }
        }
    }

    fn width(&self) -> usize {
        match self.shape.chi {
            false => self.chi(),
            true => self.chi_pairs() + self.basis() * triangle(self.shape.slots),
        }
    }
}
