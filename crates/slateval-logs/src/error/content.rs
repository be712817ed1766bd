//! What a column holds, and the setting that names it.

use std::fmt;

use slateval::shown;

/// What a column that is not there should hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnContent {
    /// The reward of each slate.
    Rewards,
    /// The logging policy's propensities.
    Logging,
    /// A target's propensities.
    Target(
        /// The target.
        String,
    ),
    /// A target's chi.
    Chi(
        /// The target.
        String,
    ),
    /// A target's probabilities anywhere in the slate.
    Anywhere(
        /// The target.
        String,
    ),
    /// A target's ready-made weights.
    Weights(
        /// The target.
        String,
    ),
    /// The number of candidates of each slate.
    Pool,
    /// The slate of each row of a log in long format.
    Slates,
    /// The position of each row of a log in long format.
    Positions,
    /// What slates are segmented by.
    Segments,
    /// What slates are clustered by.
    Clusters,
}

impl ColumnContent {
    /// The setting that names the column, and how its value is written; none where the name is fixed.
    pub fn setting(&self) -> Option<(&'static str, String)> {
        let column = || "COLUMN".to_owned();
        // A target without a name of its own is called so.
        let of = |target: &str| if target == "target" { column() } else { format!("{}=COLUMN", shown(target)) };
        Some(match self {
            ColumnContent::Rewards => ("reward", column()),
            ColumnContent::Logging => ("logging", column()),
            ColumnContent::Target(target) => ("target", of(target)),
            ColumnContent::Chi(target) => ("chi", of(target)),
            ColumnContent::Anywhere(target) => ("anywhere", of(target)),
            ColumnContent::Weights(target) => ("weight", of(target)),
            ColumnContent::Pool => ("structure", "ranking:COLUMN".to_owned()),
            ColumnContent::Slates => ("slate", column()),
            ColumnContent::Positions => return None,
            ColumnContent::Segments => ("by", column()),
            ColumnContent::Clusters => ("cluster", column()),
        })
    }

    /// Whether there is one number for each slot.
    pub(crate) fn is_of_slots(&self) -> bool {
        matches!(
            self,
            ColumnContent::Logging | ColumnContent::Target(_) | ColumnContent::Chi(_) | ColumnContent::Anywhere(_)
        )
    }
}

impl fmt::Display for ColumnContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnContent::Rewards => write!(f, "the rewards"),
            ColumnContent::Logging => write!(f, "the logging propensities"),
            ColumnContent::Target(target) => write!(f, "the propensities of policy `{target}`"),
            ColumnContent::Chi(target) => write!(f, "chi of policy `{target}`"),
            ColumnContent::Anywhere(target) => {
                write!(f, "the probabilities anywhere in the slate of policy `{target}`")
            }
            ColumnContent::Weights(target) => write!(f, "the slate weights of policy `{target}`"),
            ColumnContent::Pool => write!(f, "the number of candidates of each slate"),
            ColumnContent::Slates => write!(f, "the slates of a log with one row per slot"),
            ColumnContent::Positions => write!(f, "the positions of a slate's slots"),
            ColumnContent::Segments => write!(f, "the segments"),
            ColumnContent::Clusters => write!(f, "the clusters"),
        }
    }
}
