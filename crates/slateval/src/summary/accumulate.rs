//! Where rows become sums: the one hot path, a block of rows at a time.
//!
//! Every loop runs over contiguous columns, so that the compiler turns it into vector instructions, but for the one that
//! adds to bins. Sums over rows are kept in [`LANES`](crate::math::vector::LANES) interleaved parts: the order of additions,
//! and so the last bit, does not depend on the processor.

use crate::math::vector;
use crate::question::field::Field;
use crate::question::structure::Structure;
use crate::rows::block::Block;
use crate::rows::weights::{self, RowSums};
use crate::summary::cell::{Cell, PolicySums};
use crate::summary::features::{BinSums, Features};
use crate::summary::layout::PairSums;
use crate::summary::table::{Table, bin};
use crate::summary::tally::WeightTally;
use crate::summary::witness::{self, Witness};

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
    /// For each policy, a column for each witness.
    witnesses: Vec<Vec<Vec<f64>>>,
    /// For each policy, the right factors of its [`BinSums`](crate::summary::features::BinSums), row by row.
    rights: Vec<Vec<f64>>,
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
            sums.fill_columns(structure, block, policy, scratch);
            sums.gram.add(&scratch.columns[policy][..sums.features.len()]);
            let list = &self.layout.witnesses[policy].sums.list;
            sums.fill_witnesses(structure, block, policy, list, scratch);
        }
        for (cross, (p, b)) in self.cross.iter_mut().zip(self.kept.compared()) {
            cross.add(&scratch.columns[p][..cross.rows], &scratch.columns[b][..cross.columns]);
        }
        self.scatter(scratch);
        self.add_groups(block, scratch);
        self.rows += block.rows() as u64;
    }

    fn add_groups(&mut self, block: &Block, scratch: &Scratch) {
        let Some(groups) = &mut self.clusters else { return };
        let columns = scratch.columns.iter().zip(&self.policies);
        let policies: Vec<(&[Vec<f64>], usize)> =
            columns.map(|(c, p)| (&c[..p.features.len()], p.features.w(0))).collect();
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

    /// Adds each row's products to its bin, policy by policy; what all policies share goes with the first.
    #[inline(always)]
    fn scatter(&mut self, scratch: &mut Scratch) {
        scratch.rights.resize(scratch.rights.len().max(self.policies.len()), Vec::new());
        let mut shared = Some(scratch.reward.as_slice());
        for (p, section) in self.layout.own.iter().enumerate() {
            let (features, columns) = (self.policies[p].features, &scratch.columns[p]);
            let witnesses = Witnesses {
                start: self.layout.witnesses[p].start - section.start,
                columns: &scratch.witnesses[p][..self.layout.witnesses[p].sums.list.len()],
            };
            let scatter = Scatter { bins: &scratch.bin_rows, start: section.start, shared: shared.take(), witnesses };
            let plain = features.basis == 1 && !features.chi;
            if !plain || !self.layout.cross.is_empty() {
                stage_rights(features, columns, &mut scratch.rights[p]);
            }
            if plain {
                let z: Vec<&[f64]> = columns[features.z(0)..][..features.slots].iter().map(Vec::as_slice).collect();
                scatter.add_slots(&mut self.table, &columns[features.w(0)], &z);
            } else {
                scatter.add_products(&mut self.table, section.sums, &scratch.rights[p]);
            }
        }
        for section in &self.layout.cross {
            let (p, b) = (section.sums.policy, section.sums.baseline);
            let scatter =
                Scatter { bins: &scratch.bin_rows, start: section.start, shared: None, witnesses: Witnesses::NONE };
            let (own, base) = (&self.layout.own[p].sums, &self.layout.own[b].sums);
            let (own_rights, base_rights) = (&scratch.rights[p], &scratch.rights[b]);
            scatter.add_cross(&mut self.table, (own.basis, own.right(), own_rights), (base.right(), base_rights), 0);
            let second = section.sums.of_baseline(1);
            scatter.add_cross(
                &mut self.table,
                (base.basis, base.right(), base_rights),
                (own.right(), own_rights),
                second,
            );
        }
        for (p, section) in self.layout.pairs.iter().enumerate() {
            let features = self.policies[p].features;
            let scatter =
                Scatter { bins: &scratch.bin_rows, start: section.start, shared: None, witnesses: Witnesses::NONE };
            scatter.add_pairs(&mut self.table, &scratch.columns[p][features.z(0)..][..features.slots]);
        }
    }
}

