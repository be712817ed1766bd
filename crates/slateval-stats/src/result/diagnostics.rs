//! What the estimates of a policy rest on.
//! See docs/methods.md, sections 8.18 and 9.

use crate::result::check::{Check, Status};

/// What a policy's estimates rest on.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Diagnostics {
    /// `(sum G)^2 / sum G^2`: flattering at high orders, where the rare large weights have not been seen yet.
    pub ess: Option<f64>,
    /// `n / E[G^2]`, from the policies rather than from the weights that happened.
    pub design_ess: Option<f64>,
    /// Where the second moment in `design_ess` comes from.
    pub design_ess_from: DesignSource,
    /// Mean weight; 1 in expectation.
    pub weight_mean: f64,
    /// Smallest weight. Weights below 0 are normal for every structure but product.
    pub weight_min: f64,
    /// Largest weight.
    pub weight_max: f64,
    /// Share of rows with a weight below 0.
    pub negative_share: f64,
    /// `max |G| / sum |G|`: how much hangs on one row.
    pub max_share: Option<f64>,
    /// How many rows have which weight; none for the logging policy, whose rows weigh 1.
    pub weight_histogram: Option<WeightHistogram>,
    /// What was checked, and what to do about it.
    pub checks: Vec<Check>,
}

/// Where a design effective sample size comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum DesignSource {
    /// `chi`, known from whole policies.
    Chi,
    /// The slot ratios of the logged actions.
    Ratios,
}

/// How many rows have which weight.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct WeightHistogram {
    /// Ascending, one more than there are counts; weights below 0 are normal for every structure but product.
    pub edges: Vec<f64>,
    /// Rows from one edge to the next.
    pub counts: Vec<u64>,
}

impl Diagnostics {
    /// The check `ess` warns if the log is worth fewer rows of the target's own than this: `design_ess`, divided by the
    /// design effect of clusters. With fewer, intervals hold less often than they say.
    pub const ENOUGH_ROWS: f64 = 100.0;

    /// The checks that leave no number of the policy to be relied on ([`Check::spoils`]). Its intervals are
    /// [`refuted`](crate::Interval::refuted).
    pub fn spoiled(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.spoils())
    }

    /// The worst outcome of any check.
    pub fn worst_status(&self) -> Status {
        self.checks.iter().map(|check| check.status).max().unwrap_or(Status::Ok)
    }
}
