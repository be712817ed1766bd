//! A coarser grid to draw on: thousands of bins cost time and tell draws nothing.
//! See docs/methods.md, section 6.7.

use std::ops::Range;

use crate::correction::weight_sums::Bin;

/// Runs of neighbouring bins, each taken for one: their last places, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Thinning {
    ends: Vec<usize>,
}

/// How coarse runs may be.
#[derive(Debug, Clone, Copy)]
struct Grain {
    /// A run of several bins holds at most one in so many rows of the log, ...
    bulk: f64,
    /// ... and at most one in so many of the rows on either side of it. Tails are read off their bins, and heavy ones are
    /// made of few rows.
    tail: f64,
}

impl Grain {
    const FINE: Grain = Grain { bulk: 256.0, tail: 12.0 };
    const COARSE: Grain = Grain { bulk: 64.0, tail: 8.0 };

    /// What runs change is to be small beside what chance changes in so many draws.
    fn of_draws(draws: usize) -> Self {
        if draws <= FEW_DRAWS { Self::COARSE } else { Self::FINE }
    }
}

/// Draws whose percentiles chance moves by several hundredths of an interval: coarser runs do for them.
pub(crate) const FEW_DRAWS: usize = 500;

impl Thinning {
    /// For so many draws. A run takes up bins for as long as it may. A bin that holds more by itself stands alone.
    pub(crate) fn new(bins: &[Bin], draws: usize) -> Self {
        Self::of_grain(bins, Grain::of_draws(draws))
    }

    /// For however many draws.
    pub(crate) fn fine(bins: &[Bin]) -> Self {
        Self::of_grain(bins, Grain::FINE)
    }

    fn of_grain(bins: &[Bin], grain: Grain) -> Self {
        let total: f64 = bins.iter().map(|b| b.rows).sum();
        let (mut before, mut seen) = (0.0, 0.0);
        let mut ends = Vec::new();
        for (place, bin) in bins.iter().enumerate() {
            let after = seen + bin.rows;
            let most = (total / grain.bulk).min(f64::min(before, total - after) / grain.tail);
            if place > 0 && after - before > most {
                ends.push(place - 1);
                before = seen;
            }
            seen = after;
        }
        ends.extend(bins.len().checked_sub(1));
        Thinning { ends }
    }

    /// Every bin by itself.
    #[cfg(test)]
    pub(crate) fn none(bins: &[Bin]) -> Self {
        Thinning { ends: (0..bins.len()).collect() }
    }

    /// The number of runs.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The values at the ends of runs.
    pub(crate) fn at_ends(&self, values: &[f64]) -> Vec<f64> {
        self.ends.iter().map(|&end| values[end]).collect()
    }

    /// The sums over runs.
    pub(crate) fn sums(&self, values: &[f64]) -> Vec<f64> {
        self.runs().map(|run| values[run].iter().sum()).collect()
    }

    /// How much further from 0 a path gets at the ends of bins than at the ends of runs, in the mean: `.5826` times the
    /// standard deviation of a step, the smaller step's taken off. `variances` are those of the path's step in each bin,
    /// and `of_runs` in each run.
    pub(crate) fn missed(&self, variances: &[f64], of_runs: &[f64]) -> Vec<f64> {
        let missed = |(run, total): (Range<usize>, &f64)| {
            if run.len() == 1 || *total <= 0.0 {
                return 0.0;
            }
            let (mut sum, mut of_steps) = (0.0, 0.0);
            for variance in variances[run].iter().map(|v| v.max(0.0)) {
                sum += variance;
                of_steps += variance * variance.sqrt();
            }
            if sum > 0.0 { MISSED_STEPS * (total.sqrt() - of_steps / sum).max(0.0) } else { 0.0 }
        };
        self.runs().zip(of_runs).map(missed).collect()
    }

    /// The bins of each run.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end + 1));
        starts.zip(&self.ends).map(|(start, &end)| start..end + 1)
    }
}

/// The mean distance between the maximum of a Brownian motion and that of the same motion seen at times one apart
/// (Chernoff 1965; Siegmund 1979): `-zeta(1/2) / sqrt(2 pi)`.
const MISSED_STEPS: f64 = 0.582_597_157_939_010_7;
