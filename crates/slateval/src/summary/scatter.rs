//! Adds each row's products to its bin: the only loops with scattered memory access, a cache line or two a row.
//! See docs/methods.md, section 3.2.

use std::ops::Range;

use crate::math::vector;
use crate::summary::accumulate::Scratch;
use crate::summary::cell::Cell;
use crate::summary::index::{
    BinLayout, Feature, GramLayout, Layout, Pair, PairLayout, Power, Product, RightLayout, Shape, Shared,
};
use crate::summary::layout::RowLayout;
use crate::summary::table::Table;

impl Cell {
    /// Adds each row's products to its bin, policy by policy; what all policies share goes with the first.
    #[inline(always)]
    pub(super) fn scatter(&mut self, scratch: &mut Scratch) {
        scratch.rights.resize(scratch.rights.len().max(self.policies.len()), Vec::new());
        let mut shared = Some(scratch.reward.as_slice());
        let RowLayout { own, witnesses, cross, pairs, .. } = &self.layout;
        for (p, section) in own.iter().enumerate() {
            let (layout, columns) = (self.policies[p].gram.layout(), &scratch.columns[p]);
            let witnesses = Witnesses {
                start: witnesses[p].start - section.start,
                columns: &scratch.witnesses[p][..witnesses[p].layout.list.len()],
            };
            let scatter = Scatter { bins: &scratch.bin_rows, start: section.start, shared: shared.take(), witnesses };
            let plain = layout.shape.basis == 1 && !layout.shape.chi;
            if !plain || !cross.is_empty() {
                stage_rights(section.layout.rights(), layout, columns, &mut scratch.rights[p]);
            }
            if plain {
                let z: Vec<&[f64]> = columns[layout.ratios()].iter().map(Vec::as_slice).collect();
                scatter.add_slots(&mut self.table, &columns[layout.place(Feature::G)], &z);
            } else {
                scatter.add_products(&mut self.table, section.layout, &scratch.rights[p]);
            }
        }
        for section in cross {
            let scatter = Scatter::new(&scratch.bin_rows, section.sums.start);
            let layout = section.sums.layout;
            let policy = Staged::new(layout.policy, &scratch.rights[section.policy]);
            let baseline = Staged::new(layout.baseline, &scratch.rights[section.baseline]);
            scatter.add_cross(&mut self.table, policy, baseline, layout.of_policy());
            scatter.add_cross(&mut self.table, baseline, policy, layout.of_baseline());
        }
        for (p, section) in pairs.iter().enumerate() {
            let scatter = Scatter::new(&scratch.bin_rows, section.start);
            let z = &scratch.columns[p][self.policies[p].gram.layout().ratios()];
            scatter.add_pairs(&mut self.table, section.layout, z);
        }
    }
}

/// Lays the right features of a policy out row by row, as they are added to bins.
#[inline(always)]
fn stage_rights(rights: RightLayout, layout: GramLayout, columns: &[Vec<f64>], out: &mut Vec<f64>) {
    let width = rights.len();
    let rows = columns[layout.place(Feature::One)].len();
    out.resize(rows * width, 0.0);
    for (x, feature) in rights.keys().into_iter().enumerate() {
        for (row, &value) in out.chunks_exact_mut(width).zip(&columns[layout.place(feature)]) {
            row[x] = value;
        }
    }
}

/// The right features of a policy, row by row.
#[derive(Clone, Copy)]
struct Staged<'a> {
    rights: RightLayout,
    values: &'a [f64],
}

impl<'a> Staged<'a> {
    fn new(rights: RightLayout, values: &'a [f64]) -> Self {
        Staged { rights, values }
    }
}

/// One policy's rows on their way to their bins.
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
        let places = sums[self.start..].as_chunks_mut::<{ Power::COUNT }>().0;
        for ([sum, square], column) in places.iter_mut().zip(self.columns) {
            let h = column[row];
            *sum += h;
            *square += h * h;
        }
    }
}

impl<'a> Scatter<'a> {
    /// Rows whose bins are fetched from memory together before they are added to; see docs/performance.md.
    const AHEAD: usize = 16;

