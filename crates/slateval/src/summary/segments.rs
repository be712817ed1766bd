//! The sums of each segment of a log.
//! See docs/methods.md, section 3.6.
//!
//! Segments share a number of bins: the more of them there are, the coarser are the bins of each. How fine they are in the
//! end depends on the rewards and on how many segments the log has, not on the order in which rows came.

use std::collections::{BTreeSet, HashMap};

use crate::question::binning::Binning;
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::rows::block::Block;
use crate::summary::accumulate::Scratch;
use crate::summary::backlog::{Backlog, Ready, RowsOf};
use crate::summary::cell::Cell;
use crate::summary::coded_rows::BlockCodes;

/// The segments of a log, in order of their first appearance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segments {
    list: Vec<OneSegment>,
    places: HashMap<Segment, usize>,
    /// Rows that wait.
    backlog: Backlog,
    /// Buffer for the places of a block's rows.
    of_rows: Vec<u32>,
    /// Places of the segments of the block that came last, by their numbers there.
    seen: Seen,
}

#[derive(Debug, Clone)]
struct OneSegment {
    name: Segment,
    /// Without the rows that wait.
    cell: Cell,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    /// Whose numbers they are.
    identity: u64,
    places: Vec<Option<usize>>,
}

impl Segments {
    pub(crate) fn has(&self, name: &Segment) -> bool {
        self.places.contains_key(name)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Their names, ascending.
    pub(crate) fn names(&self) -> BTreeSet<&Segment> {
        self.list.iter().map(|segment| &segment.name).collect()
    }

    /// The sums of each, without the rows that wait, by name.
    pub(crate) fn cells(&self) -> Vec<(&Segment, &Cell)> {
        let mut cells: Vec<_> = self.list.iter().map(|segment| (&segment.name, &segment.cell)).collect();
        cells.sort_unstable_by_key(|(name, _)| *name);
        cells
    }

    pub(crate) fn cell(&self, name: &Segment) -> Option<&Cell> {
        self.places.get(name).map(|&place| &self.list[place].cell)
    }

    pub(crate) fn are_waiting(&self) -> bool {
        !self.backlog.is_empty() || self.list.iter().any(|segment| segment.cell.repeats.is_some())
    }

    /// Whether rows of all segments of a block have come before. Most blocks' have.
    pub(crate) fn know_all(&mut self, block: &Block) -> bool {
        self.see(block);
        let is_known = |&id: &u32| matches!(self.seen.places.get(id as usize), Some(Some(_)));
        block.segment_ids().iter().all(is_known)
    }

    /// Adds the rows of a block that has been checked; their codes are given if all of them were recognised.
    ///
    /// `full` is a block for rows that need not wait any longer.
    pub(crate) fn add(
        &mut self,
        spec: &Spec,
        (block, codes): (&Block, Option<&BlockCodes>),
        full: &mut Block,
        scratch: &mut Scratch,
    ) {
        self.see(block);
        let (mut first, mut places) = (0, std::mem::take(&mut self.of_rows));
        let mut hand_on = |Segments { list, backlog, .. }: &mut Segments, first, places: &[u32]| {
            let rows = RowsOf { block, codes, first, places };
            backlog.add(&rows, full, |place, rows| list[place].cell.add_ready(spec, rows, scratch));
        };
        places.clear();
        for (row, &id) in block.segment_ids().iter().enumerate() {
            let known = self.seen.places.get(id as usize).copied().flatten();
            if known.is_none() && !self.has(block.segment_names().name(id)) {
                // The bins of all segments may become coarser now: rows before this one come first, as if one by one.
                hand_on(self, first, &places);
                first = row;
                places.clear();
            }
            let place = known.unwrap_or_else(|| self.find_place(id, spec, block));
            // There are at most a thousand.
            places.push(place as u32);
        }
        hand_on(self, first, &places);
        self.of_rows = places;
    }

    /// Adds up the rows that wait.
    pub(crate) fn settle(&mut self, spec: &Spec, full: &mut Block, scratch: &mut Scratch) {
        let Segments { list, backlog, .. } = self;
        backlog.empty_all(full, |place, rows| list[place].cell.add_ready(spec, rows, scratch));
        list.iter_mut().for_each(|segment| segment.cell.add_repeats());
    }

    /// Takes in other segments, none of whose rows wait.
    pub(crate) fn merge(&mut self, spec: &Spec, other: &Segments) {
        for (name, cell) in other.cells() {
            match self.places.get(name) {
                Some(&place) => self.list[place].cell.merge(cell),
                None => self.insert(name.clone(), cell.clone()),
            }
        }
        self.share_bins(spec);
    }

    /// Takes in a segment that is not there yet.
    pub(crate) fn insert(&mut self, name: Segment, cell: Cell) {
        self.places.insert(name.clone(), self.list.len());
        self.list.push(OneSegment { name, cell });
        self.backlog.add_segment();
    }

    /// Forgets the numbers of other blocks.
    fn see(&mut self, block: &Block) {
        let identity = block.segment_names().identity();
        if self.seen.identity != identity {
            self.seen = Seen { identity, places: Vec::new() };
        }
    }

    fn find_place(&mut self, id: u32, spec: &Spec, block: &Block) -> usize {
        let place = self.place(block.segment_names().name(id), spec, block.slots());
        let places = &mut self.seen.places;
        places.resize(places.len().max(id as usize + 1), None);
        places[id as usize] = Some(place);
        place
    }

    /// The place of a segment, new or known.
    fn place(&mut self, name: &Segment, spec: &Spec, slots: usize) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.list.len();
        self.insert(name.clone(), Cell::of_segment(spec, place + 1, slots));
        self.share_bins(spec);
        place
    }

    /// Lets each segment have as many bins as so many segments may.
    fn share_bins(&mut self, spec: &Spec) {
        let Binning { capacity, .. } = spec.segment_binning(self.len());
        self.list.iter_mut().for_each(|segment| segment.cell.limit_bins(capacity));
    }
}

impl Cell {
    /// Adds rows that waited.
    fn add_ready(&mut self, spec: &Spec, rows: Ready<'_>, scratch: &mut Scratch) {
        match rows {
            Ready::Block(block) => {
                self.add(&spec.structure, block, scratch);
            }
            Ready::Coded(coded) => self.add_coded(&spec.structure, coded, scratch),
        }
    }
}
