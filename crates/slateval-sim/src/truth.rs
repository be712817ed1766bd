//! The truth about a policy: what every estimate is measured against.

use rayon::prelude::*;
use serde::Serialize;

use crate::distribution::{Atoms, Distribution};
use crate::error::{Error, Result};
use crate::random::Purpose;
use crate::simulation::{Player, Simulation};

/// A policy's reward distribution as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// Everything.
    pub distribution: Distribution,
    /// How it is known.
    pub source: Source,
}

/// How a truth is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "method")]
pub enum Source {
    /// Worked out.
    Exact,
    /// From so many slates of the policy itself.
    MonteCarlo {
        /// Number of slates.
        rows: usize,
    },
}

/// What to say about a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Levels of quantiles.
    pub quantiles: Vec<f64>,
    /// Tail probabilities of VaR and CVaR, lower tail.
    pub alphas: Vec<f64>,
    /// Most points of the CDF.
    pub points: usize,
}

impl Default for Levels {
    fn default() -> Self {
        Levels { quantiles: vec![0.25, 0.5, 0.75], alphas: vec![0.05, 0.1, 0.25], points: 1001 }
    }
}

/// A truth in numbers, as it goes into JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TruthFacts {
    /// The policy's name.
    pub name: String,
    /// What it plays.
    pub policy: String,
    /// How this is known.
    #[serde(flatten)]
    pub source: Source,
    /// The mean reward.
    pub mean: f64,
    /// Its variance.
    pub variance: f64,
    /// Its standard deviation.
    pub std: f64,
    /// Quantiles.
    pub quantiles: Vec<QuantileFact>,
    /// Values at risk.
    pub var: Vec<TailFact>,
    /// Conditional values at risk.
    pub cvar: Vec<TailFact>,
    /// The CDF.
    pub cdf: CdfFact,
}

/// A quantile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantileFact {
    /// Its level.
    pub level: f64,
    /// The quantile.
    pub value: f64,
}

/// VaR or CVaR.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TailFact {
    /// The tail's probability.
    pub alpha: f64,
    /// Its value.
    pub value: f64,
}

/// A CDF: `F(v)` counts rewards `<= v`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CdfFact {
    /// Where.
    pub reward: Vec<f64>,
    /// How much.
    pub value: Vec<f64>,
}

impl Simulation {
    /// The truth about a policy: exact where the world knows it, else from `rows` slates of that policy, drawn on the
    /// threads of the current pool and the same for any number of them.
    ///
    /// # Errors
    /// If the policy does not fit the world, or no rows are allowed where some are needed.
    pub fn truth(&self, player: Player, rows: usize, seed: u64) -> Result<Truth> {
        if let Some(distribution) = self.exact(player)? {
            return Ok(Truth { distribution, source: Source::Exact });
        }
        if rows == 0 {
            return Err(Error::setting("truth rows", 0, "this truth is a Monte-Carlo one; allow some rows"));
        }
        let sample = self.sample(player, rows, seed, Purpose::Truth);
        Ok(Truth { distribution: Distribution::Atoms(Atoms::of_sample(sample)), source: Source::MonteCarlo { rows } })
    }

    /// Rewards that a policy gets.
    pub fn sample(&self, player: Player, rows: usize, seed: u64, purpose: Purpose) -> Vec<f64> {
        let mut rewards = vec![0.0; rows];
        let chunk = |(chunk, rewards): (usize, &mut [f64])| {
            self.rewards(player, seed, purpose, chunk as u64, rewards);
        };
        rewards.par_chunks_mut(Self::CHUNK as usize).enumerate().for_each(chunk);
        rewards
    }
}

impl Truth {
    /// The truth in numbers.
    pub fn facts(&self, name: &str, policy: &str, levels: &Levels) -> TruthFacts {
        let d = &self.distribution;
        let tail = |of: &dyn Fn(f64) -> f64| {
            levels.alphas.iter().map(|&alpha| TailFact { alpha, value: of(alpha) }).collect::<Vec<_>>()
        };
        let variance = d.variance();
        let reward = d.grid(levels.points);
        TruthFacts {
            name: name.to_owned(),
            policy: policy.to_owned(),
            source: self.source,
            mean: d.mean(),
            variance,
            std: variance.sqrt(),
            quantiles: levels.quantiles.iter().map(|&level| QuantileFact { level, value: d.quantile(level) }).collect(),
            var: tail(&|alpha| d.quantile(alpha)),
            cvar: tail(&|alpha| d.cvar(alpha)),
            cdf: CdfFact { value: reward.iter().map(|&v| d.cdf(v)).collect(), reward },
        }
    }
}
