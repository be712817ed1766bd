//! Where the logging propensities come from.

use crate::names::setting;

/// Where the logging propensities come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum PropensitySource {
    /// The logging policy wrote them down.
    #[default]
    Known,
    /// They were estimated from the log itself. All numbers take them as known, and a check says so.
    Estimated,
}

impl PropensitySource {
    /// Whether the logging policy wrote them down. What is written only where it is not so asks this.
    pub fn is_known(&self) -> bool {
        *self == PropensitySource::Known
    }
}

setting!(PropensitySource, "propensities", "must be known or estimated", { Known: "known", Estimated: "estimated" });
