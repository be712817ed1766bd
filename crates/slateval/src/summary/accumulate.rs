//! Where rows become sums: the one hot path, a block of rows at a time.
//! See docs/methods.md, sections 3.2 and 3.4.
//!
//! The numbers of the rows are in [`columns`](crate::summary::columns), the sums over all rows in
//! [`moments`](crate::summary::moments), the loops that add to bins in [`scatter`](crate::summary::scatter). Sums over rows
//! are kept in [`LANES`](crate::math::lanes::LANES) interleaved parts: the order of additions, and so the last bit, does
//! not depend on the processor.

use std::sync::Arc;

use crate::math::column::Column;
use crate::math::vector;
use crate::question::field::Field;
use crate::question::structure::{ORDERS, Structure};
use crate::rows::block::Block;
use crate::rows::ratios::Divisors;
use crate::rows::weights;
use crate::summary::bins::of_bins;
use crate::summary::cell::{Cell, PolicySums};
use crate::summary::clusters::FeatureColumns;
use crate::summary::coded_rows::CodedRows;
use crate::summary::columns::{OrderSums, PolicyBlock, PolicyColumns};
use crate::summary::index::Basis;
use crate::summary::repeats::{Recognition, Sight};
use crate::summary::rewards::Rewards;
use crate::summary::tally::WeightTally;
use crate::summary::witness::Witness;

/// Buffers for one block, kept between blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    pub(super) rewards: Rewards,
    pub(super) divisors: Divisors,
    pub(super) bin_rows: Vec<u32>,
    /// In the second of two cells that rows go to.
    pub(super) more_bin_rows: Vec<u32>,
    /// The sums of a block that goes to two cells.
    pub(super) sums: Option<PolicySums>,
    /// Of the policy that is being added.
    pub(super) columns: PolicyColumns,
    /// The squares of its witnesses.
    pub(super) squares: Vec<Column>,
    /// Patterns that rows had before.
    pub(super) recognition: Recognition,
    /// For each policy, a column for each feature, where features themselves are kept.
    pub(super) features: Vec<Vec<Column>>,
    /// For each policy, its right features row by row, where it is compared with another.
    pub(super) rights: Vec<Vec<f64>>,
}

impl Cell {
    /// Adds the rows of a block that has been checked. Says whether they were recognised.
    pub(crate) fn add(&mut self, structure: &Structure, block: &Block, scratch: &mut Scratch) -> Sight {
        let sight = self.add_if_recognised(block, scratch);
        if sight != Sight::Recognised {
            self.find_bins(block.rows(), block.whole_column(Field::Reward), block.reward_range(), scratch);
            self.sum(structure, block, scratch);
            self.rows += block.rows() as u64;
        }
        sight
    }

    /// Counts the rows of a block that has been checked, if their patterns are known. Others are not added, but there is room
    /// for them.
    pub(crate) fn add_if_recognised(&mut self, block: &Block, scratch: &mut Scratch) -> Sight {
        self.make_room(block.slots());
        let can_count = self.can_count(block.slots());
        let sight = if can_count { scratch.recognition.recognise(block) } else { Sight::NotAsked };
        if sight == Sight::Recognised {
            self.find_bins(block.rows(), block.whole_column(Field::Reward), block.reward_range(), scratch);
            self.count_recognised(scratch);
            self.rows += block.rows() as u64;
        }
        sight
    }

    /// Makes room for slates of so many slots.
    pub(super) fn make_room(&mut self, slots: usize) {
        if slots > self.slots {
            self.widen(slots);
        }
    }

    /// Adds rows whose patterns were recognised before: the same as adding the block that they are.
    pub(crate) fn add_coded(&mut self, structure: &Structure, rows: &CodedRows, scratch: &mut Scratch) {
        let is_known = scratch.recognition.known().is_some_and(|known| Arc::ptr_eq(known, rows.known()));
        if !is_known || !self.can_count(rows.known().patterns.slots()) {
            self.add(structure, &rows.block(), scratch);
            return;
        }
        self.find_bins(rows.rows(), rows.rewards(), None, scratch);
        self.count(rows.known(), rows.codes(), (&scratch.rewards, &scratch.bin_rows));
        self.rows += rows.rows() as u64;
    }

