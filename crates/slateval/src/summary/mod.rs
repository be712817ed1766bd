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
pub(crate) mod packed;
pub(crate) mod pending;
#[cfg(test)]
mod pinned_bytes;
mod scatter;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod totals;
pub(crate) mod waiting;
pub(crate) mod weight_counts;
pub(crate) mod witness;

use std::collections::{BTreeMap, BTreeSet};

use crate::question::error::{Error, Result};
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::rows::block::Block;
use crate::summary::accumulate::Scratch;
use crate::summary::cell::Cell;
use crate::summary::waiting::Waiting;

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
    /// Rows that wait for their block to be full.
    waiting: Waiting,
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
        let one = Block::new(&spec);
        Ok(Summary { spec, cells: BTreeMap::new(), waiting: Waiting::default(), one, scratch: Scratch::default() })
    }

    /// What this is a summary of.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Number of slates seen.
    pub fn rows(&self) -> u64 {
        self.cells.values().map(|cell| cell.rows).sum::<u64>() + self.waiting.rows() as u64
    }

    /// Number of slots of the longest slate; `None` where the structure has no use for slots.
    pub fn slots(&self) -> Option<usize> {
        let needed = self.spec.structure.needs().slots;
        let added = self.cells.values().map(|cell| cell.slots);
        let waiting = self.waiting.blocks().map(|(_, block)| block.slots());
        needed.then(|| added.chain(waiting).max().unwrap_or(0))
    }

    /// The segments seen, ascending.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        let all = self.cells.keys().chain(self.waiting.blocks().map(|(segment, _)| segment));
        all.filter(|_| self.spec.by.is_some()).collect::<BTreeSet<_>>().into_iter()
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
        if self.spec.by.is_some() {
            if !self.waiting.knows_all(block) {
                self.check_segments(block.segments())?;
            }
            self.enqueue(block);
        } else {
            add_to(&mut self.cells, &self.spec, &Segment::Null, block, &mut self.scratch);
        }
        Ok(())
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
        let is_new = |segment: &&Segment| !self.cells.contains_key(segment) && !self.waiting.has(segment);
        let new: BTreeSet<&Segment> = more.into_iter().filter(is_new).collect();
        if new.is_empty() || self.segments().count() + new.len() <= Self::SEGMENTS {
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

/// Adds the rows of a block that has been checked to the cell of their segment.
fn add_to(cells: &mut BTreeMap<Segment, Cell>, spec: &Spec, segment: &Segment, block: &Block, scratch: &mut Scratch) {
    if block.rows() == 0 {
        return;
    }
    if let Some(cell) = cells.get_mut(segment) {
        return cell.add(&spec.structure, block, scratch);
    }
    let cell = cells.entry(segment.clone()).or_insert(Cell::new(spec, block.slots()));
    cell.add(&spec.structure, block, scratch);
}
