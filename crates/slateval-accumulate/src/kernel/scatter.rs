//! Adds each row's products to its bin: the only loops with scattered memory access, a few cache lines a row.
//! See docs/methods.md, section 3.2.
//!
//! Columns are turned into rows eight at a time. Then a bin's sums of one left factor are that factor times the row's right
//! factors, [`LANES`] of them at once.

use slateval_stats::sums::{Cell, HEADER, Layout, Pair, PairLayout, Power, SHARED, Table};

use crate::kernel::Scratch;
use crate::kernel::columns::PolicyColumns;
use crate::kernel::rewards::Rewards;
use crate::kernel::simd::column::{Column, GROUPS, resize};
use crate::kernel::simd::fetch::fetch;
use crate::kernel::simd::lanes::{Eight, LANES, Lanes, wide};
use crate::kernel::simd::vector;
use crate::kernel::weight_visit::WeightVisit;

/// Adds each row's products of one policy to its bin; what all policies share goes with the first.
pub(super) fn add_policy(
    cell: &mut Cell,
    policy: usize,
    columns: &PolicyColumns,
    squares: &mut Vec<Column>,
    (rewards, bins): (&Rewards, &[u32]),
) {
    let (own, witnesses) = (&cell.layout.own[policy], &cell.layout.witnesses[policy]);
    let layout = own.layout;
    let seen = columns.witnesses(&witnesses.layout.list);
    square_each(columns.rows, seen, squares);
    let (in_header, behind) = if witnesses.start < HEADER { (seen, &[][..]) } else { (&[][..], seen) };
    let mut target = Target {
        table: &mut cell.table,
        start: own.start / LANES,
        slots: layout.shape.slots,
        header: (policy == 0).then(|| header(rewards, in_header, squares)),
        lefts: columns.basis(),
        visits: &columns.visits,
        bins,
    };
    let sources = Sources {
        rights: (&columns.ratios, &columns.basis()[layout.right_weights()]),
        chi: if layout.shape.chi { &columns.chi } else { &[] },
        witnesses: behind,
        squares,
    };
    let lines = |numbers: usize| numbers.div_ceil(LANES);
    // Numbers that are known to the compiler let it keep the right factors in registers.
    match (
        columns.basis().len(),
        lines(layout.product_run()),
        lines(sources.chi.len()),
        lines(Power::COUNT * behind.len()),
    ) {
        (4, 1, 0, 0) => add_rows::<4, 1, 0, 0>(&mut target, &sources.counted()),
        (4, 1, 1, 0) => add_rows::<4, 1, 1, 0>(&mut target, &sources.counted()),
        (4, 1, 0, 1) => add_rows::<4, 1, 0, 1>(&mut target, &sources.counted()),
        (3, 1, 0, 0) => add_rows::<3, 1, 0, 0>(&mut target, &sources.counted()),
        (3, 1, 1, 0) => add_rows::<3, 1, 1, 0>(&mut target, &sources.counted()),
        (1, 1, 0, 0) => add_rows::<1, 1, 0, 0>(&mut target, &sources.counted()),
        (1, 1, 0, 1) => add_rows::<1, 1, 0, 1>(&mut target, &sources.counted()),
        (1, 1, 1, 1) => add_rows::<1, 1, 1, 1>(&mut target, &sources.counted()),
        _ => add_any_rows(&mut target, &sources.listed()),
    }
    if let Some(section) = cell.layout.pairs.get(policy) {
        add_pairs(&mut cell.table, section.start, section.layout, &columns.ratios, bins);
    }
}

/// Adds the products of policies that are compared.
pub(super) fn add_cross(cell: &mut Cell, scratch: &mut Scratch) {
    if cell.layout.cross.is_empty() {
        return;
    }
    scratch.rights.resize(scratch.rights.len().max(cell.policies.len()), Vec::new());
    for section in &cell.layout.cross {
        let layout = section.sums.layout;
        for (policy, rights) in [(section.policy, layout.policy), (section.baseline, layout.baseline)] {
            let (features, own) = (cell.kept.features(policy, cell.slots), &scratch.features[policy]);
            let columns: Vec<&[f64]> =
                rights.keys().into_iter().map(|key| own[features.place(key)].first(scratch.bin_rows.len())).collect();
            let out = &mut scratch.rights[policy];
            out.resize(columns[0].len() * columns.len(), 0.0);
            for (row, out) in out.chunks_exact_mut(columns.len()).enumerate() {
                out.iter_mut().zip(&columns).for_each(|(out, column)| *out = column[row]);
            }
        }
        let (policy, baseline) = (&scratch.rights[section.policy], &scratch.rights[section.baseline]);
        let (own, others) = (layout.policy, layout.baseline);
        for (i, &bin) in scratch.bin_rows.iter().enumerate() {
            let own_row = &policy[i * own.width()..][..own.width()];
            let others_row = &baseline[i * others.width()..][..others.width()];
            let sums = &mut cell.table.row_mut(bin)[section.sums.start..];
            let (of_policy, rest) = sums.split_at_mut(layout.of_policy().len());
            add_outer(of_policy, &own_row[own.weights()], others_row);
            add_outer(rest, &others_row[others.weights()], own_row);
        }
    }
}

