//! Bins of rewards that never depend on a first look at the data, so that any two summaries merge.
//! See docs/methods.md, section 3.1.
//!
//! Up to `capacity` distinct rewards are kept exactly. Beyond that, rewards fall into bins `(lo, hi]` whose edges are
//! multiples of a power of two ([`Scale::Linear`]) or floats with a shortened mantissa ([`Scale::Log`]), as fine as
//! `capacity` allows; when data outgrow that, neighbours are added together. The resolution in the end depends only on
//! the union of the rewards seen, not on their order or on how they were split.

use std::collections::HashMap;

use crate::spec::binning::{Binning, Scale};
use crate::sums::bin_index::Index;

/// How finely rewards are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// Every distinct reward has a bin of its own.
    Exact,
    /// Bin `k` is `((k-1) 2^-e, k 2^-e]`.
    Width(i32),
    /// Bin `k` holds the floats whose ordered bits, divided by `2^shift`, round up to `k`.
    Shift(u32),
}

/// Finest and coarsest bin widths: `2^-e` and its products with rewards stay finite.
const FINEST: i32 = 1000;
const COARSEST: i32 = -1020;

impl Resolution {
    /// The bin's key of a reward: the larger the reward, the larger the key.
    fn key(self, reward: f64) -> i64 {
        match self {
            Resolution::Exact => ordered_bits(reward),
            Resolution::Width(e) => ceil(reward * power_of_two(e)),
            Resolution::Shift(shift) => ceil_shift(ordered_bits(reward), shift),
        }
    }

    /// The key at a coarser resolution, or at the same. Bins can be added together, but not taken apart.
    fn coarsen(self, key: i64, to: Resolution) -> i64 {
        debug_assert!(self.coarseness() <= to.coarseness(), "{self:?} cannot become {to:?}");
        match (self, to) {
            (Resolution::Exact, _) => to.key(from_ordered_bits(key)),
            (Resolution::Width(_), Resolution::Width(_)) | (Resolution::Shift(_), Resolution::Shift(_)) => {
                ceil_shift(key, u32::try_from(to.coarseness() - self.coarseness()).unwrap_or(0))
            }
            _ => key,
        }
    }

    /// Whether rewards of a bin with this key can lie between these two. Where bins were added together, the smallest
    /// numbers may have been rounded on the way.
    pub(crate) fn has(self, key: i64, (least, most): (f64, f64)) -> bool {
        self.key(least).abs_diff(key) <= 1 && self.key(most).abs_diff(key) <= 1
    }

    /// Whether bins of this resolution can have these keys, ascending.
    pub(crate) fn fits(self, binning: Binning, keys: &[i64]) -> bool {
        let span = keys.first().zip(keys.last()).and_then(|(first, last)| last.checked_sub(*first));
        match (binning.scale, self) {
            (Scale::Linear, Resolution::Exact) => keys.len() <= binning.capacity,
            (Scale::Log, Resolution::Shift(shift)) => shift < 64 && keys.len() <= binning.capacity,
            (Scale::Linear, Resolution::Width(e)) => {
                (COARSEST..=FINEST).contains(&e) && span.is_some_and(|span| span < binning.capacity as i64)
            }
            _ => false,
        }
    }

    fn coarseness(self) -> i64 {
        match self {
            Resolution::Exact => i64::MIN,
            Resolution::Width(e) => -i64::from(e),
            Resolution::Shift(shift) => i64::from(shift),
        }
    }
}

/// `ceil(x)` as an integer, without the library call that `f64::ceil` is on a baseline x86-64.
fn ceil(x: f64) -> i64 {
    let towards_zero = x as i64;
    // A file may claim bins so fine that rewards are beyond all integers.
    towards_zero.saturating_add(i64::from(x > towards_zero as f64))
}

/// `ceil(key / 2^shift)`.
fn ceil_shift(key: i64, shift: u32) -> i64 {
    -(key.saturating_neg() >> shift.min(63))
}

fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((1023 + i64::from(e)) as u64) << 52)
}

/// An integer that orders like the float; 0 for 0.
fn ordered_bits(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits < 0 { -(bits & i64::MAX) } else { bits }
}

fn from_ordered_bits(key: i64) -> f64 {
    if key < 0 { -f64::from_bits(-key as u64) } else { f64::from_bits(key as u64) }
}

/// Maps rewards to the rows of a table of sums, one row per bin, in no particular order.
///
/// When bins are added together the owner of the table is told how its rows move.
#[derive(Debug, Clone)]
pub struct Bins {
    binning: Binning,
    resolution: Resolution,
    range: Option<(f64, f64)>,
    index: Index,
}

/// Bins of equal width, whose rows stand in a ring: the row of a reward is `ceil(reward scale) & mask`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ring {
    /// One over the width of a bin, a power of two.
    pub scale: f64,
    /// The key of the smallest reward so far. Counted from it, keys are small enough for 32 bits.
    pub first: i64,
    /// One less than the number of rows, a power of two.
    pub mask: i64,
}

