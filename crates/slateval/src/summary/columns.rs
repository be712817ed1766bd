//! The numbers of a block's rows, column by column: what sums are made of.
//!
//! Every loop here runs over contiguous columns, so that the compiler turns it into vector instructions.

use crate::math::vector::{multiply, plus, product_minus};
use crate::question::field::Field;
use crate::question::structure::Structure;
use crate::rows::block::Block;
use crate::rows::weights::{self, HigherPowers, RowSums};
use crate::summary::index::{Basis, Feature, FeatureLayout, Layout, Power, Shape};
use crate::summary::witness::{self, Witness};

/// A block of rows as one policy sees it.
#[derive(Clone, Copy)]
pub(crate) struct PolicyBlock<'a> {
    pub(crate) structure: &'a Structure,
    pub(crate) block: &'a Block,
    pub(crate) policy: usize,
}

/// Columns of one policy; buffers are kept between blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct PolicyColumns {
    /// `Z_k`; 0 in slots that no slate of the block has.
    pub(crate) ratios: Vec<Vec<f64>>,
    /// `W_j`.
    pub(crate) basis: Vec<Vec<f64>>,
    /// `G_m`; empty where it is `W_1` itself.
    weights: Vec<Vec<f64>>,
    /// `R` times 1 and each `W_j`.
    pub(crate) with_reward: Vec<Vec<f64>>,
    /// `R^2` times 1 and each `W_j`.
    pub(crate) with_squared_reward: Vec<Vec<f64>>,
    /// `chi_k`. With chi, as all that follows.
    pub(crate) chi: Vec<Vec<f64>>,
    /// `D_mk = G_m Z_k - chi_k`, weight by weight.
    pub(crate) chi_errors: Vec<Vec<f64>>,
    /// `G_m R` and `G_m R^2`.
    pub(crate) weighted_reward: Vec<Vec<f64>>,
    pub(crate) weighted_squared_reward: Vec<Vec<f64>>,
    /// A column for each witness.
    witnesses: Vec<Vec<f64>>,
    squared_witnesses: Vec<Vec<f64>>,
    /// Whether the only witness is what is beyond the orders of the basis.
    rest_is_witness: bool,
    pub(crate) row_sums: RowSums,
    terms: Vec<Vec<f64>>,
    squares: Vec<Vec<f64>>,
}

/// Makes room for some columns of so many rows.
fn resize(columns: &mut Vec<Vec<f64>>, count: usize, rows: usize) {
    columns.resize(count, Vec::new());
    columns.iter_mut().for_each(|column| column.resize(rows, 0.0));
}

impl PolicyColumns {
    /// `G_m`.
    pub(crate) fn weight(&self, m: usize) -> &[f64] {
        if self.weights.is_empty() { &self.basis[m] } else { &self.weights[m] }
    }

    /// Fills everything but the chi and the witnesses, given the rewards as seen from the cell's origin.
    pub(crate) fn fill(
        &mut self,
        rows: PolicyBlock<'_>,
        shape: Shape,
        witnesses: &[Witness],
        centred: &[f64],
        seen: impl FnMut(usize, HigherPowers),
    ) {
        let PolicyBlock { structure, block, policy } = rows;
        self.rest_is_witness = matches!((shape.basis, witnesses), (Basis::Orders(m), [Witness::Beyond(n)]) if m == *n);
        resize(&mut self.ratios, shape.slots, block.rows());
        let (z, beyond) = self.ratios.split_at_mut(block.slots());
        beyond.iter_mut().for_each(|z| z.fill(0.0));
        weights::slot_ratios(structure, block, policy, z, &mut self.row_sums, seen);
        self.fill_weights(rows, shape.basis);
        self.fill_rewards(centred);
    }

    fn fill_weights(&mut self, PolicyBlock { structure, block, policy }: PolicyBlock<'_>, basis: Basis) {
        let z = &self.ratios[..block.slots()];
        match basis {
            Basis::Single => {
                self.weights.clear();
                resize(&mut self.basis, 1, block.rows());
                let (row_sums, terms) = (&self.row_sums, &mut self.terms);
                weights::weigh(structure, block, policy, z, row_sums, &mut self.basis[0], terms);
            }
            Basis::Orders(orders) => {
                if self.rest_is_witness {
                    // What is beyond the orders comes with them.
                    weights::elementary_with_rest(orders, z, block.rows(), &mut self.basis);
                    resize(&mut self.witnesses, 1, block.rows());
                    std::mem::swap(&mut self.witnesses[0], &mut self.basis[orders]);
                } else {
                    weights::elementary(orders, z, block.rows(), &mut self.basis);
                }
                self.basis.truncate(orders);
                resize(&mut self.weights, orders, block.rows());
                self.weights[0].iter_mut().zip(&self.basis[0]).for_each(|(g, w)| *g = 1.0 + w);
                for m in 1..orders {
                    let (below, above) = self.weights.split_at_mut(m);
                    plus(&below[m - 1], &self.basis[m], &mut above[0]);
                }
            }
        }
    }

    fn fill_rewards(&mut self, centred: &[f64]) {
        resize(&mut self.with_reward, 1 + self.basis.len(), centred.len());
        resize(&mut self.with_squared_reward, 1 + self.basis.len(), centred.len());
        self.with_reward[0].copy_from_slice(centred);
        for (w, out) in self.basis.iter().zip(&mut self.with_reward[1..]) {
            multiply(w, centred, out);
        }
        for (plain, squared) in self.with_reward.iter().zip(&mut self.with_squared_reward) {
            multiply(plain, centred, squared);
        }
    }

