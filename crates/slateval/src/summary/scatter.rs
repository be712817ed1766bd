//! Adds each row's products to its bin: the only loops with scattered memory access, a few cache lines a row.
//! See docs/methods.md, section 3.2.
//!
//! The right factors of a row are laid out one behind the other first, in groups of [`LANES`]: then a bin's sums of one left
//! factor are that factor times a run of such groups.

use crate::math::lanes::{Four, LANES, Lanes, wide};
use crate::math::vector::{self, Columns, interleave};
use crate::summary::accumulate::Scratch;
use crate::summary::cell::Cell;
use crate::summary::columns::PolicyColumns;
use crate::summary::index::{BinLayout, Layout, Pair, PairLayout, Power, Shared};
use crate::summary::table::Table;

/// The numbers of a policy's rows, row by row; buffers are kept between blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Staged {
    /// The right factors.
    rights: Vec<Lanes>,
    /// The left factors `W_j`.
    lefts: Vec<Lanes>,
    /// `chi_k`, then `G_m D_mk` of each weight. With chi.
    chi: Vec<Lanes>,
    /// Each witness and its square.
    witnesses: Vec<Lanes>,
    /// A column of zeros.
    zeros: Vec<f64>,
}

impl Staged {
    fn fill(&mut self, layout: BinLayout, columns: &mut PolicyColumns, witnesses: usize) {
        let rows = columns.with_reward[0].len();
        self.zeros.resize(rows, 0.0);
        let weights = &columns.basis[layout.right_weights()];
        let rights = Columns::new(&columns.ratios).then(weights);
        interleave(rights.len(), |i| rights.get(i), &self.zeros, &mut self.rights);
        interleave(columns.basis.len(), |j| &columns.basis[j], &self.zeros, &mut self.lefts);
        self.chi.clear();
        if layout.shape.chi {
            columns.weigh_chi_errors();
            let run = layout.slot_run();
            let slots = layout.shape.slots;
            let zeros = self.zeros.as_slice();
            let place = |i: usize| match (i / run, i % run) {
                (_, k) if k >= slots => zeros,
                (0, k) => &columns.chi[k],
                (m, k) => &columns.chi_errors[(m - 1) * slots + k],
            };
            interleave((1 + layout.shape.basis.len()) * run, place, zeros, &mut self.chi);
        }
        columns.square_witnesses(witnesses);
        let count = Power::COUNT * witnesses;
        interleave(count, |i| columns.witness_or_square(i), &self.zeros, &mut self.witnesses);
    }
}

impl Cell {
    /// Adds each row's products of one policy to its bin; what all policies share goes with the first.
    pub(super) fn scatter(
        &mut self,
        policy: usize,
        columns: &mut PolicyColumns,
        staged: &mut Staged,
        (rewards, bins): (&[f64], &[u32]),
    ) {
        let layout = self.layout.own[policy].layout;
        staged.fill(layout, columns, self.layout.witnesses[policy].layout.list.len());
        let start = self.layout.own[policy].start;
        let (basis, groups) = (layout.shape.basis.len(), layout.product_run() / LANES);
        let shared = (policy == 0).then_some(rewards);
        let staged_witnesses = staged.witnesses.len() / bins.len().max(1);
        let target = Target { table: &mut self.table, start, basis, groups, staged, bins, shared };
        // Numbers that are known to the compiler let it keep the right factors in registers.
        match (basis, groups, staged_witnesses) {
            (1, 1, 0) => add_rows::<1, 1, 0>(target),
            (1, 2, 0) => add_rows::<1, 2, 0>(target),
            (1, 1, 1) => add_rows::<1, 1, 1>(target),
            (1, 1, 2) => add_rows::<1, 1, 2>(target),
            (1, 2, 2) => add_rows::<1, 2, 2>(target),
            (4, 2, 0) => add_rows::<4, 2, 0>(target),
            (4, 2, 1) => add_rows::<4, 2, 1>(target),
            (4, 3, 1) => add_rows::<4, 3, 1>(target),
            _ => add_any_rows(target),
        }
        if let Some(section) = self.layout.pairs.get(policy) {
            add_pairs(&mut self.table, section.start, section.layout, &columns.ratios, bins);
        }
    }

