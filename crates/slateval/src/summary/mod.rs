//! The mergeable summary: one pass over the log, and everything else is computed from it.
//! See docs/methods.md, section 3.

pub(crate) mod accumulate;
mod bin_index;
pub(crate) mod bins;
pub(crate) mod cell;
pub(crate) mod check;
pub(crate) mod clusters;
pub(crate) mod columns;
pub(crate) mod cross;
pub(crate) mod feature_map;
pub(crate) mod format;
pub(crate) mod header;
pub(crate) mod history;
pub(crate) mod ignored;
pub(crate) mod index;
pub(crate) mod inputs;
pub(crate) mod layout;
pub(crate) mod memory;
mod merging;
pub(crate) mod moments;
pub(crate) mod products;
mod rewards;
mod scatter;
pub(crate) mod skipped;
pub(crate) mod sums;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod totals;
pub(crate) mod weight_counts;
pub(crate) mod weight_visit;
pub(crate) mod witness;

use crate::answer::evaluation::InputFacts;
use crate::answer::ignored::IgnoredFile;
use crate::answer::skipped::Skipped;
use crate::question::day::Day;
use crate::question::error::Result;
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::summary::history::History;
use crate::summary::ignored::IgnoredFiles;
use crate::summary::inputs::{Input, Inputs};
use crate::summary::skipped::SkippedParts;
use crate::summary::sums::Sums;

/// What is kept of a log, of a fixed size: its [`Sums`], and where its rows came from. Add rows, merge with other summaries,
/// evaluate.
///
/// | verb | cost |
/// |---|---|
/// | [`add`](Summary::add), [`Slates::add_to`](crate::Slates::add_to) | that of an [`Accumulator`](crate::Accumulator) for these rows, and of a merge |
/// | [`merge`](Summary::merge) | `O(bins K + K^2)` a policy and segment, whatever the number of rows |
/// | [`evaluate`](Summary::evaluate) | likewise, and `O(draws bins K)` for bands and intervals |
/// | memory | at most `bins (4 + 2 policies (K + 1))` numbers a segment; more with chi, with structure auto (four orders), with a baseline, and with clusters (a number for each group) |
///
/// Bins do not depend on a first look at the data, so summaries of any two days, files or machines merge, in any order,
/// into what one pass over all rows gives.
///
/// Bad values are errors, not panics, and an error leaves the summary as it was.
#[derive(Debug, Clone)]
pub struct Summary {
    pub(crate) sums: Sums,
    /// Where the rows came from, as far as it was said.
    inputs: Inputs,
    /// What was left out of the log.
    skipped: SkippedParts,
    /// Files that were found beside those of the log.
    ignored: IgnoredFiles,
    history: History,
}

impl From<Sums> for Summary {
    /// A summary of rows that came from memory.
    fn from(sums: Sums) -> Self {
        Summary {
            sums,
            inputs: Inputs::default(),
            skipped: SkippedParts::default(),
            ignored: IgnoredFiles::default(),
            history: History::default(),
        }
    }
}

impl Summary {
    /// Most segments a log may have.
    pub const SEGMENTS: usize = Sums::SEGMENTS;

    /// A summary of no rows.
    ///
    /// # Errors
    /// If the specification contradicts itself: no target, a reserved or repeated name, an impossible structure.
    pub fn new(spec: Spec) -> Result<Self> {
        Sums::new(spec).map(Summary::from)
    }

    /// What this is a summary of.
    pub fn spec(&self) -> &Spec {
        self.sums.spec()
    }

    /// Number of slates seen.
    pub fn rows(&self) -> u64 {
        self.sums.rows()
    }

    /// Number of slots of the longest slate; `None` where the structure has no use for slots.
    pub fn slots(&self) -> Option<usize> {
        self.sums.slots()
    }

    /// The segments seen, ascending.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.sums.segments()
    }

    /// How many segments were seen.
    pub fn segment_count(&self) -> usize {
        self.sums.segments().len()
    }

    /// Adds the sums of further rows. Refused sums leave the summary as it was.
    ///
    /// # Errors
    /// As [`Sums::merge`].
    pub fn add_sums(&mut self, sums: Sums) -> Result<()> {
        self.sums.merge(sums)
    }

    /// What was left out of the log, by reason, as far as [`skip`](Summary::skip) was told.
    pub fn skipped(&self) -> Vec<Skipped> {
        self.skipped.list()
    }

    /// Remembers rows or files that were left out of the log, behind all that is known so far. Summaries merge what was
    /// left out of them; the first 20 examples stay.
    pub fn skip(&mut self, skipped: Skipped) {
        self.skipped.add(skipped);
    }

    /// The files that were left out of the log as a whole, by name.
    pub fn skipped_files(&self) -> impl Iterator<Item = &str> {
        self.skipped.files()
    }

    /// Takes back that a file was left out as a whole: it was read since, or is about to be counted again.
    pub fn forget_skipped_file(&mut self, name: &str) {
        self.skipped.forget_file(name);
    }

    /// Files that were found in a directory and left out, because they are no logs that can be read: the first 1,000 in
    /// the order of names, as far as [`ignore`](Summary::ignore) was told.
    pub fn ignored(&self) -> Vec<IgnoredFile> {
        self.ignored.list()
    }

    /// How many such files there are. Beyond 1,000, a file that is in two summaries may be counted twice or not at all.
    pub fn ignored_files(&self) -> u64 {
        self.ignored.count()
    }

    /// Whether merging another summary would add no such file.
    pub fn knows_ignored(&self, other: &Summary) -> bool {
        let mut both = self.ignored.clone();
        both.merge(&other.ignored);
        both == self.ignored
    }

    /// Remembers a file that was left out because it is no log that can be read. A file counts once, however many
    /// summaries that are merged know it, and no more once rows of it are there.
    pub fn ignore(&mut self, file: IgnoredFile) {
        self.ignored.add(file);
    }

    /// The files that the rows came from, by name, as far as [`add_input`](Summary::add_input) was told.
    pub fn inputs(&self) -> Vec<&Input> {
        self.inputs.all()
    }

    /// The files that the rows came from, for readers: each once, however many parts of it were read.
    pub(crate) fn input_facts(&self) -> Vec<InputFacts> {
        self.inputs.facts()
    }

    /// A number made from the rewards of all rows: how many there are in each bin. The same rows have the same, however
    /// they came.
    pub fn digest(&self) -> u64 {
        self.sums.digest()
    }

    /// Remembers which file rows came from that were added, so that [`merge`](Summary::merge) can refuse to count them
    /// twice. An input without rows is remembered as well: all of its rows may have been bad.
    pub fn add_input(&mut self, input: Input) {
        self.inputs.add(input);
    }

    /// Forgets where rows came from, names of files included. Nothing then keeps them from being counted twice.
    pub fn forget_inputs(&mut self) {
        self.inputs = Inputs::default();
    }

    /// How this came about, as far as anybody said.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The same, to be told more.
    pub fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    /// Says which day the rows are of: all inputs that have none yet are of this day.
    pub fn set_day(&mut self, day: Day) {
        self.inputs.set_day(day);
        self.history.days.insert(day);
    }
}