/// Lays the right factors of a policy out row by row, as they are added to bins.
#[inline(always)]
fn stage_rights(features: Features, columns: &[Vec<f64>], out: &mut Vec<f64>) {
    let (slots, basis) = (features.slots, features.basis);
    let part = |first: usize, length: usize| columns[first..][..length].iter();
    let chi = if features.chi { (1 + basis) * slots } else { 0 };
    let chi_columns = columns.get(features.chi(0)..).unwrap_or_default()[..chi].iter();
    let sources = part(features.w(0), basis).chain(part(features.z(0), slots)).chain(chi_columns);
    let width = features.bin_sums().right();
    let rows = columns[Features::ONE].len();
    out.resize(rows * width, 0.0);
    for (x, column) in sources.enumerate() {
        for (row, &value) in out.chunks_exact_mut(width).zip(column) {
            row[x] = value;
        }
    }
}

/// One policy's rows on their way to their bins: the only loops with scattered memory access, a cache line or two a row.
struct Scatter<'a> {
    bins: &'a [u32],
    /// Where the sums begin in a bin.
    start: usize,
    /// The rewards, where they are still to be added.
    shared: Option<&'a [f64]>,
    witnesses: Witnesses<'a>,
}

/// Columns of witnesses, and where their sums begin behind the policy's own.
#[derive(Clone, Copy)]
struct Witnesses<'a> {
    start: usize,
    columns: &'a [Vec<f64>],
}

impl Witnesses<'_> {
    const NONE: Self = Witnesses { start: 0, columns: &[] };

    #[inline(always)]
    fn add(&self, row: usize, sums: &mut [f64]) {
        let places = sums[self.start..].as_chunks_mut::<2>().0;
        for (sums, column) in places.iter_mut().zip(self.columns) {
            let h = column[row];
            sums[0] += h;
            sums[1] += h * h;
        }
    }
}

impl Scatter<'_> {
    /// Rows whose bins are fetched from memory together before they are added to; see docs/performance.md.
    const AHEAD: usize = 16;

    /// `G`, `Z_k`, `G^2` and `G Z_k`. For slates of usual lengths the loop over slots is unrolled.
    #[inline(always)]
    fn add_slots(&self, table: &mut Table, g: &[f64], z: &[&[f64]]) {
        match *z {
            [a] => self.add_each(table, g, [a]),
            [a, b] => self.add_each(table, g, [a, b]),
            [a, b, c] => self.add_each(table, g, [a, b, c]),
            [a, b, c, d] => self.add_each(table, g, [a, b, c, d]),
            [a, b, c, d, e] => self.add_each(table, g, [a, b, c, d, e]),
            [a, b, c, d, e, f] => self.add_each(table, g, [a, b, c, d, e, f]),
            _ => self.add_any(table, g, z),
        }
    }

    #[inline(always)]
    fn add_each<const K: usize>(&self, table: &mut Table, g: &[f64], z: [&[f64]; K]) {
        let rows = self.bins.len();
        let (g, z) = (&g[..rows], z.map(|z| &z[..rows]));
        self.each_row(table, |i, sums| {
            let sums = &mut sums[..2 + 2 * K];
            let g = g[i];
            sums[0] += g;
            sums[1 + K] += g * g;
            for k in 0..K {
                let z = z[k][i];
                sums[1 + k] += z;
                sums[2 + K + k] += g * z;
            }
        });
    }

    #[inline(always)]
    fn add_any(&self, table: &mut Table, g: &[f64], z: &[&[f64]]) {
        let slots = z.len();
        self.each_row(table, |i, sums| {
            let g = g[i];
            let (of_one, of_weight) = sums.split_at_mut(1 + slots);
            of_one[0] += g;
            of_weight[0] += g * g;
            for (k, z) in z.iter().enumerate() {
                of_one[1 + k] += z[i];
                of_weight[1 + k] += g * z[i];
            }
        });
    }

    /// Every product of a left with a right factor.
    #[inline(always)]
    fn add_products(&self, table: &mut Table, layout: BinSums, rights: &[f64]) {
        let (width, of_one) = (layout.right(), layout.right_of_one());
        self.each_row(table, |i, sums| {
            let right = &rights[i * width..][..width];
            add_scaled(&mut sums[..of_one], 1.0, &right[..of_one]);
            let rows = sums[of_one..].chunks_exact_mut(width);
            for (sums, &w) in rows.zip(&right[..layout.basis]) {
                add_scaled(sums, w, right);
            }
        });
    }

    /// Products of one policy's `W_i` with another's right factors, from a place of the section on.
    #[inline(always)]
    fn add_cross(&self, table: &mut Table, left: (usize, usize, &[f64]), right: (usize, &[f64]), place: usize) {
        let ((basis, left_width, lefts), (width, rights)) = (left, right);
        self.each_row(table, |i, sums| {
            let right = &rights[i * width..][..width];
            let rows = sums[place..].chunks_exact_mut(width);
            for (sums, &w) in rows.zip(&lefts[i * left_width..][..basis]) {
                add_scaled(sums, w, right);
            }
        });
    }

    /// `Z_j Z_k` and its square.
    fn add_pairs(&self, table: &mut Table, z: &[Vec<f64>]) {
        self.each_row(table, |i, sums| {
            for (k, second) in z.iter().enumerate() {
                for (j, first) in z[..k].iter().enumerate() {
                    let product = first[i] * second[i];
                    let place = PairSums::place(j, k);
                    sums[place] += product;
                    sums[place + 1] += product * product;
                }
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
                add(i, &mut bin[self.start..]);
                self.witnesses.add(i, &mut bin[self.start..]);
            }
        }
    }
}