impl Ring {
    /// The rows of some rewards, one by one.
    pub fn rows(self, rewards: &[f64], rows: &mut [u32]) {
        for (row, reward) in rows.iter_mut().zip(rewards) {
            *row = (ceil(reward * self.scale) & self.mask) as u32;
        }
    }
}

/// Where the rows of a table go: `(old, new)` for each, into a table of `size` rows.
#[derive(Debug)]
pub struct Moves {
    /// `(old, new)` of each row.
    pub rows: Vec<(u32, u32)>,
    /// How many rows the new table has.
    pub size: usize,
}

/// The moves of two changes, either of which may move nothing.
fn one_after_the_other(first: Option<Moves>, second: Option<Moves>) -> Option<Moves> {
    match (first, second) {
        (Some(first), Some(second)) => Some(first.then(second)),
        (first, second) => first.or(second),
    }
}

impl Moves {
    fn then(self, next: Moves) -> Moves {
        let onwards: HashMap<u32, u32> = next.rows.into_iter().collect();
        // A row without a way onwards held nothing.
        let rows = self.rows.iter().filter_map(|(old, mid)| Some((*old, *onwards.get(mid)?))).collect();
        Moves { rows, size: next.size }
    }
}

impl Bins {
    pub(crate) fn new(binning: Binning) -> Self {
        let resolution = match binning.scale {
            Scale::Linear => Resolution::Exact,
            Scale::Log => Resolution::Shift(0),
        };
        Bins { binning, resolution, range: None, index: Index::new(resolution, binning.capacity) }
    }

    /// The bins of a saved summary, and the row of each of its keys.
    pub(crate) fn restore(
        binning: Binning,
        resolution: Resolution,
        range: Option<(f64, f64)>,
        keys: &[i64],
    ) -> (Self, Vec<u32>) {
        let mut bins = Bins { binning, resolution, range, index: Index::new(resolution, binning.capacity) };
        let rows = keys.iter().map(|&key| bins.index.insert(key)).collect();
        (bins, rows)
    }

    /// Whether these are the bins that rewards of such a range have: bins of equal width are as fine as they can be.
    pub(crate) fn suit_range(&self) -> bool {
        !matches!(self.resolution, Resolution::Width(_)) || self.resolution == self.finest_width()
    }

    /// Rows a table needs now.
    pub fn table_rows(&self) -> usize {
        match &self.index {
            Index::Scattered(rows) => rows.len(),
            Index::Ring { mask, .. } => *mask as usize + 1,
        }
    }

    /// `(key, row)` of every bin, ascending; some may be empty.
    pub(crate) fn ascending(&self) -> Vec<(i64, u32)> {
        let mut bins: Vec<(i64, u32)> = match &self.index {
            Index::Scattered(rows) => rows.iter().map(|(&key, &row)| (key, row)).collect(),
            Index::Ring { mask, keys } => {
                keys.iter().flat_map(|&(lo, hi)| lo..=hi).map(|key| (key, (key & mask) as u32)).collect()
            }
        };
        bins.sort_unstable();
        bins
    }

    pub(crate) fn resolution(&self) -> Resolution {
        self.resolution
    }

