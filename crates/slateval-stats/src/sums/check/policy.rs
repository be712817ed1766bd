//! One policy's sums, by bin and by weight, as the checks need them.

use crate::spec::structure::{Pool, Structure};
use crate::sums::cell::Cell;
use crate::sums::check::Span;
use crate::sums::check::rewards::RewardView;
use crate::sums::index::{Basis, BinLayout, BinSum, Feature, Layout, Left, MomentSum, Right, Shape};
use crate::sums::layout::Section as Part;
use crate::sums::moments::Moments;
use crate::sums::tally::{Tally, WeightTally};

/// One policy's sums.
pub(super) struct PolicyView<'a> {
    pub(super) policy: usize,
    pub(super) shape: Shape,
    pub(super) structure: &'a Structure,
    pub(super) part: &'a Part<BinLayout>,
    pub(super) moments: &'a Moments,
    pub(super) tally: &'a Tally,
    pub(super) n: f64,
    /// For each `W_j` and bin, `sum W_j` and `sum W_j^2`.
    pub(super) basis: Vec<Vec<[f64; 2]>>,
    /// For each weight `G_m` and bin, `sum G` and `sum G^2`.
    pub(super) weights: Vec<Vec<[f64; 2]>>,
    /// For each weight, where the sums of its powers and of the powers of its size lie, by its counts: from 1 to 4.
    pub(super) powers: Vec<[Span; 4]>,
    pub(super) sizes: Vec<[Span; 4]>,
    /// At least the sums of `|W_j|` and of `W_j^2` over all rows and `j`: sums of them are rounded to this.
    pub(super) rounded_to: [f64; 2],
    /// For each slot, what `|Z_k|` is at most.
    pub(super) ratio_limits: Vec<f64>,
}

impl<'a> PolicyView<'a> {
    pub(super) fn new(cell: &'a Cell, rewards: &RewardView<'_>, policy: usize) -> Self {
        let part = &cell.layout.own[policy];
        let (shape, tally) = (part.layout.shape, &cell.policies[policy].tally);
        let rows = || rewards.bins.iter().map(|row| &row[part.start..]);
        let product = |row: &[f64], left: Left, j: usize| part.layout.weight_product(row, left, j);
        let sums = |j: usize| rows().map(move |row| [product(row, Left::One, j), product(row, Left::Weight(j), j)]);
        let basis: Vec<Vec<[f64; 2]>> = (0..shape.basis.count()).map(|j| sums(j).collect()).collect();
        let of_weight = |m: usize| {
            let weight = cell.kept.weight(m);
            let of_bin = |(row, n): (&[f64], &f64)| {
                let c = weight.constant();
                let sum: f64 = weight.terms().map(|j| product(row, Left::One, j)).sum();
                let pairs = weight.terms().flat_map(|i| weight.terms().map(move |j| (i, j)));
                let square: f64 = pairs.map(|(i, j)| product(row, Left::Weight(i), j)).sum();
                [c * n + sum, c * n + 2.0 * c * sum + square]
            };
            rows().zip(&rewards.rows).map(of_bin).collect::<Vec<_>>()
        };
        let weights = (0..shape.basis.count()).map(of_weight).collect();
        let powers: Vec<[Span; 4]> = tally.weights.iter().map(|weight| powers_of(weight, |span| span)).collect();
        let sizes: Vec<[Span; 4]> = tally.weights.iter().map(|weight| powers_of(weight, Span::sizes)).collect();
        // A W_j is the difference of two weights, or 1 less than one; the first is a sum of ratios, none of them below -1.
        let (n, slots) = (rewards.n, shape.slots as f64 + 1.0);
        let all = |q: usize| sizes.iter().map(|size| size[q - 1].high).sum::<f64>();
        let rounded_to = [
            2.0 * all(1) + 4.0 * slots * n,
            8.0 * (shape.basis.count() as f64 + slots) * (all(2) + 4.0 * slots * slots * n),
        ];
        let structure = cell.kept.structure();
        let limit = |smallest: &f64| match structure {
            Structure::Ranking(Pool::Size(size)) => *size as f64,
            Structure::Ranking(Pool::Column(_)) => f64::INFINITY,
            _ => 1.01 * (1.0 / smallest).max(1.0),
        };
        let ratio_limits = tally.smallest.iter().map(limit).collect();
        let moments = &cell.policies[policy].moments;
        PolicyView {
            policy,
            shape,
            structure,
            part,
            moments,
            tally,
            n,
            basis,
            weights,
            powers,
            sizes,
            rounded_to,
            ratio_limits,
        }
    }

    /// `sum Z_k^2`.
    pub(super) fn squared_ratio(&self, k: usize) -> f64 {
        self.moments.get(MomentSum::Ratios { i: k, k })
    }

