//! Where rows become sums: the one hot path, a block of rows at a time.
//!
//! Every loop runs over contiguous columns, so that the compiler turns it into vector instructions, but for the one that
//! adds to bins. Sums over rows are kept in [`LANES`](crate::vector::LANES) interleaved parts: the order of additions,
//! and so the last bit, does not depend on the processor.

use crate::block::{Block, Field};
use crate::cell::{Cell, PolicySums};
use crate::error::Result;
use crate::features::{BinSums, Features};
use crate::structure::Structure;
use crate::table::{Table, bin};
use crate::vector;
use crate::weight::{self, RowSums};

/// Buffers for one block, kept between blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    reward: Vec<f64>,
    /// Rewards as seen from the cell's origin.
    centred: Vec<f64>,
    bin_rows: Vec<u32>,
    /// For each policy, a column for each of its [`Features`].
    columns: Vec<Vec<Vec<f64>>>,
    row_sums: RowSums,
    terms: Vec<Vec<f64>>,
    squares: Vec<Vec<f64>>,
}

impl Cell {
    /// Adds the rows of a block. On an error some of them may have been added: the caller gives up the whole summary.
    pub(crate) fn add(&mut self, structure: &Structure, block: &Block, scratch: &mut Scratch) -> Result<()> {
        if block.rows() == 0 {
            return Ok(());
        }
        if block.slots() > self.slots {
            structure.check_slots(block.slots())?;
            self.widen(block.slots());
        }
        vector::wide(
            #[inline(always)]
            || self.add_rows(structure, block, scratch),
        )
    }

    #[inline(always)]
    fn add_rows(&mut self, structure: &Structure, block: &Block, scratch: &mut Scratch) -> Result<()> {
        self.find_bins(block, scratch)?;
        scratch.columns.resize(scratch.columns.len().max(self.policies.len()), Vec::new());
        for (policy, sums) in self.policies.iter_mut().enumerate() {
            sums.fill_columns(structure, block, policy, scratch)?;
            sums.gram.add(&scratch.columns[policy][..sums.features.len()]);
        }
        self.scatter(scratch);
        self.rows += block.rows() as u64;
        Ok(())
    }

    /// Checks the rewards and finds their bins.
    #[inline(always)]
    fn find_bins(&mut self, block: &Block, scratch: &mut Scratch) -> Result<()> {
        let rewards = block.column(Field::Reward);
        weight::check(rewards, Field::Reward, f64::is_finite)?;
        scratch.reward.clear();
        scratch.reward.extend(rewards.iter().map(|r| r + 0.0)); // -0.0 becomes 0.0
        let moves = self.bins.assign(&scratch.reward, &mut scratch.bin_rows);
        self.table.follow(moves, self.bins.table_rows());
        if self.rows == 0 && scratch.reward.len() >= ORIGIN_ROWS {
            self.origin = origin_of(&scratch.reward);
        }
        scratch.centred.clear();
        scratch.centred.extend(scratch.reward.iter().map(|r| r - self.origin));
        Ok(())
    }

    /// Adds each row's products to its bin, policy by policy; what all policies share goes with the first.
    #[inline(always)]
    fn scatter(&mut self, scratch: &Scratch) {
        let mut shared = Some(scratch.reward.as_slice());
        let mut offset = bin::SHARED;
        for (policy, columns) in self.policies.iter().zip(&scratch.columns) {
            let (features, layout) = (policy.features, policy.bin_sums());
            let slots = |first: usize| -> Vec<&[f64]> {
                columns[first..][..features.slots].iter().map(Vec::as_slice).collect()
            };
            let (g, z) = (columns[features.w(0)].as_slice(), slots(features.z(0)));
            let scatter = Scatter { bins: &scratch.bin_rows, offset, g, shared: shared.take() };
            scatter.add_slots(&mut self.table, &z);
            if layout.chi {
                scatter.add_chi(&mut self.table, layout, &z, &slots(features.chi(0)));
            }
            offset += layout.len();
        }
    }
}

/// One policy's rows on their way to their bins: the only loops with scattered memory access, a cache line or two a row.
struct Scatter<'a> {
    bins: &'a [u32],
    /// Where the policy's sums begin in a bin.
    offset: usize,
    g: &'a [f64],
    /// The rewards, where they are still to be added.
    shared: Option<&'a [f64]>,
}

