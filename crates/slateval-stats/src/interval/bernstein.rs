//! A band that holds in every sample: empirical Bernstein bounds on a fixed grid.
//! See docs/methods.md, section 6.13.
//!
//! For any `c`, `X = c + G (U - c)` has mean `F`, lies in a range that the bounds of `G` give, and so
//! `|mean X - F| <= sqrt(2 V L / n) + 7 range L / (3 (n - 1))` with `L = ln(12 J / delta)`, at `J` points and for `c` in
//! {0, 1/2, 1} at once.
//!
//! The points must not depend on the rewards. They are the multiples `k 2^-e`, `|k| <= 64`, for every whole `e`, and
//! `delta` is shared among the `e` beforehand: rewards whose largest size is between 1/2 and 1 get half of it. Which `e`
//! suits a log may then be chosen by looking at it. Rewards that lie far from 0, against their spread, have few of these
//! points among them: shift them first.

use crate::correction::weight_sums::Bin;
use crate::distribution::estimator::Estimator;
use crate::result::interval::Bounds;
use crate::spec::error::{Error, Result};
use crate::spec::settings::Settings;
use crate::spec::structure::{Pool, Structure};
use crate::sums::index::Feature;
use crate::weights::ranking_weight;

/// A band at each bin's end.
#[derive(Debug, Clone)]
pub(crate) struct Guaranteed {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    pub(crate) weights: WeightBounds,
}

/// The least and the greatest weight that any slate can have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightBounds {
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// Whether they are known, rather than taken from the log.
    pub(crate) known: bool,
}

/// Points on either side of 0.
const POINTS: i32 = 64;

impl Guaranteed {
    pub(crate) fn new(estimator: &Estimator<'_>, settings: &Settings) -> Result<Self> {
        let weights = WeightBounds::new(estimator, settings)?;
        let bins = &estimator.distribution.bins;
        let (scale, share) = scale_for(bins);
        let l = (12.0 * f64::from(2 * POINTS + 1) / ((1.0 - settings.confidence) * share)).ln();
        let sums = CumulativeSums::new(estimator);
        let mut lower: Vec<f64> = vec![0.0; bins.len()];
        let mut upper: Vec<f64> = vec![1.0; bins.len()];
        for k in -POINTS..=POINTS {
            let point = f64::from(k) * scale;
            let below = bins.partition_point(|b| b.max <= point);
            // Only where bins end is it known how many rewards lie below.
            if bins.get(below).is_some_and(|b| b.min <= point) {
                continue;
            }
            let (low, high) = sums.bound(below, weights, l);
            // F is at least `low` where the rewards of a bin end at the point or beyond, and at most `high` up to it.
            let from = bins.partition_point(|b| b.max < point);
            lower[from..].iter_mut().for_each(|f| *f = f.max(low));
            upper[..below].iter_mut().for_each(|f| *f = f.min(high));
        }
        if let Some(last) = upper.last_mut() {
            *last = 1.0;
        }
        Ok(Guaranteed { lower, upper, weights })
    }

    /// Beyond the last reward at which F is surely below the level, and up to the first at which it surely is not;
    /// nothing is known beyond the logged rewards.
    pub(crate) fn quantile(&self, bins: &[Bin], level: f64) -> Bounds {
        let below = self.upper.partition_point(|&f| f < level);
        let above = self.lower.partition_point(|&f| f < level);
        let reward = |b: Option<usize>| b.and_then(|b| bins.get(b)).map(|bin| bin.max);
        Bounds { lower: reward(below.checked_sub(1)), upper: reward(Some(above)) }
    }

    /// `F` at any reward: at least what it is where the bin before it ends, at most what it is where its own does.
    pub(crate) fn probability(&self, bins: &[Bin], reward: f64) -> Bounds {
        let ended = bins.partition_point(|b| b.max <= reward);
        let lower = ended.checked_sub(1).map_or(0.0, |b| self.lower[b]);
        let reached = bins.partition_point(|b| b.max < reward);
        Bounds { lower: Some(lower), upper: Some(self.upper.get(reached).copied().unwrap_or(1.0)) }
    }
}

/// The grid's step for the rewards of a log, and the share of `delta` that was set aside for it.
fn scale_for(bins: &[Bin]) -> (f64, f64) {
    let size = bins.iter().flat_map(|b| [b.min.abs(), b.max.abs()]).fold(0.0, f64::max);
    if size == 0.0 {
        return (1.0, 0.5);
    }
    let e = (f64::from(POINTS) / size).log2().floor();
    let usual = f64::from(POINTS).log2();
    let d = (e - usual).abs();
    let share = if d == 0.0 { 0.5 } else { 0.5 / ((d + 1.0) * (d + 2.0)) };
    ((-e).exp2(), share)
}

/// Sums of `G` and `G^2` up to each bin's end.
struct CumulativeSums {
    n: f64,
    g: Vec<f64>,
    gg: Vec<f64>,
}

impl CumulativeSums {
    fn new(estimator: &Estimator<'_>) -> Self {
        let cumulated = |values: &[f64]| {
            let sums = values.iter().scan(0.0, |sum, x| {
                *sum += x;
                Some(*sum)
            });
            std::iter::once(0.0).chain(sums).collect()
        };
        let sums = &estimator.sums;
        CumulativeSums {
            n: sums.n,
            g: cumulated(sums.of_one.column(Feature::G)),
            gg: cumulated(sums.of_weight.column(Feature::G)),
        }
    }