    /// A sum of a bin.
    pub(super) fn in_bin(&self, bin: &[f64], sum: BinSum) -> f64 {
        bin[self.part.place(sum)]
    }

    pub(super) fn ratio_in_bin(&self, bin: &[f64], k: usize) -> f64 {
        self.in_bin(bin, BinSum::Product(Left::One, Right::Ratio(k)))
    }

    /// `sum G_m Z_k` of a bin.
    pub(super) fn weighted_ratio_in_bin(&self, bin: &[f64], m: usize, k: usize) -> f64 {
        let of = |left: Left| self.in_bin(bin, BinSum::Product(left, Right::Ratio(k)));
        match self.shape.basis {
            Basis::Orders(_) => of(Left::One) + (0..=m).map(|j| of(Left::Weight(j))).sum::<f64>(),
            Basis::Single => of(Left::Weight(0)),
        }
    }

    /// `sum |chi_k|` is at most this. Single precision leaves a chi of 0 a little below it.
    pub(super) fn chi_size(&self, bins: &[&[f64]], k: usize) -> f64 {
        if self.tally.negative_chi > 0 {
            return f64::INFINITY;
        }
        bins.iter().map(|bin| self.in_bin(bin, BinSum::Chi(k))).sum::<f64>().max(0.0) + 1e-5 * self.n
    }

    /// `sum D_mk^2` is at most this.
    pub(super) fn chi_error_limit(&self, m: usize, k: usize, rewards: &RewardView<'_>) -> f64 {
        let chi = self.chi_size(&rewards.bins, k);
        let of_ratios = (self.tally.weights[m].fourths * self.tally.fourths[k]).sqrt();
        2.0 * (of_ratios + chi * chi)
    }

    /// The sum of a number over a weight and the one before it, where `W_j` is their difference: what its size is at most.
    fn of_two(&self, j: usize, of: impl Fn(usize) -> f64, of_one: f64) -> f64 {
        match self.shape.basis {
            Basis::Single => of(0),
            Basis::Orders(_) => of(j) + if j == 0 { of_one } else { of(j - 1) },
        }
    }

    /// At least the sum of the square of a feature, by its own sums and not by any that the check is about.
    pub(super) fn norm(&self, feature: Feature, rewards: &RewardView<'_>) -> f64 {
        let moment = |sum: MomentSum| self.moments.get(sum).max(0.0);
        let reward = |power: usize| moment(MomentSum::Reward { power }) + rewards.rounding_of(power, self.n);
        let weighted = |j: usize, power: usize| {
            let of = |m: usize| moment(MomentSum::SquaredWeight { m, power });
            2.0 * (self.of_two(j, of, reward(power)) + rewards.rounding_of(power, self.rounded_to[1]))
        };
        match feature {
            Feature::One => self.n,
            Feature::Ratio(k) => self.squared_ratio(k),
            Feature::Weight(j) => 2.0 * self.of_two(j, |m| self.powers[m][1].high, self.n),
            Feature::Reward => reward(2),
            Feature::SquaredReward => reward(4),
            Feature::WeightedReward(j) => weighted(j, 2),
            Feature::WeightedSquaredReward(j) => weighted(j, 4),
            Feature::Chi(k) => self.chi_size(&rewards.bins, k).powi(2),
            Feature::WeightedRatio(j, k) => {
                let fourths = 8.0 * self.of_two(j, |m| self.tally.weights[m].fourths, self.n);
                (fourths * self.tally.fourths[k]).sqrt()
            }
            Feature::ChiError(_) => f64::INFINITY,
        }
    }

    /// At least the sums of squares of all features of a layout.
    pub(super) fn norms<L: Layout<Key = Feature>>(&self, layout: &L, rewards: &RewardView<'_>) -> Vec<f64> {
        let mut norms = vec![f64::INFINITY; layout.width()];
        layout.keys().into_iter().for_each(|feature| norms[layout.place(feature)] = self.norm(feature, rewards));
        norms
    }
}

/// Where the sums of the powers of a weight lie, from the first to the fourth, by what is counted; or of something else of
/// it.
fn powers_of(weight: &WeightTally, of: impl Fn(Span) -> Span) -> [Span; 4] {
    let (min, max) = (weight.min.unwrap_or(f64::NEG_INFINITY), weight.max.unwrap_or(f64::INFINITY));
    let mut sums = [Span::ZERO; 4];
    for (count, lower, upper) in weight.counts.occupied() {
        let own = of(Span { low: lower.max(min), high: upper.min(max) });
        (1..).zip(&mut sums).for_each(|(power, sum)| *sum = sum.plus(own.power(power).times(count as f64)));
    }
    sums
}
