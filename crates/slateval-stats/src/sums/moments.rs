//! Sums over all rows of a policy that are no sums over bins.
//! See docs/methods.md, section 3.2.

use crate::sums::index::{Layout, MomentLayout, MomentSum, Shape};
use crate::sums::totals::Totals;

/// The sums of the [`MomentLayout`], with rewards measured from the cell's origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Where each sum stands.
    pub layout: MomentLayout,
    /// The sums.
    pub sums: Vec<f64>,
}

impl Moments {
    pub(crate) fn new(layout: MomentLayout) -> Self {
        Moments { layout, sums: vec![0.0; layout.width()] }
    }

    /// One sum.
    pub fn get(&self, sum: MomentSum) -> f64 {
        self.sums[self.layout.place(sum)]
    }

    /// The sums from one on: those of one kind stand next to each other.
    pub fn from_mut(&mut self, sum: MomentSum) -> &mut [f64] {
        let place = self.layout.place(sum);
        &mut self.sums[place..]
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
