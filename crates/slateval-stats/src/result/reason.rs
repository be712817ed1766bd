//! Why an interval is missing, or what stands against it.
//! See docs/methods.md, section 6.19.

use std::fmt;

use crate::result::check::CheckName;
use crate::result::words::{Advice, PlainWords, Words};
use crate::spec::structure::Structure;

/// Why an interval is missing, or what stands against it.
///
/// `Display` says it in a plain clause; [`in_words`](Reason::in_words) says it in a front end's own words.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
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

impl Reason {
    /// The reason as a clause, with advice in a front end's words.
    pub fn in_words(&self, words: &impl Words) -> String {
        match self {
            Reason::OneRow => "one row tells nothing of how rows vary".to_owned(),
            Reason::VarianceOfOneRow => "one row has no variance".to_owned(),
            Reason::FewClusters { groups, needed } => {
                format!("rows are in only {groups} groups of clusters, and {needed} are needed")
            }
            Reason::SwitchedOff => "intervals are switched off".to_owned(),
            Reason::EqualRewards => "all rewards are alike: nothing is known of how they vary".to_owned(),
            Reason::NotCorrected => "the weights could not be corrected".to_owned(),
            Reason::FewRows { rows, needed } => format!(
                "the log is worth only {rows:.1} rows of the target's own, and {needed} are needed for an interval"
            ),
            Reason::ThinTail { rows, needed } => {
                format!("the tail rests on {rows:.1} effective rows, and {needed} are needed for an interval")
            }
            Reason::CoarseBin { reward, share } => {
                let what = reward.map_or("it".to_owned(), |reward| reward.to_string());
                let (share, advice) = (100.0 * share, words.advice(Advice::LogBins));
                format!("{what} lies in a bin that holds {share:.0}% of the distribution: {advice}")
            }
            Reason::HeavyTail { of, index, needed } => format!(
                "rewards have so heavy a tail (index {index:.2}, and {needed:.2} is needed) that a few rows not yet seen \
                 may decide the {of}"
            ),
            Reason::NoVariance { structure } => {
                let with = structure.as_ref().map_or(String::new(), |s| format!(" with structure {s}"));
                format!("the variance came out at or below 0{with}")
            }
            Reason::GuaranteeOfOnePolicy => "a guaranteed band is of one policy".to_owned(),
            Reason::GuaranteeNeedsRewardBounds => "a guaranteed interval would need bounds of the reward".to_owned(),
            Reason::BandTooWide => "the band does not reach the level on one side or both".to_owned(),
            Reason::Untested { .. } => format!("it holds if {}", self.condition().unwrap_or_default()),
            Reason::Refuted { effects } => format!("the log contradicts this structure: {effects} show in it"),
            Reason::CheckNotPassed { check, policy, in_whole_log } => {
                let place = if *in_whole_log { " in the whole log" } else { "" };
                // A name comes from the user's data: line feeds and escape sequences are shown, not obeyed.
                format!("the check `{check}` of `{}` did not pass{place}", policy.escape_debug())
            }
            Reason::Contradicted { order, effects, way_out } => contradiction(*order, *effects, *way_out, words),
            Reason::NoEstimateOfOne => "one of the two has no estimate".to_owned(),
            Reason::NoIntervalOfOne => "one of the two has no interval".to_owned(),
            Reason::NotEvaluated => "the policy was not evaluated".to_owned(),
        }
    }

    /// What has to be true for a conditional interval to hold, and why that is not known: what follows `holds if`. None for
    /// other reasons.
    pub fn condition(&self) -> Option<String> {
        let Reason::Untested { order, why } = self else { return None };
        let structure = match order {
            1 => "slots do not interact".to_owned(),
            _ => format!("no more than {order} slots interact"),
        };
        let why = match why {
            Untested::JointSlots => "for a target whose slots depend on each other, this cannot be tested".to_owned(),
            Untested::Thin { order, rows, needed } => {
                format!("this log is too thin to tell (worth {rows:.1} rows at order {order}, and {needed} are needed)")
            }
            Untested::NoTest => "this log is too thin to tell (effects of more slots could not be tested)".to_owned(),
        };
        Some(format!("{structure}: {why}"))
    }
}

fn contradiction(order: usize, effects: Effects, way_out: WayOut, words: &impl Words) -> String {
    match way_out {
        WayOut::None => {
            format!(
                "{effects} show in the log, which a target whose slots depend on each other cannot be corrected for"
            )
        }
        WayOut::Propensities => format!(
            "{effects} show in the log, but its propensities did not pass their check, which makes such effects show where \
             there are none: check them, and whether logging shows all that the target shows"
        ),
        WayOut::Product => {
            let advice = words.advice(Advice::ProductStructure);
            format!("{effects} show in the log: order {order} is likely wrong; {advice}, which assumes nothing")
        }
        WayOut::MoreRows { rows, needed } => format!(
            "{effects} show in the log, which is worth only {rows:.1} rows at that order ({needed} are needed): order \
             {order} is likely wrong"
        ),
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&PlainWords))
    }
}

impl fmt::Display for TailMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TailMetric::Mean => "mean",
            TailMetric::Variance => "variance",
            TailMetric::Tail => "tail",
        })
    }
}

impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "effects of {}{} slots", self.slots, if self.and_above { " or more" } else { "" })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
