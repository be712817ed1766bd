//! Adds each row's products to its bin: the only loops with scattered memory access, a few cache lines a row.
//! See docs/methods.md, section 3.2.
//!
//! The right factors of a row are laid out one behind the other first, in groups of [`LANES`]: then a bin's sums of one left
//! factor are that factor times a run of such groups.

use crate::math::column::{Column, ROWS};
use crate::math::lanes::{Four, LANES, LINE, Lanes, wide};
use crate::math::vector::{self, interleave};
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
    /// `chi_k`. With chi.
    chi: Vec<Lanes>,
    /// Each witness and its square.
    witnesses: Vec<Lanes>,
    squared_witnesses: Vec<Column>,
}

impl Staged {
    fn fill(&mut self, layout: BinLayout, columns: &PolicyColumns, witnesses: &[Column]) {
        let weights = &columns.basis()[layout.right_weights()];
        let rights: Vec<&Column> = columns.ratios.iter().chain(weights).collect();
        interleave(columns.rows, rights.into_iter(), &mut self.rights);
        self.chi.clear();
        if layout.shape.chi {
            interleave(columns.rows, columns.chi.iter(), &mut self.chi);
        }
        crate::math::column::resize(&mut self.squared_witnesses, witnesses.len());
        for (h, out) in witnesses.iter().zip(&mut self.squared_witnesses) {
            vector::multiply(columns.rows, h, h, out);
        }
        let both: Vec<&Column> = witnesses.iter().zip(&self.squared_witnesses).flat_map(|(h, hh)| [h, hh]).collect();
        interleave(columns.rows, both.into_iter(), &mut self.witnesses);
    }
}

