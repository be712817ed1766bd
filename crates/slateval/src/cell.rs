//! The sums of one segment of a log: where rows become numbers that add up.

use crate::bins::{Bins, Moves};
use crate::block::{Block, Field};
use crate::error::Result;
use crate::features::{BinSums, Features};
use crate::gram::Gram;
use crate::spec::Spec;
use crate::structure::Structure;
use crate::tally::Tally;
use crate::weight;

/// Sums over all rows of a segment, and in each bin of rewards.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) rows: u64,
    pub(crate) slots: usize,
    /// Rewards enter the Gram matrices as `R - origin`, see [`origin_of`].
    pub(crate) origin: f64,
    pub(crate) bins: Bins,
    pub(crate) table: Table,
    pub(crate) policies: Vec<PolicySums>,
}

/// Sums over all rows of one policy.
#[derive(Debug, Clone)]
pub(crate) struct PolicySums {
    pub(crate) features: Features,
    pub(crate) gram: Gram,
    pub(crate) tally: Tally,
}

/// One row per bin: rows, sum, least and greatest of the rewards, then each policy's [`BinSums`].
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) width: usize,
    pub(crate) sums: Vec<f64>,
}

/// The places of a bin's row that all policies share.
pub(crate) mod bin {
    pub(crate) const ROWS: usize = 0;
    pub(crate) const REWARD: usize = 1;
    pub(crate) const MIN: usize = 2;
    pub(crate) const MAX: usize = 3;
    pub(crate) const SHARED: usize = 4;
}

/// Buffers for one block, kept between blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    reward: Vec<f64>,
    bin_rows: Vec<u32>,
    weight: Vec<f64>,
    ratios: Vec<Vec<f64>>,
    columns: Vec<Vec<f64>>,
    terms: Vec<Vec<f64>>,
    squares: Vec<Vec<f64>>,
}

impl Cell {
    pub(crate) fn new(spec: &Spec, slots: usize) -> Self {
        let policy = |chi: bool| {
            let features = Features { slots, basis: 1, chi: chi && spec.structure.needs().slots };
            PolicySums { features, gram: Gram::new(features.len()), tally: Tally::new(slots) }
        };
        let policies: Vec<PolicySums> = spec.policies.iter().map(|p| policy(p.chi)).collect();
        let width = bin::SHARED + policies.iter().map(|p| p.bin_sums().len()).sum::<usize>();
        let table = Table { width, sums: Vec::new() };
        Cell { rows: 0, slots, origin: 0.0, bins: Bins::new(spec.binning), table, policies }
    }

    /// Where each policy's sums begin in a bin's row.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        let ends = self.policies.iter().scan(bin::SHARED, |end, policy| {
            let start = *end;
            *end += policy.bin_sums().len();
            Some(start)
        });
        ends.collect()
    }

    /// Adds the rows of a block. On an error nothing has been added that is ever looked at: the caller gives up the
    /// whole summary.
    pub(crate) fn add(&mut self, structure: &Structure, block: &Block, scratch: &mut Scratch) -> Result<()> {
        if block.rows() == 0 {
            return Ok(());
        }
        if block.slots() > self.slots {
            structure.check_slots(block.slots())?;
            self.widen(block.slots());
        }
        self.take_rewards(block, scratch)?;
        for (policy, offset) in self.offsets().into_iter().enumerate() {
            let sums = &mut self.policies[policy];
            sums.fill_columns(structure, block, policy, scratch)?;
            self.table.scatter(offset, sums.features, scratch);
            sums.gram.add(&scratch.columns[..sums.features.len()]);
        }
        self.rows += block.rows() as u64;
        Ok(())
    }

    /// Checks the rewards, finds their bins and adds what all policies share.
    fn take_rewards(&mut self, block: &Block, scratch: &mut Scratch) -> Result<()> {
        let rewards = block.column(Field::Reward);
        weight::check(rewards, Field::Reward, f64::is_finite)?;
        scratch.reward.clear();
        scratch.reward.extend(rewards.iter().map(|r| r + 0.0)); // -0.0 becomes 0.0
        let moves = self.bins.assign(&scratch.reward, &mut scratch.bin_rows);
        self.table.follow(moves, self.bins.table_rows());
        for (&row, &reward) in scratch.bin_rows.iter().zip(&scratch.reward) {
            let bin = self.table.row_mut(row);
            bin[bin::ROWS] += 1.0;
            bin[bin::REWARD] += reward;
            bin[bin::MIN] = bin[bin::MIN].min(reward);
            bin[bin::MAX] = bin[bin::MAX].max(reward);
        }
        if self.rows == 0 {
            self.origin = origin_of(&scratch.reward);
        }
        scratch.reward.iter_mut().for_each(|r| *r -= self.origin);
        Ok(())
    }

    pub(crate) fn merge(&mut self, other: &Cell) {
        if other.rows == 0 {
            return;
        }
        if self.rows == 0 {
            let slots = self.slots.max(other.slots);
            *self = other.clone();
            return self.widen(slots);
        }
        if other.slots != self.slots {
            let slots = self.slots.max(other.slots);
            self.widen(slots);
            let mut wide = other.clone();
            wide.widen(slots);
            return self.merge_same_slots(&wide);
        }
        self.merge_same_slots(other);
    }

    fn merge_same_slots(&mut self, other: &Cell) {
        let (moves, from_other) = self.bins.absorb(&other.bins);
        self.table.follow(moves, self.bins.table_rows());
        for (from, to) in from_other {
            add_bin(self.table.row_mut(to), other.table.row(from));
        }
        let shift = other.origin - self.origin;
        for (own, other) in self.policies.iter_mut().zip(&other.policies) {
            if shift == 0.0 {
                own.gram.merge(&other.gram);
            } else {
                own.gram.merge(&other.gram.transform(&own.features.shifted(shift)));
            }
            own.tally.merge(&other.tally);
        }
        self.rows += other.rows;
    }

    /// Makes room for longer slates; the slots that shorter ones did not have contribute nothing.
    fn widen(&mut self, slots: usize) {
        if slots == self.slots {
            return;
        }
        let mut places: Vec<(usize, usize)> = (0..bin::SHARED).map(|p| (p, p)).collect();
        let mut wide_offset = bin::SHARED;
        for (policy, offset) in self.policies.iter().zip(self.offsets()) {
            let layout = policy.bin_sums();
            places.extend(layout.widened(slots).into_iter().map(|(from, to)| (offset + from, wide_offset + to)));
            wide_offset += BinSums { slots, ..layout }.len();
        }
        self.table = self.table.rearranged(wide_offset, &places);
        for policy in &mut self.policies {
            policy.gram = policy.gram.transform(&policy.features.widened(slots));
            policy.features.slots = slots;
            policy.tally.widen(slots);
        }
        self.slots = slots;
    }
}

