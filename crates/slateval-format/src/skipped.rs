//! What a summary's rows were read past: counted by reason, the first ones named.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slateval_stats::{SkipReason, Skipped, SkippedExample, redacted, redacted_text};

/// Examples that are kept, of all reasons together.
pub(crate) const EXAMPLES: usize = 20;

/// Rows and files that were left out of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SkippedParts {
    counts: BTreeMap<SkipReason, Count>,
    /// The first ones, in the order of the log.
    examples: Vec<(SkipReason, SkippedExample)>,
    /// Files that were left out as a whole, by name, with what each of them added to the counts.
    files: BTreeMap<String, Count>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Count {
    rows: u64,
    files: u64,
}

impl Count {
    fn add(&mut self, more: Count) {
        self.rows = self.rows.saturating_add(more.rows);
        self.files = self.files.saturating_add(more.files);
    }
}

impl SkippedParts {
    /// Takes in what was left out behind all that is known so far.
    pub(crate) fn add(&mut self, more: Skipped) {
        self.counts.entry(more.reason).or_default().add(Count { rows: more.rows, files: more.files });
        if let (SkipReason::UnreadableFile, 1, [file]) = (more.reason, more.files, &more.examples[..]) {
            self.files.entry(file.file.clone()).or_default().add(Count { rows: more.rows, files: 1 });
        }
        let room = EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(more.examples.into_iter().take(room).map(|example| (more.reason, example)));
    }

    pub(crate) fn merge(&mut self, other: &SkippedParts) {
        for (&reason, more) in &other.counts {
            self.add(Skipped { reason, rows: more.rows, files: more.files, examples: Vec::new() });
        }
        let room = EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(other.examples.iter().take(room).cloned());
        for (name, more) in &other.files {
            self.files.entry(name.clone()).or_default().add(*more);
        }
    }

    /// Names of the files that were left out as a whole.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Takes back what was said of a file that was left out as a whole.
    pub(crate) fn forget_file(&mut self, name: &str) {
        let Some(gone) = self.files.remove(name) else { return };
        self.examples.retain(|(reason, example)| *reason != SkipReason::UnreadableFile || example.file != name);
        if let Some(count) = self.counts.get_mut(&SkipReason::UnreadableFile) {
            count.rows = count.rows.saturating_sub(gone.rows);
            count.files = count.files.saturating_sub(gone.files);
            if *count == Count::default() {
                self.counts.remove(&SkipReason::UnreadableFile);
            }
        }
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileHeader>,
}

/// A file that was left out as a whole.
#[derive(Debug, Serialize, Deserialize)]
struct FileHeader {
    name: String,
    rows: u64,
    files: u64,
}

/// No log has more rows or files: sums of such numbers stay far from overflowing.
const MOST: u64 = 1 << 53;

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
        let file =
            |(name, count): (&String, &Count)| FileHeader { name: name.clone(), rows: count.rows, files: count.files };
        SkippedHeader {
            counts: skipped.counts.iter().map(count).collect(),
            examples: skipped.examples.iter().map(example).collect(),
            files: skipped.files.iter().map(file).collect(),
        }
    }

    /// What it says; `None` if a reason is not known, or if more was left out than any log has.
    pub(crate) fn into_parts(self) -> Option<SkippedParts> {
        let of_files = self.files.iter().flat_map(|file| [file.rows, file.files]);
        let mut numbers = self.counts.iter().flat_map(|count| [count.rows, count.files]).chain(of_files);
        if numbers.any(|number| number > MOST) {
            return None;
        }
        let mut parts = SkippedParts::default();
        for CountHeader { reason, rows, files } in self.counts {
            parts.add(Skipped { reason: SkipReason::of_name(&reason)?, rows, files, examples: Vec::new() });
        }
        for ExampleHeader { reason, file, row, column, value } in self.examples.into_iter().take(EXAMPLES) {
            // Summaries of before may have secrets in names and messages.
            let (file, value) = (redacted(&file).into_owned(), value.map(|text| redacted_text(&text).into_owned()));
            let example = SkippedExample { file, row, column, value };
            parts.examples.push((SkipReason::of_name(&reason)?, example));
        }
        for FileHeader { name, rows, files } in self.files {
            parts.files.entry(redacted(&name).into_owned()).or_default().add(Count { rows, files });
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

    #[test]
    fn files_left_out_can_be_taken_back() {
        let file = |name: &str, rows| {
            let example = SkippedExample { file: name.into(), row: None, column: None, value: Some("torn".into()) };
            Skipped { reason: SkipReason::UnreadableFile, rows, files: 1, examples: vec![example] }
        };
        let mut parts = SkippedParts::default();
        parts.add(part(SkipReason::Missing, 0..2));
        let before = parts.clone();
        let names: Vec<String> = (0..30).map(|i| format!("{i}.parquet")).collect();
        names.iter().for_each(|name| parts.add(file(name, 10)));
        let json = serde_json::to_string(&SkippedHeader::new(&parts)).unwrap();
        let mut again = serde_json::from_str::<SkippedHeader>(&json).unwrap().into_parts().unwrap();
        assert_eq!(again, parts);
        assert_eq!(again.files().count(), 30, "also those that are no examples");
        again.forget_file("7.parquet");
        assert_eq!(again.list()[1].rows, 290);
        names.iter().for_each(|name| again.forget_file(name));
        assert_eq!(again, before);
    }
}