impl Cell {
    /// Adds each row's products of one policy to its bin; what all policies share goes with the first.
    pub(super) fn scatter(
        &mut self,
        policy: usize,
        columns: &PolicyColumns,
        staged: &mut Staged,
        (rewards, bins): (&Column, &[u32]),
    ) {
        let section = &self.layout.own[policy];
        let layout = section.layout;
        let witnesses = columns.witnesses(&self.layout.witnesses[policy].layout.list);
        staged.fill(layout, columns, witnesses);
        let target = Target {
            table: &mut self.table,
            start: section.start / LANES,
            groups: layout.product_run() / LANES,
            slots: layout.shape.slots,
            staged,
            columns,
            bins,
            shared: (policy == 0).then_some(rewards),
        };
        // Numbers that are known to the compiler let it keep the right factors in registers.
        let chi = if layout.shape.chi { layout.slot_run() / LANES } else { 0 };
        match (columns.basis().len(), target.groups, chi, (Power::COUNT * witnesses.len()).div_ceil(LANES)) {
            (4, 2, 0, 1) => add_rows::<4, 2, 0, 1>(target),
            (4, 2, 2, 1) => add_rows::<4, 2, 2, 1>(target),
            (4, 2, 0, 0) => add_rows::<4, 2, 0, 0>(target),
            (4, 2, 1, 0) => add_rows::<4, 2, 1, 0>(target),
            (3, 2, 0, 0) => add_rows::<3, 2, 0, 0>(target),
            (3, 2, 1, 0) => add_rows::<3, 2, 1, 0>(target),
            (1, 1, 0, 1) => add_rows::<1, 1, 0, 1>(target),
            (1, 1, 0, 2) => add_rows::<1, 1, 0, 2>(target),
            (1, 2, 0, 0) => add_rows::<1, 2, 0, 0>(target),
            (1, 2, 0, 2) => add_rows::<1, 2, 0, 2>(target),
            (1, 2, 2, 2) => add_rows::<1, 2, 2, 2>(target),
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
                let columns: Vec<&[f64]> = rights
                    .keys()
                    .into_iter()
                    .map(|key| own[features.place(key)].first(scratch.bin_rows.len()))
                    .collect();
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
    /// Where the part begins in a bin, in groups of [`LANES`].
    start: usize,
    /// How many groups of right factors there are.
    groups: usize,
    slots: usize,
    staged: &'a Staged,
    columns: &'a PolicyColumns,
    bins: &'a [u32],
    /// The rewards, where they are still to be added.
    shared: Option<&'a Column>,
}

/// Rows that are asked for ahead of the one that is being added to: they come from the second-level cache, or from further.
const AHEAD: usize = 8;

wide! {
    /// Adds each row to its bin. The numbers of left factors, and of groups of right factors, chi and witnesses, are the
    /// target's.
    fn add_rows[const BASIS, const GROUPS, const CHI, const WITNESSES](target: Target<'_>) = add_each_row
}

#[inline(always)]
fn add_each_row<F: Four, const BASIS: usize, const GROUPS: usize, const CHI: usize, const WITNESSES: usize>(
    target: Target<'_>,
) {
    let Target { table, start, slots, staged, columns, bins, shared, .. } = target;
    let bins = &bins[..bins.len().min(ROWS)];
    let rights = &staged.rights.as_chunks::<GROUPS>().0[..bins.len()];
    let (Some(lefts), Some(weights)) = (columns.basis().first_chunk::<BASIS>(), columns.weights.first_chunk::<BASIS>())
    else {
        unreachable!("there are {BASIS} of each")
    };
    let masks: [Lanes; CHI] = std::array::from_fn(|group| slot_mask(slots, group));
    let length = (1 + BASIS) * (GROUPS + CHI) + WITNESSES;
    // What all policies share stands in front of the first policy's part.
    let (first, lines) = (if shared.is_some() { 0 } else { start * LANES }, ((1 + length) * LANES).div_ceil(LINE));
    for (i, &bin) in bins.iter().enumerate() {
        F::fetch(&table.row(bins[if i + AHEAD < bins.len() { i + AHEAD } else { i }])[first..], lines);
        let row = table.row_mut(bin).as_chunks_mut::<LANES>().0;
        if let Some(rewards) = shared {
            add_shared::<F>(&mut row[0], rewards.get(i));
        }
        let (own, behind) = row[start..][..length].split_at_mut((1 + BASIS) * GROUPS);
        let (runs, _) = own.as_chunks_mut::<GROUPS>();
        vector::add::<F>(&mut runs[0], &rights[i]);
        for j in 0..BASIS {
            vector::add_scaled(&mut runs[1 + j], F::splat(lefts[j].get(i)), &rights[i]);
        }
        let (of_chi, of_witnesses) = behind.split_at_mut((1 + BASIS) * CHI);
        if CHI > 0 {
            let chi = &staged.chi[i * CHI..][..CHI];
            let (of_one, of_errors) = of_chi.split_at_mut(CHI);
            vector::add::<F>(of_one, chi);
            for (m, sums) in of_errors.chunks_exact_mut(CHI).enumerate() {
                add_chi_errors::<F>(sums, F::splat(weights[m].get(i)), &rights[i], chi, &masks);
            }
        }
        if WITNESSES > 0 {
            vector::add::<F>(of_witnesses, &staged.witnesses[i * WITNESSES..][..WITNESSES]);
        }
    }
}

wide! {
    /// The same where the numbers of left factors and of groups vary.
    fn add_any_rows(target: Target<'_>) = add_each_any_row
}

#[inline(always)]
fn add_each_any_row<F: Four>(Target { table, start, groups, slots, staged, columns, bins, shared }: Target<'_>) {
    let staged_rows = bins.len().next_multiple_of(LANES).max(1);
    let (chi, witnesses) = (staged.chi.len() / staged_rows, staged.witnesses.len() / staged_rows);
    let masks: Vec<Lanes> = (0..chi).map(|group| slot_mask(slots, group)).collect();
    let lefts = columns.basis();
    let length = (1 + lefts.len()) * (groups + chi) + witnesses;
    // What all policies share stands in front of the first policy's part.
    let (first, lines) = (if shared.is_some() { 0 } else { start * LANES }, ((1 + length) * LANES).div_ceil(LINE));
    for (i, &bin) in bins.iter().enumerate() {
        F::fetch(&table.row(bins[if i + AHEAD < bins.len() { i + AHEAD } else { i }])[first..], lines);
        let row = table.row_mut(bin).as_chunks_mut::<LANES>().0;
        if let Some(rewards) = shared {
            add_shared::<F>(&mut row[0], rewards.get(i));
        }
        let rights = &staged.rights[i * groups..][..groups];
        let (own, behind) = row[start..].split_at_mut((1 + lefts.len()) * groups);
        let (of_one, of_weights) = own.split_at_mut(groups);
        vector::add::<F>(of_one, rights);
        for (sums, left) in of_weights.chunks_exact_mut(groups.max(1)).zip(lefts) {
            vector::add_scaled(sums, F::splat(left.get(i)), rights);
        }
        let (of_chi, of_witnesses) = behind.split_at_mut(if chi > 0 { (1 + lefts.len()) * chi } else { 0 });
        let own_chi = &staged.chi[i * chi..][..chi];
        for (m, sums) in of_chi.chunks_exact_mut(chi.max(1)).enumerate() {
            match m.checked_sub(1) {
                None => vector::add::<F>(sums, own_chi),
                Some(m) => add_chi_errors::<F>(sums, F::splat(columns.weights[m].get(i)), rights, own_chi, &masks),
            }
        }
        vector::add::<F>(&mut of_witnesses[..witnesses], &staged.witnesses[i * witnesses..][..witnesses]);
    }
}

/// Which of a group of right factors are ratios.
fn slot_mask(slots: usize, group: usize) -> Lanes {
    std::array::from_fn(|lane| f64::from(u8::from(group * LANES + lane < slots)))
}

/// `G (G Z_k - chi_k)`, given the right factors, of which the ratios are the first.
#[inline(always)]
fn add_chi_errors<F: Four>(sums: &mut [Lanes], g: F, rights: &[Lanes], chi: &[Lanes], masks: &[Lanes]) {
    let minus_one = F::splat(-1.0);
    for (sums, ((rights, chi), mask)) in sums.iter_mut().zip(rights.iter().zip(chi).zip(masks)) {
        let weighted = g.times(F::load(mask)).times(F::load(rights));
        let error = F::load(chi).times_plus(minus_one, weighted);
        g.times_plus(error, F::load(sums)).store(sums);
    }
}

/// A row, its reward, and its reward among the extremes.
#[inline(always)]
fn add_shared<F: Four>(shared: &mut Lanes, reward: f64) {
    let (more, sums) = (F::load(&Shared::of(reward)), F::load(shared));
    more.plus(sums).then_half_of(more.least(sums)).store(shared);
}

/// `Z_j Z_k` and its square.
fn add_pairs(table: &mut Table, start: usize, layout: PairLayout, z: &[Column], bins: &[u32]) {
    for (i, &bin) in bins.iter().enumerate() {
        let sums = &mut table.row_mut(bin)[start..];
        for (k, second) in z.iter().enumerate() {
            for (j, first) in z[..k].iter().enumerate() {
                let product = first.get(i) * second.get(i);
                sums[layout.place(Pair { j, k, power: Power::First })] += product;
                sums[layout.place(Pair { j, k, power: Power::Second })] += product * product;
            }
        }
    }
}
