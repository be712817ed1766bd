//! What is read off a CDF, and off each draw of it.
//! See docs/methods.md, section 6.7.

use crate::correction::weight_sums::Bin;
use crate::distribution::curve::{Curve, just_below};
use crate::spec::combination::Metric;
use crate::spec::settings::Settings;
use crate::spec::tail::Tail;

/// The tails, quantiles and probabilities that are read off every CDF, each once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Readings {
    alphas: Vec<f64>,
    levels: Vec<f64>,
    rewards: Vec<f64>,
    tail: Tail,
}

impl Readings {
    /// What an evaluation reads: the quartiles among it, whose difference is the interquartile range.
    pub(crate) fn of_evaluation(settings: &Settings, bins: &[Bin]) -> Self {
        let quantiles = settings.quantiles.iter().chain(&QUARTILES).map(|&level| Metric::Quantile(level));
        let below = settings.at_least.iter().map(|&reward| Metric::Probability(just_below(bins, reward)));
        let cvars = settings.alphas.iter().map(|&alpha| Metric::Cvar(alpha));
        Self::new(cvars.chain(quantiles).chain(below), settings.tail)
    }

    pub(crate) fn new(metrics: impl Iterator<Item = Metric>, tail: Tail) -> Self {
        let mut readings = Readings { alphas: Vec::new(), levels: Vec::new(), rewards: Vec::new(), tail };
        for metric in metrics {
            let (list, value) = match metric {
                Metric::Cvar(alpha) => (&mut readings.alphas, alpha),
                Metric::Quantile(level) => (&mut readings.levels, level),
                Metric::Probability(reward) => (&mut readings.rewards, reward),
                Metric::Mean | Metric::Variance | Metric::Std | Metric::Ess => continue,
            };
            if !list.contains(&value) {
                list.push(value);
            }
        }
        readings
    }

    /// How many they are.
    pub(crate) fn len(&self) -> usize {
        self.alphas.len() + self.levels.len() + self.rewards.len()
    }

    /// What a curve says: the tails, then the quantiles, then the probabilities.
    pub(crate) fn read(&self, curve: Curve<'_>) -> Vec<f64> {
        let mut values = curve.cvars(&self.alphas, self.tail);
        values.extend(self.levels.iter().map(|&level| curve.quantile(level)));
        values.extend(self.rewards.iter().map(|&reward| curve.probability(reward)));
        values
    }

    /// The place of a metric among what is read; none for one that is not read off a CDF.
    pub(crate) fn place(&self, metric: Metric) -> Option<usize> {
        let among = |list: &[f64], value: f64| list.iter().position(|known| *known == value);
        match metric {
            Metric::Cvar(alpha) => among(&self.alphas, alpha),
            Metric::Quantile(level) => Some(self.alphas.len() + among(&self.levels, level)?),
            Metric::Probability(reward) => Some(self.alphas.len() + self.levels.len() + among(&self.rewards, reward)?),
            Metric::Mean | Metric::Variance | Metric::Std | Metric::Ess => None,
        }
    }
}

/// The levels whose quantiles are an interquartile range apart.
pub(crate) const QUARTILES: [f64; 2] = [0.25, 0.75];

/// One metric of a CDF; not a number for what is not read off one.
pub(crate) fn read(metric: Metric, curve: Curve<'_>, tail: Tail) -> f64 {
    match metric {
        Metric::Quantile(level) => curve.quantile(level),
        Metric::Cvar(alpha) => curve.cvar(alpha, tail),
        Metric::Probability(reward) => curve.probability(reward),
        Metric::Mean | Metric::Variance | Metric::Std | Metric::Ess => f64::NAN,
    }
}
