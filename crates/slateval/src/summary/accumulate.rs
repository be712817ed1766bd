//! Where rows become sums: the one hot path, a block of rows at a time.
//! See docs/methods.md, sections 3.2 and 3.4.
//!
//! The numbers of the rows are in [`columns`](crate::summary::columns), the sums over all rows in
//! [`moments`](crate::summary::moments), the loops that add to bins in [`scatter`](crate::summary::scatter). Sums over rows
//! are kept in [`LANES`](crate::math::lanes::LANES) interleaved parts: the order of additions, and so the last bit, does
//! not depend on the processor.

use crate::math::lanes::{Four, wide};
use crate::math::vector;
use crate::question::field::Field;
use crate::question::structure::Structure;
use crate::rows::block::Block;
use crate::rows::weights;
use crate::summary::cell::{Cell, PolicySums};
use crate::summary::clusters::FeatureColumns;
use crate::summary::columns::{PolicyBlock, PolicyColumns};
use crate::summary::scatter::Staged;
use crate::summary::tally::WeightTally;
use crate::summary::witness::Witness;

/// Buffers for one block, kept between blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    pub(super) reward: Vec<f64>,
    /// Rewards as seen from the cell's origin.
    centred: Vec<f64>,
    pub(super) bin_rows: Vec<u32>,
    /// For each slot, the smallest and the largest logging propensity.
    propensities: Vec<(f64, f64)>,
    /// Of the policy that is being added.
    columns: PolicyColumns,
    staged: Staged,
    products: Vec<f64>,
    /// For each policy, a column for each feature, where features themselves are kept.
    pub(super) features: Vec<Vec<Vec<f64>>>,
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
        scratch.find_propensities(structure, block);
        scratch.features.resize(scratch.features.len().max(self.policies.len()), Vec::new());
        for policy in 0..self.policies.len() {
            let rows = PolicyBlock { structure, block, policy };
            let witnesses = &self.layout.witnesses[policy].layout.list;
            self.policies[policy].add(rows, witnesses, scratch);
            self.scatter(policy, &mut scratch.columns, &mut scratch.staged, (&scratch.reward, &scratch.bin_rows));
            if self.kept.keeps_features() {
                let layout = self.kept.features(policy, self.slots);
                scratch.columns.features(layout, &mut scratch.features[policy]);
            }
        }
        for (cross, (p, b)) in self.cross.iter_mut().zip(self.kept.compared()) {
            cross.add(&scratch.features[p][..cross.rows], &scratch.features[b][..cross.columns]);
        }
        self.scatter_cross(scratch);
        self.add_groups(block, scratch);
        self.rows += block.rows() as u64;
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
        let rewards = block.column(Field::Reward);
        scratch.reward.clear();
        scratch.reward.extend(rewards.iter().map(|r| r + 0.0)); // -0.0 becomes 0.0
        let moves = self.bins.assign(&scratch.reward, &mut scratch.bin_rows);
        self.move_rows(moves.as_ref());
        let (before, after) = (self.rows as usize, self.rows as usize + scratch.reward.len());
        if let Some(range) = self.bins.range().filter(|_| before < ORIGIN_ROWS && after >= ORIGIN_ROWS) {
            self.move_origin(origin_of(range));
        }
        scratch.centred.clear();
        scratch.centred.extend(scratch.reward.iter().map(|r| r - self.origin));
    }
}

impl Scratch {
    /// All policies share the logging propensities.
    fn find_propensities(&mut self, structure: &Structure, block: &Block) {
        self.propensities.clear();
        if structure.needs().logging {
            let range = |slot| vector::range(block.column(Field::Logging { slot })).unwrap_or((1.0, 0.0));
            self.propensities.extend((0..block.slots()).map(range));
        }
    }
}

/// Fewer rewards than this say too little of where rewards lie.
const ORIGIN_ROWS: usize = 64;

/// Rewards far from zero, against their spread, would lose their variance to rounding: they are measured from here.
/// For everyone else it is 0, and sums are what they seem.
fn origin_of((lo, hi): (f64, f64)) -> f64 {
    let middle = lo / 2.0 + hi / 2.0;
    if hi > lo && middle.abs() > 32.0 * (hi - lo) { middle.round() } else { 0.0 }
}