wide! {
    /// Adds every left factor times all right ones, left by left.
    fn add_outer(sums: &mut [f64], lefts: &[f64], rights: &[f64]) = add_outer_of
}

#[inline(always)]
fn add_outer_of<F: Eight>(sums: &mut [f64], lefts: &[f64], rights: &[f64]) {
    for (sums, left) in sums.chunks_exact_mut(rights.len()).zip(lefts) {
        for (sum, right) in sums.iter_mut().zip(rights) {
            *sum = left.mul_add(*right, *sum);
        }
    }
}

fn square_each(rows: usize, columns: &[Column], squares: &mut Vec<Column>) {
    resize(squares, columns.len());
    for (column, out) in columns.iter().zip(squares) {
        vector::multiply(rows, column, column, out);
    }
}

/// Eight columns side by side.
type EightColumns<'a> = [&'a Column; LANES];

/// Where the numbers of a policy's rows come from.
struct Sources<'a> {
    /// The right factors: ratios, then weights.
    rights: (&'a [Column], &'a [Column]),
    /// `chi_k`. With chi.
    chi: &'a [Column],
    /// Where the header has no room for them; and their squares.
    witnesses: &'a [Column],
    squares: &'a [Column],
}

/// The same, eight columns at a time; how many eights there are is known.
struct Counted<'a, const RIGHTS: usize, const CHI: usize, const WITNESSES: usize> {
    rights: [EightColumns<'a>; RIGHTS],
    chi: [EightColumns<'a>; CHI],
    witnesses: [EightColumns<'a>; WITNESSES],
}

/// The same in one list, and how many of its eights are those of right factors, and of chi.
struct Listed<'a> {
    eights: Vec<EightColumns<'a>>,
    rights: usize,
    chi: usize,
}

impl<'a> Sources<'a> {
    fn right(&self, i: usize) -> Option<&'a Column> {
        let (ratios, weights) = self.rights;
        ratios.get(i).or_else(|| weights.get(i - ratios.len()))
    }

    /// Each witness, and next to it its square.
    fn witness(&self, i: usize) -> Option<&'a Column> {
        let columns = if i.is_multiple_of(2) { self.witnesses } else { self.squares };
        columns[..self.witnesses.len()].get(i / 2)
    }

    fn counted<const RIGHTS: usize, const CHI: usize, const WITNESSES: usize>(
        &self,
    ) -> Counted<'a, RIGHTS, CHI, WITNESSES> {
        let none = [&Column::ZERO; LANES];
        let mut counted = Counted { rights: [none; RIGHTS], chi: [none; CHI], witnesses: [none; WITNESSES] };
        fill_eights(&mut counted.rights, |i| self.right(i));
        fill_eights(&mut counted.chi, |i| self.chi.get(i));
        fill_eights(&mut counted.witnesses, |i| self.witness(i));
        counted
    }

    fn listed(&self) -> Listed<'a> {
        let rights = (self.rights.0.len() + self.rights.1.len()).div_ceil(LANES);
        let chi = self.chi.len().div_ceil(LANES);
        let witnesses = (Power::COUNT * self.witnesses.len()).div_ceil(LANES);
        let mut eights = vec![[&Column::ZERO; LANES]; rights + chi + witnesses];
        fill_eights(&mut eights[..rights], |i| self.right(i));
        fill_eights(&mut eights[rights..rights + chi], |i| self.chi.get(i));
        fill_eights(&mut eights[rights + chi..], |i| self.witness(i));
        Listed { eights, rights, chi }
    }
}

/// Puts columns side by side. Zeros stay where there is none.
#[inline(always)]
fn fill_eights<'a>(eights: &mut [EightColumns<'a>], column: impl Fn(usize) -> Option<&'a Column>) {
    for (i, to) in eights.as_flattened_mut().iter_mut().enumerate() {
        if let Some(column) = column(i) {
            *to = column;
        }
    }
}

/// What all policies share, and the witnesses of the first policy that have room beside it, with their squares.
fn header<'a>(rewards: &'a Rewards, witnesses: &'a [Column], squares: &'a [Column]) -> EightColumns<'a> {
    let mut columns = [&Column::ZERO; LANES];
    columns[..SHARED].copy_from_slice(&rewards.shared());
    let with_squares = witnesses.iter().zip(squares).flat_map(|(witness, square)| [witness, square]);
    columns[SHARED..].iter_mut().zip(with_squares).for_each(|(to, column)| *to = column);
    columns
}

