//! The sums of a log or of one of its segments, and how two of them add up.
//! See docs/methods.md, section 3.6.

use crate::math::fold::fold;
use crate::spec::binning::Binning;
use crate::spec::specification::Spec;
use crate::spec::structure::{ORDERS, Structure};
use crate::sums::bins::{Bins, Moves};
use crate::sums::clusters::ClusterSums;
use crate::sums::cross::CrossGram;
use crate::sums::feature_map::FeatureMap;
use crate::sums::index::{FeatureLayout, MomentLayout, Shared};
use crate::sums::layout::{Kept, RowLayout};
use crate::sums::moments::Moments;
use crate::sums::table::Table;
use crate::sums::tally::Tally;
use crate::sums::totals::Totals;

/// Sums over all rows of a log or of one of its segments, and in each bin of rewards.
#[derive(Debug, Clone)]
pub struct Cell {
    /// How many rows were added.
    pub rows: u64,
    /// Slots of the longest slate.
    pub slots: usize,
    /// Rewards enter the moments as `R - origin`, see [`begin`](Cell::begin).
    pub origin: f64,
    /// What is kept.
    pub kept: Kept,
    /// Which row of the table each reward belongs to.
    pub bins: Bins,
    /// Where sums stand in a row of the table.
    pub layout: RowLayout,
    /// The sums of each bin.
    pub table: Table,
    /// The other sums of each policy.
    pub policies: Vec<PolicySums>,
    /// For each policy that is compared with the baseline, in their order.
    pub cross: Vec<CrossGram>,
    /// With clusters.
    pub clusters: Option<ClusterSums>,
}

/// Sums over all rows of one policy.
#[derive(Debug, Clone)]
pub struct PolicySums {
    /// Products with powers of the reward.
    pub moments: Moments,
    /// Extremes and counts.
    pub tally: Tally,
}

impl PolicySums {
    /// Of no rows.
    pub(crate) fn new(layout: MomentLayout) -> Self {
        let shape = layout.shape;
        PolicySums { moments: Moments::new(layout), tally: Tally::new(shape.slots, shape.basis.count()) }
    }
}

impl Cell {
    /// Of a whole log.
    pub fn of_log(spec: &Spec, slots: usize) -> Self {
        Self::new(spec, spec.cell_binning(), spec.groups(), slots)
    }

    /// Of one of so many segments.
    pub fn of_segment(spec: &Spec, segments: usize, slots: usize) -> Self {
        Self::new(spec, spec.segment_binning(segments), spec.segment_groups(), slots)
    }

    fn new(spec: &Spec, binning: Binning, groups: u16, slots: usize) -> Self {
        Self::keeping(Kept::new(spec, groups), binning, slots)
    }

    fn keeping(kept: Kept, binning: Binning, slots: usize) -> Self {
        let features = |p: usize| kept.features(p, slots);
        let policy = |p: usize| PolicySums::new(MomentLayout { shape: kept.shape(p, slots) });
        let layout = RowLayout::new(&kept, slots);
        Cell {
            rows: 0,
            slots,
            origin: 0.0,
            bins: Bins::new(binning),
            table: Table::new(layout.width),
            layout,
            policies: (0..kept.policies()).map(policy).collect(),
            cross: kept.compared().map(|(p, b)| CrossGram::new(features(p), features(b))).collect(),
            clusters: (kept.groups > 0).then(|| ClusterSums::new(&kept, slots)),
            kept,
        }
    }

    /// Chooses the origin, given the range of the first rewards. It must be known before the first sum: what rounding takes
    /// from a sum does not come back when its origin moves.
    pub fn begin(&mut self, range: Option<(f64, f64)>) {
        if let (Some(range), None) = (range, self.bins.range()) {
            self.origin = origin_of(range);
            self.bins.begin(range);
        }
    }

    /// How many rows each bin has, as one number.
    pub(crate) fn digest(&self) -> u64 {
        let mut digest = self.rows;
        for (key, row) in self.bins.ascending() {
            let rows = self.table.row(row)[Shared::Rows.place()].to_bits();
            // Turned, for a state and a word that are equal would leave nothing.
            digest = fold(fold(digest, key as u64).rotate_left(23), rows).rotate_left(23);
        }
        digest
    }

    /// Makes do with so many bins.
    pub fn limit_bins(&mut self, capacity: usize) {
        let moves = self.bins.limit(capacity);
        self.move_rows(moves.as_ref());
    }

