//! The sums of each segment of a log, while rows are added.
//! See docs/methods.md, section 3.6.

mod backlog;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use slateval_stats::sums::Cell;
use slateval_stats::{Binning, Result, Segment, Spec, Sums};

use crate::block::Block;
use crate::kernel;
use crate::kernel::Scratch;
use crate::segments::backlog::Backlog;

pub(crate) use crate::segments::backlog::MOST_NUMBERS;

/// The segments of a log, in order of their first appearance.
#[derive(Debug)]
pub(crate) struct SegmentCells {
    cells: Vec<(Segment, Cell)>,
    places: HashMap<Segment, u32>,
    backlog: Backlog,
    /// Buffer for rows of one segment.
    ready: Block,
    seen: Seen,
}

/// Places of the segments of the block that came last, by their numbers there.
#[derive(Debug, Default)]
struct Seen {
    /// Whose numbers they are.
    identity: u64,
    places: Vec<Option<u32>>,
}

impl SegmentCells {
    pub(crate) fn new(spec: &Spec) -> Self {
        SegmentCells {
            cells: Vec::new(),
            places: HashMap::new(),
            backlog: Backlog::default(),
            ready: Block::new(spec).without_segments(),
            seen: Seen::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Makes room for the segments of a block, or refuses them if they would be too many beside those that are there.
    pub(crate) fn admit(&mut self, spec: &Spec, block: &Block) -> Result<()> {
        self.see(block);
        let unknown = |id: &u32| self.seen.place(*id).is_none();
        let ids: BTreeSet<u32> = block.segment_ids().iter().copied().filter(unknown).collect();
        let name = |&id: &u32| block.segment_names().name(id);
        let new: BTreeSet<&Segment> = ids.iter().map(name).filter(|name| !self.places.contains_key(name)).collect();
        Sums::check_count(spec, self.cells.len(), new.len())?;
        ids.iter().for_each(|id| self.find(spec, block, *id));
        Ok(())
    }

    /// Adds the rows of a block that has been checked, whose segments were admitted.
    pub(crate) fn add(&mut self, spec: &Spec, block: &Block, scratch: &mut Scratch) {
        self.see(block);
        for &id in block.segment_ids() {
            if self.seen.place(id).is_none() {
                self.find(spec, block, id);
            }
        }
        let place = |&id: &u32| self.seen.place(id).unwrap_or_default();
        self.backlog.push(block, block.segment_ids().iter().map(place));
        if self.backlog.is_full() {
            self.empty(spec, scratch);
        }
    }

    /// All segments with all of their rows.
    pub(crate) fn finish(mut self, spec: &Spec, scratch: &mut Scratch) -> BTreeMap<Segment, Cell> {
        self.empty(spec, scratch);
        self.cells.into_iter().collect()
    }

    fn empty(&mut self, spec: &Spec, scratch: &mut Scratch) {
        let Binning { capacity, .. } = spec.segment_binning(self.cells.len());
        self.cells.iter_mut().for_each(|(_, cell)| cell.limit_bins(capacity));
        let SegmentCells { cells, backlog, ready, .. } = self;
        backlog.empty(cells.len(), ready, |place, block| {
            kernel::add(&mut cells[place].1, &spec.structure, block, scratch)
        });
    }

    /// Forgets the numbers of another block.
    fn see(&mut self, block: &Block) {
        let identity = block.segment_names().identity();
        if self.seen.identity != identity {
            self.seen = Seen { identity, places: Vec::new() };
        }
    }

    /// Finds the place of a segment, new or known. A new one has no slots until it has rows.
    fn find(&mut self, spec: &Spec, block: &Block, id: u32) {
        let name = block.segment_names().name(id);
        let place = self.places.get(name).copied().unwrap_or_else(|| {
            // There are at most a thousand.
            let place = self.cells.len() as u32;
            self.cells.push((name.clone(), Cell::of_segment(spec, self.cells.len() + 1, 0)));
            self.places.insert(name.clone(), place);
            place
        });
        let places = &mut self.seen.places;
        places.resize(places.len().max(id as usize + 1), None);
        places[id as usize] = Some(place);
    }
}

impl Seen {
    fn place(&self, id: u32) -> Option<u32> {
        self.places.get(id as usize).copied().flatten()
    }
}