impl Scatter<'_> {
    /// Rows whose bins are fetched from memory together before they are added to; see docs/performance.md.
    const AHEAD: usize = 16;

    /// `G`, `G^2` and `G Z_k`. For slates of usual lengths the loop over slots is unrolled.
    #[inline(always)]
    fn add_slots(&self, table: &mut Table, z: &[&[f64]]) {
        match *z {
            [a] => self.add_each(table, [a]),
            [a, b] => self.add_each(table, [a, b]),
            [a, b, c] => self.add_each(table, [a, b, c]),
            [a, b, c, d] => self.add_each(table, [a, b, c, d]),
            [a, b, c, d, e] => self.add_each(table, [a, b, c, d, e]),
            [a, b, c, d, e, f] => self.add_each(table, [a, b, c, d, e, f]),
            _ => self.add_any(table, z),
        }
    }

    #[inline(always)]
    fn add_each<const K: usize>(&self, table: &mut Table, z: [&[f64]; K]) {
        let rows = self.bins.len();
        let (g, z) = (&self.g[..rows], z.map(|z| &z[..rows]));
        self.each_row(table, |i, sums| {
            let sums = &mut sums[..2 + K];
            sums[0] += g[i];
            sums[1] += g[i] * g[i];
            for k in 0..K {
                sums[2 + k] += g[i] * z[k][i];
            }
        });
    }

    #[inline(always)]
    fn add_any(&self, table: &mut Table, z: &[&[f64]]) {
        self.each_row(table, |i, sums| {
            let g = self.g[i];
            sums[0] += g;
            sums[1] += g * g;
            for (sum, z) in sums[2..].iter_mut().zip(z) {
                *sum += g * z[i];
            }
        });
    }

    /// Visits the sums of each row's bin, and adds what is shared.
    #[inline(always)]
    fn each_row(&self, table: &mut Table, mut add: impl FnMut(usize, &mut [f64])) {
        let rows = self.bins.len();
        for start in (0..rows).step_by(Self::AHEAD) {
            let end = rows.min(start + Self::AHEAD);
            table.fetch(&self.bins[start..end]);
            for i in start..end {
                let bin = table.row_mut(self.bins[i]);
                if let Some(reward) = self.shared {
                    bin[bin::ROWS] += 1.0;
                    bin[bin::REWARD] += reward[i];
                    bin[bin::MIN] = vector::min(bin[bin::MIN], reward[i]);
                    bin[bin::MAX] = vector::max(bin[bin::MAX], reward[i]);
                }
                add(i, &mut bin[self.offset..]);
            }
        }
    }

    /// `Z_k`, `G chi_k` and `G^2 Z_k`.
    #[inline(always)]
    fn add_chi(&self, table: &mut Table, layout: BinSums, z: &[&[f64]], chi: &[&[f64]]) {
        for (i, &bin) in self.bins.iter().enumerate() {
            let g = self.g[i];
            let sums = &mut table.row_mut(bin)[self.offset..][..layout.len()];
            for (k, (z, chi)) in z.iter().zip(chi).enumerate() {
                sums[layout.z(k)] += z[i];
                sums[layout.wchi(0, k)] += g * chi[i];
                sums[layout.wwz(0, 0, k)] += g * g * z[i];
            }
        }
    }
}

/// Fewer rewards than this say too little of where rewards lie.
const ORIGIN_ROWS: usize = 64;

/// Rewards far from zero, against their spread, would lose their variance to rounding: they are measured from here.
/// For everyone else it is 0, and sums are what they seem.
fn origin_of(rewards: &[f64]) -> f64 {
    let (lo, hi) = rewards.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &r| (lo.min(r), hi.max(r)));
    let middle = lo / 2.0 + hi / 2.0;
    if hi > lo && middle.abs() > 32.0 * (hi - lo) { middle.round() } else { 0.0 }
}

impl PolicySums {
    /// Fills the columns of every feature for one policy, and tallies its weights.
    #[inline(always)]
    fn fill_columns(
        &mut self,
        structure: &Structure,
        block: &Block,
        policy: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (features, slots) = (self.features, block.slots());
        let Scratch { centred, columns, row_sums, terms, .. } = scratch;
        let columns = &mut columns[policy];
        columns.resize(columns.len().max(features.len()), Vec::new());
        for column in &mut columns[..features.len()] {
            column.resize(block.rows(), 0.0);
        }
        columns[Features::ONE].fill(1.0);
        columns[features.r()].copy_from_slice(centred);

        let (ratios, others) = columns.split_at_mut(features.w(0));
        let (z, beyond) = ratios[features.z(0)..].split_at_mut(slots);
        beyond.iter_mut().for_each(|z| z.fill(0.0));
        weight::slot_ratios(structure, block, policy, z, row_sums, &mut self.tally)?;
        let g = &mut others[0];
        weight::weigh(structure, block, policy, z, row_sums, g, terms)?;
        self.tally.add_weights(g);

        multiply(columns, features.r(), features.r(), features.r2());
        multiply(columns, features.w(0), features.r(), features.wr(0));
        multiply(columns, features.wr(0), features.r(), features.wr2(0));
        if features.chi {
            self.fill_chi(block, policy, columns)?;
        }
        self.tally_design(structure, policy, slots, scratch);
        Ok(())
    }

    #[inline(always)]
    fn fill_chi(&mut self, block: &Block, policy: usize, columns: &mut [Vec<f64>]) -> Result<()> {
        let features = self.features;
        for slot in 0..features.slots {
            let column = &mut columns[features.chi(slot)];
            if slot >= block.slots() {
                column.fill(0.0);
            } else {
                let field = Field::Chi { policy, slot };
                let chi = block.column(field);
                weight::check(chi, field, f64::is_finite)?;
                // Single precision leaves a chi of 0 a little below it.
                self.tally.negative_chi += chi.iter().map(|&chi| u64::from(chi < -1e-6)).sum::<u64>();
                column.copy_from_slice(chi);
            }
            multiply(columns, features.w(0), features.z(slot), features.wz(0, slot));
        }
        Ok(())
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
        if !structure.is_multilinear() || structure.is_additive() {
            return;
        }
        let features = self.features;
        let weight = &mut row_sums.sum;
        squares.resize(squares.len().max(slots), Vec::new());
        for (squares, z) in squares.iter_mut().zip(&columns[features.z(0)..][..slots]) {
            squares.clear();
            squares.extend(z.iter().map(|z| z * z));
        }
        weight::multilinear(structure, &squares[..slots], weight, terms);
        self.tally.design_ratios += vector::sum(weight);
        if features.chi {
            weight::multilinear(structure, &columns[features.chi(0)..][..features.slots], weight, terms);
            self.tally.design_chi += vector::sum(weight);
        }
    }
}

/// `columns[out] = columns[a] * columns[b]`, row by row.
#[inline(always)]
fn multiply(columns: &mut [Vec<f64>], a: usize, b: usize, out: usize) {
    let mut product = std::mem::take(&mut columns[out]);
    for (product, (x, y)) in product.iter_mut().zip(columns[a].iter().zip(&columns[b])) {
        *product = x * y;
    }
    columns[out] = product;
}
