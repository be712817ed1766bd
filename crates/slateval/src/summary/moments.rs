//! Sums over all rows of a policy that are no sums over bins, a block at a time.
//! See docs/methods.md, section 3.2.

use crate::math::vector::{add_products, add_products_among};
use crate::question::structure::ORDERS;
use crate::summary::columns::PolicyColumns;
use crate::summary::index::{FEW_POWERS, Layout, MomentLayout, MomentSum, Shape};
use crate::summary::rewards::Rewards;
use crate::summary::totals::Totals;

/// The sums of the [`MomentLayout`], with rewards measured from the cell's origin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moments {
    pub(crate) layout: MomentLayout,
    pub(crate) sums: Vec<f64>,
}

impl Moments {
    pub(crate) fn new(layout: MomentLayout) -> Self {
        Moments { layout, sums: vec![0.0; layout.len()] }
    }

    pub(crate) fn get(&self, sum: MomentSum) -> f64 {
        self.sums[self.layout.place(sum)]
    }

    /// Adds the rows of a block.
    pub(crate) fn add(&mut self, columns: &PolicyColumns, rewards: &Rewards) {
        let plus = |sums: &mut [f64], more: &[f64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        plus(self.from(MomentSum::Reward { power: 1 }), &rewards.sums);
        for (m, visit) in columns.visits.iter().enumerate() {
            plus(self.from(MomentSum::Weight { m, power: 1 }), &visit.sums);
        }
        self.add_ratios(columns, rewards);
        if self.layout.shape.chi {
            self.add_chi(columns, rewards);
        }
    }

    /// The sums from a place on.
    fn from(&mut self, sum: MomentSum) -> &mut [f64] {
        let place = self.layout.place(sum);
        &mut self.sums[place..]
    }

    /// `Z_k` beside `R` and `R^2`, with each weight and without, and beside each other.
    fn add_ratios(&mut self, columns: &PolicyColumns, rewards: &Rewards) {
        let (rows, z) = (columns.rows, columns.ratios.as_slice());
        if z.is_empty() {
            return;
        }
        let mut lefts = [&rewards.centred; FEW_POWERS * (1 + ORDERS)];
        lefts[1] = &rewards.squared;
        let weighted = columns.visits.iter().flat_map(|visit| [&visit.with_reward, &visit.with_squared_reward]);
        lefts[FEW_POWERS..].iter_mut().zip(weighted).for_each(|(to, column)| *to = column);
        // Those with weights stand directly behind those without.
        let lefts = &lefts[..FEW_POWERS * (1 + columns.visits.len())];
        add_products(rows, lefts, z, self.from(MomentSum::Ratio { k: 0, power: 1 }));
        add_products_among(rows, z, self.from(MomentSum::Ratios { i: 0, k: 0 }));
    }

    fn add_chi(&mut self, columns: &PolicyColumns, rewards: &Rewards) {
        let (rows, slots) = (columns.rows, self.layout.shape.slots);
        if slots == 0 {
            return;
        }
        add_products(
            rows,
            &[&rewards.centred, &rewards.squared],
            &columns.chi,
            self.from(MomentSum::Chi { k: 0, power: 1 }),
        );
        for (m, errors) in columns.chi_errors.chunks_exact(slots).enumerate() {
            let visit = &columns.visits[m];
            add_products(
                rows,
                &[&visit.with_reward, &visit.with_squared_reward],
                errors,
                self.from(MomentSum::ChiError { m, k: 0, power: 1 }),
            );
            add_products_among(rows, errors, self.from(MomentSum::ChiErrors { m, i: 0, k: 0 }));
        }
    }

    pub(crate) fn merge(&mut self, other: &Moments) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, more)| *sum += more);
    }

    /// The sums of longer slates: those of the further slots are 0.
    pub(crate) fn widened(&self, slots: usize) -> Self {
        let mut wide = Moments::new(MomentLayout { shape: Shape { slots, ..self.layout.shape } });
        for (from, to) in self.layout.places_in(&wide.layout) {
            wide.sums[to] = self.sums[from];
        }
        wide
    }

    /// The sums with rewards `R + by` in place of `R`, given all totals.
    pub(crate) fn shifted(totals: &Totals<'_>, by: f64) -> Self {
        let mut moved = Moments::new(totals.moments.layout);
        for (key, sum) in moved.layout.keys().into_iter().zip(0..) {
            moved.sums[sum] = match key {
                MomentSum::Reward { power } => shifted(by, power, |q| totals.rewards(q)),
                MomentSum::Weight { m, power } => shifted(by, power, |q| totals.weight(m, q)),
                MomentSum::SquaredWeight { m, power } => shifted(by, power, |q| totals.squared_weight(m, q)),
                MomentSum::Ratio { k, power } => shifted(by, power, |q| totals.ratio(k, q)),
                MomentSum::WeightedRatio { m, k, power } => shifted(by, power, |q| totals.weighted_ratio(m, k, q)),
                MomentSum::Chi { k, power } => shifted(by, power, |q| totals.chi(k, q)),
                MomentSum::ChiError { m, k, power } => shifted(by, power, |q| totals.chi_error(m, k, q)),
                MomentSum::Ratios { .. } | MomentSum::ChiErrors { .. } => totals.moments.get(key),
            };
        }
        moved
    }
}

/// `sum p (R + by)^q` from `sum p R^r` for `r` up to `q`.
fn shifted(by: f64, power: usize, sum: impl Fn(usize) -> f64) -> f64 {
    let (mut shifted, mut binomial) = (0.0, 1.0);
    for q in (0..=power).rev() {
        let times = power - q;
        shifted += binomial * by.powi(times as i32) * sum(q);
        binomial = binomial * q as f64 / (times + 1) as f64;
    }
    shifted
}
