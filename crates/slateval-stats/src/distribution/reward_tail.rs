//! How heavy the tails of the weighted rewards are: whether the mean and the variance of a log say anything of the true
//! ones.
//! See docs/methods.md, section 6.18.
//!
//! A normal approximation of a mean needs a finite variance, one of a variance a finite fourth moment, and a log never
//! shows whether they are finite. The Hill index of the rewards furthest from the mean estimates the power `a` of the tail
//! `P(|R - mean| > x) ~ x^-a`: moments beyond the `a`-th are infinite, or so large that no log of this size shows them.

use crate::correction::weight_sums::Bin;
use crate::distribution::estimator::Estimator;
use crate::spec::tail::Tail;
use crate::sums::index::Feature;

/// The tail of one policy's rewards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RewardTail {
    /// The Hill index of the logged rewards, one standard error above its estimate. Infinite where the furthest rewards are
    /// alike.
    pub(crate) index: f64,
    /// The same of rewards weighted by the squares of the policy's weights, if that is smaller.
    pub(crate) weighted_index: f64,
    /// The largest share of one row in `sum G^2 (R - mean)^2`.
    pub(crate) largest_square: f64,
    /// The largest share of one row in `sum |G R|`.
    pub(crate) largest_product: f64,
}

/// Rows that the index rests on: the root of their number, but not fewer than these.
const FEWEST: f64 = 25.0;

/// What rounding may make of no distance, as a part of the largest one.
const ROUNDING: f64 = 1e-9;

impl RewardTail {
    /// Below this index intervals of a mean hold less often than they say. Found by simulation with lognormal and gamma
    /// rewards, see docs/coverage.md.
    pub(crate) const FOR_MEAN: f64 = 1.6;

    /// The same for variances and standard deviations. The more rows, the further out the index looks, where most tails are
    /// lighter: so it has to be larger.
    pub(crate) fn needed_for_variance(rows: f64) -> f64 {
        1.3 + 0.4 * rows.log10()
    }

    /// A row with a larger share of the squares than this is worth a warning.
    pub(crate) const LARGE_SHARE: f64 = 0.2;

    /// The index of the logged rewards on the side that a tail's mean looks at.
    pub(crate) fn index_of(estimator: &Estimator<'_>, tail: Tail) -> f64 {
        let mean = estimator.moments.reward_mean();
        let bins = &estimator.distribution.bins;
        let side = match tail {
            Tail::Lower => Side::Below,
            Tail::Upper => Side::Above,
        };
        hill(bins, mean, side, |b| bins[b].rows)
    }

    /// As [`Estimator::reward_tail`] keeps it.
    pub(crate) fn of(estimator: &Estimator<'_>) -> Self {
        let mean = estimator.moments.reward_mean();
        let bins = &estimator.distribution.bins;
        let squares = estimator.sums.of_weight.column(Feature::G);
        let square = |b: usize| if estimator.is_logging() { bins[b].rows } else { squares[b].max(0.0) };
        let index = hill(bins, mean, Side::Both, |b| bins[b].rows);
        RewardTail {
            index,
            weighted_index: hill(bins, mean, Side::Both, square).min(index),
            largest_square: largest_share(bins, |b| square(b) * (bins[b].mean - mean).powi(2)),
            largest_product: largest_share(bins, |b| (square(b) * bins[b].rows).sqrt() * bins[b].mean.abs()),
        }
    }
}

/// The largest part of a row in a sum over bins, the rows of a bin taken to be alike.
fn largest_share(bins: &[Bin], of: impl Fn(usize) -> f64) -> f64 {
    let (mut total, mut most) = (0.0, 0.0_f64);
    for (b, bin) in bins.iter().enumerate() {
        total += of(b);
        most = most.max(of(b) / bin.rows);
    }
    if total > 0.0 { most / total } else { 0.0 }
}

/// Which rewards count as far from the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Below,
    Above,
}

/// The bins furthest from a centre, as many as have about the wanted number of rows, and where they end.
struct Furthest {
    taken: Vec<usize>,
    rows: f64,
    threshold: f64,
}

