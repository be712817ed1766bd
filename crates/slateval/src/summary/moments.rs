//! Sums over all rows of a policy that are no sums over bins, a block at a time.
//! See docs/methods.md, section 3.2.

use crate::math::column::{Column, groups_of};
use crate::math::lanes::{Four, wide};
use crate::math::vector::{add_products, add_products_among};
use crate::summary::columns::PolicyColumns;
use crate::summary::index::{Layout, MomentLayout, MomentSum, Shape};
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
    pub(crate) fn add(&mut self, columns: &PolicyColumns, centred: &Column) {
        self.add_rewards(columns, centred);
        self.add_ratios(columns, centred);
        if self.layout.shape.chi {
            self.add_chi(columns, centred);
        }
    }

    /// The sums from a place on.
    fn from(&mut self, sum: MomentSum) -> &mut [f64] {
        let place = self.layout.place(sum);
        &mut self.sums[place..]
    }

    /// Powers of `R`, by themselves and beside each weight.
    fn add_rewards(&mut self, columns: &PolicyColumns, centred: &Column) {
        let plus = |sums: &mut [f64], more: &[f64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        let rewards = reward_sums(columns.rows, centred, &columns.squared_reward);
        plus(self.from(MomentSum::Reward { power: 1 }), &rewards);
        for (m, g) in columns.weights.iter().enumerate() {
            let (first, second) = (&columns.with_reward[m], &columns.with_squared_reward[m]);
            plus(self.from(MomentSum::Weight { m, power: 1 }), &weight_sums(columns.rows, g, first, second));
        }
    }

    /// `Z_k` beside `R` and `R^2`, with each weight and without, and beside each other.
    fn add_ratios(&mut self, columns: &PolicyColumns, centred: &Column) {
        let (rows, z) = (columns.rows, columns.ratios.as_slice());
        if z.is_empty() {
            return;
        }
        let rewards = [centred, &columns.squared_reward];
        add_products(rows, &rewards, z, self.from(MomentSum::Ratio { k: 0, power: 1 }));
        for (m, (first, second)) in columns.with_reward.iter().zip(&columns.with_squared_reward).enumerate() {
            add_products(rows, &[first, second], z, self.from(MomentSum::WeightedRatio { m, k: 0, power: 1 }));
        }
        add_products_among(rows, z, self.from(MomentSum::Ratios { i: 0, k: 0 }));
    }

    fn add_chi(&mut self, columns: &PolicyColumns, centred: &Column) {
        let (rows, slots) = (columns.rows, self.layout.shape.slots);
        if slots == 0 {
            return;
        }
        let rewards = [centred, &columns.squared_reward];
        add_products(rows, &rewards, &columns.chi, self.from(MomentSum::Chi { k: 0, power: 1 }));
        for (m, errors) in columns.chi_errors.chunks_exact(slots).enumerate() {
            let rewards = [&columns.with_reward[m], &columns.with_squared_reward[m]];
            add_products(rows, &rewards, errors, self.from(MomentSum::ChiError { m, k: 0, power: 1 }));
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

wide! {
    /// The sums of `R` to `R^4`.
    fn reward_sums(rows: usize, reward: &Column, squared: &Column) -> [f64; 4] = reward_sums_of
}

#[inline(always)]
fn reward_sums_of<F: Four>(rows: usize, reward: &Column, squared: &Column) -> [f64; 4] {
    let mut sums = [F::splat(0.0); 4];
    for i in 0..groups_of(rows) {
        let (r, square) = (F::load(&reward.groups()[i]), F::load(&squared.groups()[i]));
        sums[0] = sums[0].plus(r);
        sums[1] = sums[1].plus(square);
        sums[2] = square.times_plus(r, sums[2]);
        sums[3] = square.times_plus(square, sums[3]);
    }
    sums.map(F::total)
}

wide! {
    /// The sums of `G R` and `G R^2`, and of `G^2 R` to `G^2 R^4`.
    fn weight_sums(rows: usize, g: &Column, gr: &Column, gr2: &Column) -> [f64; 6] = weight_sums_of
}

#[inline(always)]
fn weight_sums_of<F: Four>(rows: usize, g: &Column, gr: &Column, gr2: &Column) -> [f64; 6] {
    let mut sums = [F::splat(0.0); 6];
    for i in 0..groups_of(rows) {
        let (g, gr, gr2) = (F::load(&g.groups()[i]), F::load(&gr.groups()[i]), F::load(&gr2.groups()[i]));
        sums[0] = sums[0].plus(gr);
        sums[1] = sums[1].plus(gr2);
        sums[2] = g.times_plus(gr, sums[2]);
        sums[3] = gr.times_plus(gr, sums[3]);
        sums[4] = gr.times_plus(gr2, sums[4]);
        sums[5] = gr2.times_plus(gr2, sums[5]);
    }
    sums.map(F::total)
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
