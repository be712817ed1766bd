//! The sums of each segment of a log.
//! See docs/methods.md, section 3.6.
//!
//! Segments share a number of bins: the more of them there are, the coarser are the bins of each. How fine they are in the
//! end depends on the rewards and on how many segments the log has, not on the order in which rows came.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::question::binning::Binning;
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::question::structure::Structure;
use crate::rows::block::Block;
use crate::summary::accumulate::Scratch;
use crate::summary::backlog::{Backlog, Ready, RowsOf, Taker};
use crate::summary::both::add_to_both;
use crate::summary::cell::Cell;

/// The segments of a log, in order of their first appearance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segments {
    list: Vec<OneSegment>,
    places: HashMap<Segment, usize>,
    /// Rows that wait.
    backlog: Backlog,
    /// Whether segments have come since bins were shared.
    has_new: bool,
    /// Places of the segments of the block that came last, by their numbers there.
    seen: Seen,
}

#[derive(Debug, Clone)]
struct OneSegment {
    name: Segment,
    /// Without the rows that wait.
    cell: Cell,
}

/// A segment's sums, here or elsewhere.
pub(crate) type CellByName<'a> = (Cow<'a, Segment>, Cow<'a, Cell>);

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

    /// How many rows the whole log waits for.
    pub(crate) fn waiting_rows(&self) -> usize {
        self.backlog.rows()
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

    /// Finds the places of a block's segments, new or known, row by row.
    pub(crate) fn find_places(&mut self, spec: &Spec, block: &Block, places: &mut Vec<u32>) {
        self.see(block);
        for &id in block.segment_ids() {
            let known = self.seen.places.get(id as usize).copied().flatten();
            // There are at most a thousand.
            places.push(known.unwrap_or_else(|| self.find_place(id, spec, block)) as u32);
        }
    }

    /// Adds the rows of a block that has been checked to their segments and, unless they were recognised and it has them,
    /// to the whole log.
    pub(crate) fn add(&mut self, rows: RowsOf<'_>, sums: Sums<'_>) {
        if std::mem::take(&mut self.has_new) {
            self.share_bins(sums.spec);
        }
        let Segments { list, backlog, .. } = self;
        let (mut destination, ready) = sums.with(list);
        backlog.add(rows, ready, &mut destination);
    }

    /// Adds up the rows that wait.
    pub(crate) fn settle(&mut self, sums: Sums<'_>) {
        let Segments { list, backlog, .. } = self;
        let (mut destination, ready) = sums.with(list);
        backlog.empty_all(ready, &mut destination);
        list.iter_mut().for_each(|segment| segment.cell.add_repeats());
    }

    /// The same, to be merged with others.
    pub(crate) fn borrowed(&self) -> Vec<CellByName<'_>> {
        self.cells().into_iter().map(|(name, cell)| (Cow::Borrowed(name), Cow::Borrowed(cell))).collect()
    }

    /// The same, where nobody needs them any more.
    pub(crate) fn owned(mut self) -> Vec<CellByName<'static>> {
        self.list.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        self.list.into_iter().map(|OneSegment { name, cell }| (Cow::Owned(name), Cow::Owned(cell))).collect()
    }

    /// Takes in other segments, by name, none of whose rows wait.
    pub(crate) fn merge(&mut self, spec: &Spec, others: Vec<CellByName<'_>>) {
        for (name, cell) in others {
            match self.places.get(name.as_ref()) {
                Some(&place) => self.list[place].cell.merge(&cell),
                None => self.insert(name.into_owned(), cell.into_owned()),
            }
        }
        self.has_new = false;
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
        let place = self.place(block.segment_names().name(id), spec);
        let places = &mut self.seen.places;
        places.resize(places.len().max(id as usize + 1), None);
        places[id as usize] = Some(place);
        place
    }

    /// The place of a segment, new or known. A new one has no slots until it has rows: how many they have may depend on those
    /// that they wait with.
    fn place(&mut self, name: &Segment, spec: &Spec) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.list.len();
        self.insert(name.clone(), Cell::of_segment(spec, place + 1, 0));
        self.has_new = true;
        place
    }

    /// Lets each segment have as many bins as so many segments may.
    fn share_bins(&mut self, spec: &Spec) {
        let Binning { capacity, .. } = spec.segment_binning(self.len());
        self.list.iter_mut().for_each(|segment| segment.cell.limit_bins(capacity));
    }
}

/// The whole log, and buffers for what is added to it and to its segments.
pub(crate) struct Sums<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) whole: &'a mut Cell,
    /// For rows that need not wait any longer.
    pub(crate) ready: &'a mut Block,
    pub(crate) scratch: &'a mut Scratch,
}

impl<'a> Sums<'a> {
    fn with(self, list: &'a mut [OneSegment]) -> (Destination<'a>, &'a mut Block) {
        let Sums { spec, whole, ready, scratch } = self;
        (Destination { structure: &spec.structure, whole, list, scratch }, ready)
    }
}

/// Where rows go that need not wait any longer.
struct Destination<'a> {
    structure: &'a Structure,
    whole: &'a mut Cell,
    list: &'a mut [OneSegment],
    scratch: &'a mut Scratch,
}

impl Taker for Destination<'_> {
    fn is_new(&self, place: usize) -> bool {
        self.list[place].cell.rows == 0
    }

    fn foresee(&mut self, place: usize, rewards: &[f64]) {
        self.list[place].cell.foresee(rewards);
    }

    fn take(&mut self, place: usize, rows: Ready<'_>) {
        let Destination { structure, whole, list, scratch } = self;
        let cell = &mut list[place].cell;
        match rows {
            Ready::Block(block) => add_to_both([whole, cell], structure, block, scratch),
            Ready::Coded(coded) => cell.add_coded(structure, coded, scratch),
        }
    }
}