    /// Adds the products of policies that are compared.
    pub(super) fn scatter_cross(&mut self, scratch: &mut Scratch) {
        if self.layout.cross.is_empty() {
            return;
        }
        scratch.rights.resize(scratch.rights.len().max(self.policies.len()), Vec::new());
        for section in &self.layout.cross {
            let layout = section.sums.layout;
            for (policy, rights) in [(section.policy, layout.policy), (section.baseline, layout.baseline)] {
                let (features, own) = (self.kept.features(policy, self.slots), &scratch.features[policy]);
                let columns: Vec<&[f64]> =
                    rights.keys().into_iter().map(|key| own[features.place(key)].as_slice()).collect();
                let out = &mut scratch.rights[policy];
                out.resize(columns[0].len() * columns.len(), 0.0);
                for (row, out) in out.chunks_exact_mut(columns.len()).enumerate() {
                    out.iter_mut().zip(&columns).for_each(|(out, column)| *out = column[row]);
                }
            }
            let (policy, baseline) = (&scratch.rights[section.policy], &scratch.rights[section.baseline]);
            let (own, others) = (layout.policy, layout.baseline);
            for (i, &bin) in scratch.bin_rows.iter().enumerate() {
                let own_row = &policy[i * own.len()..][..own.len()];
                let others_row = &baseline[i * others.len()..][..others.len()];
                let sums = &mut self.table.row_mut(bin)[section.sums.start..];
                let (of_policy, rest) = sums.split_at_mut(layout.of_policy().len());
                add_outer(of_policy, &own_row[own.weights()], others_row);
                add_outer(rest, &others_row[others.weights()], own_row);
            }
        }
    }
}

wide! {
    /// Adds every left factor times all right ones, left by left.
    fn add_outer(sums: &mut [f64], lefts: &[f64], rights: &[f64]) = add_outer_of
}

#[inline(always)]
fn add_outer_of<F: Four>(sums: &mut [f64], lefts: &[f64], rights: &[f64]) {
    for (sums, left) in sums.chunks_exact_mut(rights.len()).zip(lefts) {
        for (sum, right) in sums.iter_mut().zip(rights) {
            *sum = left.mul_add(*right, *sum);
        }
    }
}

/// One policy's part of the bins, and the rows that go there.
struct Target<'a> {
    table: &'a mut Table,
    start: usize,
    /// How many left factors there are beside 1, and groups of right ones.
    basis: usize,
    groups: usize,
    staged: &'a Staged,
    bins: &'a [u32],
    /// The rewards, where they are still to be added.
    shared: Option<&'a [f64]>,
}

/// Rows that are asked for ahead of the one that is being added to: they come from the second-level cache, or from further.
const AHEAD: usize = 6;