impl PolicySums {
    pub(crate) fn bin_sums(&self) -> BinSums {
        let Features { slots, basis, chi } = self.features;
        BinSums { slots, basis, chi }
    }

    /// Fills the columns of every feature for one policy, and tallies its weights.
    fn fill_columns(
        &mut self,
        structure: &Structure,
        block: &Block,
        policy: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let features = self.features;
        let slots = block.slots();
        scratch.ratios.resize(scratch.ratios.len().max(slots), Vec::new());
        weight::slot_ratios(structure, block, policy, &mut scratch.ratios[..slots])?;
        let z = &scratch.ratios[..slots];
        weight::weigh(structure, block, policy, z, &mut scratch.weight, &mut scratch.terms)?;
        self.tally.add_weights(&scratch.weight);
        for (slot, z) in z.iter().enumerate() {
            let mu = structure.needs().logging.then(|| block.column(Field::Logging { slot }));
            self.tally.add_slot(slot, z, mu);
        }

        let columns = &mut scratch.columns;
        columns.resize(columns.len().max(features.len()), Vec::new());
        for column in &mut columns[..features.len()] {
            column.resize(block.rows(), 0.0);
        }
        columns[Features::ONE].fill(1.0);
        for k in 0..features.slots {
            match z.get(k) {
                Some(z) => columns[features.z(k)].copy_from_slice(z),
                None => columns[features.z(k)].fill(0.0),
            }
        }
        columns[features.w(0)].copy_from_slice(&scratch.weight);
        columns[features.r()].copy_from_slice(&scratch.reward);
        multiply(columns, features.r(), features.r(), features.r2());
        multiply(columns, features.w(0), features.r(), features.wr(0));
        multiply(columns, features.w(0), features.r2(), features.wr2(0));
        if features.chi {
            self.fill_chi(block, policy, columns)?;
        }
        self.tally_design(structure, slots, scratch);
        Ok(())
    }

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
                self.tally.negative_chi += chi.iter().filter(|&&chi| chi < -1e-6).count() as u64;
                column.copy_from_slice(chi);
            }
            multiply(columns, features.w(0), features.z(slot), features.wz(0, slot));
        }
        Ok(())
    }

    /// `E[G^2 | x] = G(chi(x))`: the same weight of `chi`, or of `Z^2` in its place.
    fn tally_design(&mut self, structure: &Structure, slots: usize, scratch: &mut Scratch) {
        if slots == 0 {
            return;
        }
        let features = self.features;
        let Scratch { ratios, columns, terms, squares, weight, .. } = scratch;
        squares.resize(squares.len().max(slots + 2), Vec::new());
        let rows = weight.len();
        let (squared, sums) = squares.split_at_mut(slots);
        let (sum, sum_of_squares) = sums.split_at_mut(1);
        let (sum, sum_of_squares) = (&mut sum[0], &mut sum_of_squares[0]);
        for total in [&mut *sum, &mut *sum_of_squares] {
            total.clear();
            total.resize(rows, 0.0);
        }
        for (z, squared) in ratios[..slots].iter().zip(&mut *squared) {
            squared.clear();
            squared.extend(z.iter().map(|z| z * z));
            for row in 0..rows {
                sum[row] += z[row];
                sum_of_squares[row] += squared[row];
            }
        }
        self.tally.add_pairs(sum, sum_of_squares);
        if !structure.is_multilinear() {
            return;
        }
        weight::multilinear(structure, squared, sum, terms);
        self.tally.design_ratios += sum.iter().sum::<f64>();
        if features.chi {
            weight::multilinear(structure, &columns[features.chi(0)..][..features.slots], sum, terms);
            self.tally.design_chi += sum.iter().sum::<f64>();
        }
    }
}

