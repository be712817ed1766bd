//! Estimates with their intervals, and CDFs with their bands.

use crate::result::reason::Reason;
use crate::result::refutation::Refutation;

/// An estimate with its interval.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Interval {
    /// The estimate; none if there is no sensible one.
    pub estimate: Option<f64>,
    /// Lower end of the interval.
    pub lower: Option<f64>,
    /// Upper end of the interval.
    pub upper: Option<f64>,
    /// The standard error, at the order that the interval is taken at: of the influence function for means, variances,
    /// standard deviations and their differences; of the CDF for a probability; what that makes of a quantile (Woodruff);
    /// the standard deviation of the draws for tails' means, interquartile ranges and differences of what is read off
    /// CDFs. None without an interval, and with guaranteed bands.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub se: Option<f64>,
    /// The narrower interval that holds if the order chosen from the data is right; none where no order was chosen.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub if_order_holds: Option<Bounds>,
    /// Whether there is an interval only under a structure that the log is too thin to test: then `lower` and `upper` are
    /// none, and [`if_order_holds`](Self::if_order_holds) has it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::result::interval::is_false"))]
    pub conditional: bool,
    /// What stands against the interval, where nothing may be claimed from it: the structure that was asked for by name and
    /// that the log contradicts, or a check of [`Diagnostics::spoiled`](crate::Diagnostics::spoiled). A refuted interval is
    /// never conditional.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub refuted: Option<Refutation>,
    /// Why something is missing, or what stands against it. JSON of this crate has no sentences, and leaves it out.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub reason: Option<Reason>,
}

#[cfg(feature = "serde")]
pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

/// The two ends of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bounds {
    /// Lower end.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
}

/// A quantile.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct QuantileEstimate {
    /// Its level.
    pub level: f64,
    /// The estimate.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub interval: Interval,
}

/// VaR or CVaR at one tail probability.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct TailEstimate {
    /// The tail's probability.
    pub alpha: f64,
    /// The estimate.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub interval: Interval,
}

/// The probability of a reward that is at least so large.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct ProbabilityEstimate {
    /// The reward, which counts itself.
    pub at_least: f64,
    /// The estimate.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub interval: Interval,
}

/// The CDF at the largest reward of each bin: `F(v)` counts rewards `<= v`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Cdf {
    /// Where.
    pub reward: Vec<f64>,
    /// As estimated: it may fall or leave [0, 1].
    pub raw: Vec<f64>,
    /// Made a CDF by rearrangement.
    pub estimate: Vec<f64>,
    /// Lower end of the band.
    pub lower: Vec<Option<f64>>,
    /// Upper end of the band.
    pub upper: Vec<Option<f64>>,
    /// Half the width of a band of constant width, before it is clipped to [0, 1].
    pub half_width: Option<f64>,
    /// The narrower band that holds if the order chosen from the data is right.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub if_order_holds: Option<CdfBand>,
    /// As for an [`Interval`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::result::interval::is_false"))]
    pub conditional: bool,
    /// As for an [`Interval`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub refuted: Option<Refutation>,
    /// Why there is no band, or what stands against it. Not in this crate's JSON either.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub reason: Option<Reason>,
}

/// A band around a CDF.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CdfBand {
    /// Its lower end.
    pub lower: Vec<Option<f64>>,
    /// Its upper end.
    pub upper: Vec<Option<f64>>,
}

impl Interval {
    /// A number without error.
    pub(crate) fn exact(estimate: f64) -> Self {
        let estimate = Some(estimate);
        Interval { estimate, lower: estimate, upper: estimate, se: Some(0.0), ..Interval::default() }
    }

    pub(crate) fn missing(reason: Reason) -> Self {
        Interval { reason: Some(reason), ..Interval::default() }
    }
}