    /// The interval for `F` after the first `below` bins.
    fn bound(&self, below: usize, weights: WeightBounds, l: f64) -> (f64, f64) {
        let (n, WeightBounds { least, most, .. }) = (self.n, weights);
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        let (g, gg) = (self.g[self.g.len() - 1], self.gg[self.gg.len() - 1]);
        for c in [0.0, 0.5, 1.0] {
            // X - c = G (U - c): G (1 - c) below, -G c above.
            let (below_g, below_gg) = (self.g[below], self.gg[below]);
            let sum = (1.0 - c) * below_g - c * (g - below_g);
            let squares = (1.0 - c) * (1.0 - c) * below_gg + c * c * (gg - below_gg);
            let variance = ((squares - sum * sum / n) / (n - 1.0)).max(0.0);
            let ends = [least * (1.0 - c), most * (1.0 - c), -least * c, -most * c];
            let range = ends.iter().copied().fold(f64::MIN, f64::max) - ends.iter().copied().fold(f64::MAX, f64::min);
            let slack = (2.0 * variance * l / n).sqrt() + 7.0 * range * l / (3.0 * (n - 1.0));
            let mean = c + sum / n;
            if slack.is_finite() {
                low = low.max(mean - slack);
                high = high.min(mean + slack);
            }
        }
        (low, high)
    }
}

impl WeightBounds {
    fn new(estimator: &Estimator<'_>, settings: &Settings) -> Result<Self> {
        let (sums, tally) = (&estimator.sums, estimator.sums.weight_tally());
        let Some(structure) = &estimator.structure else {
            return Ok(WeightBounds { least: 1.0, most: 1.0, known: true });
        };
        let ((least, most), known) = match structure {
            Structure::Ranking(Pool::Size(n)) => (ranking_bounds(*n, sums.slots), true),
            Structure::Ranking(_) | Structure::Given => ((tally.min.unwrap_or(0.0), tally.max.unwrap_or(0.0)), false),
            _ => {
                let smallest = smallest_propensities(settings.min_propensity, &sums.tally().smallest)?;
                (corner_bounds(structure, &smallest), settings.min_propensity.is_some())
            }
        };
        Ok(WeightBounds { least, most, known })
    }
}

/// Each slot's smallest logging propensity: as given, which the log must not contradict, or else the log's own.
fn smallest_propensities(given: Option<f64>, logged: &[f64]) -> Result<Vec<f64>> {
    let Some(given) = given else { return Ok(logged.to_vec()) };
    match logged.iter().position(|&p| p < given * (1.0 - 1e-6)) {
        None => Ok(vec![given; logged.len()]),
        Some(slot) => Err(Error::BadSetting {
            setting: "min-propensity",
            value: given.to_string(),
            why: format!("slot {} of the log has a logging propensity of {}", slot + 1, logged[slot]),
        }),
    }
}

/// A slate shares at least `2 K - N` items with the target's.
fn ranking_bounds(n: usize, k: usize) -> (f64, f64) {
    let shared = (2 * k).saturating_sub(n) as f64;
    (ranking_weight(n, k, 0.0, shared), ranking_weight(n, k, k as f64, k as f64))
}

/// Slots up to which all corners are visited.
const CORNER_SLOTS: usize = 12;

/// A multilinear weight has its extremes at corners: each ratio is 0 or the inverse of the slot's smallest propensity.
fn corner_bounds(structure: &Structure, smallest: &[f64]) -> (f64, f64) {
    let slots = smallest.len();
    if slots > CORNER_SLOTS {
        // Every term at most that of |Z|.
        let ratios: Vec<[f64; 1]> = smallest.iter().map(|p| [1.0 + f64::max(1.0, 1.0 / p - 1.0)]).collect();
        let columns: Vec<&[f64]> = ratios.iter().map(|r| r.as_slice()).collect();
        let most = structure.weights(&columns)[0];
        return if *structure == Structure::Product {
            (0.0, smallest.iter().map(|p| 1.0 / p).product())
        } else {
            (2.0 - most, most)
        };
    }
    let corner = |slot: usize, bits: usize| if bits >> slot & 1 == 1 { 1.0 / smallest[slot] } else { 0.0 };
    let ratios: Vec<Vec<f64>> =
        (0..slots).map(|slot| (0..1usize << slots).map(|bits| corner(slot, bits)).collect()).collect();
    let columns: Vec<&[f64]> = ratios.iter().map(Vec::as_slice).collect();
    let weights = structure.weights(&columns);
    weights.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), g| (lo.min(g), hi.max(g)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_bounded_by_their_corners() {
        assert_eq!(corner_bounds(&Structure::Order(1), &[0.05; 5]), (-4.0, 96.0));
        assert_eq!(corner_bounds(&Structure::Order(2), &[0.05; 5]), (-54.0, 3706.0));
        assert_eq!(corner_bounds(&Structure::Product, &[0.5, 0.25]), (0.0, 8.0));
        assert_eq!(ranking_bounds(5, 3), (-3.0, 13.0));
        let (low, high) = corner_bounds(&Structure::Order(2), &[0.05; 13]);
        let hits = |h: f64| {
            let (z, rest) = (19.0 * h - (13.0 - h), 19.0 * 19.0 * h + (13.0 - h));
            1.0 + z + (z * z - rest) / 2.0
        };
        for h in 0..=13 {
            assert!(low <= hits(f64::from(h)) && hits(f64::from(h)) <= high);
        }
    }
}
