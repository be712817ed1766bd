//! A block of logged slates, column by column: what readers fill and [`Accumulator::add`](crate::Accumulator::add) takes.

mod block_segments;
mod check;
mod gather;
mod kinds;
mod missing;
mod segment_names;

use slateval_stats::{Field, Pool, Segment, Spec};

use crate::block::kinds::{Count, Kinds, POOL, place, undecided};
use crate::block::segment_names::SegmentNames;
use crate::kernel::simd::column::{self, Column};
use crate::kernel::simd::singles;

/// Up to [`Block::ROWS`] logged slates, one contiguous column per [`Field`].
///
/// A block is a buffer to be used again and again: [`reset`](Block::reset) it, fill the columns that
/// [`fields`](Block::fields) lists, mark missing slots, and hand it to [`Accumulator::add`](crate::Accumulator::add), which
/// checks every value.
///
/// ```
/// use slateval_accumulate::{Accumulator, Block};
/// use slateval_stats::{Field, Spec, Structure};
///
/// let spec = Spec::new(Structure::Additive, ["new"]);
/// let mut rows = Accumulator::new(spec)?;
/// let mut block = Block::new(rows.spec());
/// block.reset(2, 1);
/// block.column_mut(Field::Reward).copy_from_slice(&[0.0, 1.0]);
/// block.column_mut(Field::Logging { slot: 0 }).copy_from_slice(&[0.5, 0.5]);
/// block.column_mut(Field::Target { policy: 0, slot: 0 }).copy_from_slice(&[0.2, 0.8]);
/// rows.add(&block)?;
/// assert_eq!(rows.finish().rows(), 2);
/// # Ok::<(), slateval_stats::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Block {
    rows: usize,
    slots: usize,
    kinds: Kinds,
    /// `[kind][slot]`; a kind that every row has once has one column.
    columns: Vec<Vec<Column>>,
    /// The smallest and the largest value of each column, where they are known and not below 0.
    ranges: Vec<Vec<Option<(f64, f64)>>>,
    /// `[slot][row]`, empty while nothing is missing, and for each slot that all slates have.
    missing: Vec<Vec<bool>>,
    segments: Vec<u32>,
    segment_names: SegmentNames,
    /// The group that each row's cluster belongs to.
    groups: Vec<u16>,
}

impl Block {
    /// Rows a block holds at most: its columns stay in the processor's cache while they are worked on.
    pub const ROWS: usize = column::ROWS;

    /// An empty block with the columns `spec` asks for.
    pub fn new(spec: &Spec) -> Self {
        Self::of_kinds(Kinds::of(spec))
    }

    /// Whether this block has the columns `spec` asks for.
    pub(crate) fn suits(&self, spec: &Spec) -> bool {
        self.kinds.cover(&Kinds::of(spec))
    }

    fn of_kinds(kinds: Kinds) -> Self {
        let mut block = Block {
            rows: 0,
            slots: 0,
            columns: vec![Vec::new(); kinds.counts.len()],
            ranges: vec![Vec::new(); kinds.counts.len()],
            kinds,
            missing: Vec::new(),
            segments: Vec::new(),
            segment_names: SegmentNames::default(),
            groups: Vec::new(),
        };
        block.reset(0, 0);
        block
    }

    /// Makes room for `rows` slates of at most `slots` slots, none of them missing. Column values are unspecified
    /// until they are filled.
    ///
    /// # Panics
    /// If `rows` is more than [`Block::ROWS`].
    pub fn reset(&mut self, rows: usize, slots: usize) {
        assert!(rows <= Self::ROWS, "a block holds at most {} rows", Self::ROWS);
        self.rows = rows;
        self.slots = if self.has_slots() { slots } else { 0 };
        self.make_room(self.slots);
        self.forget_ranges();
        self.fill_up();
        self.missing.clear();
        self.segments.clear();
        self.groups.clear();
        if self.kinds.segmented {
            self.segments.resize(rows, 0);
        }
        if self.kinds.groups > 0 {
            self.groups.resize(rows, 0);
        }
    }

    /// Has columns for slates of this number of slots.
    fn make_room(&mut self, slots: usize) {
        for (count, (columns, ranges)) in self.kinds.counts.iter().zip(self.columns.iter_mut().zip(&mut self.ranges)) {
            column::resize(columns, count.columns(slots));
            ranges.resize(columns.len(), None);
        }
    }

    fn forget_ranges(&mut self) {
        self.ranges.iter_mut().for_each(|ranges| ranges.fill(None));
    }

    /// Number of slates.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of slots of the longest slate; 0 where the structure has no use for slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Whether the structure looks into the slots at all.
    pub fn has_slots(&self) -> bool {
        self.kinds.counts.contains(&Count::EachSlot)
    }

