//! The mergeable summary: one pass over the log, and everything else is computed from it.
//! See docs/methods.md, section 3.

pub(crate) mod accumulate;
pub(crate) mod backlog;
mod bin_index;
pub(crate) mod bins;
pub(crate) mod both;
#[cfg(test)]
mod both_tests;
pub(crate) mod cell;
pub(crate) mod check;
pub(crate) mod clusters;
pub(crate) mod coded_rows;
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
pub(crate) mod packed;
pub(crate) mod pattern_sums;
pub(crate) mod pending;
#[cfg(test)]
mod pinned_bytes;
pub(crate) mod products;
pub(crate) mod repeats;
#[cfg(test)]
mod repeats_tests;
mod rewards;
mod scatter;
pub(crate) mod segments;
pub(crate) mod skipped;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod totals;
pub(crate) mod waiting;
pub(crate) mod weight_counts;
pub(crate) mod weight_visit;
pub(crate) mod witness;

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::answer::evaluation::InputFacts;
use crate::answer::ignored::IgnoredFile;
use crate::answer::skipped::Skipped;
use crate::question::day::Day;
use crate::question::error::{Error, Result};
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::rows::block::Block;
use crate::summary::accumulate::Scratch;
use crate::summary::backlog::RowsOf;
use crate::summary::cell::Cell;
use crate::summary::coded_rows::BlockCodes;
use crate::summary::history::History;
use crate::summary::ignored::IgnoredFiles;
use crate::summary::inputs::{Input, Inputs};
use crate::summary::repeats::Sight;
use crate::summary::segments::{Segments, Sums};
use crate::summary::skipped::SkippedParts;
use crate::summary::waiting::Waiting;

/// A fixed-size set of sums over logged slates: add rows, merge with other summaries, evaluate.
///
/// | verb | cost |
/// |---|---|
/// | [`add`](Summary::add), [`record`](Summary::record), [`Slates::add_to`](crate::Slates::add_to) | `O(K^2)` arithmetic a row and policy, a few cache lines of scattered memory; `O(K)` comparisons and a count for rows that are alike in all but their rewards |
/// | [`merge`](Summary::merge) | `O(bins K + K^2)` a policy and segment, whatever the number of rows |
/// | [`evaluate`](Summary::evaluate) | likewise, and `O(draws bins K)` for bands and intervals |
/// | memory | at most `bins (4 + 2 policies (K + 1))` numbers a segment; more with chi, with structure auto (four orders), with a baseline, and with clusters (a number for each group); and rows that wait: a block, and with segments two blocks for each and 3 million numbers |
///
/// Bins do not depend on a first look at the data, so summaries of any two days, files or machines merge, in any order,
/// into what one pass over all rows gives.
///
/// Bad values are errors, not panics, and an error leaves the summary as it was.
///
/// Recorded slates and chunks wait until they fill a block, and rows that are alike are only counted at first; all of them
/// count in every answer. Questions such as `evaluate` and `to_bytes` are then answered by a copy of the summary that has
/// them added; [`settle`](Summary::settle) adds them to the summary itself.
#[derive(Debug, Clone)]
pub struct Summary {
    pub(crate) spec: Spec,
    /// All rows but those that wait, for their block to be full or for others of their segment; `None` before the first.
    whole: Option<Cell>,
    /// The same rows once more by segment, where the specification asks for it.
    pub(crate) segments: Segments,
    /// Where the rows came from, as far as anybody said.
    inputs: Inputs,
    /// What was left out of the log.
    skipped: SkippedParts,
    /// Files that were found beside those of the log.
    ignored: IgnoredFiles,
    history: History,
    /// Rows that wait for their block to be full.
    waiting: Waiting,
    /// Buffer for the slate that is being recorded.
    one: Block,
    /// Buffer for rows that wait no longer for their block to be full.
    full: Block,
    /// Buffer for rows that wait no longer for others of their segment.
    ready: Block,
    /// Buffer for the places of a block's segments.
    places: Vec<u32>,
    scratch: Scratch,
}

impl Summary {
    /// Most segments a log may have.
    pub const SEGMENTS: usize = 1000;

    /// A summary of no rows.
    ///
    /// # Errors
    /// If the specification contradicts itself: no target, a reserved or repeated name, an impossible structure.
    pub fn new(spec: Spec) -> Result<Self> {
        spec.check()?;
        let one = Block::new(&spec);
        let [full, ready] = [(); 2].map(|()| one.without_segments());
        let (segments, waiting, scratch) = (Segments::default(), Waiting::default(), Scratch::default());
        let inputs = Inputs::default();
        let skipped = SkippedParts::default();
        let ignored = IgnoredFiles::default();
        let history = History::default();
        Ok(Summary {
            spec,
            whole: None,
            segments,
            inputs,
            skipped,
            ignored,
            history,
            waiting,
            one,
            full,
            ready,
            places: Vec::new(),
            scratch,
        })
    }

