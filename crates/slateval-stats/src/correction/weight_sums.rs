//! The sums of one weight `G`: what the estimators' formulas are written in.
//! See docs/methods.md, section 4.1.

use std::rc::Rc;

use crate::correction::factors::{Factors, PolicyWeight};
use crate::correction::terms::{WeightTerm, WeightTerms};
use crate::sums::cell::{Cell, PolicySums};
use crate::sums::feature_map::Weight;
use crate::sums::index::{Basis, Chi, Feature, FeatureLayout, Shared};
use crate::sums::products::Gram;
use crate::sums::tally::{Tally, WeightTally};
use crate::sums::totals::Totals;

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
    /// The same for all weights of a policy.
    pub(crate) totals: Rc<Totals<'a>>,
    gram: Gram,
    /// For all rows: the terms of `Y = 1`, of `Y = R - origin` and of its square.
    terms: [WeightTerms; 3],
    /// For each occupied bin, ascending: sums of `G` times each feature.
    pub(crate) of_weight: Rc<Factors>,
    /// For each occupied bin, ascending: sums of each feature.
    pub(crate) of_one: Rc<Factors>,
}

impl<'a> WeightSums<'a> {
    /// The weight of a fixed structure.
    pub(crate) fn of_structure(cell: &'a Cell, totals: &Rc<Totals<'a>>, occupied: &[u32]) -> Self {
        let weight = if cell.kept.basis == Basis::Single { Weight::Single } else { Weight::Order(1) };
        Self::new(cell, totals, weight, occupied)
    }

    /// The weight of an order, where sums of several are kept.
    pub(crate) fn of_order(cell: &'a Cell, totals: &Rc<Totals<'a>>, order: usize, occupied: &[u32]) -> Self {
        Self::new(cell, totals, Weight::Order(order), occupied)
    }

    /// The weight 1 of the logging policy, beside some policy's ratios.
    pub(crate) fn of_logging(cell: &'a Cell, policy: usize, occupied: &[u32]) -> Self {
        Self::new(cell, &Rc::new(Totals::new(cell, policy)), Weight::One, occupied)
    }

    fn new(cell: &'a Cell, totals: &Rc<Totals<'a>>, weight: Weight, occupied: &[u32]) -> Self {
        let policy = totals.policy;
        let factors = |left: Weight| {
            let of = |weight| PolicyWeight { policy, weight };
            Rc::new(Factors::new(cell, of(left), of(weight), occupied))
        };
        let of_one = factors(Weight::One);
        let gram = Gram::new(totals, cell.kept.shape(policy, cell.slots), weight);
        let terms =
            [(Feature::One, Feature::G), (Feature::Reward, Feature::GR), (Feature::SquaredReward, Feature::GR2)]
                .map(|(y, gy)| terms_of(&gram, cell.slots, y, gy));
        WeightSums {
            n: cell.rows as f64,
            slots: cell.slots,
            origin: cell.origin,
            policy,
            weight,
            sums: &cell.policies[policy],
            totals: Rc::clone(totals),
            gram,
            terms,
            of_weight: if weight == Weight::One { Rc::clone(&of_one) } else { factors(weight) },
            of_one,
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

    /// A linear function of each occupied bin's terms, ascending, given its coefficients.
    pub(crate) fn by_bin(&self, function: &WeightTerms) -> Vec<f64> {
        let mut sums = vec![0.0; self.of_one.column(Feature::One).len()];
        for (term, c) in function.iter().filter(|&(_, c)| c != 0.0) {
            sums.iter_mut().zip(self.term_by_bin(term)).for_each(|(sum, x)| *sum += c * x);
        }
        sums
    }

    /// A term in each occupied bin, ascending.
    fn term_by_bin(&self, term: WeightTerm) -> &[f64] {
        match term {
            WeightTerm::One => self.of_one.column(Feature::One),
            WeightTerm::G => self.of_one.column(Feature::G),
            WeightTerm::GG => self.of_weight.column(Feature::G),
            WeightTerm::Z(k) => self.of_one.column(Feature::Ratio(k)),
            WeightTerm::GZ(k) => self.of_weight.column(Feature::Ratio(k)),
        }
    }

    /// The terms of `Y = 1`, for all rows.
    pub(crate) fn totals(&self) -> &WeightTerms {
        &self.terms[0]
    }

    /// The terms of `Y = R - origin`.
    pub(crate) fn rewards(&self) -> &WeightTerms {
        &self.terms[1]
    }

    /// The terms of `Y = (R - origin)^2`.
    pub(crate) fn squared_rewards(&self) -> &WeightTerms {
        &self.terms[2]
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

/// The terms of `Y` for all rows, given the features `Y` and `G Y`.
fn terms_of(gram: &Gram, slots: usize, y: Feature, gy: Feature) -> WeightTerms {
    let mut terms = WeightTerms::zero(slots);
    terms[WeightTerm::One] = gram.get(Feature::One, y);
    terms[WeightTerm::G] = gram.get(Feature::One, gy);
    terms[WeightTerm::GG] = gram.get(Feature::G, gy);
    for k in 0..slots {
        terms[WeightTerm::Z(k)] = gram.get(Feature::Ratio(k), y);
        terms[WeightTerm::GZ(k)] = gram.get(Feature::Ratio(k), gy);
    }
    terms
}
