//! Where the rows of a summary came from, and what was left out: nothing here changes a number.
//! See docs/methods.md, section 3.8.

use slateval_stats::{Day, IgnoredFile, Result, Skipped, Source};

use crate::history::History;
use crate::ignored::IgnoredFiles;
use crate::inputs::{Input, Inputs};
use crate::skipped::SkippedParts;

/// Where rows came from: their files, what was left out of them, and how the summary came about.
#[derive(Debug, Clone, Default)]
pub struct Provenance {
    pub(crate) inputs: Inputs,
    pub(crate) skipped: SkippedParts,
    pub(crate) ignored: IgnoredFiles,
    pub(crate) history: History,
}

impl Provenance {
    /// What an evaluation says of it.
    pub fn source(&self) -> Source {
        Source {
            skipped: self.skipped.list(),
            ignored: self.ignored.list(),
            ignored_files: self.ignored.count(),
            inputs: self.inputs.facts(),
        }
    }

    /// What was left out of the log, by reason.
    pub fn skipped(&self) -> Vec<Skipped> {
        self.skipped.list()
    }

    /// Remembers rows or files that were left out of the log, behind all that is known so far. The first 20 examples stay.
    pub fn skip(&mut self, skipped: Skipped) {
        self.skipped.add(skipped);
    }

    /// The files that were left out of the log as a whole, by name.
    pub fn skipped_files(&self) -> impl Iterator<Item = &str> {
        self.skipped.files()
    }

    /// Takes back that a file was left out as a whole.
    pub fn forget_skipped_file(&mut self, name: &str) {
        self.skipped.forget_file(name);
    }

    /// Files that were found in a directory and left out: the first 1,000 in the order of names.
    pub fn ignored(&self) -> Vec<IgnoredFile> {
        self.ignored.list()
    }

    /// How many such files there are.
    pub fn ignored_files(&self) -> u64 {
        self.ignored.count()
    }

    /// Whether merging another one would add no such file.
    pub fn knows_ignored(&self, other: &Provenance) -> bool {
        let mut both = self.ignored.clone();
        both.merge(&other.ignored);
        both == self.ignored
    }

    /// Remembers a file that was left out because it is no log that can be read.
    pub fn ignore(&mut self, file: IgnoredFile) {
        self.ignored.add(file);
    }

    /// The files that the rows came from, by name.
    pub fn inputs(&self) -> Vec<&Input> {
        self.inputs.all()
    }

    /// Remembers a file that rows came from.
    pub fn add_input(&mut self, input: Input) {
        self.inputs.add(input);
    }

    /// Forgets where rows came from.
    pub fn forget_inputs(&mut self) {
        self.inputs = Inputs::default();
    }

    /// How the summary came about.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The history, to be added to.
    pub fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    /// Says which day the rows are of: all inputs that have no day yet are of this one.
    pub fn set_day(&mut self, day: Day) {
        self.inputs.set_day(day);
        self.history.days.insert(day);
    }

    /// Refuses another one that has rows of the same file.
    ///
    /// # Errors
    /// [`Error::Duplicate`](slateval_stats::Error::Duplicate).
    pub fn check_duplicates(&self, other: &Provenance) -> Result<()> {
        self.inputs.check_all(&other.inputs)
    }

    /// Refuses another one whose logs of one row per slot count slots from another number.
    ///
    /// # Errors
    /// [`Error::Mismatch`](slateval_stats::Error::Mismatch).
    pub fn check_positions(&self, other: &Provenance) -> Result<()> {
        self.inputs.check_positions(&other.inputs)
    }

    /// Takes in that of other rows.
    pub fn merge(&mut self, other: &Provenance) {
        self.inputs.merge(&other.inputs);
        self.skipped.merge(&other.skipped);
        self.merge_ignored(other);
        self.history.merge(&other.history);
    }

    /// Takes in files that were left out, but for those whose rows are there.
    fn merge_ignored(&mut self, other: &Provenance) {
        self.ignored.merge(&other.ignored);
        // Only what is new on either side is looked at: a log may be merged from thousands of parts.
        let inputs = if other.ignored.is_empty() { other.inputs.all() } else { self.inputs.all() };
        inputs.into_iter().for_each(|input| self.ignored.forget(&input.name));
    }
}
