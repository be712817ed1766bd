//! Where rows become sums: the one hot path, a block of rows at a time.
//! See docs/methods.md, sections 3.2 and 3.4.
//!
//! Every loop here runs over contiguous columns, so that the compiler turns it into vector instructions; the loops that add
//! to bins are in [`scatter`](crate::summary::scatter). Sums over rows are kept in
//! [`LANES`](crate::math::vector::LANES) interleaved parts: the order of additions, and so the last bit, does not depend on
//! the processor.

use crate::math::vector;
use crate::question::field::Field;
use crate::question::structure::Structure;
use crate::rows::block::Block;
use crate::rows::weights::{self, RowSums};
use crate::summary::cell::{Cell, PolicySums};
use crate::summary::clusters::FeatureColumns;
use crate::summary::index::{Feature, GramLayout, Layout};
use crate::summary::tally::WeightTally;
use crate::summary::witness::{self, Witness};

/// Buffers for one block, kept between blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    pub(super) reward: Vec<f64>,
    /// Rewards as seen from the cell's origin.
    centred: Vec<f64>,
    pub(super) bin_rows: Vec<u32>,
    /// For each policy, a column for each feature, in the order of the [`GramLayout`].
    pub(super) columns: Vec<Vec<Vec<f64>>>,
    row_sums: RowSums,
    terms: Vec<Vec<f64>>,
    squares: Vec<Vec<f64>>,
    /// For each policy, a column for each witness.
    pub(super) witnesses: Vec<Vec<Vec<f64>>>,
    /// For each policy, its right features row by row.
    pub(super) rights: Vec<Vec<f64>>,
}

impl Cell {
    /// Adds the rows of a block that has been checked.
    pub(crate) fn add(&mut self, structure: &Structure, block: &Block, scratch: &mut Scratch) {
        if block.slots() > self.slots {
            self.widen(block.slots());
        }
        vector::wide(
            #[inline(always)]
            || self.add_rows(structure, block, scratch),
        )
    }

    #[inline(always)]
    fn add_rows(&mut self, structure: &Structure, block: &Block, scratch: &mut Scratch) {
        self.find_bins(block, scratch);
        scratch.columns.resize(scratch.columns.len().max(self.policies.len()), Vec::new());
        for (policy, sums) in self.policies.iter_mut().enumerate() {
            let rows = PolicyBlock { structure, block, policy };
            sums.fill_columns(rows, scratch);
            sums.gram.add(&scratch.columns[policy][..sums.gram.size()]);
            sums.fill_witnesses(rows, &self.layout.witnesses[policy].layout.list, scratch);
        }
        for (cross, (p, b)) in self.cross.iter_mut().zip(self.kept.compared()) {
            cross.add(&scratch.columns[p][..cross.rows], &scratch.columns[b][..cross.columns]);
        }
        self.scatter(scratch);
        self.add_groups(block, scratch);
        self.rows += block.rows() as u64;
    }

    fn add_groups<'a>(&mut self, block: &Block, scratch: &'a Scratch) {
        let Some(groups) = &mut self.clusters else { return };
        let of_policy = |(columns, sums): (&'a Vec<Vec<f64>>, &PolicySums)| FeatureColumns {
            layout: sums.gram.layout(),
            columns: &columns[..sums.gram.size()],
        };
        let policies: Vec<FeatureColumns<'a>> = scratch.columns.iter().zip(&self.policies).map(of_policy).collect();
        groups.add(block.groups(), &scratch.bin_rows, &policies);
    }

    /// Finds the rewards' bins.
    #[inline(always)]
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

/// Fewer rewards than this say too little of where rewards lie.
const ORIGIN_ROWS: usize = 64;

/// Rewards far from zero, against their spread, would lose their variance to rounding: they are measured from here.
/// For everyone else it is 0, and sums are what they seem.
fn origin_of((lo, hi): (f64, f64)) -> f64 {
    let middle = lo / 2.0 + hi / 2.0;
    if hi > lo && middle.abs() > 32.0 * (hi - lo) { middle.round() } else { 0.0 }
}

/// A block of rows as one policy sees it.
#[derive(Clone, Copy)]
struct PolicyBlock<'a> {
    structure: &'a Structure,
    block: &'a Block,
    policy: usize,
}

impl PolicySums {
    /// Fills the columns of every feature for one policy, and tallies its weights.
    #[inline(always)]
    fn fill_columns(&mut self, rows: PolicyBlock<'_>, scratch: &mut Scratch) {
        let PolicyBlock { structure, block, policy } = rows;
        let (layout, slots) = (self.gram.layout(), block.slots());
        let Scratch { centred, columns, row_sums, terms, .. } = scratch;
        let columns = &mut columns[policy];
        columns.resize(columns.len().max(layout.len()), Vec::new());
        for column in &mut columns[..layout.len()] {
            column.resize(block.rows(), 0.0);
        }
        columns[layout.place(Feature::One)].fill(1.0);
        columns[layout.place(Feature::Reward)].copy_from_slice(centred);

        let (ratios, others) = columns.split_at_mut(layout.weights().start);
        let (z, beyond) = ratios[layout.ratios()].split_at_mut(slots);
        beyond.iter_mut().for_each(|z| z.fill(0.0));
        weights::slot_ratios(structure, block, policy, z, row_sums, |slot, facts| self.tally.add_slot(slot, facts));
        self.fill_weights(rows, z, &mut others[..layout.shape.basis], row_sums, terms);

        multiply(columns, layout, [Feature::Reward, Feature::Reward], Feature::SquaredReward);
        for j in 0..layout.shape.basis {
            multiply(columns, layout, [Feature::Weight(j), Feature::Reward], Feature::WeightedReward(j));
            let factors = [Feature::WeightedReward(j), Feature::Reward];
            multiply(columns, layout, factors, Feature::WeightedSquaredReward(j));
        }
        if layout.shape.chi {
            self.fill_chi(block, policy, columns);
        }
        self.tally_design(structure, policy, slots, scratch);
    }