    /// Moves sums as the bins have moved.
    pub fn move_rows(&mut self, moves: Option<&Moves>) {
        let rows = self.bins.table_rows();
        self.table.move_rows(moves, rows);
        if let Some(groups) = &mut self.clusters {
            groups.move_rows(moves, rows);
        }
    }

    /// Takes in another cell.
    pub(crate) fn merge(&mut self, other: &Cell) {
        if other.rows == 0 {
            return;
        }
        if self.rows == 0 {
            let slots = self.slots.max(other.slots);
            *self = other.clone();
            return self.widen(slots);
        }
        if other.slots != self.slots {
            let slots = self.slots.max(other.slots);
            self.widen(slots);
            let mut wide = other.clone();
            wide.widen(slots);
            return self.merge_same_slots(&wide);
        }
        self.merge_same_slots(other);
    }

    fn merge_same_slots(&mut self, other: &Cell) {
        // The origin of more rows serves better.
        if other.rows > self.rows {
            self.move_origin(other.origin);
        }
        if other.origin != self.origin {
            let mut moved = other.clone();
            moved.move_origin(self.origin);
            return self.merge_same_origin(&moved);
        }
        self.merge_same_origin(other);
    }

    fn merge_same_origin(&mut self, other: &Cell) {
        let (moves, from_other) = self.bins.absorb(&other.bins);
        self.move_rows(moves.as_ref());
        for &(from, to) in &from_other {
            self.table.add(to, &other.table, from);
        }
        for (own, other) in self.policies.iter_mut().zip(&other.policies) {
            own.moments.merge(&other.moments);
            own.tally.merge(&other.tally);
        }
        for (own, other) in self.cross.iter_mut().zip(&other.cross) {
            own.merge(other);
        }
        if let (Some(own), Some(other)) = (&mut self.clusters, &other.clusters) {
            for (from, to) in from_other {
                own.table.add(to, &other.table, from);
            }
            own.merge_features(other);
        }
        self.rows = self.rows.saturating_add(other.rows);
    }

    pub(crate) fn move_origin(&mut self, origin: f64) {
        let shift = self.origin - origin;
        if shift != 0.0 {
            let moved = |p: usize| Moments::shifted(&Totals::new(self, p), shift);
            let moments: Vec<Moments> = (0..self.policies.len()).map(moved).collect();
            self.policies.iter_mut().zip(moments).for_each(|(policy, moments)| policy.moments = moments);
            self.transform_features(|layout| FeatureMap::shifted(layout, shift));
            self.origin = origin;
        }
    }

    /// Makes room for longer slates; the slots that shorter ones did not have contribute nothing.
    pub fn widen(&mut self, slots: usize) {
        if slots == self.slots {
            return;
        }
        let wide = RowLayout::new(&self.kept, slots);
        self.table = self.table.rearranged(wide.width, &self.layout.places_in(&wide));
        self.layout = wide;
        self.transform_features(|layout| FeatureMap::widened(layout, slots));
        let beyond_orders = self.slots <= ORDERS && slots > ORDERS;
        for policy in &mut self.policies {
            policy.moments = policy.moments.widened(slots);
            policy.tally.widen(slots);
            if beyond_orders && *self.kept.structure() == Structure::Auto {
                policy.tally.begin_products();
            }
        }
        self.slots = slots;
    }

    /// Applies a linear map to each policy's features, wherever features themselves are kept.
    fn transform_features(&mut self, map: impl Fn(FeatureLayout) -> FeatureMap) {
        if !self.kept.keeps_features() {
            return;
        }
        let maps: Vec<_> = (0..self.policies.len()).map(|p| map(self.kept.features(p, self.slots))).collect();
        if let Some(groups) = &mut self.clusters {
            maps.iter().enumerate().for_each(|(p, map)| groups.transform(p, map));
        }
        for (cross, (p, b)) in self.cross.iter_mut().zip(self.kept.compared()) {
            *cross = cross.transform(&maps[p], &maps[b]);
        }
    }
}

/// Rewards far from zero, against their spread, would lose their variance to rounding: they are measured from here.
/// For all others the origin is 0.
///
/// A multiple of a power of two that is not above the spread, so that rewards stay few digits away from it; the reward
/// itself where all are the same, for those to come may be close to it.
fn origin_of((lo, hi): (f64, f64)) -> f64 {
    let (middle, spread) = (lo / 2.0 + hi / 2.0, hi - lo);
    if middle.abs() <= 32.0 * spread {
        return 0.0;
    }
    let unit = spread.log2().floor().exp2();
    let units = (middle / unit).round();
    if unit.is_normal() && units.is_finite() { units * unit } else { middle }
}
