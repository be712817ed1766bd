//! Where rows become sums: the one hot path, a block of rows at a time.
//! See docs/methods.md, sections 3.2 and 3.4.
//!
//! The numbers of the rows are in [`columns`](crate::summary::columns), the sums over all rows in
//! [`moments`](crate::summary::moments), the loops that add to bins in [`scatter`](crate::summary::scatter). Sums over rows
//! are kept in [`LANES`](crate::math::lanes::LANES) interleaved parts: the order of additions, and so the last bit, does
//! not depend on the processor.

use crate::math::column::Column;
use crate::math::vector;
use crate::question::field::Field;
use crate::question::structure::{ORDERS, Structure};
use crate::rows::block::Block;
use crate::rows::ratios::PropensityRanges;
use crate::rows::weights;
use crate::summary::cell::{Cell, PolicySums};
use crate::summary::clusters::FeatureColumns;
use crate::summary::columns::{OrderSums, PolicyBlock, PolicyColumns};
use crate::summary::index::Basis;
use crate::summary::rewards::Rewards;
use crate::summary::tally::WeightTally;
use crate::summary::witness::Witness;

/// Buffers for one block, kept between blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    pub(super) rewards: Rewards,
    pub(super) ranges: PropensityRanges,
    pub(super) bin_rows: Vec<u32>,
    /// Of the policy that is being added.
    pub(super) columns: PolicyColumns,
    /// The squares of its witnesses.
    pub(super) squares: Vec<Column>,
    /// For each policy, a column for each feature, where features themselves are kept.
    pub(super) features: Vec<Vec<Column>>,
    /// For each policy, its right features row by row, where it is compared with another.
    pub(super) rights: Vec<Vec<f64>>,
}

impl Cell {
    /// Adds the rows of a block that has been checked.
    pub(crate) fn add(&mut self, structure: &Structure, block: &Block, scratch: &mut Scratch) {
        if block.slots() > self.slots {
            self.widen(block.slots());
        }
        self.find_bins(block, scratch);
        self.sum(structure, block, scratch);
        self.rows += block.rows() as u64;
    }

    /// Adds rows one by one, given their bins.
    fn sum(&mut self, structure: &Structure, block: &Block, scratch: &mut Scratch) {
        scratch.ranges.fill(structure, block);
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

    /// Finds the rewards' bins.
    fn find_bins(&mut self, block: &Block, scratch: &mut Scratch) {
        scratch.rewards.fill(block.rows(), block.whole_column(Field::Reward));
        let rewards = scratch.rewards.plain.first(block.rows());
        let range = block.reward_range().or_else(|| vector::range(rewards));
        self.begin(range);
        let moves = self.bins.assign(rewards, range, &mut scratch.bin_rows);
        self.move_rows(moves.as_ref());
        scratch.rewards.centre(block.rows(), self.origin);
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
    fn add(&mut self, rows: PolicyBlock<'_>, witnesses: &[Witness], scratch: &mut Scratch) {
        let Scratch { columns, rewards, ranges, .. } = scratch;
        let shape = self.moments.layout.shape;
        columns.fill_ratios(rows, ranges, shape.slots, |slot, seen| self.tally.add_slot(slot, seen));
        let facts = columns.fill_weights(rows, shape.basis, witnesses, rewards);
        self.tally.add_weights(columns.rows, &columns.visits);
        self.tally.count_weights(columns.rows, &columns.visits);
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
