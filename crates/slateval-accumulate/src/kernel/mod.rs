//! Where rows become sums: the one hot path, a block of rows at a time.
//! See docs/methods.md, sections 3.2 and 3.4.
//!
//! The numbers of the rows are in [`columns`], the sums over all rows in [`moments`] and [`tally`], the loops that add to bins
//! in [`scatter`]. Sums over rows are kept in [`LANES`](simd::lanes::LANES) interleaved parts: the order of additions, and so
//! the last bit, does not depend on the processor.
//!
//! [`reference`](crate::reference) says in plain loops what all of this computes, and the tests compare the two.

mod clusters;
mod columns;
mod moments;
mod ratios;
mod rewards;
mod ring;
mod scatter;
pub(crate) mod simd;
mod tally;
mod weight_counts;
mod weight_visit;
mod weights;
mod witness;

use slateval_stats::sums::{Basis, Cell, PolicySums, WeightTally, Witness};
use slateval_stats::{Field, ORDERS, Structure};

use crate::block::Block;
use crate::kernel::clusters::FeatureColumns;
use crate::kernel::columns::{OrderSums, PolicyBlock, PolicyColumns};
use crate::kernel::ratios::PropensityRanges;
use crate::kernel::rewards::Rewards;
use crate::kernel::simd::column::Column;
use crate::kernel::simd::vector;

/// Buffers for one block, kept between blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    rewards: Rewards,
    ranges: PropensityRanges,
    bin_rows: Vec<u32>,
    /// Of the policy that is being added.
    columns: PolicyColumns,
    /// The squares of its witnesses.
    squares: Vec<Column>,
    /// For each policy, a column for each feature, where features themselves are kept.
    features: Vec<Vec<Column>>,
    /// For each policy, its right features row by row, where it is compared with another.
    rights: Vec<Vec<f64>>,
}

/// Adds the rows of a block that has been checked.
pub(crate) fn add(cell: &mut Cell, structure: &Structure, block: &Block, scratch: &mut Scratch) {
    if block.slots() > cell.slots {
        cell.widen(block.slots());
    }
    find_bins(cell, block, scratch);
    add_rows(cell, structure, block, scratch);
    cell.rows += block.rows() as u64;
}

/// Adds rows, given their bins.
fn add_rows(cell: &mut Cell, structure: &Structure, block: &Block, scratch: &mut Scratch) {
    scratch.ranges.fill(structure, block);
    scratch.features.resize(scratch.features.len().max(cell.policies.len()), Vec::new());
    for policy in 0..cell.policies.len() {
        let rows = PolicyBlock { structure, block, policy };
        let witnesses = &cell.layout.witnesses[policy].layout.list;
        add_policy(&mut cell.policies[policy], rows, witnesses, scratch);
        let Scratch { columns, squares, rewards, bin_rows, .. } = scratch;
        scatter::add_policy(cell, policy, columns, squares, (rewards, bin_rows));
        if cell.kept.keeps_features() {
            let layout = cell.kept.features(policy, cell.slots);
            scratch.columns.features(layout, &scratch.rewards, &mut scratch.features[policy]);
        }
    }
    for (cross, (p, b)) in cell.cross.iter_mut().zip(cell.kept.compared()) {
        let left: Vec<&Column> = scratch.features[p][..cross.rows].iter().collect();
        vector::add_products(block.rows(), &left, &scratch.features[b][..cross.columns], &mut cross.sums);
    }
    scatter::add_cross(cell, scratch);
    add_groups(cell, block, scratch);
}

fn add_groups(cell: &mut Cell, block: &Block, scratch: &Scratch) {
    let Some(groups) = &mut cell.clusters else { return };
    let of_policy = |(policy, columns)| FeatureColumns { layout: cell.kept.features(policy, cell.slots), columns };
    let columns = scratch.features[..cell.policies.len()].iter().map(Vec::as_slice);
    let policies: Vec<FeatureColumns<'_>> = columns.enumerate().map(of_policy).collect();
    clusters::add(groups, block.groups(), &scratch.bin_rows, &policies);
}

