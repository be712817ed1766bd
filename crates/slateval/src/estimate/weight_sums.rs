//! The sums of one weight `G`: what the estimators' formulas are written in.
//! See docs/methods.md, section 4.1.

use crate::estimate::factors::{Factors, PolicyWeight, bin_factors};
use crate::estimate::products::Gram;
use crate::estimate::terms::{WeightTerm, WeightTerms};
use crate::summary::cell::{Cell, PolicySums};
use crate::summary::feature_map::Weight;
use crate::summary::index::{Basis, Chi, Feature, FeatureLayout, Shared};
use crate::summary::tally::{Tally, WeightTally};
use crate::summary::totals::Totals;

/// A bin of rewards as the log filled it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bin {
    pub(crate) rows: f64,
    pub(crate) min: f64,
    pub(crate) mean: f64,
    pub(crate) max: f64,
}

/// The occupied bins of a cell, ascending, with their place in the table.
pub(crate) fn occupied(cell: &Cell) -> (Vec<Bin>, Vec<u32>) {
    let rows = cell.bins.ascending().into_iter().map(|(_, row)| row);
    let occupied: Vec<u32> = rows.filter(|&row| cell.table.row(row)[Shared::Rows.place()] > 0.0).collect();
    let bin = |&row: &u32| {
        let sum = |shared: Shared| cell.table.row(row)[shared.place()];
        let (rows, min, max) = (sum(Shared::Rows), sum(Shared::Least), -sum(Shared::MinusMost));
        Bin { rows, min, mean: (sum(Shared::Reward) / rows).clamp(min, max), max }
    };
    (occupied.iter().map(bin).collect(), occupied)
}

/// One policy's sums for one weight that can be made of its basis.
#[derive(Debug)]
pub(crate) struct WeightSums<'a> {
    pub(crate) n: f64,
    pub(crate) slots: usize,
    pub(crate) origin: f64,
    pub(crate) policy: usize,
    pub(crate) weight: Weight,
    sums: &'a PolicySums,
    pub(crate) totals: Totals<'a>,
    gram: Gram,
    /// For each occupied bin, ascending: sums of `G` times each feature.
    pub(crate) of_weight: Vec<Factors>,
    /// For each occupied bin, ascending: sums of each feature.
    pub(crate) of_one: Vec<Factors>,
}

impl<'a> WeightSums<'a> {
    /// The weight of a fixed structure.
    pub(crate) fn of_structure(cell: &'a Cell, policy: usize, occupied: &[u32]) -> Self {
        let weight = if cell.kept.basis == Basis::Single { Weight::Single } else { Weight::Order(1) };
        Self::new(cell, policy, weight, occupied)
    }

    /// The weight of an order, where sums of several are kept.
    pub(crate) fn of_order(cell: &'a Cell, policy: usize, order: usize, occupied: &[u32]) -> Self {
        Self::new(cell, policy, Weight::Order(order), occupied)
    }

    /// The weight 1 of the logging policy, beside some policy's ratios.
    pub(crate) fn of_logging(cell: &'a Cell, policy: usize, occupied: &[u32]) -> Self {
        Self::new(cell, policy, Weight::One, occupied)
    }

    fn new(cell: &'a Cell, policy: usize, weight: Weight, occupied: &[u32]) -> Self {
        let totals = Totals::new(cell, policy);
        let factors = |left: Weight| {
            let of = |weight| PolicyWeight { policy, weight };
            bin_factors(cell, of(left), of(weight), occupied)
        };
        WeightSums {
            n: cell.rows as f64,
            slots: cell.slots,
            origin: cell.origin,
            policy,
            weight,
            sums: &cell.policies[policy],
            gram: Gram::new(&totals, cell.kept.shape(policy, cell.slots), weight),
            totals,
            of_weight: factors(weight),
            of_one: factors(Weight::One),
        }
    }

    pub(crate) fn tally(&self) -> &'a Tally {
        &self.sums.tally
    }

    pub(crate) fn weight_tally(&self) -> &'a WeightTally {
        &self.sums.tally.weights[self.weight.place()]
    }

    pub(crate) fn has_chi(&self) -> bool {
        self.features().chi != Chi::None
    }

    /// The features whose products [`gram`](Self::gram) holds: those of the one weight.
    pub(crate) fn features(&self) -> FeatureLayout {
        self.gram.layout()
    }

    /// The weight, and whose it is.
    pub(crate) fn policy_weight(&self) -> PolicyWeight {
        PolicyWeight { policy: self.policy, weight: self.weight }
    }

    pub(crate) fn gram(&self) -> &Gram {
        &self.gram
    }

    /// The terms of each occupied bin, ascending.
    pub(crate) fn by_bin(&self) -> impl Iterator<Item = WeightTerms> {
        self.of_one.iter().zip(&self.of_weight).map(|(of_one, of_weight)| {
            let mut terms = WeightTerms::zero(self.slots);
            terms[WeightTerm::One] = of_one[Feature::One];
            terms[WeightTerm::G] = of_one[Feature::G];
            terms[WeightTerm::GG] = of_weight[Feature::G];
            for k in 0..self.slots {
                terms[WeightTerm::Z(k)] = of_one[Feature::Ratio(k)];
                terms[WeightTerm::GZ(k)] = of_weight[Feature::Ratio(k)];
            }
            terms
        })
    }

    /// The terms of `Y = 1`, for all rows.
    pub(crate) fn totals(&self) -> WeightTerms {
        self.terms_of(Feature::One, Feature::G)
    }

    /// The terms of `Y = R - origin`.
    pub(crate) fn rewards(&self) -> WeightTerms {
        self.terms_of(Feature::Reward, Feature::GR)
    }

    /// The terms of `Y = (R - origin)^2`.
    pub(crate) fn squared_rewards(&self) -> WeightTerms {
        self.terms_of(Feature::SquaredReward, Feature::GR2)
    }

    /// Given the features `Y` and `G Y`.
    fn terms_of(&self, y: Feature, gy: Feature) -> WeightTerms {
        let gram = &self.gram;
        let mut terms = WeightTerms::zero(self.slots);
        terms[WeightTerm::One] = gram.get(Feature::One, y);
        terms[WeightTerm::G] = gram.get(Feature::One, gy);
        terms[WeightTerm::GG] = gram.get(Feature::G, gy);
        for k in 0..self.slots {
            terms[WeightTerm::Z(k)] = gram.get(Feature::Ratio(k), y);
            terms[WeightTerm::GZ(k)] = gram.get(Feature::Ratio(k), gy);
        }
        terms
    }

    /// `sum (G Y)^2` for `Y = R - origin`.
    pub(crate) fn squared_weighted_rewards(&self) -> f64 {
        self.gram.get(Feature::GR, Feature::GR)
    }

    /// `sum Z_j Z_k`.
    pub(crate) fn zz(&self, j: usize, k: usize) -> f64 {
        self.gram.get(Feature::Ratio(j), Feature::Ratio(k))
    }

    /// `sum chi_k`. Only with chi, as the next.
    pub(crate) fn chi(&self, k: usize) -> f64 {
        self.totals.chi(k, 0)
    }

    /// `sum (G Z_k - chi_k)^2`.
    pub(crate) fn chi_error_squared(&self, k: usize) -> f64 {
        self.gram.get(Feature::ChiError(k), Feature::ChiError(k))
    }
}