    /// Adds rows one by one, given their bins.
    pub(super) fn sum(&mut self, structure: &Structure, block: &Block, scratch: &mut Scratch) {
        scratch.divisors.fill(structure, block, self.policies.len());
        scratch.features.resize(scratch.features.len().max(self.policies.len()), Vec::new());
        for policy in 0..self.policies.len() {
            let rows = PolicyBlock { structure, block, policy };
            let witnesses = &self.layout.witnesses[policy].layout.list;
            self.policies[policy].add(rows, witnesses, scratch);
            let Scratch { columns, squares, rewards, bin_rows, .. } = scratch;
            self.scatter(policy, columns, squares, (rewards, bin_rows));
            if self.kept.keeps_features() {
                let layout = self.kept.features(policy, self.slots);
                scratch.columns.features(layout, &scratch.rewards, &mut scratch.features[policy]);
            }
        }
        for (cross, (p, b)) in self.cross.iter_mut().zip(self.kept.compared()) {
            cross.add(block.rows(), &scratch.features[p][..cross.rows], &scratch.features[b][..cross.columns]);
        }
        self.scatter_cross(scratch);
        self.add_groups(block, scratch);
    }

    fn add_groups(&mut self, block: &Block, scratch: &Scratch) {
        let Some(groups) = &mut self.clusters else { return };
        let of_policy = |(policy, columns)| FeatureColumns { layout: self.kept.features(policy, self.slots), columns };
        let columns = scratch.features[..self.policies.len()].iter().map(Vec::as_slice);
        let policies: Vec<FeatureColumns<'_>> = columns.enumerate().map(of_policy).collect();
        groups.add(block.groups(), &scratch.bin_rows, &policies);
    }

    /// Finds the rewards' bins, given their range where it is known.
    fn find_bins(&mut self, rows: usize, rewards: &Column, range: Option<(f64, f64)>, scratch: &mut Scratch) {
        scratch.rewards.fill(rows, rewards);
        let rewards = scratch.rewards.plain.first(rows);
        self.assign_bins(rewards, range.or_else(|| vector::range(rewards)), &mut scratch.bin_rows);
        scratch.rewards.centre(rows, self.origin);
    }

    /// Finds the bins of some rewards, given their range.
    pub(super) fn assign_bins(&mut self, rewards: &[f64], range: Option<(f64, f64)>, bin_rows: &mut Vec<u32>) {
        self.begin(range);
        let moves = self.bins.assign(rewards, range, bin_rows);
        self.move_rows(moves.as_ref());
    }

    /// Chooses the bins that the first rewards will need in the end, so that they need not be changed while these are added.
    pub(super) fn foresee(&mut self, rewards: &[f64]) {
        if let Some(range) = self.bins.foresee(rewards) {
            self.origin = origin_of(range);
        }
    }

    /// Chooses the origin if these rows are the first, though they may be added later.
    pub(crate) fn begin_with(&mut self, block: &Block) {
        if self.bins.range().is_none() {
            let range = block.reward_range().or_else(|| vector::range(block.column(Field::Reward)));
            self.begin(range.map(of_bins));
        }
    }

    /// Chooses the origin, given the range of the first rewards. It must be known before the first sum: what rounding takes
    /// from a sum does not come back when its origin moves.
    fn begin(&mut self, range: Option<(f64, f64)>) {
        if let (Some(range), None) = (range, self.bins.range()) {
            self.origin = origin_of(range);
            self.bins.begin(range);
        }
    }
}

/// Rewards far from zero, against their spread, would lose their variance to rounding: they are measured from here.
/// For everyone else it is 0, and sums are what they seem.
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

impl PolicySums {
    /// Adds the rows of a block to the sums over all rows, and fills the columns that are added to bins.
    pub(super) fn add(&mut self, rows: PolicyBlock<'_>, witnesses: &[Witness], scratch: &mut Scratch) {
        self.weigh(rows, witnesses, scratch);
        self.tally.count_weights(scratch.columns.rows, &scratch.columns.visits);
    }

