//! How far an estimate is from the truth.

use serde::Serialize;
use slateval::PolicyEvaluation;

use crate::distribution::Distribution;

/// What is measured of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Metric {
    /// Largest distance of CDFs by the convention that fits the paper's figures best: the estimate clipped to [0, 1] and
    /// made monotone by a running maximum, against the empirical CDF of 500 slates of the target.
    KsPaperLike,
    /// The same repair, against the truth.
    KsClipped,
    /// The estimate as it is, against the truth.
    KsRaw,
    /// The estimate as this project repairs it, against the truth.
    Ks,
    /// Squared error of the mean.
    MeanSquaredError,
    /// Squared error of the median.
    MedianSquaredError,
    /// Squared error of the value at risk.
    VarSquaredError,
    /// Squared error of the conditional value at risk.
    CvarSquaredError,
    /// The variance over its true value.
    VarianceRatio,
}

impl Metric {
    /// All of them.
    pub const ALL: [Metric; 9] = [
        Metric::KsPaperLike,
        Metric::KsClipped,
        Metric::KsRaw,
        Metric::Ks,
        Metric::MeanSquaredError,
        Metric::MedianSquaredError,
        Metric::VarSquaredError,
        Metric::CvarSquaredError,
        Metric::VarianceRatio,
    ];
}

/// A mean over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stat {
    /// The mean; not a number if no trial gave one.
    pub mean: f64,
    /// Its standard error; none of a single trial.
    pub se: Option<f64>,
    /// Trials that gave a value.
    pub trials: usize,
}

impl Stat {
    /// Of the values that are numbers.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|x| x.is_finite()).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let se = (values.len() > 1).then(|| (variance / n).sqrt());
        Stat { mean, se, trials: values.len() }
    }
}

/// A truth on the grid where CDFs are compared, and in numbers.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    grid: Vec<f64>,
    cdf: Vec<f64>,
    mean: f64,
    median: f64,
    var: f64,
    cvar: f64,
    variance: f64,
}

impl Reference {
    pub(crate) fn new(truth: &Distribution, alpha: f64, points: usize) -> Self {
        let grid = truth.grid(points);
        Reference {
            cdf: grid.iter().map(|&v| truth.cdf(v)).collect(),
            grid,
            mean: truth.mean(),
            median: truth.quantile(0.5),
            var: truth.quantile(alpha),
            cvar: truth.cvar(alpha),
            variance: truth.variance(),
        }
    }

    /// All metrics of one estimate, in the order of [`Metric::ALL`]; not a number where the estimate has none.
    pub(crate) fn measure(&self, found: &PolicyEvaluation, rollouts: &Distribution) -> [f64; 9] {
        let raw = on_grid(&found.cdf.reward, &found.cdf.raw, &self.grid);
        let own = on_grid(&found.cdf.reward, &found.cdf.estimate, &self.grid);
        let clipped = clip_and_raise(&raw);
        let rolled: Vec<f64> = self.grid.iter().map(|&v| rollouts.cdf(v)).collect();
        let squared = |estimate: Option<f64>, truth: f64| estimate.map_or(f64::NAN, |e| (e - truth).powi(2));
        let first = |list: &[slateval::TailEstimate]| list.first().and_then(|t| t.interval.estimate);
        [
            distance(&clipped, &rolled),
            distance(&clipped, &self.cdf),
            distance(&raw, &self.cdf),
            distance(&own, &self.cdf),
            squared(found.mean.estimate, self.mean),
            squared(found.quantiles.first().and_then(|q| q.interval.estimate), self.median),
            squared(first(&found.var), self.var),
            squared(first(&found.cvar), self.cvar),
            found.variance.estimate.map_or(f64::NAN, |v| v / self.variance),
        ]
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A step function, given at its steps, on an ascending grid.
fn on_grid(steps: &[f64], values: &[f64], grid: &[f64]) -> Vec<f64> {
    let mut next = 0;
    let value = |&v: &f64| {
        while next < steps.len() && steps[next] <= v {
            next += 1;
        }
        if next == 0 { 0.0 } else { values[next - 1] }
    };
    grid.iter().map(value).collect()
}

/// The paper's repair, as far as it can be told: clip to [0, 1], then the running maximum.
fn clip_and_raise(raw: &[f64]) -> Vec<f64> {
    let raise = |highest: &mut f64, &f: &f64| {
        *highest = highest.max(f.clamp(0.0, 1.0));
        Some(*highest)
    };
    raw.iter().scan(0.0, raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_on_a_grid() {
        assert_eq!(on_grid(&[1.0, 2.0], &[0.25, 1.0], &[0.0, 1.0, 1.5, 2.0, 3.0]), [0.0, 0.25, 0.25, 1.0, 1.0]);
        assert_eq!(clip_and_raise(&[-0.5, 0.3, 0.2, 1.4, 0.9]), [0.0, 0.3, 0.3, 1.0, 1.0]);
    }

    #[test]
    fn a_mean_over_trials() {
        let stat = Stat::of([1.0, 3.0, f64::NAN]);
        assert_eq!((stat.mean, stat.se, stat.trials), (2.0, Some(1.0), 2));
    }
}