wide! {
    /// Adds each row to its bin. The numbers of left factors, and of groups of right factors and of witnesses, are the
    /// target's.
    fn add_rows[const BASIS, const GROUPS, const WITNESSES](target: Target<'_>) = add_each_row
}

#[inline(always)]
fn add_each_row<F: Four, const BASIS: usize, const GROUPS: usize, const WITNESSES: usize>(target: Target<'_>) {
    let Target { table, start, staged, bins, shared, .. } = target;
    let start = start / LANES;
    let chi = staged.chi.len() / bins.len().max(1);
    let length = (1 + BASIS) * GROUPS + chi + WITNESSES;
    let (rights, _) = staged.rights.as_chunks::<GROUPS>();
    let (rights, lefts) = (&rights[..bins.len()], &staged.lefts[..bins.len()]);
    for (i, &bin) in bins.iter().enumerate() {
        F::fetch(table.row(bins[if i + AHEAD < bins.len() { i + AHEAD } else { i }]));
        let row = table.row_mut(bin).as_chunks_mut::<LANES>().0;
        if let Some(rewards) = shared {
            add_shared::<F>(&mut row[0], rewards[i]);
        }
        let (own, behind) = row[start..][..length].split_at_mut((1 + BASIS) * GROUPS);
        let (runs, _) = own.as_chunks_mut::<GROUPS>();
        vector::add::<F>(&mut runs[0], &rights[i]);
        for j in 0..BASIS {
            vector::add_scaled(&mut runs[1 + j], F::splat(lefts[i][j]), &rights[i]);
        }
        if chi > 0 {
            vector::add::<F>(&mut behind[..chi], &staged.chi[i * chi..][..chi]);
        }
        if WITNESSES > 0 {
            vector::add::<F>(&mut behind[chi..][..WITNESSES], &staged.witnesses[i * WITNESSES..][..WITNESSES]);
        }
    }
    if let Some(rewards) = shared {
        add_extremes(table, bins, rewards);
    }
}

wide! {
    /// The same where the numbers of left factors and of groups vary.
    fn add_any_rows(target: Target<'_>) = add_each_any_row
}

#[inline(always)]
fn add_each_any_row<F: Four>(Target { table, start, basis, groups, staged, bins, shared }: Target<'_>) {
    let start = start / LANES;
    let left_groups = basis.div_ceil(LANES);
    let per_row = |staged: &[Lanes]| staged.len() / bins.len().max(1);
    let (chi, witnesses) = (per_row(&staged.chi), per_row(&staged.witnesses));
    for (i, &bin) in bins.iter().enumerate() {
        F::fetch(table.row(bins[if i + AHEAD < bins.len() { i + AHEAD } else { i }]));
        let row = table.row_mut(bin).as_chunks_mut::<LANES>().0;
        if let Some(rewards) = shared {
            add_shared::<F>(&mut row[0], rewards[i]);
        }
        let rights = &staged.rights[i * groups..][..groups];
        let lefts = staged.lefts[i * left_groups..][..left_groups].as_flattened();
        let (own, behind) = row[start..].split_at_mut((1 + basis) * groups);
        let (of_one, of_weights) = own.split_at_mut(groups);
        vector::add::<F>(of_one, rights);
        for (sums, left) in of_weights.chunks_exact_mut(groups.max(1)).zip(lefts) {
            vector::add_scaled(sums, F::splat(*left), rights);
        }
        vector::add::<F>(&mut behind[..chi], &staged.chi[i * chi..][..chi]);
        vector::add::<F>(&mut behind[chi..][..witnesses], &staged.witnesses[i * witnesses..][..witnesses]);
    }
    if let Some(rewards) = shared {
        add_extremes(table, bins, rewards);
    }
}

/// A row, and its reward.
#[inline(always)]
fn add_shared<F: Four>(shared: &mut Lanes, reward: f64) {
    let mut more = [0.0; LANES];
    more[Shared::Rows.place()] = 1.0;
    more[Shared::Reward.place()] = reward;
    F::load(&more).plus(F::load(shared)).store(shared);
}

#[inline(always)]
fn add_extremes(table: &mut Table, bins: &[u32], rewards: &[f64]) {
    for (&bin, &reward) in bins.iter().zip(rewards) {
        table.extremes[bin as usize].add(reward);
    }
}

/// `Z_j Z_k` and its square.
fn add_pairs(table: &mut Table, start: usize, layout: PairLayout, z: &[Vec<f64>], bins: &[u32]) {
    for (i, &bin) in bins.iter().enumerate() {
        let sums = &mut table.row_mut(bin)[start..];
        for (k, second) in z.iter().enumerate() {
            for (j, first) in z[..k].iter().enumerate() {
                let product = first[i] * second[i];
                sums[layout.place(Pair { j, k, power: Power::First })] += product;
                sums[layout.place(Pair { j, k, power: Power::Second })] += product * product;
            }
        }
    }
}
