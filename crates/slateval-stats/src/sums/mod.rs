//! What is summed of a log: once for all of its rows, and once more by segment.
//! See docs/methods.md, section 3.6.
//!
//! To evaluate, [`Sums`] is enough. The other types here are the *writer's view*: what a kernel that adds rows has to
//! fill. A [`Cell`] holds the sums of a log or of a segment. [`Bins::assign`] says to which row of its [`Table`] each reward
//! belongs; [`RowLayout`] says where the sums of a bin stand in that row; [`Moments`] and [`Tally`] hold what is no sum over
//! bins, [`ClusterSums`] and [`CrossGram`] what clusters and baselines need. `slateval-accumulate` has a plain writer,
//! `reference`, which says in two hundred lines what every sum is.

mod bin_index;
pub(crate) mod bins;
pub(crate) mod cell;
pub(crate) mod check;
pub(crate) mod clusters;
pub(crate) mod cross;
pub(crate) mod feature_map;
pub(crate) mod index;
pub(crate) mod layout;
mod memory;
pub(crate) mod moments;
mod parts;
pub(crate) mod products;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod totals;
pub(crate) mod weight_counts;
pub(crate) mod witness;

pub use bins::{Bins, Moves, Resolution, Ring};
pub use cell::{Cell, PolicySums};
pub use clusters::ClusterSums;
pub use cross::CrossGram;
pub use index::{
    Basis, BinLayout, BinSum, CrossLayout, CrossProduct, Feature, FeatureLayout, GroupLayout, GroupSum, Layout, Left,
    MomentLayout, MomentSum, POWERS, Pair, PairLayout, Power, Right, RightLayout, Shape, Shared, WitnessLayout,
    place_among,
};
pub use layout::{CrossSection, HEADER, Kept, RowLayout, SHARED, Section};
pub use moments::Moments;
pub use parts::{CellKind, CellParts, CellSize, Parts};
pub use table::{LANES, Lanes, Table};
pub use tally::{Tally, WeightTally};
pub use weight_counts::WeightCounts;
pub use witness::Witness;

use std::collections::BTreeMap;

use crate::spec::binning::Binning;
use crate::spec::error::{Error, Result};
use crate::spec::segment::Segment;
use crate::spec::specification::Spec;

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

    /// Refuses segments that would be too many beside those that are there.
    ///
    /// # Errors
    /// [`Error::TooManySegments`].
    pub fn check_count(spec: &Spec, known: usize, new: usize) -> Result<()> {
        match &spec.by {
            Some(column) if new > 0 && known + new > Sums::SEGMENTS => {
                Err(Error::TooManySegments { column: column.clone(), limit: Sums::SEGMENTS })
            }
            _ => Ok(()),
        }
    }

    /// The sums of all rows, and of the rows of each segment.
    pub fn of_cells(spec: Spec, whole: Option<Cell>, segments: BTreeMap<Segment, Cell>) -> Self {
        Sums { spec, whole, segments }
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
    pub fn check_mergeable(&self, other: &Sums) -> Result<()> {
        let differences = self.spec.differences(&other.spec);
        if !differences.is_empty() {
            return Err(Error::Mismatch(differences));
        }
        let new = other.segments.keys().filter(|name| !self.segments.contains_key(name)).count();
        Self::check_count(&self.spec, self.segments.len(), new)
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
