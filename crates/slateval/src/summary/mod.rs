//! The mergeable summary: one pass over the log, and everything else is computed from it.
//! See docs/methods.md, section 3.

pub(crate) mod accumulate;
pub(crate) mod bins;
pub(crate) mod cell;
pub(crate) mod clusters;
pub(crate) mod columns;
pub(crate) mod cross;
pub(crate) mod feature_map;
pub(crate) mod format;
pub(crate) mod header;
pub(crate) mod index;
pub(crate) mod layout;
pub(crate) mod moments;
pub(crate) mod pending;
#[cfg(test)]
mod pinned_bytes;
mod scatter;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod totals;
pub(crate) mod weight_counts;
pub(crate) mod witness;

use std::collections::{BTreeMap, BTreeSet};

use crate::question::error::{Error, Result};
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::rows::block::Block;
use crate::summary::accumulate::Scratch;
use crate::summary::cell::Cell;

/// A fixed-size set of sums over logged slates: add rows, merge with other summaries, evaluate.
///
/// | verb | cost |
/// |---|---|
/// | [`add`](Summary::add), [`record`](Summary::record), [`Slates::add_to`](crate::Slates::add_to) | `O(K^2)` arithmetic a row and policy, one or two cache lines of scattered memory |
/// | [`merge`](Summary::merge) | `O(bins K + K^2)` a policy and segment, whatever the number of rows |
/// | [`evaluate`](Summary::evaluate) | likewise, and `O(draws bins K)` for bands and intervals |
/// | memory | at most `bins (4 + 2 policies (K + 1))` numbers a segment; more with chi, with structure auto (four orders), with a baseline, and with clusters (a number for each group); and a block of rows that wait |
///
/// Bins do not depend on a first look at the data, so summaries of any two days, files or machines merge, in any order,
/// into what one pass over all rows gives.
///
/// Bad values are errors, not panics, and an error leaves the summary as it was.
///
/// Recorded slates and chunks wait until they fill a block; they count in every answer. While rows wait, questions such as
/// `evaluate` and `to_bytes` are answered by a copy of the summary that has them added.
#[derive(Debug, Clone)]
pub struct Summary {
    pub(crate) spec: Spec,
    /// Without the rows that wait: [`cells`](Self::cells) has them all.
    cells: BTreeMap<Segment, Cell>,
    /// Rows that wait for their block to be full, fewer than [`Block::ROWS`].
    pending: Block,
    /// Buffer for the slate that is being recorded.
    one: Block,
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
        let (pending, one) = (Block::new(&spec), Block::new(&spec));
        Ok(Summary { spec, cells: BTreeMap::new(), pending, one, scratch: Scratch::default() })
    }

    /// What this is a summary of.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Number of slates seen.
    pub fn rows(&self) -> u64 {
        self.cells.values().map(|cell| cell.rows).sum::<u64>() + self.pending.rows() as u64
    }

    /// Number of slots of the longest slate; `None` where the structure has no use for slots.
    pub fn slots(&self) -> Option<usize> {
        let needed = self.spec.structure.needs().slots;
        needed.then(|| self.cells.values().map(|cell| cell.slots).fold(self.pending.slots(), usize::max))
    }

    /// The segments seen, ascending.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        let mut segments = self.pending.segments();
        segments.extend(self.cells.keys().filter(|_| self.spec.by.is_some()));
        segments.into_iter()
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
        let segments = block.by_segment();
        self.check_segments(segments.iter().map(|(segment, _)| segment))?;
        self.add_checked(block, segments);
        Ok(())
    }

    /// Adds the rows of a block that has been checked, given the rows of each segment.
    fn add_checked(&mut self, block: &Block, segments: Vec<(Segment, Vec<usize>)>) {
        if self.spec.by.is_none() {
            return self.add_to(Segment::Null, block);
        }
        let mut part = block.for_one_segment();
        for (segment, rows) in segments {
            block.select_into(&rows, &mut part);
            self.add_to(segment, &part);
        }
    }

    fn add_to(&mut self, segment: Segment, block: &Block) {
        if block.rows() == 0 {
            return;
        }
        let spec = &self.spec;
        let cell = self.cells.entry(segment).or_insert_with(|| Cell::new(spec, block.slots()));
        cell.add(&spec.structure, block, &mut self.scratch);
    }

    /// Takes in another summary, as if its rows had been added here. A refused summary leaves this one as it was.
    ///
    /// # Errors
    /// [`Error::Mismatch`], saying what differs, if the two are not summaries of the same thing;
    /// [`Error::TooManySegments`].
    pub fn merge(&mut self, other: &Summary) -> Result<()> {
        let differences = self.spec.differences(&other.spec);
        if !differences.is_empty() {
            return Err(Error::Mismatch(differences));
        }
        self.check_segments(other.segments())?;
        self.settle();
        for (segment, cell) in other.cells().iter() {
            match self.cells.get_mut(segment) {
                Some(own) => own.merge(cell),
                None => {
                    self.cells.insert(segment.clone(), cell.clone());
                }
            }
        }
        Ok(())
    }

    /// Refuses segments that would be too many beside those that are there.
    pub(crate) fn check_segments<'a>(&'a self, more: impl IntoIterator<Item = &'a Segment>) -> Result<()> {
        let Some(column) = &self.spec.by else { return Ok(()) };
        let is_new = |segment: &&Segment| !self.cells.contains_key(segment);
        let mut new: BTreeSet<&Segment> = more.into_iter().filter(is_new).collect();
        // The segments of waiting rows are counted only where it matters: there are no more of them than rows.
        if new.is_empty() || self.cells.len() + self.pending.rows() + new.len() <= Self::SEGMENTS {
            return Ok(());
        }
        new.extend(self.pending.segments().into_iter().filter(is_new));
        if self.cells.len() + new.len() <= Self::SEGMENTS {
            return Ok(());
        }
        Err(Error::TooManySegments { column: column.clone(), limit: Self::SEGMENTS })
    }

    /// The whole log: all segments together.
    pub(crate) fn total(&self) -> Result<Cell> {
        let cells = self.cells();
        let mut cells = cells.values();
        let mut total = cells.next().ok_or(Error::NoRows)?.clone();
        cells.for_each(|cell| total.merge(cell));
        if total.rows == 0 { Err(Error::NoRows) } else { Ok(total) }
    }

    pub(crate) fn from_cells(spec: Spec, cells: BTreeMap<Segment, Cell>) -> Result<Self> {
        Ok(Summary { cells, ..Summary::new(spec)? })
    }
}
