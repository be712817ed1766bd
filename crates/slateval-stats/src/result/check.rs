//! What was checked, and how it went.
//! See docs/methods.md, section 8.

use crate::names::names;
use crate::result::finding::Finding;

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Check {
    /// How it went.
    pub status: Status,
    /// The number it was judged by.
    pub value: Option<f64>,
    /// What was found.
    pub finding: Finding,
}

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CheckName {
    /// Whether slot ratios and weights have mean 1.
    Propensities,
    /// Whether the logging policy wrote its propensities down.
    EstimatedPropensities,
    /// Whether chi fits the logged ratios.
    Chi,
    /// Whether the logging policy fills its slots independently.
    Factored,
    /// What is taken for granted of the target's slots.
    TargetSlots,
    /// Whether the log is worth enough rows of the target's own.
    Ess,
    /// Whether the smallest tail rests on enough rows.
    Tail,
    /// Whether one row carries much of the weight.
    Concentration,
    /// Whether single rewards decide the mean or the variance.
    Rewards,
    /// Whether the weight is biased.
    Bias,
    /// Whether the order that was chosen from the data could be tested.
    Order,
    /// Whether the log contradicts a structure that was asked for by name.
    Structure,
    /// Whether there are enough clusters.
    Clusters,
    /// What a guaranteed band rests on.
    Guarantee,
    /// Whether the weights could be corrected as asked for.
    Correction,
    /// Whether the variance came out above 0.
    Variance,
    /// Whether bins are fine enough.
    Bins,
    /// Whether so much of the log was left out that the rest may be biased.
    Skipped,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Status {
    /// As it should be.
    Ok,
    /// Look at it.
    Warn,
    /// What was checked cannot be relied on before it is mended. Often that is one metric or its interval;
    /// [`Diagnostics::spoiled`](crate::Diagnostics::spoiled) lists the checks that leave no number of the policy to be
    /// relied on.
    Fail,
}

impl Check {
    /// A check that went some way. A value that is no finite number is left out.
    pub fn new(status: Status, value: Option<f64>, finding: Finding) -> Self {
        let value = value.filter(|value| value.is_finite());
        Check { status, value, finding }
    }

    /// Whether it leaves no number of the policy to be relied on, whatever the intervals say: failed checks of propensities,
    /// the order, the structure, concentration, the correction and skipped rows; and estimated propensities, slots that are not independent
    /// or a biased weight, even if these only warn.
    pub fn spoils(&self) -> bool {
        match self.name() {
            CheckName::Propensities
            | CheckName::Order
            | CheckName::Structure
            | CheckName::Concentration
            | CheckName::Correction
            | CheckName::Skipped => self.status == Status::Fail,
            CheckName::EstimatedPropensities | CheckName::Factored | CheckName::Bias => self.status != Status::Ok,
            _ => false,
        }
    }

    /// What was checked.
    pub fn name(&self) -> CheckName {
        self.finding.name()
    }
}

names!(CheckName {
    Propensities: "propensities",
    EstimatedPropensities: "estimated-propensities",
    Chi: "chi",
    Factored: "factored",
    TargetSlots: "target-slots",
    Ess: "ess",
    Tail: "tail",
    Concentration: "concentration",
    Rewards: "rewards",
    Bias: "bias",
    Order: "order",
    Structure: "structure",
    Clusters: "clusters",
    Guarantee: "guarantee",
    Correction: "correction",
    Variance: "variance",
    Bins: "bins",
    Skipped: "skipped",
});

impl Status {
    /// Warns above one limit and fails above another.
    pub(crate) fn above(value: f64, warn: f64, fail: f64) -> Self {
        if value > fail {
            Status::Fail
        } else if value > warn {
            Status::Warn
        } else {
            Status::Ok
        }
    }

    /// Warns below one limit and fails below another.
    pub(crate) fn below(value: f64, warn: f64, fail: f64) -> Self {
        Status::above(-value, -warn, -fail)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Check {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut check = serializer.serialize_struct("Check", 3)?;
        check.serialize_field("name", self.name().as_str())?;
        check.serialize_field("status", &self.status)?;
        check.serialize_field("value", &self.value)?;
        check.end()
    }
}