/// `columns[out] = columns[a] * columns[b]`, row by row.
fn multiply(columns: &mut [Vec<f64>], a: usize, b: usize, out: usize) {
    let mut product = std::mem::take(&mut columns[out]);
    for (product, (x, y)) in product.iter_mut().zip(columns[a].iter().zip(&columns[b])) {
        *product = x * y;
    }
    columns[out] = product;
}

/// Rewards far from zero, against their spread, would lose their variance to rounding: they are measured from here.
/// For everyone else it is 0, and sums are what they seem.
fn origin_of(rewards: &[f64]) -> f64 {
    let (lo, hi) = rewards.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &r| (lo.min(r), hi.max(r)));
    let middle = lo / 2.0 + hi / 2.0;
    if middle.abs() > 32.0 * (hi - lo) { middle.round() } else { 0.0 }
}

impl Table {
    pub(crate) fn row(&self, row: u32) -> &[f64] {
        &self.sums[row as usize * self.width..][..self.width]
    }

    pub(crate) fn row_mut(&mut self, row: u32) -> &mut [f64] {
        &mut self.sums[row as usize * self.width..][..self.width]
    }

    /// Rows that nothing has been added to.
    fn empty(width: usize, rows: usize) -> Self {
        let mut table = Table { width, sums: Vec::new() };
        table.resize(rows);
        table
    }

    pub(crate) fn resize(&mut self, rows: usize) {
        let old = self.sums.len() / self.width;
        self.sums.resize(rows * self.width, 0.0);
        for row in self.sums.chunks_exact_mut(self.width).skip(old) {
            row[bin::MIN] = f64::INFINITY;
            row[bin::MAX] = f64::NEG_INFINITY;
        }
    }

    /// Adds rows together as the bins were, and makes room for new ones.
    fn follow(&mut self, moves: Option<Moves>, rows: usize) {
        if let Some(moves) = moves {
            let mut moved = Table::empty(self.width, moves.size.max(rows));
            for (old, new) in moves.rows {
                // A bin that was only just added has no row yet.
                if (old as usize) < self.sums.len() / self.width {
                    add_bin(moved.row_mut(new), self.row(old));
                }
            }
            *self = moved;
        }
        self.resize(rows);
    }

    fn rearranged(&self, width: usize, places: &[(usize, usize)]) -> Table {
        let mut out = Table::empty(width, self.sums.len() / self.width);
        for (from, to) in self.sums.chunks_exact(self.width).zip(out.sums.chunks_exact_mut(width)) {
            places.iter().for_each(|&(a, b)| to[b] = from[a]);
        }
        out
    }

    /// Adds each row's products to its bin: the one loop with scattered memory access, a cache line or two a row.
    fn scatter(&mut self, offset: usize, features: Features, scratch: &Scratch) {
        let Features { slots, basis, chi } = features;
        let layout = BinSums { slots, basis, chi };
        let columns = &scratch.columns;
        let weight = &columns[features.w(0)];
        let z = &columns[features.z(0)..][..slots];
        for (i, (&bin, &g)) in scratch.bin_rows.iter().zip(weight).enumerate() {
            let sums = &mut self.row_mut(bin)[offset..][..layout.len()];
            sums[layout.w(0)] += g;
            sums[layout.ww(0, 0)] += g * g;
            for (sum, z) in sums[layout.wz(0, 0)..].iter_mut().zip(z) {
                *sum += g * z[i];
            }
            if chi {
                let chis = &columns[features.chi(0)..][..slots];
                for k in 0..slots {
                    sums[layout.z(k)] += z[k][i];
                    sums[layout.wchi(0, k)] += g * chis[k][i];
                    sums[layout.wwz(0, 0, k)] += g * g * z[k][i];
                }
            }
        }
    }
}

/// Adds one bin's row to another's.
fn add_bin(to: &mut [f64], from: &[f64]) {
    let (min, max) = (to[bin::MIN].min(from[bin::MIN]), to[bin::MAX].max(from[bin::MAX]));
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
    to[bin::MIN] = min;
    to[bin::MAX] = max;
}
