//! Rows into sums: the accumulator that readers and slices in memory fill.
//! See docs/methods.md, section 3.

use slateval_stats::sums::Cell;
use slateval_stats::{Result, Spec, Sums};

use crate::block::Block;
use crate::kernel::{self, Scratch};
use crate::segments::{MOST_NUMBERS, SegmentCells};
use crate::slate::Slate;

/// Bytes of a number.
const NUMBER: u64 = 8;

/// Adds up the rows of a log: [`add`](Accumulator::add) blocks of them, or [`record`](Accumulator::record) them one by one,
/// and [`finish`](Accumulator::finish).
///
/// Rows may wait in here, until they fill a block or until there are enough rows of their segment. [`Sums`] have no rows
/// that wait.
///
/// | verb | cost |
/// |---|---|
/// | [`add`](Accumulator::add), [`record`](Accumulator::record) | `O(K^2)` arithmetic a row and policy, a few cache lines of scattered memory |
/// | [`finish`](Accumulator::finish) | that of the rows that wait |
///
/// ```
/// use slateval_accumulate::{Accumulator, Slate};
/// use slateval_stats::{Spec, Structure};
///
/// // Two actions, shown equally often; the first is worth 1. The target shows it in 9 of 10 slates.
/// let mut rows = Accumulator::new(Spec::new(Structure::Additive, ["new"]))?;
/// rows.record(&Slate::new(1.0).logging(&[0.5]).targets(&[&[0.9]]))?;
/// rows.record(&Slate::new(0.0).logging(&[0.5]).targets(&[&[0.1]]))?;
///
/// assert_eq!(rows.finish().rows(), 2);
/// # Ok::<(), slateval_stats::Error>(())
/// ```
#[derive(Debug)]
pub struct Accumulator {
    spec: Spec,
    whole: Option<Cell>,
    segments: SegmentCells,
    /// Recorded slates, fewer than fill a block.
    open: Block,
    /// Buffer for the slate that is being recorded.
    one: Block,
    scratch: Scratch,
    rows: u64,
    slots: usize,
}

impl Accumulator {
    /// An accumulator without rows.
    ///
    /// # Errors
    /// If the specification contradicts itself: no target, a reserved or repeated name, an impossible structure.
    pub fn new(spec: Spec) -> Result<Self> {
        spec.check()?;
        let (open, one) = (Block::new(&spec), Block::new(&spec));
        let (segments, scratch) = (SegmentCells::new(&spec), Scratch::default());
        Ok(Accumulator { spec, whole: None, segments, open, one, scratch, rows: 0, slots: 0 })
    }

    /// What is summed.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// How many slates were added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Slots of the longest slate.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// How many segments were seen.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// Adds the rows of a block, or none of them: a block is checked as a whole first.
    ///
    /// # Errors
    /// [`Error::BadValue`](slateval_stats::Error::BadValue) for a value that no reward or probability can have,
    /// [`Error::BadStructure`](slateval_stats::Error::BadStructure) for slates of more slots than the pool of a ranking has items,
    /// [`Error::TooManySegments`](slateval_stats::Error::TooManySegments). Whether slates have the slots that the structure names is
    /// known when all rows are in: [`Sums::evaluate`] checks it.
    ///
    /// # Panics
    /// If the block was made for another specification.
    pub fn add(&mut self, block: &Block) -> Result<()> {
        assert!(block.suits(&self.spec), "the block was made for another specification");
        block.check(&self.spec)?;
        self.segments.admit(&self.spec, block)?;
        self.count(block);
        let Accumulator { spec, whole, segments, scratch, .. } = self;
        add_rows(spec, whole, segments, block, scratch);
        Ok(())
    }

    /// Adds one slate. Its sums are added up when there are [`Block::ROWS`] slates to add.
    ///
    /// # Errors
    /// As [`add`](Accumulator::add), [`Error::BadShape`](slateval_stats::Error::BadShape) for a slate without what the specification
    /// asks for, and [`Error::HalfMissing`](slateval_stats::Error::HalfMissing). The accumulator is then as it was. The row of the
    /// error is the number of slates before this one.
    pub fn record(&mut self, slate: &Slate<'_>) -> Result<()> {
        let checked = slate.fill(&self.spec, &mut self.one).and_then(|()| self.one.check(&self.spec));
        checked.map_err(|error| error.after(usize::try_from(self.rows).unwrap_or(usize::MAX)))?;
        self.segments.admit(&self.spec, &self.one)?;
        self.open.append(&self.one);
        self.rows += 1;
        self.slots = self.slots.max(self.one.slots());
        if self.open.rows() == Block::ROWS {
            self.add_recorded();
        }
        Ok(())
    }

    /// The sums of all rows.
    pub fn finish(mut self) -> Sums {
        self.add_recorded();
        let segments = self.segments.finish(&self.spec, &mut self.scratch);
        Sums::of_cells(self.spec, self.whole, segments)
    }

    /// Bytes of the rows that wait at most, for slates of so many slots.
    ///
    /// ```
    /// use slateval_accumulate::Accumulator;
    /// use slateval_stats::{Spec, Structure};
    ///
    /// let spec = Spec::new(Structure::Auto, ["new"]);
    /// assert!(Accumulator::most_waiting_bytes(&spec, 5) < 100_000);
    /// assert!(Accumulator::most_waiting_bytes(&spec.by("device"), 5) < 30_000_000);
    /// ```
    pub fn most_waiting_bytes(spec: &Spec, slots: usize) -> u64 {
        let of_block = (Block::ROWS * Block::new(spec).width_of(slots)) as u64;
        let of_segments = if spec.by.is_some() { of_block + MOST_NUMBERS as u64 } else { 0 };
        NUMBER.saturating_mul(of_block.saturating_add(of_segments))
    }

    fn count(&mut self, block: &Block) {
        self.rows += block.rows() as u64;
        self.slots = self.slots.max(block.slots());
    }

    fn add_recorded(&mut self) {
        let Accumulator { spec, whole, segments, open, scratch, .. } = self;
        add_rows(spec, whole, segments, open, scratch);
        open.reset(0, 0);
    }
}

/// Adds rows that have been checked, whose segments were admitted.
fn add_rows(spec: &Spec, whole: &mut Option<Cell>, segments: &mut SegmentCells, block: &Block, scratch: &mut Scratch) {
    if block.rows() == 0 {
        return;
    }
    let whole = whole.get_or_insert_with(|| Cell::of_log(spec, block.slots()));
    kernel::add(whole, &spec.structure, block, scratch);
    if spec.by.is_some() {
        segments.add(spec, block, scratch);
    }
}
