//! Differences between policies, and between segments.

use crate::result::interval::{Interval, ProbabilityEstimate, QuantileEstimate, TailEstimate};
use crate::spec::segment::Segment;

/// A target against another policy: differences, target minus baseline.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Comparison {
    /// The target.
    pub policy: String,
    /// What it is compared with.
    pub baseline: String,
    /// Whether intervals account for both policies being judged by the same rows.
    pub paired: bool,
    /// Difference of means.
    pub mean: Interval,
    /// Differences of CVaR.
    pub cvar: Vec<TailEstimate>,
    /// Differences of quantiles.
    pub quantiles: Vec<QuantileEstimate>,
    /// Differences of the probability of rewards that are at least so large.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub probabilities: Vec<ProbabilityEstimate>,
    /// The same differences with intervals that hold for all of these levels at once: for pictures, not for JSON.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub quantile_band: Vec<QuantileEstimate>,
    /// Whether one is shown to dominate; none where it cannot be told.
    pub dominance: Option<Dominance>,
}

/// First-order stochastic dominance: whose CDF is shown to lie below the other's wherever either is between 5% and 95%, and
/// nowhere shown to lie above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Dominance {
    /// The policy's rewards are larger everywhere.
    Policy,
    /// The baseline's are.
    Baseline,
    /// Neither is shown.
    None,
}

/// The largest difference between two segments under one policy.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Disparity {
    /// The policy.
    pub policy: String,
    /// `mean` or `cvar`.
    pub metric: &'static str,
    /// The tail, for CVaR.
    pub alpha: Option<f64>,
    /// The segment with the lowest value.
    pub low: Segment,
    /// The segment with the highest value.
    pub high: Segment,
    /// The difference.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub interval: Interval,
}