/// Finds the rewards' bins.
fn find_bins(cell: &mut Cell, block: &Block, scratch: &mut Scratch) {
    scratch.rewards.fill(block.rows(), block.whole_column(Field::Reward));
    let rewards = scratch.rewards.plain.first(block.rows());
    let range = block.range(Field::Reward).or_else(|| vector::range(rewards));
    cell.begin(range);
    let moves = cell.bins.assign(rewards, range, &mut scratch.bin_rows, ring::ring_rows);
    cell.move_rows(moves.as_ref());
    scratch.rewards.centre(block.rows(), cell.origin);
}

/// Adds the rows of a block to the sums over all rows, and fills the columns that are added to bins.
fn add_policy(sums: &mut PolicySums, rows: PolicyBlock<'_>, witnesses: &[Witness], scratch: &mut Scratch) {
    let Scratch { columns, rewards, ranges, .. } = scratch;
    let shape = sums.moments.layout.shape;
    columns.fill_ratios(rows, ranges, shape.slots, |slot, seen| tally::add_slot(&mut sums.tally, slot, seen));
    let facts = columns.fill_weights(rows, shape.basis, witnesses, rewards);
    tally::add_weights(&mut sums.tally, columns.rows, &columns.visits);
    weight_counts::count(columns.rows, &columns.visits, &mut sums.tally.weights);
    if shape.chi {
        sums.tally.negative_chi += columns.fill_chi(rows, shape.slots);
    }
    if rows.block.slots() > 1 {
        let pairs = facts.map_or_else(|| columns.pairs(rows.block.slots()), |facts| facts.pairs);
        sums.tally.pairs += pairs[0];
        sums.tally.pairs_squared += pairs[1];
    }
    tally_design(sums, rows, facts.map(|facts| facts.of_squares), witnesses, columns);
    moments::add(&mut sums.moments, columns, rewards);
}

/// `E[G^2 | x] = G(chi(x))`: the same weight of `chi`, or of `Z^2` in its place. The additive weight of either follows
/// from other sums.
fn tally_design(
    sums: &mut PolicySums,
    PolicyBlock { structure, block, .. }: PolicyBlock<'_>,
    of_squares: Option<OrderSums>,
    witnesses: &[Witness],
    columns: &mut PolicyColumns,
) {
    let (rows, shape) = (columns.rows, sums.moments.layout.shape);
    let of_chi = |columns: &mut PolicyColumns| weights::order_sums(rows, columns.chi_with_buffers().0);
    if let (Basis::Orders(_), Some(of_squares)) = (shape.basis, of_squares) {
        let of_chi = shape.chi.then(|| of_chi(columns));
        if *structure == Structure::Auto {
            add_orders(sums, rows, &of_squares, |tally| &mut tally.design_ratios);
            of_chi.iter().for_each(|of_chi| add_orders(sums, rows, of_chi, |tally| &mut tally.design_chi));
        }
        // With all four orders kept, they tell it of shorter slates.
        let is_told = *structure == Structure::Auto && shape.basis.count() == ORDERS;
        if !is_told || matches!(witnesses.last(), Some(Witness::Beyond(_))) {
            let all = |sums: &OrderSums| rows as f64 + sums.iter().sum::<f64>();
            sums.tally.product_ratios += all(&of_squares);
            sums.tally.product_chi += of_chi.as_ref().map_or(0.0, all);
        }
        return;
    }
    if structure.is_multilinear() {
        // Of short slates too: longer ones may come.
        let product = matches!(structure, Structure::Order(_) | Structure::Interactions(_));
        let [own, whole] = designs(structure, product, rows, columns.squared_ratios(block.slots()));
        sums.tally.weights[0].design_ratios += own;
        sums.tally.product_ratios += whole;
        if shape.chi {
            let [own, whole] = designs(structure, product, rows, columns.chi_with_buffers());
            sums.tally.weights[0].design_chi += own;
            sums.tally.product_chi += whole;
        }
    }
}

/// Adds the weight of each order, given the sums of the orders: `1 + e_1 + ... + e_m`.
fn add_orders(policy: &mut PolicySums, rows: usize, sums: &OrderSums, to: impl Fn(&mut WeightTally) -> &mut f64) {
    let mut weight = rows as f64;
    for (tally, sum) in policy.tally.weights.iter_mut().zip(sums) {
        weight += sum;
        *to(tally) += weight;
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
