//! What the facts of a log suggest.

use std::fmt;

use slateval::shown;

use super::AlikeRows;

/// A sign that columns hold something else than they should.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Suspicion {
    /// Each slot of a slate has the same propensity.
    WholeSlatePropensities,
    /// The target's propensities are those of the policy that wrote the log.
    Exchanged {
        /// The target.
        target: String,
    },
    /// Each slot of a slate has the same reward, in long format.
    RepeatedRewards,
    /// More rows are alike than chance gives.
    AlikeRows(AlikeRows),
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Suspicion::WholeSlatePropensities => f.write_str(
                "the logging propensities are the same in all slots of every slate: these look like propensities of the \
                 whole slate. Give each slot's own propensity",
            ),
            Suspicion::Exchanged { target } => write!(
                f,
                "logging and target `{target}` look exchanged: the mean of logging / target is 1, as that of target / \
                 logging should be. Give the propensities of the policy that wrote the log as logging",
                target = shown(target)
            ),
            Suspicion::RepeatedRewards => f.write_str(
                "all slots of each slate have the same reward: is it the slate's reward, repeated on each slot? The rewards \
                 of a slate's slots are summed. Give such a reward in one row of its slate, and 0 in the others",
            ),
            Suspicion::AlikeRows(AlikeRows { rows, .. }) => write!(
                f,
                "about {rows} rows are like an earlier row in all columns that are read, far more than chance gives: was a \
                 part of the log written twice? Remove the copies, or every interval is too narrow",
            ),
        }
    }
}
