//! What can be asked of a policy's rewards: metrics, and sums of them.

use crate::spec::error::{Error, Result};
use crate::spec::settings::Settings;

/// A number that describes a policy's rewards.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Metric {
    /// The mean.
    Mean,
    /// The variance.
    Variance,
    /// The standard deviation.
    Std,
    /// The quantile at a level in (0, 1).
    Quantile(f64),
    /// The mean of the tail of a probability in (0, 1), the one that [`Settings::tail`] names.
    Cvar(f64),
    /// `P(R <= v)`.
    Probability(f64),
    /// The effective sample size `(sum G)^2 / sum G^2`, as among the [`Diagnostics`](crate::Diagnostics). Known without
    /// error.
    Ess,
}

impl Metric {
    /// The value at risk: the quantile at which the tail of probability `alpha` begins.
    pub fn var(alpha: f64, settings: &Settings) -> Self {
        Metric::Quantile(settings.tail.level(alpha))
    }

    pub(crate) fn check(self) -> Result<()> {
        let bad = |setting, value: f64, why: &str| {
            Err(Error::BadSetting { setting, value: value.to_string(), why: why.to_owned() })
        };
        match self {
            Metric::Quantile(level) if !(level > 0.0 && level < 1.0) => {
                bad("quantile", level, "must lie between 0 and 1")
            }
            Metric::Cvar(alpha) if !(alpha > 0.0 && alpha < 1.0) => bad("alpha", alpha, "must lie between 0 and 1"),
            Metric::Probability(v) if !v.is_finite() => bad("reward", v, "must be a finite number"),
            _ => Ok(()),
        }
    }
}

/// A metric of a policy, times a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The number.
    pub coefficient: f64,
    /// The metric.
    pub metric: Metric,
    /// The policy's name; [`LOGGING`](crate::LOGGING) for the one that wrote the log.
    pub policy: String,
}

impl Term {
    /// A metric of a policy, times a number.
    pub fn new(coefficient: f64, metric: Metric, policy: impl Into<String>) -> Self {
        Term { coefficient, metric, policy: policy.into() }
    }
}

/// A sum of terms and a constant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Combination {
    /// What is added up.
    pub terms: Vec<Term>,
    /// What is added to it.
    pub constant: f64,
}
