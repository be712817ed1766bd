//! What a summary was made from, so that no file is counted twice.
//! See docs/methods.md, section 3.8.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use slateval_stats::{Day, Error, InputFacts, Result, redacted};

/// A file, or some row groups of one, whose rows a summary has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Input {
    /// What it was called when it was read.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// A number made from what is in it.
    pub fingerprint: u64,
    /// Which of its row groups, if not all of it.
    pub row_groups: Option<Range<usize>>,
    /// The rows that came from it.
    pub rows: u64,
    /// A number made from the rewards that were read: files that are alike where anybody looked differ in them.
    pub digest: u64,
    /// The day that its rows are of, if anybody said.
    pub day: Option<Day>,
    /// In a log of one row per slot: the number of its slates' first slot.
    pub first_position: Option<u8>,
    /// What tells a rewritten file for sure, if somebody looked at all of it.
    pub content: Option<Content>,
}

/// All of a file, told by numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Content {
    /// A number made from all of its bytes.
    pub hash: u64,
    /// When it was last written to, in nanoseconds since 1970; `None` if so shortly before it was read that a later change
    /// may have the same time.
    pub modified: Option<i64>,
}

/// Rows whose rewards are alike in two files only if the files are.
const TELLING_ROWS: u64 = 1000;

impl Input {
    /// Whether some rows are in both, given that size and fingerprint agree: the file is called the same, whatever
    /// directory it is in, and rewards are those of the same rows. Of many rows, the rewards alone tell.
    fn overlaps(&self, other: &Input) -> bool {
        let overlap = match (&self.row_groups, &other.row_groups) {
            (a, b) if a == b => self.digest == other.digest,
            (Some(a), Some(b)) => a.start < b.end && b.start < a.end,
            _ => true,
        };
        let same_rewards = self.row_groups == other.row_groups && self.digest == other.digest;
        overlap && (self.file_name() == other.file_name() || same_rewards && self.rows >= TELLING_ROWS)
    }

    /// Its name without its directory.
    pub fn file_name(&self) -> &str {
        self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name)
    }

    /// Takes in row groups that follow or precede these.
    fn join(&mut self, other: &Input) -> bool {
        let (Some(own), Some(more)) = (&mut self.row_groups, &other.row_groups) else { return false };
        if own.end == more.start {
            own.end = more.end;
        } else if more.end == own.start {
            own.start = more.start;
        } else {
            return false;
        }
        self.rows = self.rows.saturating_add(other.rows);
        self.digest = self.digest.wrapping_add(other.digest);
        true
    }
}

/// All inputs of a summary.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inputs {
    /// Parts of one file, by its size and fingerprint.
    files: BTreeMap<(u64, u64), Vec<Input>>,
}

impl Inputs {
    /// All of them, by name.
    pub(crate) fn all(&self) -> Vec<&Input> {
        let mut all: Vec<&Input> = self.files.values().flatten().collect();
        all.sort_by_key(|input| (&input.name, input.row_groups.as_ref().map_or(0, |groups| groups.start)));
        all
    }

    /// Each file once, by name.
    pub(crate) fn facts(&self) -> Vec<InputFacts> {
        let mut facts: Vec<InputFacts> = Vec::new();
        for part in self.all() {
            match facts.last_mut() {
                // Other groups of rows of the file before.
                Some(last) if part.row_groups.is_some() && (&last.name, last.bytes) == (&part.name, part.bytes) => {
                    last.rows = last.rows.saturating_add(part.rows);
                }
                _ => facts.push(InputFacts { name: part.name.clone(), bytes: part.bytes, rows: part.rows }),
            }
        }
        facts
    }

    /// Refuses an input that is there already.
    pub(crate) fn check(&self, input: &Input) -> Result<()> {
        let known = self.files.get(&(input.bytes, input.fingerprint)).into_iter().flatten();
        // Many empty files are alike.
        match known.into_iter().find(|known| known.rows > 0 && input.rows > 0 && known.overlaps(input)) {
            Some(known) => Err(Error::Duplicate { name: input.name.clone(), known: known.name.clone() }),
            None => Ok(()),
        }
    }

    /// Takes one in, also one without rows: it has been read. Summaries of before may have secrets in names.
    pub(crate) fn add(&mut self, mut input: Input) {
        if let Cow::Owned(name) = redacted(&input.name) {
            input.name = name;
        }
        let parts = self.files.entry((input.bytes, input.fingerprint)).or_default();
        if !parts.iter_mut().any(|part| part.name == input.name && part.join(&input)) {
            parts.push(input);
        }
    }

    /// Says which day the rows of all inputs are of, where nobody said so before.
    pub(crate) fn set_day(&mut self, day: Day) {
        for input in self.files.values_mut().flatten() {
            input.day.get_or_insert(day);
        }
    }

    /// Refuses inputs of which one is here already.
    pub(crate) fn check_all(&self, other: &Inputs) -> Result<()> {
        other.files.values().flatten().try_for_each(|input| self.check(input))
    }

    /// The first file of which it is known what its slots are numbered from.
    fn numbered(&self) -> Option<(&str, u8)> {
        self.all().into_iter().find_map(|input| Some((input.name.as_str(), input.first_position?)))
    }

    /// Refuses inputs whose slots are numbered from something else: a file of second slots alone would pass for whole
    /// slates.
    pub(crate) fn check_positions(&self, other: &Inputs) -> Result<()> {
        match (self.numbered(), other.numbered()) {
            (Some((one, first)), Some((another, second))) if first != second => {
                Err(Error::OtherPositions { one: one.into(), first, other: another.into(), second })
            }
            _ => Ok(()),
        }
    }

    /// Takes in others.
    pub(crate) fn merge(&mut self, other: &Inputs) {
        other.files.values().flatten().for_each(|input| self.add(input.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(groups: Option<Range<usize>>) -> Input {
        Input {
            name: "day.parquet".into(),
            bytes: 100,
            fingerprint: 7,
            row_groups: groups,
            rows: 10,
            digest: 5,
            day: None,
            first_position: None,
            content: None,
        }
    }

    #[test]
    fn parts_of_a_file_are_counted_once() {
        let mut inputs = Inputs::default();
        for groups in [4..6, 0..2, 2..4] {
            inputs.check(&part(Some(groups.clone()))).expect("new row groups");
            inputs.add(part(Some(groups)));
        }
        for known in [Some(1..2), Some(3..9), Some(5..6), None] {
            assert!(inputs.check(&part(known)).is_err());
        }
        assert!(inputs.check(&part(Some(6..7))).is_ok());
        let rows: u64 = inputs.all().iter().map(|input| input.rows).sum();
        assert_eq!(rows, 30);
    }

    #[test]
    fn files_are_told_apart_by_what_is_in_them() {
        let mut inputs = Inputs::default();
        inputs.add(part(None));
        assert!(inputs.check(&Input { name: "/elsewhere/day.parquet".into(), ..part(None) }).is_err());
        assert!(inputs.check(&Input { name: "other.parquet".into(), ..part(None) }).is_ok());
        assert!(inputs.check(&Input { digest: 6, ..part(None) }).is_ok());
        assert!(inputs.check(&Input { fingerprint: 8, ..part(None) }).is_ok());
        assert!(inputs.check(&Input { bytes: 101, ..part(None) }).is_ok());
        inputs.add(Input { fingerprint: 9, rows: 0, ..part(None) });
        assert!(inputs.check(&Input { fingerprint: 9, ..part(None) }).is_ok(), "without rows");
    }
}