    /// Fills the columns of the basis from those of the ratios, and tallies the weights.
    #[inline(always)]
    fn fill_weights(
        &mut self,
        PolicyBlock { structure, block, policy }: PolicyBlock<'_>,
        z: &[Vec<f64>],
        basis: &mut [Vec<f64>],
        row_sums: &RowSums,
        terms: &mut Vec<Vec<f64>>,
    ) {
        if *structure != Structure::Auto {
            weights::weigh(structure, block, policy, z, row_sums, &mut basis[0], terms);
            return self.tally.weights[0].add(&basis[0]);
        }
        weights::elementary(basis.len(), z, block.rows(), terms);
        let (sum, orders) = terms.split_at_mut(1);
        // `sum` begins as e_0 = 1. Each e_j added makes it the weight of order j, which is tallied.
        for ((w, e), tally) in basis.iter_mut().zip(orders).zip(&mut self.tally.weights) {
            w.copy_from_slice(e);
            sum[0].iter_mut().zip(&*e).for_each(|(sum, e)| *sum += e);
            tally.add(&sum[0]);
        }
    }

    /// Fills the columns of witnesses from those of the ratios.
    #[inline(always)]
    fn fill_witnesses(&mut self, rows: PolicyBlock<'_>, list: &[Witness], scratch: &mut Scratch) {
        let PolicyBlock { structure, block, policy } = rows;
        scratch.witnesses.resize(scratch.witnesses.len().max(policy + 1), Vec::new());
        let layout = self.gram.layout();
        let z = &scratch.columns[policy][layout.ratios()][..block.slots()];
        let out = &mut scratch.witnesses[policy];
        witness::fill(structure, list, z, block.rows(), &mut scratch.terms, out);
        if !matches!(list.last(), Some(Witness::Beyond(_))) {
            return;
        }
        let weight = &mut scratch.row_sums.sum;
        let mut design = |z: &[Vec<f64>], square: bool| {
            weight.fill(1.0);
            for z in z {
                for (w, &z) in weight.iter_mut().zip(z) {
                    *w *= 1.0 + if square { z * z } else { z };
                }
            }
            vector::sum(weight)
        };
        self.tally.product_ratios += design(z, true);
        if layout.shape.chi {
            self.tally.product_chi += design(&scratch.columns[policy][layout.chi()], false);
        }
    }

    #[inline(always)]
    fn fill_chi(&mut self, block: &Block, policy: usize, columns: &mut [Vec<f64>]) {
        let layout = self.gram.layout();
        for slot in 0..layout.shape.slots {
            let column = &mut columns[layout.place(Feature::Chi(slot))];
            if slot >= block.slots() {
                column.fill(0.0);
            } else {
                let chi = block.column(Field::Chi { policy, slot });
                // Single precision leaves a chi of 0 a little below it.
                self.tally.negative_chi += chi.iter().map(|&chi| u64::from(chi < -1e-6)).sum::<u64>();
                column.copy_from_slice(chi);
            }
            for j in 0..layout.shape.basis {
                multiply(columns, layout, [Feature::Weight(j), Feature::Ratio(slot)], Feature::WeightedRatio(j, slot));
            }
        }
    }

    /// `E[G^2 | x] = G(chi(x))`: the same weight of `chi`, or of `Z^2` in its place. The additive weight of either is in
    /// the Gram matrix already.
    #[inline(always)]
    fn tally_design(&mut self, structure: &Structure, policy: usize, slots: usize, scratch: &mut Scratch) {
        let Scratch { columns, row_sums, terms, squares, .. } = scratch;
        let columns = &columns[policy];
        if slots > 1 {
            self.tally.add_pairs(row_sums);
        }
        let auto = *structure == Structure::Auto;
        if !auto && (!structure.is_multilinear() || structure.is_additive()) {
            return;
        }
        let layout = self.gram.layout();
        squares.resize(squares.len().max(slots), Vec::new());
        for (squares, z) in squares.iter_mut().zip(&columns[layout.ratios()][..slots]) {
            squares.clear();
            squares.extend(z.iter().map(|z| z * z));
        }
        let weight = &mut row_sums.sum;
        let mut add = |z: &[Vec<f64>], to: fn(&mut WeightTally) -> &mut f64| {
            if !auto {
                weights::multilinear(structure, z, weight, terms);
                *to(&mut self.tally.weights[0]) += vector::sum(weight);
                return;
            }
            weights::elementary(layout.shape.basis, z, weight.len(), terms);
            let mut sum = weight.len() as f64;
            for (e, tally) in terms[1..].iter().zip(&mut self.tally.weights) {
                sum += vector::sum(e);
                *to(tally) += sum;
            }
        };
        add(&squares[..slots], |tally| &mut tally.design_ratios);
        if layout.shape.chi {
            add(&columns[layout.chi()], |tally| &mut tally.design_chi);
        }
    }
}

/// Fills the column of a feature that is the product of two others, row by row.
#[inline(always)]
fn multiply(columns: &mut [Vec<f64>], layout: GramLayout, factors: [Feature; 2], product: Feature) {
    let out = layout.place(product);
    let [a, b] = factors.map(|factor| layout.place(factor));
    let mut product = std::mem::take(&mut columns[out]);
    for (product, (x, y)) in product.iter_mut().zip(columns[a].iter().zip(&columns[b])) {
        *product = x * y;
    }
    columns[out] = product;
}