/// `sums += by * values`.
#[inline(always)]
fn add_scaled(sums: &mut [f64], by: f64, values: &[f64]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += by * value;
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
    /// Fills the columns of every feature for one policy, and tallies its weights.
    #[inline(always)]
    fn fill_columns(&mut self, structure: &Structure, block: &Block, policy: usize, scratch: &mut Scratch) {
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
        weights::slot_ratios(structure, block, policy, z, row_sums, |slot, facts| self.tally.add_slot(slot, facts));
        self.fill_weights(structure, block, policy, (z, &mut others[..features.basis]), row_sums, terms);

        multiply(columns, features.r(), features.r(), features.r2());
        for j in 0..features.basis {
            multiply(columns, features.w(j), features.r(), features.wr(j));
            multiply(columns, features.wr(j), features.r(), features.wr2(j));
        }
        if features.chi {
            self.fill_chi(block, policy, columns);
        }
        self.tally_design(structure, policy, slots, scratch);
    }

    /// Fills the columns of the basis from those of the ratios, and tallies the weights.
    #[inline(always)]
    fn fill_weights(
        &mut self,
        structure: &Structure,
        block: &Block,
        policy: usize,
        (z, basis): (&[Vec<f64>], &mut [Vec<f64>]),
        row_sums: &RowSums,
        terms: &mut Vec<Vec<f64>>,
    ) {
        if *structure != Structure::Auto {
            weights::weigh(structure, block, policy, z, row_sums, &mut basis[0], terms);
            return self.tally.weights[0].add(&basis[0]);
        }
        weights::elementary(basis.len(), z, block.rows(), terms);
        let (sum, orders) = terms.split_at_mut(1);
        // e_0 = 1 becomes the weight of one order after the other.
        for ((w, e), tally) in basis.iter_mut().zip(orders).zip(&mut self.tally.weights) {
            w.copy_from_slice(e);
            sum[0].iter_mut().zip(&*e).for_each(|(sum, e)| *sum += e);
            tally.add(&sum[0]);
        }
    }

    /// Fills the columns of witnesses from those of the ratios.
    #[inline(always)]
    fn fill_witnesses(
        &mut self,
        structure: &Structure,
        block: &Block,
        policy: usize,
        list: &[Witness],
        scratch: &mut Scratch,
    ) {
        scratch.witnesses.resize(scratch.witnesses.len().max(policy + 1), Vec::new());
        let (features, slots) = (self.features, block.slots());
        let z = &scratch.columns[policy][features.z(0)..][..slots];
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
        if features.chi {
            self.tally.product_chi += design(&scratch.columns[policy][features.chi(0)..][..features.slots], false);
        }
    }

    #[inline(always)]
    fn fill_chi(&mut self, block: &Block, policy: usize, columns: &mut [Vec<f64>]) {
        let features = self.features;
        for slot in 0..features.slots {
            let column = &mut columns[features.chi(slot)];
            if slot >= block.slots() {
                column.fill(0.0);
            } else {
                let chi = block.column(Field::Chi { policy, slot });
                // Single precision leaves a chi of 0 a little below it.
                self.tally.negative_chi += chi.iter().map(|&chi| u64::from(chi < -1e-6)).sum::<u64>();
                column.copy_from_slice(chi);
            }
            for j in 0..features.basis {
                multiply(columns, features.w(j), features.z(slot), features.wz(j, slot));
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
        let features = self.features;
        squares.resize(squares.len().max(slots), Vec::new());
        for (squares, z) in squares.iter_mut().zip(&columns[features.z(0)..][..slots]) {
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
            weights::elementary(features.basis, z, weight.len(), terms);
            let mut sum = weight.len() as f64;
            for (e, tally) in terms[1..].iter().zip(&mut self.tally.weights) {
                sum += vector::sum(e);
                *to(tally) += sum;
            }
        };
        add(&squares[..slots], |tally| &mut tally.design_ratios);
        if features.chi {
            add(&columns[features.chi(0)..][..features.slots], |tally| &mut tally.design_chi);
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
