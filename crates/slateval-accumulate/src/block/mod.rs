//! A block of logged slates, column by column: what readers fill and [`Accumulator::add`](crate::Accumulator::add) takes.

mod append;
mod block_columns;
mod block_segments;
mod check;
mod gather;
mod segment_names;

use slateval_stats::{Field, Pool, Segment, Spec};

use crate::block::block_columns::{BlockColumns, PER_POLICY, POOL, Place, Ranges, undecided};
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
    columns: BlockColumns,
    /// The reward, then the pool.
    single: Vec<Column>,
    /// For each policy.
    weights: Vec<Column>,
    /// `[column of a slot][slot]`: logging first, then target, chi and anywhere of each policy.
    by_slot: Vec<Vec<Column>>,
    /// What is known of the columns' values.
    ranges: Ranges,
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
        Self::with_columns(BlockColumns::of(spec))
    }

    /// Whether this block has the columns `spec` asks for.
    pub(crate) fn suits(&self, spec: &Spec) -> bool {
        self.columns.cover(&BlockColumns::of(spec))
    }

    fn with_columns(columns: BlockColumns) -> Self {
        let policies = columns.policies.len();
        Block {
            rows: 0,
            slots: 0,
            single: vec![Column::ZERO; if columns.pool { 2 } else { 1 }],
            weights: vec![Column::ZERO; if columns.policies.iter().any(|p| p.weight) { policies } else { 0 }],
            columns,
            by_slot: vec![Vec::new(); 1 + PER_POLICY * policies],
            ranges: Ranges { reward: None, by_slot: vec![Vec::new(); 1 + PER_POLICY * policies] },
            missing: Vec::new(),
            segments: Vec::new(),
            segment_names: SegmentNames::default(),
            groups: Vec::new(),
        }
    }

    /// Makes room for `rows` slates of at most `slots` slots, none of them missing. Column values are unspecified
    /// until they are filled.
    ///
    /// # Panics
    /// If `rows` is more than [`Block::ROWS`].
    pub fn reset(&mut self, rows: usize, slots: usize) {
        self.missing.clear();
        self.segments.clear();
        self.groups.clear();
        self.resize(rows, slots);
    }

    fn resize(&mut self, rows: usize, slots: usize) {
        assert!(rows <= Self::ROWS, "a block holds at most {} rows", Self::ROWS);
        self.rows = rows;
        self.slots = if self.has_slots() { slots } else { 0 };
        for (kind, columns) in self.by_slot.iter_mut().enumerate() {
            if self.columns.has(kind) {
                column::resize(columns, self.slots);
                self.ranges.by_slot[kind].resize(self.slots, None);
            }
        }
        self.ranges.forget_all();
        self.fill_up();
        if self.columns.segmented {
            self.segments.resize(rows, 0);
        }
        if self.columns.groups > 0 {
            self.groups.resize(rows, 0);
        }
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
        self.columns.logging || self.columns.policies.iter().any(|p| p.target)
    }

    /// The columns to fill.
    pub fn fields(&self) -> Vec<Field> {
        let most = 2 + self.by_slot.len() * self.slots + self.columns.policies.len();
        let mut fields = Vec::with_capacity(most);
        fields.push(Field::Reward);
        if self.columns.pool {
            fields.push(Field::Pool);
        }
        for slot in 0..self.slots {
            if self.columns.logging {
                fields.push(Field::Logging { slot });
            }
            for (policy, shape) in self.columns.policies.iter().enumerate() {
                if shape.target {
                    fields.push(Field::Target { policy, slot });
                }
                if shape.chi {
                    fields.push(Field::Chi { policy, slot });
                }
                if shape.anywhere {
                    fields.push(Field::Anywhere { policy, slot });
                }
            }
        }
        for (policy, shape) in self.columns.policies.iter().enumerate() {
            if shape.weight {
                fields.push(Field::Weight { policy });
            }
        }
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
        match BlockColumns::place(field) {
            Place::Single(place) => &self.single[place],
            Place::Weight(policy) => &self.weights[policy],
            Place::Slot(kind, slot) => &self.by_slot[kind][slot],
        }
    }

    /// The columns of all slots, given the field of one.
    pub(crate) fn whole_columns(&self, field: Field) -> &[Column] {
        match BlockColumns::place(field) {
            Place::Slot(kind, _) => &self.by_slot[kind],
            Place::Single(_) | Place::Weight(_) => std::slice::from_ref(self.whole_column(field)),
        }
    }

    /// One column, to be filled.
    ///
    /// # Panics
    /// If the block has no such column.
    pub fn column_mut(&mut self, field: Field) -> &mut [f64] {
        let rows = self.rows;
        self.ranges.of(field).into_iter().for_each(|range| *range = None);
        let column = match BlockColumns::place(field) {
            Place::Single(place) => &mut self.single[place],
            Place::Weight(policy) => &mut self.weights[policy],
            Place::Slot(kind, slot) => &mut self.by_slot[kind][slot],
        };
        column.first_mut(rows)
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
        let rows = self.rows;
        assert_eq!(numbers.len(), rows, "a column has one number for each row");
        let range = singles::widen(numbers, self.column_mut(field));
        self.ranges.of(field).into_iter().for_each(|known| *known = range);
    }

    /// The smallest and the largest reward, if they are known and not below 0.
    pub(crate) fn reward_range(&self) -> Option<(f64, f64)> {
        self.ranges.reward
    }

    /// The smallest and the largest value of a column in each slot, where they are known and not below 0, given the field
    /// of one slot.
    pub(crate) fn slot_ranges(&self, field: Field) -> &[Option<(f64, f64)>] {
        match BlockColumns::place(field) {
            Place::Slot(kind, _) => &self.ranges.by_slot[kind],
            Place::Single(_) | Place::Weight(_) => &[],
        }
    }

    /// Says that the slate in `row` has no such slot; overwrites the slot's values. Its ratio counts as 1, so it
    /// contributes `Z = 0` to every weight.
    pub fn set_missing(&mut self, row: usize, slot: usize) {
        self.missing.resize(self.slots, Vec::new());
        self.missing[slot].resize(self.rows, false);
        self.missing[slot][row] = true;
        for (kind, columns) in self.by_slot.iter_mut().enumerate() {
            if self.columns.has(kind) {
                columns[slot].first_mut(self.rows)[row] = undecided(kind);
                self.ranges.by_slot[kind][slot] = None;
            }
        }
    }

    /// Whether any slot is missing in any row.
    pub fn has_missing(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Whether any slate has no such slot.
    pub(crate) fn has_missing_in(&self, slot: usize) -> bool {
        self.missing.get(slot).is_some_and(|rows| !rows.is_empty())
    }

    /// Whether the slate in `row` has no such slot.
    pub fn is_missing(&self, row: usize, slot: usize) -> bool {
        self.has_missing_in(slot) && self.missing[slot][row]
    }

    /// Number of slots the slate in `row` has.
    pub fn length(&self, row: usize) -> usize {
        self.slots - (0..self.slots).filter(|&slot| self.is_missing(row, slot)).count()
    }

    /// From how many items the slate in `row` was drawn.
    pub(crate) fn pool_size(&self, pool: &Pool, row: usize) -> f64 {
        match pool {
            Pool::Size(n) => *n as f64,
            Pool::Column(_) => self.single[POOL].get(row),
        }
    }

    /// Says which cluster, such as a user, the slate in `row` belongs to. Slates of one cluster are not taken to be
    /// independent of each other.
    ///
    /// # Panics
    /// If the specification has no `cluster`.
    pub fn set_cluster(&mut self, row: usize, value: &Segment) {
        self.groups[row] = group_of(value, self.columns.groups);
    }

    /// The group that each row's cluster belongs to; empty without clusters.
    pub(crate) fn groups(&self) -> &[u16] {
        &self.groups
    }

    /// An empty block for the same rows but for what segments they belong to.
    pub(crate) fn without_segments(&self) -> Block {
        Self::with_columns(BlockColumns { segmented: false, ..self.columns.clone() })
    }

    /// Numbers of a row of so many slots.
    pub(crate) fn width_of(&self, slots: usize) -> usize {
        let kinds = (0..self.by_slot.len()).filter(|&kind| self.columns.has(kind)).count();
        self.single.len() + self.weights.len() + kinds * slots
    }

    /// Makes the rows that fill up the last group harmless.
    fn fill_up(&mut self) {
        for (kind, columns) in self.by_slot.iter_mut().enumerate() {
            columns.iter_mut().for_each(|column| column.fill_up(self.rows, undecided(kind)));
        }
        self.single.iter_mut().for_each(|column| column.fill_up(self.rows, 0.0));
        self.weights.iter_mut().for_each(|column| column.fill_up(self.rows, 0.0));
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