    /// Fills the columns of chi. Returns how many values are below 0, which no policy has.
    pub(crate) fn fill_chi(&mut self, PolicyBlock { block, policy, .. }: PolicyBlock<'_>, shape: Shape) -> u64 {
        let (rows, slots, basis) = (block.rows(), shape.slots, shape.basis.len());
        resize(&mut self.chi, slots, rows);
        resize(&mut self.chi_errors, basis * slots, rows);
        resize(&mut self.weighted_reward, basis, rows);
        resize(&mut self.weighted_squared_reward, basis, rows);
        let mut negative = 0;
        for (slot, column) in self.chi.iter_mut().enumerate() {
            if slot >= block.slots() {
                column.fill(0.0);
                continue;
            }
            let chi = block.column(Field::Chi { policy, slot });
            // Single precision leaves a chi of 0 a little below it.
            negative += chi.iter().map(|&chi| u64::from(chi < -1e-6)).sum::<u64>();
            column.copy_from_slice(chi);
        }
        for m in 0..basis {
            let g = if self.weights.is_empty() { &self.basis[m] } else { &self.weights[m] };
            multiply(g, &self.with_reward[0], &mut self.weighted_reward[m]);
            multiply(g, &self.with_squared_reward[0], &mut self.weighted_squared_reward[m]);
            for ((z, chi), out) in self.ratios.iter().zip(&self.chi).zip(&mut self.chi_errors[m * slots..]) {
                product_minus(g, z, chi, out);
            }
        }
        negative
    }

    /// Fills the columns of witnesses.
    pub(crate) fn fill_witnesses(&mut self, rows: PolicyBlock<'_>, list: &[Witness]) {
        if self.rest_is_witness {
            return;
        }
        let z = &self.ratios[..rows.block.slots()];
        witness::fill(rows.structure, list, z, rows.block.rows(), &mut self.terms, &mut self.witnesses);
    }

    /// Fills the squares of so many witnesses.
    pub(crate) fn square_witnesses(&mut self, count: usize) {
        resize(&mut self.squared_witnesses, count, self.with_reward[0].len());
        for (h, out) in self.witnesses.iter().zip(&mut self.squared_witnesses) {
            multiply(h, h, out);
        }
    }

    /// The witnesses, each with its square behind it.
    pub(crate) fn witness_or_square(&self, i: usize) -> &[f64] {
        match i % Power::COUNT {
            0 => &self.witnesses[i / Power::COUNT],
            _ => &self.squared_witnesses[i / Power::COUNT],
        }
    }

    /// Multiplies each error of chi by its weight. Called when the errors themselves have been summed.
    pub(crate) fn weigh_chi_errors(&mut self) {
        let slots = self.chi.len();
        for (i, error) in self.chi_errors.iter_mut().enumerate() {
            let g = if self.weights.is_empty() { &self.basis[i / slots] } else { &self.weights[i / slots] };
            error.iter_mut().zip(g).for_each(|(d, g)| *d *= g);
        }
    }

    /// The squares of the ratios of slots that slates of the block have, and buffers for what is made of them.
    pub(crate) fn squared_ratios(&mut self, slots: usize) -> (&[Vec<f64>], &mut Vec<Vec<f64>>, &mut [f64]) {
        self.squares.resize(self.squares.len().max(slots), Vec::new());
        for (squares, z) in self.squares.iter_mut().zip(&self.ratios[..slots]) {
            squares.resize(z.len(), 0.0);
            multiply(z, z, squares);
        }
        (&self.squares[..slots], &mut self.terms, &mut self.row_sums.sum)
    }

    /// The columns of chi, and buffers for what is made of them.
    pub(crate) fn chi_with_buffers(&mut self) -> (&[Vec<f64>], &mut Vec<Vec<f64>>, &mut [f64]) {
        (&self.chi, &mut self.terms, &mut self.row_sums.sum)
    }

    /// A column for each feature of a layout, for sums of single features.
    pub(crate) fn features(&self, layout: FeatureLayout, out: &mut Vec<Vec<f64>>) {
        let rows = self.with_reward[0].len();
        resize(out, layout.len(), rows);
        for (feature, out) in layout.keys().into_iter().zip(out) {
            match feature {
                Feature::One => out.fill(1.0),
                Feature::Ratio(k) => out.copy_from_slice(&self.ratios[k]),
                Feature::Weight(j) => out.copy_from_slice(&self.basis[j]),
                Feature::Reward => out.copy_from_slice(&self.with_reward[0]),
                Feature::SquaredReward => out.copy_from_slice(&self.with_squared_reward[0]),
                Feature::WeightedReward(j) => out.copy_from_slice(&self.with_reward[1 + j]),
                Feature::WeightedSquaredReward(j) => out.copy_from_slice(&self.with_squared_reward[1 + j]),
                Feature::Chi(k) => out.copy_from_slice(&self.chi[k]),
                Feature::WeightedRatio(j, k) => multiply(&self.basis[j], &self.ratios[k], out),
                Feature::ChiError(_) => unreachable!("errors of chi belong to one weight"),
            }
        }
    }
}
