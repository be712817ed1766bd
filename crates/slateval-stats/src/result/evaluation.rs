//! What an evaluation says: plain values, as they go into JSON.

use crate::result::check::Status;
use crate::result::comparison::{Comparison, Disparity};
use crate::result::diagnostics::Diagnostics;
use crate::result::ignored::IgnoredFile;
use crate::result::interval::{Cdf, Interval, ProbabilityEstimate, QuantileEstimate, TailEstimate};
use crate::result::selection::Selection;
use crate::result::skipped::Skipped;
use crate::spec::correction::Correction;
use crate::spec::segment::Segment;
use crate::spec::structure::Structure;

/// Everything a log says about its target policies.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Evaluation {
    /// The log itself.
    pub log: LogFacts,
    /// The policy that wrote the log, then the targets as given.
    pub policies: Vec<PolicyEvaluation>,
    /// Each target against the logging policy, then against the baseline, if there is one.
    pub comparisons: Vec<Comparison>,
    /// The same for each segment, ascending.
    pub segments: Vec<SegmentEvaluation>,
    /// How far apart segments are.
    pub disparities: Vec<Disparity>,
}

/// What is known of the log.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct LogFacts {
    /// Number of slates.
    pub rows: u64,
    /// Number of slots of the longest slate; none where slots play no role.
    pub slots: Option<usize>,
    /// The logged rewards.
    pub reward: RewardFacts,
    /// What was left out of the log, by reason.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub skipped: Vec<Skipped>,
    /// Files that were found in a directory and left out, because they are no logs that can be read: the first 1,000 in
    /// the order of names.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub ignored: Vec<IgnoredFile>,
    /// How many such files there are.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub ignored_files: u64,
    /// The files that rows came from, by name, as far as the summary was told.
    pub inputs: Vec<InputFacts>,
}

/// Where the rows of some sums came from, and what was left out of the log: an evaluation passes it on, and judges by the
/// check `skipped` whether what was left out may bias the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// What was left out of the log, by reason.
    pub skipped: Vec<Skipped>,
    /// Files that were found in a directory and left out, because they are no logs that can be read.
    pub ignored: Vec<IgnoredFile>,
    /// How many such files there are.
    pub ignored_files: u64,
    /// The files that rows came from, by name.
    pub inputs: Vec<InputFacts>,
}

/// What is known of a file that rows came from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct InputFacts {
    /// What it was called when it was read.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// The rows that came from it.
    pub rows: u64,
}

/// What is known of the logged rewards.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct RewardFacts {
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// How many different ones, while they are told apart.
    pub distinct: Option<usize>,
}

/// One policy's reward distribution.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct PolicyEvaluation {
    /// Its name.
    pub name: String,
    /// The structure used; none for the logging policy, as for the correction.
    pub structure: Option<Structure>,
    /// The correction used.
    pub correction: Option<Correction>,
    /// How the structure was chosen, where it was.
    pub selection: Option<Selection>,
    /// The mean reward.
    pub mean: Interval,
    /// Its variance.
    pub variance: Interval,
    /// Its standard deviation.
    pub std: Interval,
    /// Its interquartile range.
    pub iqr: Interval,
    /// Quantiles.
    pub quantiles: Vec<QuantileEstimate>,
    /// Values at risk.
    pub var: Vec<TailEstimate>,
    /// Conditional values at risk: means of the tails.
    pub cvar: Vec<TailEstimate>,
    /// Probabilities of rewards that are at least so large: those asked for, or those of few distinct rewards.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub probabilities: Vec<ProbabilityEstimate>,
    /// The whole distribution.
    pub cdf: Cdf,
    /// What it rests on.
    pub diagnostics: Diagnostics,
}

/// One segment of the log.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct SegmentEvaluation {
    /// The column it was cut by.
    pub column: String,
    /// Its value.
    pub value: Segment,
    /// Number of slates.
    pub rows: u64,
    /// As for the whole log.
    pub policies: Vec<PolicyEvaluation>,
    /// As for the whole log.
    pub comparisons: Vec<Comparison>,
}

impl Evaluation {
    /// With at most so many distinct rewards, the probability of each is reported if none was asked for.
    pub const FEW_REWARDS: usize = 8;

    /// One policy of the whole log.
    pub fn policy(&self, name: &str) -> Option<&PolicyEvaluation> {
        self.policies.iter().find(|p| p.name == name)
    }

    /// The worst outcome of any check, segments included.
    pub fn worst_status(&self) -> Status {
        let segments = self.segments.iter().flat_map(|s| &s.policies);
        self.policies.iter().chain(segments).map(|p| p.diagnostics.worst_status()).max().unwrap_or(Status::Ok)
    }
}

#[cfg(feature = "serde")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
