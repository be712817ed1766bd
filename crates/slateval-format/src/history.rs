//! How a summary came about.

use std::collections::BTreeSet;

use slateval_stats::Day;

/// How a summary came about, as far as anybody said: it changes no number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// The days that rows are of.
    pub days: BTreeSet<Day>,
    /// The commands that added rows, in their order.
    pub commands: Vec<String>,
    /// The words that say how a log is read for this summary, so that the next log is read likewise.
    pub reading: Vec<String>,
}

impl History {
    /// Whether nobody said anything.
    pub fn is_empty(&self) -> bool {
        self == &History::default()
    }

    /// Takes in that of another summary. Logs go on being read as they were here.
    pub(crate) fn merge(&mut self, other: &History) {
        self.days.extend(&other.days);
        self.commands.extend(other.commands.iter().cloned());
        if self.reading.is_empty() {
            self.reading.clone_from(&other.reading);
        }
    }
}
