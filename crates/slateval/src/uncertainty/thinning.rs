//! A coarser grid to draw on: thousands of bins cost time and tell draws nothing.
//! See docs/methods.md, section 6.7.

use crate::estimate::distribution::Distribution;
use crate::estimate::weight_sums::Bin;

/// Runs of neighbouring bins, each taken for one: their last places, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Thinning {
    ends: Vec<usize>,
}

/// Runs that the bulk of the rows is cut into.
const BINS: usize = 1024;

/// The share of rows at either end whose bins are kept as they are: tails are read off them, and heavy ones are made of
/// few rows.
const TAIL: f64 = 0.02;

impl Thinning {
    /// Runs of about equal numbers of rows, single bins at the ends.
    pub(crate) fn new(bins: &[Bin]) -> Self {
        if bins.len() <= BINS {
            return Thinning { ends: (0..bins.len()).collect() };
        }
        let total: f64 = bins.iter().map(|b| b.rows).sum();
        let (mut seen, mut full) = (0.0, 0.0);
        let mut ends = Vec::with_capacity(BINS);
        for (place, bin) in bins.iter().enumerate() {
            seen += bin.rows;
            let runs = (seen / total * BINS as f64).floor();
            let in_tail = seen <= TAIL * total || seen >= (1.0 - TAIL) * total;
            if runs > full || in_tail {
                full = runs;
                ends.push(place);
            }
        }
        Thinning { ends }
    }

    /// The values at the ends of runs.
    pub(crate) fn at_ends(&self, values: &[f64]) -> Vec<f64> {
        self.ends.iter().map(|&end| values[end]).collect()
    }

    /// The sums over runs.
    pub(crate) fn sums(&self, values: &[f64]) -> Vec<f64> {
        self.runs().map(|run| values[run].iter().sum()).collect()
    }

    /// The distribution with each run for a bin.
    pub(crate) fn distribution(&self, full: &Distribution) -> Distribution {
        let bin = |run: std::ops::Range<usize>| {
            let bins = &full.bins[run];
            let rows: f64 = bins.iter().map(|b| b.rows).sum();
            let mean = bins.iter().map(|b| b.rows * b.mean).sum::<f64>() / rows;
            let (min, max) = (bins[0].min, bins[bins.len() - 1].max);
            Bin { rows, min, mean: mean.clamp(min, max), max }
        };
        Distribution {
            bins: self.runs().map(bin).collect(),
            raw: self.at_ends(&full.raw),
            repaired: self.at_ends(&full.repaired),
        }
    }

    fn runs(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end + 1));
        starts.zip(&self.ends).map(|(start, &end)| start..end + 1)
    }
}