/// The lanes of the smallest reward and of the largest one, of which the smallest number is kept, are below 0.
const EXTREMES: Lanes = [0.0, 0.0, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0];

/// Adds a row, its reward, its reward among the extremes, and witnesses.
#[inline(always)]
fn add_header<F: Eight>(more: &Lanes, sums: &mut Lanes) {
    let (more, before) = (F::load(more), F::load(sums));
    F::load(&EXTREMES).where_below(F::splat(0.0), more.least(before), more.plus(before)).store(sums);
}

/// One policy's part of the bins, and what goes there.
struct Target<'a> {
    table: &'a mut Table,
    /// Where the part begins in a bin, in groups of [`LANES`].
    start: usize,
    slots: usize,
    /// What goes to the beginning of a bin's row, where it is still to be added.
    header: Option<EightColumns<'a>>,
    /// `W_j`.
    lefts: &'a [Column],
    /// Of each `G_m`.
    visits: &'a [WeightVisit],
    bins: &'a [u32],
}

/// The numbers of eight rows, row by row.
type EightRows = [Lanes; LANES];

/// Turns a group of eight rows of eight columns.
#[inline(always)]
fn turn<F: Eight>(columns: &EightColumns<'_>, group: usize, out: &mut EightRows) {
    let mut eight = [F::splat(0.0); LANES];
    for lane in 0..LANES {
        eight[lane] = F::load(&columns[lane].groups()[group]);
    }
    let rows = F::transpose(eight);
    for lane in 0..LANES {
        rows[lane].store(&mut out[lane]);
    }
}

/// Rows that are asked for ahead of the one that is being added to: they come from the second-level cache, or from further.
const AHEAD: usize = 16;

wide! {
    /// Adds each row to its bin. The numbers of left factors, and of eights of right factors, chi and witnesses, are known.
    fn add_rows[const BASIS, const RIGHTS, const CHI, const WITNESSES](
        target: &mut Target<'_>, from: &Counted<'_, RIGHTS, CHI, WITNESSES>,
    ) = add_each_row
}

#[inline(always)]
fn add_each_row<F: Eight, const BASIS: usize, const RIGHTS: usize, const CHI: usize, const WITNESSES: usize>(
    target: &mut Target<'_>,
    from: &Counted<'_, RIGHTS, CHI, WITNESSES>,
) {
    let Target { ref mut table, start, slots, header, lefts, visits, bins } = *target;
    let (Some(lefts), Some(visits)) = (lefts.first_chunk::<BASIS>(), visits.first_chunk::<BASIS>()) else {
        unreachable!("there are {BASIS} of each")
    };
    let (sums, stride) = table.lines_mut();
    let mut masks = [[0.0; LANES]; CHI];
    for (group, mask) in masks.iter_mut().enumerate() {
        *mask = slot_mask(slots, group);
    }
    let rows = [[0.0; LANES]; LANES];
    let (mut rights, mut chi, mut witnesses) = ([rows; RIGHTS], [rows; CHI], [rows; WITNESSES]);
    let mut shared = [[0.0; LANES]; LANES];
    for (group, eight) in bins.chunks(LANES).take(GROUPS).enumerate() {
        if let Some(columns) = &header {
            turn::<F>(columns, group, &mut shared);
        }
        for (columns, rows) in from.rights.iter().zip(&mut rights) {
            turn::<F>(columns, group, rows);
        }
        for (columns, rows) in from.chi.iter().zip(&mut chi) {
            turn::<F>(columns, group, rows);
        }
        for (columns, rows) in from.witnesses.iter().zip(&mut witnesses) {
            turn::<F>(columns, group, rows);
        }
        for (r, &bin) in eight.iter().enumerate() {
            let ahead = group * LANES + r + AHEAD;
            let ahead = bins[if ahead < bins.len() { ahead } else { 0 }] as usize;
            // With the header, or what stands in its place.
            fetch(sums, ahead * stride + start - 1, 1 + (1 + BASIS) * (RIGHTS + CHI) + WITNESSES);
            let at = bin as usize * stride;
            if header.is_some() {
                add_header::<F>(&shared[r], &mut sums[at]);
            }
            let row = &mut sums[at + start..][..(1 + BASIS) * (RIGHTS + CHI) + WITNESSES];
            for i in 0..RIGHTS {
                let right = F::load(&rights[i][r]);
                right.plus(F::load(&row[i])).store(&mut row[i]);
                for j in 0..BASIS {
                    let sum = &mut row[(1 + j) * RIGHTS + i];
                    F::splat(lefts[j].groups()[group][r]).times_plus(right, F::load(sum)).store(sum);
                }
            }
            let (_, row) = row.split_at_mut((1 + BASIS) * RIGHTS);
            for i in 0..CHI {
                let (own, ratios) = (F::load(&chi[i][r]), F::load(&masks[i]).times(F::load(&rights[i][r])));
                own.plus(F::load(&row[i])).store(&mut row[i]);
                for m in 0..BASIS {
                    let weight = F::splat(visits[m].weight.groups()[group][r]);
                    add_chi_errors(&mut row[(1 + m) * CHI + i], weight, ratios, own);
                }
            }
            let (_, row) = row.split_at_mut((1 + BASIS) * CHI);
            for i in 0..WITNESSES {
                F::load(&witnesses[i][r]).plus(F::load(&row[i])).store(&mut row[i]);
            }
        }
    }
}