    /// Smallest and largest reward.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.range
    }

    /// Number of distinct rewards, while they are told apart.
    pub(crate) fn distinct(&self) -> Option<usize> {
        match (self.resolution, &self.index) {
            (Resolution::Exact | Resolution::Shift(0), Index::Scattered(rows)) => Some(rows.len()),
            _ => None,
        }
    }

    /// Says what the first rewards are between, if there were none before.
    pub fn begin(&mut self, range: (f64, f64)) {
        self.range.get_or_insert(range);
    }

    /// Fills `rows` with the row of each reward, given the smallest and the largest. Rewards must be finite and not `-0.0`. If
    /// bins had to be added together first, says how. `fill_ring` is [`Ring::rows`], or what does it faster.
    pub fn assign(
        &mut self,
        rewards: &[f64],
        range: Option<(f64, f64)>,
        rows: &mut Vec<u32>,
        fill_ring: impl Fn(Ring, &[f64], &mut [u32]),
    ) -> Option<Moves> {
        let before = self.range;
        if let Some(range) = range {
            self.extend_range(range);
        }
        let mut moves = None;
        if matches!(self.resolution, Resolution::Width(_)) && self.range != before {
            moves = self.coarsen_to(self.finest_width());
        }
        self.look_up(rewards, rows, &fill_ring);
        if self.is_over_full() {
            moves = self.coarsen_to(self.finest_that_fits());
            self.look_up(rewards, rows, &fill_ring);
        }
        moves
    }

    /// Takes in the bins of `other`. Says how the own rows move, and into which own row each row of `other` goes.
    pub(crate) fn absorb(&mut self, other: &Bins) -> (Option<Moves>, Vec<(u32, u32)>) {
        // Where there are many segments, a cell may have fewer bins than one of a part with few: bins can be added together,
        // but not taken apart.
        let mut moves = self.limit(other.binning.capacity);
        if let Some(range) = other.range {
            self.extend_range(range);
        }
        let coarser = std::cmp::max_by_key(self.resolution, other.resolution, |r| r.coarseness());
        let coarsened = self.coarsen_to(match coarser {
            Resolution::Width(_) => self.finest_width(),
            shared => shared,
        });
        moves = one_after_the_other(moves, coarsened);
        let mut from_other = self.insert_all(other);
        if self.is_over_full() {
            moves = one_after_the_other(moves, self.coarsen_to(self.finest_that_fits()));
            from_other = self.insert_all(other);
        }
        (moves, from_other)
    }

    fn insert_all(&mut self, other: &Bins) -> Vec<(u32, u32)> {
        let own = self.resolution;
        let place = |(key, row)| (row, self.index.insert(other.resolution.coarsen(key, own)));
        other.ascending().into_iter().map(place).collect()
    }

    fn look_up(&mut self, rewards: &[f64], rows: &mut Vec<u32>, fill_ring: impl Fn(Ring, &[f64], &mut [u32])) {
        rows.clear();
        let resolution = self.resolution;
        match (&mut self.index, resolution) {
            (Index::Ring { mask, keys }, Resolution::Width(e)) => {
                let (lo, hi) = self.range.unwrap_or((0.0, 0.0));
                let (first, last) = (resolution.key(lo), resolution.key(hi));
                // Keys rise with rewards: the range's ends have the outermost.
                *keys = Some((first, last));
                rows.resize(rewards.len(), 0);
                fill_ring(Ring { scale: power_of_two(e), first, mask: *mask }, rewards, rows);
            }
            (index, _) => rows.extend(rewards.iter().map(|&reward| index.insert(resolution.key(reward)))),
        }
    }

    fn extend_range(&mut self, (lo, hi): (f64, f64)) {
        self.range = Some(match self.range {
            None => (lo, hi),
            Some((min, max)) => (min.min(lo), max.max(hi)),
        });
    }

    fn is_over_full(&self) -> bool {
        matches!(&self.index, Index::Scattered(rows) if rows.len() > self.binning.capacity)
    }

    fn finest_that_fits(&self) -> Resolution {
        match self.resolution {
            Resolution::Shift(shift) => self.finest_shift(shift),
            _ => self.finest_width(),
        }
    }

    /// The smallest bins of equal width that span the range with at most `capacity` of them.
    fn finest_width(&self) -> Resolution {
        let (lo, hi) = self.range.unwrap_or((0.0, 0.0));
        let half_span = hi / 2.0 - lo / 2.0;
        let guess = (self.binning.capacity as f64).log2() - half_span.log2() + 1.0;
        let start = guess.clamp(f64::from(COARSEST), f64::from(FINEST)) as i32;
        let fits = |e: i32| {
            let width = Resolution::Width(e);
            width.key(hi).saturating_sub(width.key(lo)) < self.binning.capacity as i64
        };
        Resolution::Width((COARSEST..=start).rev().find(|&e| fits(e)).unwrap_or(COARSEST))
    }

    /// The longest mantissa that leaves at most `capacity` occupied bins.
    fn finest_shift(&self, from: u32) -> Resolution {
        let mut keys: Vec<i64> = self.ascending().into_iter().map(|(key, _)| key).collect();
        let mut shift = from;
        while keys.len() > self.binning.capacity && shift < 63 {
            shift += 1;
            keys.iter_mut().for_each(|key| *key = ceil_shift(*key, 1));
            keys.dedup();
        }
        Resolution::Shift(shift)
    }

    /// Makes do with fewer bins from now on; says how rows move.
    pub(crate) fn limit(&mut self, capacity: usize) -> Option<Moves> {
        if capacity >= self.binning.capacity {
            return None;
        }
        self.binning.capacity = capacity;
        match self.resolution {
            // A ring gets smaller even where its bins stay.
            Resolution::Width(_) => Some(self.rebuild(self.finest_width())),
            _ if self.is_over_full() => Some(self.rebuild(self.finest_that_fits())),
            _ => None,
        }
    }

    fn coarsen_to(&mut self, to: Resolution) -> Option<Moves> {
        (to != self.resolution).then(|| self.rebuild(to))
    }

    fn rebuild(&mut self, to: Resolution) -> Moves {
        let mut index = Index::new(to, self.binning.capacity);
        let place = |(key, row)| (row, index.insert(self.resolution.coarsen(key, to)));
        let rows = self.ascending().into_iter().map(place).collect();
        self.index = index;
        self.resolution = to;
        Moves { rows, size: self.table_rows() }
    }
}
