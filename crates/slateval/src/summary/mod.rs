//! The mergeable summary: one pass over the log, and everything else is computed from it.

pub(crate) mod accumulate;
pub(crate) mod bins;
pub(crate) mod cell;
pub(crate) mod clusters;
pub(crate) mod feature_map;
pub(crate) mod format;
pub(crate) mod gram;
pub(crate) mod index;
pub(crate) mod layout;
#[cfg(test)]
mod pinned_bytes;
mod scatter;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod weight_counts;
pub(crate) mod witness;

use std::collections::BTreeMap;

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
/// | [`add`](Summary::add) | `O(K^2)` arithmetic a row and policy, one or two cache lines of scattered memory |
/// | [`merge`](Summary::merge) | `O(bins K + K^2)` a policy and segment, whatever the number of rows |
/// | [`evaluate`](Summary::evaluate) | likewise, and `O(draws bins K)` for bands and intervals |
/// | memory | at most `bins (4 + 2 policies (K + 1))` numbers a segment; more with chi, with structure auto (four orders), with a baseline, and with clusters (a number for each group) |
///
/// Bins do not depend on a first look at the data, so summaries of any two days, files or machines merge, in any order,
/// into what one pass over all rows gives.
///
/// `add` and `merge` return an error and no panic on bad values; after an error of `add` the summary must not be used.
#[derive(Debug, Clone)]
pub struct Summary {
    pub(crate) spec: Spec,
    pub(crate) cells: BTreeMap<Segment, Cell>,
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
        Ok(Summary { spec, cells: BTreeMap::new(), scratch: Scratch::default() })
    }

    /// What this is a summary of.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Number of slates seen.
    pub fn rows(&self) -> u64 {
        self.cells.values().map(|cell| cell.rows).sum()
    }

    /// Number of slots of the longest slate; `None` where the structure has no use for slots.
    pub fn slots(&self) -> Option<usize> {
        let needed = self.spec.structure.needs().slots;
        needed.then(|| self.cells.values().map(|cell| cell.slots).max().unwrap_or(0))
    }

    /// The segments seen, ascending.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.cells.keys().filter(|_| self.spec.by.is_some())
    }

    /// Adds the rows of a block.
    ///
    /// # Errors
    /// [`Error::BadValue`] for a value that no reward or probability can have, [`Error::BadStructure`] for slates
    /// without the slots that the structure names, [`Error::TooManySegments`].
    pub fn add(&mut self, block: &Block) -> Result<()> {
        if self.spec.by.is_none() {
            return self.add_to(Segment::Null, block);
        }
        let mut part = block.for_one_segment();
        for (segment, rows) in block.by_segment() {
            block.select_into(&rows, &mut part);
            self.add_to(segment, &part).map_err(|error| match error {
                Error::BadValue { row, field, value } => Error::BadValue { row: rows[row], field, value },
                other => other,
            })?;
        }
        Ok(())
    }

    fn add_to(&mut self, segment: Segment, block: &Block) -> Result<()> {
        let spec = &self.spec;
        if self.cells.is_empty() || !self.cells.contains_key(&segment) {
            spec.structure.check_slots(block.slots())?;
        }
        let cell = self.cells.entry(segment).or_insert_with(|| Cell::new(spec, block.slots()));
        cell.add(&spec.structure, block, &mut self.scratch)?;
        self.check_segments()
    }

    /// Takes in another summary, as if its rows had been added here.
    ///
    /// # Errors
    /// [`Error::Mismatch`], saying what differs, if the two are not summaries of the same thing.
    pub fn merge(&mut self, other: &Summary) -> Result<()> {
        let differences = self.spec.differences(&other.spec);
        if !differences.is_empty() {
            return Err(Error::Mismatch(differences));
        }
        for (segment, cell) in &other.cells {
            match self.cells.get_mut(segment) {
                Some(own) => own.merge(cell),
                None => {
                    self.cells.insert(segment.clone(), cell.clone());
                }
            }
        }
        self.check_segments()
    }

    fn check_segments(&self) -> Result<()> {
        match &self.spec.by {
            Some(column) if self.cells.len() > Self::SEGMENTS => {
                Err(Error::TooManySegments { column: column.clone(), limit: Self::SEGMENTS })
            }
            _ => Ok(()),
        }
    }

    /// The whole log: all segments together.
    pub(crate) fn total(&self) -> Result<Cell> {
        let mut cells = self.cells.values();
        let mut total = cells.next().ok_or(Error::NoRows)?.clone();
        cells.for_each(|cell| total.merge(cell));
        if total.rows == 0 { Err(Error::NoRows) } else { Ok(total) }
    }

    pub(crate) fn from_cells(spec: Spec, cells: BTreeMap<Segment, Cell>) -> Result<Self> {
        Ok(Summary { cells, ..Summary::new(spec)? })
    }
}