    /// Neither rewards nor witnesses.
    fn new(bins: &'a [u32], start: usize) -> Self {
        Scatter { bins, start, shared: None, witnesses: Witnesses::NONE }
    }

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
            // K is known to the compiler: places computed in here are constants.
            let places = PlainPlaces::new(K);
            let sums = &mut sums[..places.length];
            let g = g[i];
            sums[places.g] += g;
            sums[places.gg] += g * g;
            for k in 0..K {
                let z = z[k][i];
                sums[places.z + k] += z;
                sums[places.gz + k] += g * z;
            }
        });
    }

    #[inline(always)]
    fn add_any(&self, table: &mut Table, g: &[f64], z: &[&[f64]]) {
        let places = PlainPlaces::new(z.len());
        self.each_row(table, |i, sums| {
            let g = g[i];
            sums[places.g] += g;
            sums[places.gg] += g * g;
            let (of_one, of_weight) = sums[places.z..].split_at_mut(places.gz - places.z);
            for (z, (of_one, of_weight)) in z.iter().zip(of_one.iter_mut().zip(of_weight)) {
                *of_one += z[i];
                *of_weight += g * z[i];
            }
        });
    }

    /// Every product of a left with a right feature.
    #[inline(always)]
    fn add_products(&self, table: &mut Table, layout: BinLayout, rights: &[f64]) {
        let (width, of_one, weights) = (layout.rights().len(), layout.of_one().end, layout.rights().weights());
        self.each_row(table, |i, sums| {
            let right = &rights[i * width..][..width];
            add_scaled(&mut sums[..of_one], 1.0, &right[..of_one]);
            let rows = sums[of_one..].chunks_exact_mut(width);
            for (sums, &w) in rows.zip(&right[weights.clone()]) {
                add_scaled(sums, w, right);
            }
        });
    }

    /// Products of one policy's `W_i` with another's right features, at these places of the section.
    #[inline(always)]
    fn add_cross(&self, table: &mut Table, left: Staged<'_>, right: Staged<'_>, places: Range<usize>) {
        let (left_width, width, weights) = (left.rights.len(), right.rights.len(), left.rights.weights());
        self.each_row(table, |i, sums| {
            let lefts = &left.values[i * left_width..][weights.clone()];
            let right = &right.values[i * width..][..width];
            let rows = sums[places.start..].chunks_exact_mut(width);
            for (sums, &w) in rows.zip(lefts) {
                add_scaled(sums, w, right);
            }
        });
    }

    /// `Z_j Z_k` and its square.
    fn add_pairs(&self, table: &mut Table, layout: PairLayout, z: &[Vec<f64>]) {
        self.each_row(table, |i, sums| {
            for (k, second) in z.iter().enumerate() {
                for (j, first) in z[..k].iter().enumerate() {
                    let product = first[i] * second[i];
                    sums[layout.place(Pair { j, k, power: Power::First })] += product;
                    sums[layout.place(Pair { j, k, power: Power::Second })] += product * product;
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
                    add_shared(bin, reward[i]);
                }
                add(i, &mut bin[self.start..]);
                self.witnesses.add(i, &mut bin[self.start..]);
            }
        }
    }
}

/// The places of the sums of a single weight without chi; those of `Z_k` and `G Z_k` are the first of each.
#[derive(Clone, Copy)]
struct PlainPlaces {
    g: usize,
    z: usize,
    gg: usize,
    gz: usize,
    length: usize,
}

impl PlainPlaces {
    #[inline(always)]
    fn new(slots: usize) -> Self {
        let layout = BinLayout { shape: Shape { slots, basis: 1, chi: false } };
        let (one, g, z) = (Feature::One, Feature::G, Feature::Ratio(0));
        PlainPlaces {
            g: layout.place(Product(one, g)),
            z: layout.place(Product(one, z)),
            gg: layout.place(Product(g, g)),
            gz: layout.place(Product(g, z)),
            length: layout.len(),
        }
    }
}

#[inline(always)]
fn add_shared(bin: &mut [f64], reward: f64) {
    const MIN: usize = Shared::Min.place();
    const MAX: usize = Shared::Max.place();
    bin[Shared::Rows.place()] += 1.0;
    bin[Shared::Reward.place()] += reward;
    bin[MIN] = vector::min(bin[MIN], reward);
    bin[MAX] = vector::max(bin[MAX], reward);
}

/// `sums += by * values`.
#[inline(always)]
fn add_scaled(sums: &mut [f64], by: f64, values: &[f64]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += by * value;
    }
}
