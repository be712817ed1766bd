//! Sums over all rows of a policy, wherever they are kept: those without the reward are sums over bins.
//! See docs/methods.md, section 3.2.

use std::cell::OnceCell;
use std::ops::Range;

use crate::sums::cell::Cell;
use crate::sums::feature_map::Weight;
use crate::sums::index::{BinLayout, BinSum, Layout, Left, MomentSum, POWERS, Shared};
use crate::sums::moments::Moments;

/// The sums of one policy over all rows. Powers are those of the reward.
#[derive(Debug, Clone)]
pub(crate) struct Totals<'a> {
    cell: &'a Cell,
    pub(crate) policy: usize,
    layout: BinLayout,
    /// The sums of the policy's own part of all bins.
    bins: Vec<f64>,
    /// The same times powers of each bin's mean reward, from 1 on.
    by_power: OnceCell<Vec<Vec<f64>>>,
    pub(crate) moments: &'a Moments,
}

impl<'a> Totals<'a> {
    pub(crate) fn new(cell: &'a Cell, policy: usize) -> Self {
        let section = &cell.layout.own[policy];
        Totals {
            cell,
            policy,
            layout: section.layout,
            bins: totals(cell, section.start..section.start + section.layout.width()),
            by_power: OnceCell::new(),
            moments: &cell.policies[policy].moments,
        }
    }

    /// `R^q`.
    pub(crate) fn rewards(&self, power: usize) -> f64 {
        if power == 0 { self.cell.rows as f64 } else { self.moments.get(MomentSum::Reward { power }) }
    }

    /// `G_m R^q`, `q` up to 2.
    pub(crate) fn weight(&self, m: usize, power: usize) -> f64 {
        match power {
            0 => self.in_bins(0, self.weight_at(m), Weight::One),
            power => self.moments.get(MomentSum::Weight { m, power }),
        }
    }

    /// `G_m^2 R^q`.
    pub(crate) fn squared_weight(&self, m: usize, power: usize) -> f64 {
        match power {
            0 => self.in_bins(0, self.weight_at(m), self.weight_at(m)),
            power => self.moments.get(MomentSum::SquaredWeight { m, power }),
        }
    }

    /// `Z_k R^q`.
    pub(crate) fn ratio(&self, k: usize, power: usize) -> f64 {
        match power {
            0 => self.layout.ratio_product(&self.bins, Left::One, k),
            power => self.moments.get(MomentSum::Ratio { k, power }),
        }
    }

    /// `G_m Z_k R^q`.
    pub(crate) fn weighted_ratio(&self, m: usize, k: usize, power: usize) -> f64 {
        match power {
            0 => self.sum_of_lefts(self.weight_at(m), |left| self.layout.ratio_product(&self.bins, left, k)),
            power => self.moments.get(MomentSum::WeightedRatio { m, k, power }),
        }
    }

    /// `Z_i Z_k`.
    pub(crate) fn ratios(&self, i: usize, k: usize) -> f64 {
        self.moments.get(MomentSum::Ratios { i, k })
    }

    /// `chi_k R^q`.
    pub(crate) fn chi(&self, k: usize, power: usize) -> f64 {
        match power {
            0 => self.bins[self.layout.place(BinSum::Chi(k))],
            power => self.moments.get(MomentSum::Chi { k, power }),
        }
    }

    /// `G_m D_mk R^q`.
    pub(crate) fn chi_error(&self, m: usize, k: usize, power: usize) -> f64 {
        match power {
            0 => self.bins[self.layout.place(BinSum::ChiError { m, k })],
            power => self.moments.get(MomentSum::ChiError { m, k, power }),
        }
    }

    /// `D_mi D_mk`.
    pub(crate) fn chi_errors(&self, m: usize, i: usize, k: usize) -> f64 {
        self.moments.get(MomentSum::ChiErrors { m, i, k })
    }

    /// The product of two weights, times a power of each bin's mean reward. For standard errors alone: it is exact only
    /// where the power is 0 or every bin is an atom.
    pub(crate) fn in_bins(&self, power: usize, left: Weight, right: Weight) -> f64 {
        let sums = match power.checked_sub(1) {
            None => self.bins.as_slice(),
            Some(place) => &self.by_power.get_or_init(|| self.powers())[place],
        };
        let rows = if power == 0 { self.rewards(0) } else { self.rewards(power) };
        let product = |i: Left, j: usize| self.layout.weight_product(sums, i, j);
        let mut sum = left.constant() * right.constant() * rows;
        sum += left.constant() * right.terms().map(|j| product(Left::One, j)).sum::<f64>();
        sum += right.constant() * left.terms().map(|i| product(Left::One, i)).sum::<f64>();
        sum + left.terms().map(|i| right.terms().map(|j| product(Left::Weight(i), j)).sum::<f64>()).sum::<f64>()
    }

    fn weight_at(&self, m: usize) -> Weight {
        self.cell.kept.weight(m)
    }

    fn sum_of_lefts(&self, weight: Weight, of: impl Fn(Left) -> f64) -> f64 {
        let constant = if weight.constant() == 0.0 { 0.0 } else { of(Left::One) };
        constant + weight.terms().map(|j| of(Left::Weight(j))).sum::<f64>()
    }

    fn powers(&self) -> Vec<Vec<f64>> {
        let section = &self.cell.layout.own[self.policy];
        let mut powers = vec![vec![0.0; section.layout.width()]; POWERS];
        for row in rows(self.cell).filter(|row| row[Shared::Rows.place()] > 0.0) {
            let mean = row[Shared::Reward.place()] / row[Shared::Rows.place()] - self.cell.origin;
            let mut power = 1.0;
            for sums in &mut powers {
                power *= mean;
                sums.iter_mut().zip(&row[section.start..]).for_each(|(sum, x)| *sum += power * x);
            }
        }
        powers
    }

    /// Whether no sum has overflowed.
    pub(crate) fn are_finite(&self) -> bool {
        self.bins.iter().chain(&self.moments.sums).all(|sum| sum.is_finite())
    }
}

/// The bins' sums, ascending: where bins stand in the table depends on how the rows came, and with it the last bit of sums
/// over them would.
fn rows(cell: &Cell) -> impl Iterator<Item = &[f64]> {
    cell.bins.ascending().into_iter().map(|(_, row)| cell.table.row(row))
}

/// The sums of some places over all bins.
fn totals(cell: &Cell, places: Range<usize>) -> Vec<f64> {
    let mut totals = vec![0.0; places.len()];
    for row in rows(cell) {
        totals.iter_mut().zip(&row[places.clone()]).for_each(|(total, sum)| *total += sum);
    }
    totals
}