    /// The same, but for the counts of weights.
    pub(super) fn weigh(&mut self, rows: PolicyBlock<'_>, witnesses: &[Witness], scratch: &mut Scratch) {
        let Scratch { columns, rewards, divisors, .. } = scratch;
        let shape = self.moments.layout.shape;
        columns.fill_ratios(rows, divisors, shape.slots, |slot, seen| self.tally.add_slot(slot, seen));
        let facts = columns.fill_weights(rows, shape.basis, witnesses, rewards);
        self.tally.add_weights(columns.rows, &columns.visits);
        if shape.chi {
            self.tally.negative_chi += columns.fill_chi(rows, shape.slots);
        }
        if rows.block.slots() > 1 {
            let pairs = facts.map_or_else(|| columns.pairs(rows.block.slots()), |facts| facts.pairs);
            self.tally.add_pairs(pairs);
        }
        self.tally_design(rows, facts.map(|facts| facts.of_squares), witnesses, columns);
        self.moments.add(columns, rewards);
    }

    /// `E[G^2 | x] = G(chi(x))`: the same weight of `chi`, or of `Z^2` in its place. The additive weight of either follows
    /// from other sums.
    fn tally_design(
        &mut self,
        PolicyBlock { structure, block, .. }: PolicyBlock<'_>,
        of_squares: Option<OrderSums>,
        witnesses: &[Witness],
        columns: &mut PolicyColumns,
    ) {
        let (rows, shape) = (columns.rows, self.moments.layout.shape);
        let of_chi = |columns: &mut PolicyColumns| weights::order_sums(rows, columns.chi_with_buffers().0);
        if let (Basis::Orders(_), Some(of_squares)) = (shape.basis, of_squares) {
            let of_chi = shape.chi.then(|| of_chi(columns));
            if *structure == Structure::Auto {
                self.add_orders(rows, &of_squares, |tally| &mut tally.design_ratios);
                of_chi.iter().for_each(|sums| self.add_orders(rows, sums, |tally| &mut tally.design_chi));
            }
            // With all four orders kept, they tell it of shorter slates.
            let is_told = *structure == Structure::Auto && shape.basis.len() == ORDERS;
            if !is_told || matches!(witnesses.last(), Some(Witness::Beyond(_))) {
                let all = |sums: &OrderSums| rows as f64 + sums.iter().sum::<f64>();
                self.tally.product_ratios += all(&of_squares);
                self.tally.product_chi += of_chi.as_ref().map_or(0.0, all);
            }
            return;
        }
        if structure.is_multilinear() {
            // Of short slates too: longer ones may come.
            let product = matches!(structure, Structure::Order(_) | Structure::Interactions(_));
            let [own, whole] = designs(structure, product, rows, columns.squared_ratios(block.slots()));
            self.tally.weights[0].design_ratios += own;
            self.tally.product_ratios += whole;
            if shape.chi {
                let [own, whole] = designs(structure, product, rows, columns.chi_with_buffers());
                self.tally.weights[0].design_chi += own;
                self.tally.product_chi += whole;
            }
        }
    }

    /// Adds the weight of each order, given the sums of the orders: `1 + e_1 + ... + e_m`.
    fn add_orders(&mut self, rows: usize, sums: &OrderSums, to: impl Fn(&mut WeightTally) -> &mut f64) {
        let mut weight = rows as f64;
        for (tally, sum) in self.tally.weights.iter_mut().zip(sums) {
            weight += sum;
            *to(tally) += weight;
        }
    }
}

/// The sums of a structure's weight of some factors, and of the weight that assumes nothing where it is asked for.
fn designs(
    structure: &Structure,
    product: bool,
    rows: usize,
    (factors, terms): (&[Column], &mut Vec<Column>),
) -> [f64; 2] {
    let mut weight = Column::ZERO;
    let mut sum = |structure: &Structure| {
        weights::multilinear(structure, rows, factors, &mut weight, terms);
        weight.first(rows).iter().sum::<f64>()
    };
    // That of an additive weight follows from other sums.
    let own = if structure.is_additive() { 0.0 } else { sum(structure) };
    [own, if product { sum(&Structure::Product) } else { 0.0 }]
}