impl Furthest {
    /// Bins ascend, so that the furthest are at their two ends. A bin of more rows than are wanted ends the search.
    fn new(bins: &[Bin], mean: f64, side: Side) -> Option<Self> {
        let total: f64 = bins.iter().map(|bin| bin.rows).sum();
        let wanted = total.sqrt().max(FEWEST);
        let distance = |b: usize| (bins[b].mean - mean).abs();
        let (mut low, mut high) = match side {
            Side::Both => (0, bins.len()),
            Side::Below => (0, bins.partition_point(|bin| bin.mean < mean)),
            Side::Above => (bins.partition_point(|bin| bin.mean <= mean), bins.len()),
        };
        let next_is_low = |low: usize, high: usize| match side {
            Side::Both => distance(low) > distance(high - 1),
            Side::Below => true,
            Side::Above => false,
        };
        let (mut rows, mut taken) = (0.0, Vec::new());
        while low < high && rows < wanted {
            let is_low = next_is_low(low, high);
            let b = if is_low { low } else { high - 1 };
            if bins[b].rows > wanted {
                break;
            }
            if is_low {
                low += 1
            } else {
                high -= 1
            }
            rows += bins[b].rows;
            taken.push(b);
        }
        if low >= high || taken.is_empty() {
            return None;
        }
        let next = if next_is_low(low, high) { low } else { high - 1 };
        let is_atom = bins[next].min == bins[next].max;
        if bins[next].rows > wanted && is_atom {
            // Rewards beside a large atom, such as the purchases among visits: their own tail is the further half of them.
            let mut kept = 0.0;
            let half = |b: &usize| {
                kept += bins[*b].rows;
                kept <= rows / 2.0 || kept == bins[*b].rows
            };
            let taken: Vec<usize> = taken.iter().copied().take_while(half).collect();
            let rows = taken.iter().map(|&b| bins[b].rows).sum();
            let threshold = taken.last().map_or(0.0, |&b| distance(b));
            return Some(Furthest { taken, rows, threshold });
        }
        // A wide bin says nothing of the rewards inside it: the tail begins at its outer edge.
        let edge = (bins[next].max - mean).abs().max((bins[next].min - mean).abs());
        // An atom at the mean has no distance from it but for rounding.
        let furthest = taken.first().map_or(0.0, |&b| distance(b));
        Some(Furthest { taken, rows, threshold: if edge > ROUNDING * furthest { edge } else { 0.0 } })
    }
}

/// The Hill index of the rows whose rewards lie furthest from the mean; infinite where there is no tail to speak of.
fn hill(bins: &[Bin], mean: f64, side: Side, square: impl Fn(usize) -> f64) -> f64 {
    let Some(Furthest { taken, rows, threshold }) = Furthest::new(bins, mean, side) else { return f64::INFINITY };
    let (mut weight, mut squares, mut excess) = (0.0, 0.0, 0.0);
    for b in taken {
        weight += square(b);
        squares += square(b) * square(b) / bins[b].rows;
        excess += square(b) * ((bins[b].mean - mean).abs() / threshold).ln().max(0.0);
    }
    if threshold <= 0.0 || excess <= 0.0 || rows <= 0.0 {
        return f64::INFINITY;
    }
    // As many rows of equal weight would have the same error.
    let effective = weight * weight / squares;
    weight / excess * (1.0 + effective.sqrt().recip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(rewards: impl Iterator<Item = f64>, rows: f64) -> Vec<Bin> {
        rewards.map(|r| Bin { rows, min: r, mean: r, max: r }).collect()
    }

    #[test]
    fn the_index_of_a_power_tail_is_its_power() {
        for power in [1.0, 2.0, 4.0] {
            // Quantiles of P(R > x) = x^-power, ascending.
            let n = 10_000;
            let quantile = |i: usize| ((n as f64 - i as f64 - 0.5) / n as f64).powf(-1.0 / power);
            let bins = bins((0..n).map(quantile), 1.0);
            let index = hill(&bins, 0.0, Side::Both, |_| 1.0);
            // One standard error of 100 rows above it; the quantiles' own error is smaller.
            assert!((index / (1.1 * power) - 1.0).abs() < 0.03, "{power}: {index}");
        }
    }

    #[test]
    fn atoms_at_the_ends_are_no_tail_and_one_wide_bin_with_outliers_is_a_heavy_one() {
        assert_eq!(hill(&bins([0.0, 1.0, 2.0].into_iter(), 1000.0), 1.0, Side::Both, |_| 1.0), f64::INFINITY);
        for mean in [10.99, 10.99 + 2e-15, 10.99 - 2e-15] {
            let few = bins([9.99, 10.99, 11.99].into_iter(), 20.0);
            assert_eq!(hill(&few, mean, Side::Both, |_| 1.0), f64::INFINITY, "{mean}");
        }
        let mut wide = vec![Bin { rows: 5000.0, min: 0.0, mean: 0.5, max: 10.0 }];
        wide.extend((1..=20).map(|i| {
            let x = 10.0 * f64::from(i * i);
            Bin { rows: 1.0, min: x, mean: x, max: x }
        }));
        assert!(hill(&wide, 1.0, Side::Both, |_| 1.0) < 1.0);
    }

    #[test]
    fn rare_clicks_have_no_tail_and_one_side_does_not_spoil_the_other() {
        let click = |rows: f64, r: f64| Bin { rows, min: r, mean: r, max: r };
        assert_eq!(hill(&[click(19_900.0, 0.0), click(100.0, 1.0)], 0.005, Side::Both, |_| 1.0), f64::INFINITY);
        // A power tail of losses, and gains that are bounded.
        let n = 10_000;
        let loss = |i: usize| -((i as f64 + 0.5) / n as f64).powf(-1.0);
        let bins = bins((0..n).map(loss), 1.0);
        assert!(hill(&bins, -3.0, Side::Below, |_| 1.0) < 1.3);
        assert!(hill(&bins, -3.0, Side::Above, |_| 1.0) > 10.0);
    }
}
