//! What a summary's rows were read past: counted by reason, the first ones named.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::answer::skipped::{SkipReason, Skipped, SkippedExample};

/// Examples that are kept, of all reasons together.
pub(crate) const EXAMPLES: usize = 20;

/// Rows and files that were left out of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SkippedParts {
    counts: BTreeMap<SkipReason, Count>,
    /// The first ones, in the order of the log.
    examples: Vec<(SkipReason, SkippedExample)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Count {
    rows: u64,
    files: u64,
}

impl SkippedParts {
    /// Takes in what was left out behind all that is known so far.
    pub(crate) fn add(&mut self, more: Skipped) {
        let count = self.counts.entry(more.reason).or_default();
        count.rows = count.rows.saturating_add(more.rows);
        count.files = count.files.saturating_add(more.files);
        let room = EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(more.examples.into_iter().take(room).map(|example| (more.reason, example)));
    }

    pub(crate) fn merge(&mut self, other: &SkippedParts) {
        for (&reason, more) in &other.counts {
            self.add(Skipped { reason, rows: more.rows, files: more.files, examples: Vec::new() });
        }
        let room = EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(other.examples.iter().take(room).cloned());
    }

    /// By reason.
    pub(crate) fn list(&self) -> Vec<Skipped> {
        let of = |(&reason, count): (&SkipReason, &Count)| {
            let own = self.examples.iter().filter(|(why, _)| *why == reason);
            let examples = own.map(|(_, example)| example.clone()).collect();
            Skipped { reason, rows: count.rows, files: count.files, examples }
        };
        self.counts.iter().map(of).collect()
    }
}

/// The same in a summary's header. Examples of all reasons stand in one list, in the order of the log.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SkippedHeader {
    counts: Vec<CountHeader>,
    examples: Vec<ExampleHeader>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CountHeader {
    reason: String,
    rows: u64,
    files: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct ExampleHeader {
    reason: String,
    file: String,
    row: Option<u64>,
    column: Option<String>,
    value: Option<String>,
}

impl SkippedHeader {
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(crate) fn new(skipped: &SkippedParts) -> Self {
        let count = |(reason, count): (&SkipReason, &Count)| CountHeader {
            reason: reason.as_str().into(),
            rows: count.rows,
            files: count.files,
        };
        let example = |(reason, example): &(SkipReason, SkippedExample)| {
            let SkippedExample { file, row, column, value } = example.clone();
            ExampleHeader { reason: reason.as_str().into(), file, row, column, value }
        };
        SkippedHeader {
            counts: skipped.counts.iter().map(count).collect(),
            examples: skipped.examples.iter().map(example).collect(),
        }
    }

    /// What it says; `None` if a reason is not known.
    pub(crate) fn into_parts(self) -> Option<SkippedParts> {
        let mut parts = SkippedParts::default();
        for CountHeader { reason, rows, files } in self.counts {
            parts.add(Skipped { reason: SkipReason::of_name(&reason)?, rows, files, examples: Vec::new() });
        }
        for ExampleHeader { reason, file, row, column, value } in self.examples.into_iter().take(EXAMPLES) {
            parts.examples.push((SkipReason::of_name(&reason)?, SkippedExample { file, row, column, value }));
        }
        Some(parts)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn part(reason: SkipReason, rows: std::ops::Range<u64>) -> Skipped {
        let example =
            |row| SkippedExample { file: "a.csv".into(), row: Some(row), column: None, value: Some("x".into()) };
        Skipped { reason, rows: rows.end - rows.start, files: 0, examples: rows.map(example).collect() }
    }

    #[test]
    fn counts_add_up_and_the_first_examples_stay() {
        let mut parts = SkippedParts::default();
        parts.add(part(SkipReason::Missing, 0..15));
        let mut more = SkippedParts::default();
        more.add(part(SkipReason::OutOfRange, 100..110));
        more.add(part(SkipReason::Missing, 110..140));
        parts.merge(&more);
        let list = parts.list();
        assert_eq!(
            list.iter().map(|s| (s.reason, s.rows)).collect::<Vec<_>>(),
            [(SkipReason::Missing, 45), (SkipReason::OutOfRange, 10)]
        );
        assert_eq!(list.iter().map(|s| s.examples.len()).collect::<Vec<_>>(), [15, 5]);
        let json = serde_json::to_string(&SkippedHeader::new(&parts)).unwrap();
        let again: SkippedHeader = serde_json::from_str(&json).unwrap();
        assert_eq!(again.into_parts().unwrap(), parts);
    }
}