    /// The columns to fill.
    pub fn fields(&self) -> Vec<Field> {
        let policies = 0..self.kinds.policies();
        let mut fields = vec![Field::Reward, Field::Pool];
        for slot in 0..self.slots {
            fields.push(Field::Logging { slot });
            let of = |policy| {
                [Field::Target { policy, slot }, Field::Chi { policy, slot }, Field::Anywhere { policy, slot }]
            };
            fields.extend(policies.clone().flat_map(of));
        }
        fields.extend(policies.map(|policy| Field::Weight { policy }));
        fields.retain(|&field| self.kinds.counts[place(field).0] != Count::None);
        fields
    }

    /// One column.
    ///
    /// # Panics
    /// If the block has no such column.
    pub fn column(&self, field: Field) -> &[f64] {
        self.whole_column(field).first(self.rows)
    }

    /// One column, with the rows that fill up its last group: there, no slot decides anything, the reward is 0, and so is a
    /// given weight.
    pub(crate) fn whole_column(&self, field: Field) -> &Column {
        let (kind, slot) = place(field);
        &self.columns[kind][slot]
    }

    /// The columns of all slots, given the field of one.
    pub(crate) fn whole_columns(&self, field: Field) -> &[Column] {
        &self.columns[place(field).0]
    }

    /// One column, to be filled.
    ///
    /// # Panics
    /// If the block has no such column.
    pub fn column_mut(&mut self, field: Field) -> &mut [f64] {
        let (kind, slot) = place(field);
        self.ranges[kind][slot] = None;
        self.columns[kind][slot].first_mut(self.rows)
    }

    /// Fills one column from single-precision numbers, each as the double that it is: several at a time, which a loop over
    /// [`column_mut`](Block::column_mut) that is compiled for any machine cannot do.
    ///
    /// ```
    /// use slateval_accumulate::Block;
    /// use slateval_stats::{Field, Spec, Structure};
    ///
    /// let mut block = Block::new(&Spec::new(Structure::Additive, ["new"]));
    /// block.reset(3, 1);
    /// block.fill_from_singles(Field::Reward, &[0.5, 1.0, -2.0]);
    /// assert_eq!(block.column(Field::Reward), [0.5, 1.0, -2.0]);
    /// ```
    ///
    /// # Panics
    /// If the block has no such column, or there are fewer or more numbers than rows.
    pub fn fill_from_singles(&mut self, field: Field, numbers: &[f32]) {
        assert_eq!(numbers.len(), self.rows, "a column has one number for each row");
        let (kind, slot) = place(field);
        self.ranges[kind][slot] = singles::widen(numbers, self.columns[kind][slot].first_mut(self.rows));
    }

    /// The smallest and the largest value of a column, if they are known and not below 0.
    pub(crate) fn range(&self, field: Field) -> Option<(f64, f64)> {
        let (kind, slot) = place(field);
        self.ranges[kind][slot]
    }

    /// The same of the columns of all slots, given the field of one.
    pub(crate) fn ranges(&self, field: Field) -> &[Option<(f64, f64)>] {
        &self.ranges[place(field).0]
    }

    /// From how many items the slate in `row` was drawn.
    pub(crate) fn pool_size(&self, pool: &Pool, row: usize) -> f64 {
        match pool {
            Pool::Size(n) => *n as f64,
            Pool::Column(_) => self.columns[POOL][0].get(row),
        }
    }

    /// Says which cluster, such as a user, the slate in `row` belongs to. Slates of one cluster are not taken to be
    /// independent of each other.
    ///
    /// # Panics
    /// If the specification has no `cluster`.
    pub fn set_cluster(&mut self, row: usize, value: &Segment) {
        self.groups[row] = group_of(value, self.kinds.groups);
    }

    /// The group that each row's cluster belongs to; empty without clusters.
    pub(crate) fn groups(&self) -> &[u16] {
        &self.groups
    }

    /// An empty block for the same rows but for what segments they belong to.
    pub(crate) fn without_segments(&self) -> Block {
        Self::of_kinds(Kinds { segmented: false, ..self.kinds.clone() })
    }

    /// Numbers of a row of so many slots.
    pub(crate) fn width_of(&self, slots: usize) -> usize {
        self.kinds.counts.iter().map(|count| count.columns(slots)).sum()
    }

    /// Makes the rows that fill up the last group harmless.
    fn fill_up(&mut self) {
        for (kind, columns) in self.columns.iter_mut().enumerate() {
            columns.iter_mut().for_each(|column| column.fill_up(self.rows, undecided(kind)));
        }
    }
}

/// The group of a cluster: the same for `7` and `"7"`, in every file, on every machine.
fn group_of(value: &Segment, groups: u16) -> u16 {
    let hash = match value {
        Segment::Text(text) => crc32fast::hash(text.as_bytes()),
        other => crc32fast::hash(other.to_string().as_bytes()),
    };
    // A checksum is linear in its bits; multiplying mixes them.
    let mixed = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    u16::try_from(mixed % u64::from(groups)).unwrap_or(0)
}