    /// What this is a summary of.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Number of slates seen.
    pub fn rows(&self) -> u64 {
        let added = self.whole.as_ref().map_or(0, |cell| cell.rows);
        added + (self.waiting.rows() + self.segments.waiting_rows()) as u64
    }

    /// Number of slots of the longest slate; `None` where the structure has no use for slots.
    pub fn slots(&self) -> Option<usize> {
        let added = self.whole.as_ref().map_or(0, |cell| cell.slots);
        self.spec.structure.needs().slots.then(|| added.max(self.waiting.slots()))
    }

    /// The segments seen, ascending.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.names().into_iter()
    }

    /// How many segments were seen.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// Adds the rows of a block, or none of them: a block is checked as a whole first, and a refused block leaves the
    /// summary as it was.
    ///
    /// # Errors
    /// [`Error::BadValue`] for a value that no reward or probability can have, [`Error::BadStructure`] for slates of
    /// more slots than the pool of a ranking has items, [`Error::TooManySegments`]. Whether slates have the slots that
    /// the structure names is known when all rows are in: [`evaluate`](Summary::evaluate) checks it.
    ///
    /// # Panics
    /// If the block was made for another specification.
    pub fn add(&mut self, block: &Block) -> Result<()> {
        assert!(block.suits(&self.spec), "the block was made for another specification");
        block.check(&self.spec)?;
        if self.spec.by.is_some() && !self.segments.know_all(block) {
            self.check_segments(block.segments())?;
        }
        self.add_checked(block);
        Ok(())
    }

    /// Adds the rows of a block that has been checked.
    fn add_checked(&mut self, block: &Block) {
        let Summary { spec, whole, segments, ready, scratch, places, .. } = self;
        places.clear();
        if spec.by.is_some() {
            segments.find_places(spec, block, places);
        }
        Adding { spec, whole, segments, ready, scratch }.add(block, places);
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

    /// The same for readers: each file once, however many parts of it were read.
    pub(crate) fn input_facts(&self) -> Vec<InputFacts> {
        self.inputs.facts()
    }

    /// A number made from the rewards of all rows: how many there are in each bin. The same rows have the same, however
    /// they came.
    pub fn digest(&self) -> u64 {
        let settled = self.settled();
        settled.whole.as_ref().map_or(0, Cell::digest)
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

    /// Refuses segments that would be too many beside those that are there.
    pub(crate) fn check_segments<'a>(&'a self, more: impl IntoIterator<Item = &'a Segment>) -> Result<()> {
        let Some(column) = &self.spec.by else { return Ok(()) };
        let new: BTreeSet<&Segment> = more.into_iter().filter(|segment| !self.segments.has(segment)).collect();
        if new.is_empty() || self.segments.len() + new.len() <= Self::SEGMENTS {
            return Ok(());
        }
        Err(Error::TooManySegments { column: column.clone(), limit: Self::SEGMENTS })
    }

    /// The whole log: all segments together.
    pub(crate) fn total(&self) -> Result<Cow<'_, Cell>> {
        let whole = match self.settled() {
            Cow::Borrowed(settled) => settled.whole.as_ref().map(Cow::Borrowed),
            Cow::Owned(settled) => settled.whole.map(Cow::Owned),
        };
        whole.filter(|cell| cell.rows > 0).ok_or(Error::NoRows)
    }
}

/// What rows are added to.
struct Adding<'a> {
    spec: &'a Spec,
    whole: &'a mut Option<Cell>,
    segments: &'a mut Segments,
    ready: &'a mut Block,
    scratch: &'a mut Scratch,
}

impl Adding<'_> {
    /// Adds the rows of a block that has been checked, given the places of their segments, if there are segments. Rows that
    /// are not recognised then wait for others of their segment, and are added to the whole log with them.
    fn add(self, block: &Block, places: &[u32]) {
        let Adding { spec, whole, segments, ready, scratch } = self;
        if block.rows() == 0 {
            return;
        }
        let whole = whole.get_or_insert_with(|| Cell::of_log(spec, block.slots()));
        let by_segment = spec.by.is_some();
        let sight = match by_segment {
            true => whole.add_if_recognised(block, scratch),
            false => whole.add(&spec.structure, block, scratch),
        };
        let codes = if sight == Sight::Recognised && by_segment { BlockCodes::new(&scratch.recognition) } else { None };
        scratch.recognition.learn(sight, block, spec.policies.len());
        if by_segment {
            // The origin is that of the rows that came first, not of those that are added first.
            whole.begin_with(block);
            segments.add(RowsOf { block, codes: codes.as_ref(), places }, Sums { spec, whole, ready, scratch });
        }
    }
}