impl PolicySums {
    /// Adds the rows of a block to the sums over all rows, and fills the columns that are added to bins.
    fn add(&mut self, rows: PolicyBlock<'_>, witnesses: &[Witness], scratch: &mut Scratch) {
        let Scratch { columns, centred, propensities, products, .. } = scratch;
        let shape = self.moments.layout.shape;
        columns.fill(rows, shape, witnesses, centred, |slot, facts| self.tally.add_slot(slot, facts));
        for (slot, range) in propensities.iter().enumerate() {
            self.tally.add_propensities(slot, *range);
        }
        if shape.chi {
            self.tally.negative_chi += columns.fill_chi(rows, shape);
        }
        for (m, tally) in self.tally.weights.iter_mut().enumerate() {
            tally.add(columns.weight(m));
        }
        self.moments.add(columns, products);
        columns.fill_witnesses(rows, witnesses);
        if rows.block.slots() > 1 {
            self.tally.add_pairs(&columns.row_sums);
        }
        self.tally_design(rows, columns);
        if matches!(witnesses.last(), Some(Witness::Beyond(_))) {
            self.tally_product_design(rows.block.slots(), columns);
        }
    }

    /// `E[G^2 | x] = G(chi(x))`: the same weight of `chi`, or of `Z^2` in its place. The additive weight of either follows
    /// from other sums.
    fn tally_design(&mut self, PolicyBlock { structure, block, .. }: PolicyBlock<'_>, columns: &mut PolicyColumns) {
        let auto = *structure == Structure::Auto;
        if !auto && (!structure.is_multilinear() || structure.is_additive()) {
            return;
        }
        let shape = self.moments.layout.shape;
        let orders = if auto { Some(shape.basis.len()) } else { None };
        let weights = &mut self.tally.weights;
        add_design(structure, orders, columns.squared_ratios(block.slots()), weights, |tally| &mut tally.design_ratios);
        if shape.chi {
            add_design(structure, orders, columns.chi_with_buffers(), weights, |tally| &mut tally.design_chi);
        }
    }

    /// The same for the weight that assumes nothing.
    fn tally_product_design(&mut self, slots: usize, columns: &mut PolicyColumns) {
        self.tally.product_ratios += product_design(columns.squared_ratios(slots));
        if self.moments.layout.shape.chi {
            self.tally.product_chi += product_design(columns.chi_with_buffers());
        }
    }
}

/// Columns of `chi_k` or `Z_k^2`, and buffers for what is made of them.
type Factors<'a> = (&'a [Vec<f64>], &'a mut Vec<Vec<f64>>, &'a mut [f64]);

/// Which of the two estimates of `E[G^2]`.
type Design = fn(&mut WeightTally) -> &mut f64;

/// Adds the weights of some factors: of each order, or of a structure.
fn add_design(
    structure: &Structure,
    orders: Option<usize>,
    (factors, terms, weight): Factors<'_>,
    tallies: &mut [WeightTally],
    to: Design,
) {
    let Some(orders) = orders else {
        weights::multilinear(structure, factors, weight, terms);
        *to(&mut tallies[0]) += vector::sum(weight);
        return;
    };
    weights::elementary(orders, factors, weight.len(), terms);
    let mut sum = weight.len() as f64;
    for (e, tally) in terms.iter().zip(tallies) {
        sum += vector::sum(e);
        *to(tally) += sum;
    }
}

/// The sum of the products of `1 + x`.
fn product_design((factors, _, weight): Factors<'_>) -> f64 {
    weight.fill(1.0);
    for factor in factors {
        multiply_by_one_plus(factor, weight);
    }
    vector::sum(weight)
}

wide! {
    /// `out *= 1 + x`, row by row.
    fn multiply_by_one_plus(x: &[f64], out: &mut [f64]) = multiply_by_one_plus_of
}

#[inline(always)]
fn multiply_by_one_plus_of<F: Four>(x: &[f64], out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = x.mul_add(*out, *out);
    }
}
