//! Sums over all rows of a policy, wherever they are kept: those without the reward are sums over bins.
//! See docs/methods.md, section 3.2.

use crate::summary::cell::Cell;
use crate::summary::index::{BinLayout, BinSum, Layout, Left, MomentSum};
use crate::summary::moments::Moments;

/// The sums of one policy over all rows. Powers are those of the reward.
#[derive(Debug, Clone)]
pub(crate) struct Totals<'a> {
    rows: f64,
    layout: BinLayout,
    /// The sums of the policy's own part of all bins.
    bins: Vec<f64>,
    pub(crate) moments: &'a Moments,
}

impl<'a> Totals<'a> {
    pub(crate) fn new(cell: &'a Cell, policy: usize) -> Self {
        let section = &cell.layout.own[policy];
        Totals {
            rows: cell.rows as f64,
            layout: section.layout,
            bins: cell.table.totals(section.start..section.start + section.layout.len()),
            moments: &cell.policies[policy].moments,
        }
    }

    /// `R^q`.
    pub(crate) fn rewards(&self, power: usize) -> f64 {
        if power == 0 { self.rows } else { self.moments.get(MomentSum::Reward { power }) }
    }

    /// `W_j R^q`.
    pub(crate) fn weight(&self, j: usize, power: usize) -> f64 {
        match power {
            0 => self.layout.weight_product(&self.bins, Left::One, j),
            power => self.moments.get(MomentSum::Weight { j, power }),
        }
    }

    /// `W_i W_j R^q`.
    pub(crate) fn weights(&self, i: usize, j: usize, power: usize) -> f64 {
        match power {
            0 => self.layout.weight_product(&self.bins, Left::Weight(i.min(j)), i.max(j)),
            power => self.moments.get(MomentSum::Weights { i, j, power }),
        }
    }

    /// `Z_k R^q`.
    pub(crate) fn ratio(&self, k: usize, power: usize) -> f64 {
        match power {
            0 => self.layout.ratio_product(&self.bins, Left::One, k),
            power => self.moments.get(MomentSum::Ratio { k, power }),
        }
    }

    /// `W_j Z_k R^q`.
    pub(crate) fn weighted_ratio(&self, j: usize, k: usize, power: usize) -> f64 {
        match power {
            0 => self.layout.ratio_product(&self.bins, Left::Weight(j), k),
            power => self.moments.get(MomentSum::WeightedRatio { j, k, power }),
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

    /// Whether no sum has overflowed.
    pub(crate) fn are_finite(&self) -> bool {
        self.bins.iter().chain(&self.moments.sums).all(|sum| sum.is_finite())
    }
}
