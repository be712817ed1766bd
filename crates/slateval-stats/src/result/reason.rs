//! Why an interval is missing, or what stands against it.
//! See docs/methods.md, section 6.19.

use crate::result::check::CheckName;
use crate::spec::structure::Structure;

/// Why an interval is missing, or what stands against it.
///
/// `slateval-text` puts it into words.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// One row tells nothing of how rows vary.
    OneRow,
    /// One row has no variance.
    VarianceOfOneRow,
    /// Clusters fall into too few groups to tell how they vary.
    FewClusters {
        /// The groups that hold clusters.
        groups: usize,
        /// The fewest that intervals are given for.
        needed: usize,
    },
    /// The settings ask for no intervals.
    SwitchedOff,
    /// All logged rewards are equal.
    EqualRewards,
    /// The correction asked for was impossible.
    NotCorrected,
    /// The log is worth too few rows of the target's own.
    FewRows {
        /// The rows that it is worth.
        rows: f64,
        /// The fewest that intervals are given for.
        needed: f64,
    },
    /// The tail of the distribution rests on too few effective rows.
    ThinTail {
        /// The effective rows in the tail.
        rows: f64,
        /// The fewest that intervals are given for.
        needed: f64,
    },
    /// The value lies in a bin that holds much of the distribution.
    CoarseBin {
        /// The reward that was asked for; none if it was asked for by its level.
        reward: Option<f64>,
        /// The share of the bin in the distribution.
        share: f64,
    },
    /// The rewards' tail is so heavy that a few rows not yet seen may decide the value.
    HeavyTail {
        /// The value.
        of: TailMetric,
        /// The tail's index.
        index: f64,
        /// The smallest index that intervals are given for.
        needed: f64,
    },
    /// The variance came out at or below 0.
    NoVariance {
        /// The structure that it was estimated with; none for the logging policy, and where no estimate is given either.
        structure: Option<Structure>,
    },
    /// A guaranteed band is of one policy: it says nothing of how two compare.
    GuaranteeOfOnePolicy,
    /// A guaranteed interval of this metric would need bounds of the reward.
    GuaranteeNeedsRewardBounds,
    /// The band does not reach the level on one side or both.
    BandTooWide,
    /// The interval holds if an order does that the log could not test.
    Untested {
        /// The order: at most this many slots are taken to interact.
        order: usize,
        /// Why the log could not test it.
        why: Untested,
    },
    /// The log contradicts the structure that was asked for by name.
    Refuted {
        /// What shows in the log and the structure leaves out.
        effects: Effects,
    },
    /// A check leaves no number of a policy to be relied on.
    CheckNotPassed {
        /// The check.
        check: CheckName,
        /// The policy.
        policy: String,
        /// Whether it is a check of the whole log, for an interval of one of its segments.
        in_whole_log: bool,
    },
    /// The log contradicts every order that it can carry.
    Contradicted {
        /// The highest order that it can carry.
        order: usize,
        /// What shows in the log beyond that order.
        effects: Effects,
        /// Why weights of a higher order are no way out.
        way_out: WayOut,
    },
    /// One of two segments has no estimate.
    NoEstimateOfOne,
    /// One of two segments has no interval.
    NoIntervalOfOne,
    /// The policy was not evaluated.
    NotEvaluated,
}

/// What a heavy tail may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailMetric {
    /// The mean.
    Mean,
    /// The variance and the standard deviation.
    Variance,
    /// The mean of a tail.
    Tail,
}

/// Why the log could not test whether more slots interact than an order allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Untested {
    /// The target's slots depend on each other.
    JointSlots,
    /// The log is worth too few rows at the next order.
    Thin {
        /// The next order.
        order: usize,
        /// The rows that the log is worth there.
        rows: f64,
        /// The fewest that would do.
        needed: f64,
    },
    /// Effects of more slots could not be tested.
    NoTest,
}

/// Effects of some number of slots on the reward, beyond those of fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effects {
    /// How many slots.
    pub slots: usize,
    /// Whether effects of more slots are meant as well.
    pub and_above: bool,
}

/// What is left to do where the log contradicts every order that it can carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WayOut {
    /// Nothing: targets whose slots depend on each other have no weights of higher orders.
    None,
    /// Other propensities, or a target that the log supports: they did not pass their check, and what they spoil is no sign of
    /// a structure.
    Propensities,
    /// A structure that assumes nothing.
    Product,
    /// More rows: the log is worth too few at the order that shows.
    MoreRows {
        /// The rows that it is worth.
        rows: f64,
        /// The fewest that would do.
        needed: f64,
    },
}
