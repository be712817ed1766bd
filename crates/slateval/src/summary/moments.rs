//! Sums over all rows of a policy that are no sums over bins, a block at a time.
//! See docs/methods.md, section 3.2.

use crate::math::vector::{self, Columns};
use crate::summary::columns::PolicyColumns;
use crate::summary::index::{Basis, Layout, MomentLayout, MomentSum};
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
    pub(crate) fn add(&mut self, columns: &PolicyColumns, buffer: &mut Vec<f64>) {
        self.add_with_rewards(columns, buffer);
        self.add_higher_powers(columns, buffer);
        let z = Columns::new(&columns.ratios);
        self.add_products_once(z, z, buffer, |i, k| MomentSum::Ratios { i, k });
        if self.layout.shape.chi {
            self.add_chi(columns, buffer);
        }
    }

    /// Adds products of left with right columns, where they are kept.
    fn add_products(
        &mut self,
        lefts: Columns<'_>,
        rights: Columns<'_>,
        buffer: &mut Vec<f64>,
        key: impl Fn(usize, usize) -> Option<MomentSum>,
    ) {
        buffer.clear();
        buffer.resize(lefts.len() * rights.len(), 0.0);
        vector::add_products(lefts, rights, buffer);
        self.add_kept(lefts.len(), rights.len(), buffer, key);
    }

    /// The same for products that come twice, one way and the other: they are kept where the left column is no later.
    fn add_products_once(
        &mut self,
        lefts: Columns<'_>,
        rights: Columns<'_>,
        buffer: &mut Vec<f64>,
        key: impl Fn(usize, usize) -> MomentSum,
    ) {
        buffer.clear();
        buffer.resize(lefts.len() * rights.len(), 0.0);
        vector::add_products_once(lefts, rights, buffer);
        self.add_kept(lefts.len(), rights.len(), buffer, |i, j| (i <= j).then(|| key(i, j)));
    }

    fn add_kept(
        &mut self,
        lefts: usize,
        rights: usize,
        products: &[f64],
        key: impl Fn(usize, usize) -> Option<MomentSum>,
    ) {
        for left in 0..lefts {
            for right in 0..rights {
                if let Some(key) = key(left, right) {
                    let place = self.layout.place(key);
                    self.sums[place] += products[left * rights + right];
                }
            }
        }
    }

    /// Products of `R` and `R^2` with 1 and `W_j`, times ratios and weights.
    fn add_with_rewards(&mut self, columns: &PolicyColumns, buffer: &mut Vec<f64>) {
        let (slots, basis) = (self.layout.shape.slots, self.layout.shape.basis);
        let first = usize::from(matches!(basis, Basis::Orders(_)));
        let rights = Columns::new(&columns.ratios).then(&columns.basis[first..]);
        for (power, lefts) in [(1, &columns.with_reward), (2, &columns.with_squared_reward)] {
            let place = self.layout.place(MomentSum::Reward { power });
            self.sums[place] += vector::sum(&lefts[0]);
            self.add_products(Columns::new(lefts), rights, buffer, |left, right| {
                match right.checked_sub(slots) {
                    None => Some(ratio_key(left, right, power)),
                    Some(weight) => weight_key(left, first + weight, power),
                }
            });
            if first == 1 {
                self.add_first_order(lefts.len(), rights.len(), power, buffer);
            }
        }
    }

    /// The first order is the sum of the ratios, and so are its products.
    fn add_first_order(&mut self, lefts: usize, rights: usize, power: usize, products: &[f64]) {
        for left in 0..lefts {
            if let Some(key) = weight_key(left, 0, power) {
                let place = self.layout.place(key);
                self.sums[place] += products[left * rights..][..self.layout.shape.slots].iter().sum::<f64>();
            }
        }
    }

    /// `R^3` and `R^4` times products of two out of 1 and `W_j`.
    fn add_higher_powers(&mut self, columns: &PolicyColumns, buffer: &mut Vec<f64>) {
        let squared = Columns::new(&columns.with_squared_reward);
        for (power, rights) in [(3, Columns::new(&columns.with_reward)), (4, squared)] {
            self.add_products_once(squared, rights, buffer, |i, j| match (i, j) {
                (0, 0) => MomentSum::Reward { power },
                (0, j) => MomentSum::Weight { j: j - 1, power },
                (i, j) => MomentSum::Weights { i: i - 1, j: j - 1, power },
            });
        }
    }

    fn add_chi(&mut self, columns: &PolicyColumns, buffer: &mut Vec<f64>) {
        let slots = self.layout.shape.slots;
        let rewards = Columns::new(&columns.with_reward[..1]).then(&columns.with_squared_reward[..1]);
        let chi = Columns::new(&columns.chi);
        self.add_products(rewards, chi, buffer, |power, k| Some(MomentSum::Chi { k, power: power + 1 }));
        for m in 0..self.layout.shape.basis.len() {
            let errors = Columns::new(&columns.chi_errors[m * slots..][..slots]);
            let reward = &columns.weighted_reward[m..=m];
            let weighted = Columns::new(reward).then(&columns.weighted_squared_reward[m..=m]);
            let keys = |power, k| Some(MomentSum::ChiError { m, k, power: power + 1 });
            self.add_products(weighted, errors, buffer, keys);
            self.add_products_once(errors, errors, buffer, |i, k| MomentSum::ChiErrors { m, i, k });
        }
    }

    pub(crate) fn merge(&mut self, other: &Moments) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, more)| *sum += more);
    }

    /// The sums of longer slates: those of the further slots are 0.
    pub(crate) fn widened(&self, slots: usize) -> Self {
        let mut wide = Moments::new(MomentLayout { shape: crate::summary::index::Shape { slots, ..self.layout.shape } });
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
                MomentSum::Weight { j, power } => shifted(by, power, |q| totals.weight(j, q)),
                MomentSum::Weights { i, j, power } => shifted(by, power, |q| totals.weights(i, j, q)),
                MomentSum::Ratio { k, power } => shifted(by, power, |q| totals.ratio(k, q)),
                MomentSum::WeightedRatio { j, k, power } => shifted(by, power, |q| totals.weighted_ratio(j, k, q)),
                MomentSum::Chi { k, power } => shifted(by, power, |q| totals.chi(k, q)),
                MomentSum::ChiError { m, k, power } => shifted(by, power, |q| totals.chi_error(m, k, q)),
                MomentSum::Ratios { .. } | MomentSum::ChiErrors { .. } => totals.moments.get(key),
            };
        }
        moved
    }
}

/// A left factor, 0 for 1 and `1 + j` for `W_j`, times a ratio.
fn ratio_key(left: usize, k: usize, power: usize) -> MomentSum {
    match left {
        0 => MomentSum::Ratio { k, power },
        left => MomentSum::WeightedRatio { j: left - 1, k, power },
    }
}

/// A left factor times a weight. Each product of two weights comes twice, one way and the other, and is taken once.
fn weight_key(left: usize, j: usize, power: usize) -> Option<MomentSum> {
    match left {
        0 => Some(MomentSum::Weight { j, power }),
        left if left > j => Some(MomentSum::Weights { i: j, j: left - 1, power }),
        _ => None,
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
