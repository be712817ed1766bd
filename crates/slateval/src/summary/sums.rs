//! What is summed of a log: once for all of its rows, and once more by segment.
//! See docs/methods.md, section 3.6.

use std::collections::BTreeMap;

use crate::question::binning::Binning;
use crate::question::error::{Error, Result};
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::summary::cell::Cell;

/// The sums of a log. They are settled: every row that was added is in all of them, and sums of the same specification add
/// up, whatever days, files or machines their rows are from.
#[derive(Debug, Clone)]
pub struct Sums {
    pub(crate) spec: Spec,
    /// All rows; `None` before the first.
    pub(crate) whole: Option<Cell>,
    /// The same rows once more, where the specification asks for segments. Segments share a number of bins: how fine those
    /// of each are depends on the rewards and on how many segments there are, not on the order of rows.
    pub(crate) segments: BTreeMap<Segment, Cell>,
}

impl Sums {
    /// Most segments a log may have.
    pub const SEGMENTS: usize = 1000;

    /// Sums of no rows.
    ///
    /// # Errors
    /// If the specification contradicts itself: no target, a reserved or repeated name, an impossible structure.
    pub fn new(spec: Spec) -> Result<Self> {
        spec.check()?;
        Ok(Sums { spec, whole: None, segments: BTreeMap::new() })
    }

    /// What is summed.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// How many slates were added.
    pub fn rows(&self) -> u64 {
        self.whole.as_ref().map_or(0, |cell| cell.rows)
    }

    /// Number of slots of the longest slate; `None` where the structure has no use for slots.
    pub fn slots(&self) -> Option<usize> {
        let slots = self.whole.as_ref().map_or(0, |cell| cell.slots);
        self.spec.structure.needs().slots.then_some(slots)
    }

    /// The segments, ascending.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = &Segment> {
        self.segments.keys()
    }

    /// A number made from how many rows each bin of rewards has. The same rows have the same, however they came.
    pub fn digest(&self) -> u64 {
        self.whole.as_ref().map_or(0, Cell::digest)
    }

    /// Adds up the sums of other rows. Refused sums leave these as they were.
    ///
    /// # Errors
    /// [`Error::Mismatch`], saying what differs, if they are not sums of the same thing; [`Error::TooManySegments`].
    pub fn merge(&mut self, other: Sums) -> Result<()> {
        self.check_mergeable(&other)?;
        add_cell(&mut self.whole, other.whole);
        for (name, cell) in other.segments {
            match self.segments.get_mut(&name) {
                Some(own) => own.merge(&cell),
                None => drop(self.segments.insert(name, cell)),
            }
        }
        let Binning { capacity, .. } = self.spec.segment_binning(self.segments.len());
        self.segments.values_mut().for_each(|cell| cell.limit_bins(capacity));
        Ok(())
    }

    /// Refuses sums that cannot be added to these.
    pub(crate) fn check_mergeable(&self, other: &Sums) -> Result<()> {
        let differences = self.spec.differences(&other.spec);
        if !differences.is_empty() {
            return Err(Error::Mismatch(differences));
        }
        let new = other.segments.keys().filter(|name| !self.segments.contains_key(name)).count();
        check_count(&self.spec, self.segments.len(), new)
    }

    /// All rows.
    pub(crate) fn total(&self) -> Result<&Cell> {
        self.whole.as_ref().filter(|cell| cell.rows > 0).ok_or(Error::NoRows)
    }
}

fn add_cell(own: &mut Option<Cell>, other: Option<Cell>) {
    match (own, other) {
        (Some(own), Some(other)) => own.merge(&other),
        (own @ None, other) => *own = other,
        (Some(_), None) => {}
    }
}

/// Refuses segments that would be too many beside those that are there.
pub(crate) fn check_count(spec: &Spec, known: usize, new: usize) -> Result<()> {
    match &spec.by {
        Some(column) if new > 0 && known + new > Sums::SEGMENTS => {
            Err(Error::TooManySegments { column: column.clone(), limit: Sums::SEGMENTS })
        }
        _ => Ok(()),
    }
}