wide! {
    /// The same for any numbers.
    fn add_any_rows(target: &mut Target<'_>, from: &Listed<'_>) = add_each_row_of_any
}

#[inline(always)]
fn add_each_row_of_any<F: Eight>(target: &mut Target<'_>, from: &Listed<'_>) {
    let Target { ref mut table, start, slots, header, lefts, visits, bins } = *target;
    let (sums, stride) = table.lines_mut();
    let masks: Vec<Lanes> = (0..from.chi).map(|group| slot_mask(slots, group)).collect();
    let mut turned = vec![[[0.0; LANES]; LANES]; from.eights.len()];
    let lines = 1 + (1 + lefts.len()) * (from.rights + from.chi) + (from.eights.len() - from.rights - from.chi);
    let mut shared = [[0.0; LANES]; LANES];
    for (group, eight) in bins.chunks(LANES).take(GROUPS).enumerate() {
        if let Some(columns) = &header {
            turn::<F>(columns, group, &mut shared);
        }
        for (columns, rows) in from.eights.iter().zip(&mut turned) {
            turn::<F>(columns, group, rows);
        }
        let (rights, rest) = turned.split_at(from.rights);
        let (chi, witnesses) = rest.split_at(from.chi);
        for (r, &bin) in eight.iter().enumerate() {
            let ahead = group * LANES + r + AHEAD;
            let ahead = bins[if ahead < bins.len() { ahead } else { 0 }] as usize;
            fetch(sums, ahead * stride + start - 1, lines);
            let at = bin as usize * stride;
            if header.is_some() {
                add_header::<F>(&shared[r], &mut sums[at]);
            }
            let (products, rest) = sums[at + start..].split_at_mut((1 + lefts.len()) * rights.len());
            let (of_one, of_weights) = products.split_at_mut(rights.len());
            for (sum, right) in of_one.iter_mut().zip(rights) {
                F::load(&right[r]).plus(F::load(sum)).store(sum);
            }
            for (row, left) in of_weights.chunks_exact_mut(rights.len().max(1)).zip(lefts) {
                let left = F::splat(left.groups()[group][r]);
                for (sum, right) in row.iter_mut().zip(rights) {
                    left.times_plus(F::load(&right[r]), F::load(sum)).store(sum);
                }
            }
            let (errors, rest) = rest.split_at_mut((1 + lefts.len()) * chi.len());
            let (of_one, of_weights) = errors.split_at_mut(chi.len());
            for (sum, chi) in of_one.iter_mut().zip(chi) {
                F::load(&chi[r]).plus(F::load(sum)).store(sum);
            }
            for (row, visit) in of_weights.chunks_exact_mut(chi.len().max(1)).zip(visits) {
                let weight = F::splat(visit.weight.groups()[group][r]);
                for ((sum, chi), (right, mask)) in row.iter_mut().zip(chi).zip(rights.iter().zip(&masks)) {
                    let ratios = F::load(mask).times(F::load(&right[r]));
                    add_chi_errors(sum, weight, ratios, F::load(&chi[r]));
                }
            }
            for (sum, witness) in rest.iter_mut().zip(witnesses) {
                F::load(&witness[r]).plus(F::load(sum)).store(sum);
            }
        }
    }
}

/// Which of a group of right factors are ratios.
fn slot_mask(slots: usize, group: usize) -> Lanes {
    std::array::from_fn(|lane| f64::from(u8::from(group * LANES + lane < slots)))
}

/// `G (G Z_k - chi_k)`.
#[inline(always)]
fn add_chi_errors<F: Eight>(sum: &mut Lanes, g: F, ratios: F, chi: F) {
    let error = chi.times_plus(F::splat(-1.0), g.times(ratios));
    g.times_plus(error, F::load(sum)).store(sum);
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
