//! The numbers of a block's rows, column by column: what sums are made of.
//!
//! Every loop here runs over contiguous columns, four rows at a time.

use crate::math::column::{Column, groups_of, resize};
use crate::math::lanes::{Four, wide};
use crate::math::vector::multiply;
use crate::question::field::Field;
use crate::question::structure::Structure;
use crate::rows::block::Block;
use crate::rows::weights::{self, HigherPowers, ORDERS_AND_REST};
use crate::summary::index::{Basis, Feature, FeatureLayout, Layout};
use crate::summary::witness::{self, Witness};

/// A block of rows as one policy sees it.
#[derive(Clone, Copy)]
pub(crate) struct PolicyBlock<'a> {
    pub(crate) structure: &'a Structure,
    pub(crate) block: &'a Block,
    pub(crate) policy: usize,
}

/// Columns of one policy; buffers are kept between blocks.
#[derive(Debug, Clone)]
pub(crate) struct PolicyColumns {
    pub(crate) rows: usize,
    /// How many `W_j` there are.
    basis: Basis,
    /// `Z_k`; 0 in slots that no slate of the block has.
    pub(crate) ratios: Vec<Column>,
    /// `e_1(Z)` to `e_4(Z)`, and the sum of all orders beyond. Where weights are sums of orders.
    orders: Box<[Column; ORDERS_AND_REST]>,
    /// `G_m`.
    pub(crate) weights: Vec<Column>,
    /// `G_m R` and `G_m R^2`.
    pub(crate) with_reward: Vec<Column>,
    pub(crate) with_squared_reward: Vec<Column>,
    /// `R^2`.
    pub(crate) squared_reward: Column,
    /// `chi_k`. With chi, as the next.
    pub(crate) chi: Vec<Column>,
    /// `D_mk = G_m Z_k - chi_k`, weight by weight.
    pub(crate) chi_errors: Vec<Column>,
    /// A column for each witness, where weights are no sums of orders.
    witnesses: Vec<Column>,
    terms: Vec<Column>,
    squares: Vec<Column>,
}

impl Default for PolicyColumns {
    fn default() -> Self {
        PolicyColumns {
            rows: 0,
            basis: Basis::Single,
            ratios: Vec::new(),
            orders: Box::new([Column::ZERO; ORDERS_AND_REST]),
            weights: Vec::new(),
            with_reward: Vec::new(),
            with_squared_reward: Vec::new(),
            squared_reward: Column::ZERO,
            chi: Vec::new(),
            chi_errors: Vec::new(),
            witnesses: Vec::new(),
            terms: Vec::new(),
            squares: Vec::new(),
        }
    }
}

/// What the first orders of some numbers, and all beyond them, sum up to.
pub(crate) type OrderSums = [f64; ORDERS_AND_REST];

impl PolicyColumns {
    /// `W_j`.
    pub(crate) fn basis(&self) -> &[Column] {
        match self.basis {
            Basis::Orders(orders) => &self.orders[..orders],
            Basis::Single => &self.weights,
        }
    }

    /// A column for each of some witnesses.
    pub(crate) fn witnesses(&self, list: &[Witness]) -> &[Column] {
        match (self.basis, list.first()) {
            // The witnesses of a sum of orders are the orders that it lacks.
            (Basis::Orders(_), Some(first)) => &self.orders[first.order() - 1..][..list.len()],
            (Basis::Orders(_), None) => &[],
            (Basis::Single, _) => &self.witnesses[..list.len()],
        }
    }

    /// Fills the ratios, and says what was seen of each slot.
    pub(crate) fn fill_ratios(
        &mut self,
        PolicyBlock { structure, block, policy }: PolicyBlock<'_>,
        slots: usize,
        mut seen: impl FnMut(usize, HigherPowers),
    ) {
        self.rows = block.rows();
        resize(&mut self.ratios, slots);
        let (present, beyond) = self.ratios.split_at_mut(block.slots());
        beyond.fill(Column::ZERO);
        for (slot, z) in present.iter_mut().enumerate() {
            seen(slot, weights::slot_ratios(structure, block, policy, slot, z));
        }
    }

    /// Fills the weights, and their products with the reward. Given rewards as seen from the cell's origin. Where weights
    /// are sums of orders, returns the sums of the orders of `Z^2`.
    pub(crate) fn fill_weights(
        &mut self,
        rows: PolicyBlock<'_>,
        basis: Basis,
        witnesses: &[Witness],
        centred: &Column,
    ) -> Option<OrderSums> {
        self.basis = basis;
        for columns in [&mut self.weights, &mut self.with_reward, &mut self.with_squared_reward] {
            resize(columns, basis.len());
        }
        multiply(self.rows, centred, centred, &mut self.squared_reward);
        let z = &self.ratios[..rows.block.slots()];
        let of_squares = match basis {
            Basis::Orders(_) => Some(weights::first_orders(self.rows, z, &mut self.orders)),
            Basis::Single => {
                let PolicyBlock { structure, block, policy } = rows;
                weights::weigh(structure, block, policy, z, &mut self.weights[0], &mut self.terms);
                witness::fill(structure, witnesses, z, self.rows, &mut self.terms, &mut self.witnesses);
                None
            }
        };
        for m in 0..basis.len() {
            let (below, above) = self.weights.split_at_mut(m);
            let rewards = [centred, &self.squared_reward];
            let out = [&mut self.with_reward[m], &mut self.with_squared_reward[m]];
            match (basis, below.last()) {
                // G_m = G_{m-1} + W_m, and G_0 = 1.
                (Basis::Orders(_), Some(below)) => {
                    add_order(self.rows, below, &self.orders[m], rewards, &mut above[0], out)
                }
                (Basis::Orders(_), None) => add_first_order(self.rows, &self.orders[m], rewards, &mut above[0], out),
                (Basis::Single, _) => multiply_by_both(self.rows, &above[0], rewards, out),
            }
        }
        of_squares
    }

    /// Fills the columns of chi. Returns how many values are below 0, which no policy has.
    pub(crate) fn fill_chi(&mut self, PolicyBlock { block, policy, .. }: PolicyBlock<'_>, slots: usize) -> u64 {
        resize(&mut self.chi, slots);
        resize(&mut self.chi_errors, self.weights.len() * slots);
        let mut negative = 0;
        for (slot, column) in self.chi.iter_mut().enumerate() {
            if slot >= block.slots() {
                *column = Column::ZERO;
                continue;
            }
            *column = *block.whole_column(Field::Chi { policy, slot });
            // Single precision leaves a chi of 0 a little below it.
            negative += count_below(self.rows, column, -1e-6) as u64;
        }
        for (g, errors) in self.weights.iter().zip(self.chi_errors.chunks_exact_mut(slots.max(1))) {
            for ((z, chi), out) in self.ratios.iter().zip(&self.chi).zip(errors) {
                product_minus(self.rows, g, z, chi, out);
            }
        }
        negative
    }

    /// `e_2(Z)`, the sum over all pairs of slots that slates of the block have.
    pub(crate) fn pairs(&mut self, slots: usize) -> &Column {
        if let Basis::Orders(_) = self.basis {
            return &self.orders[1];
        }
        weights::elementary(2, self.rows, &self.ratios[..slots], &mut self.terms);
        &self.terms[1]
    }

    /// The squares of the ratios of slots that slates of the block have, and buffers for what is made of them.
    pub(crate) fn squared_ratios(&mut self, slots: usize) -> (&[Column], &mut Vec<Column>) {
        resize(&mut self.squares, slots);
        for (square, z) in self.squares.iter_mut().zip(&self.ratios) {
            multiply(self.rows, z, z, square);
        }
        (&self.squares, &mut self.terms)
    }

    /// The columns of chi, and buffers for what is made of them.
    pub(crate) fn chi_with_buffers(&mut self) -> (&[Column], &mut Vec<Column>) {
        (&self.chi, &mut self.terms)
    }

    /// A column for each feature of a layout, for sums of single features.
    pub(crate) fn features(&self, layout: FeatureLayout, centred: &Column, out: &mut Vec<Column>) {
        let basis = self.basis();
        resize(out, layout.len());
        for (feature, out) in layout.keys().into_iter().zip(out) {
            match feature {
                Feature::One => {
                    out.first_mut(self.rows).fill(1.0);
                    out.fill_up(self.rows, 0.0);
                }
                Feature::Ratio(k) => *out = self.ratios[k],
                Feature::Weight(j) => *out = basis[j],
                Feature::Reward => *out = *centred,
                Feature::SquaredReward => *out = self.squared_reward,
                Feature::WeightedReward(j) => multiply(self.rows, &basis[j], centred, out),
                Feature::WeightedSquaredReward(j) => multiply(self.rows, &basis[j], &self.squared_reward, out),
                Feature::Chi(k) => *out = self.chi[k],
                Feature::WeightedRatio(j, k) => multiply(self.rows, &basis[j], &self.ratios[k], out),
                Feature::ChiError(_) => unreachable!("errors of chi belong to one weight"),
            }
        }
    }
}

wide! {
    /// `g = below + w`, and its products with two columns.
    fn add_order(rows: usize, below: &Column, w: &Column, by: [&Column; 2], g: &mut Column, out: [&mut Column; 2]) = add_order_to_rows
}

#[inline(always)]
fn add_order_to_rows<F: Four>(
    rows: usize,
    below: &Column,
    w: &Column,
    by: [&Column; 2],
    g: &mut Column,
    [first, second]: [&mut Column; 2],
) {
    for i in 0..groups_of(rows) {
        let sum = F::load(&below.groups()[i]).plus(F::load(&w.groups()[i]));
        sum.store(&mut g.groups_mut()[i]);
        sum.times(F::load(&by[0].groups()[i])).store(&mut first.groups_mut()[i]);
        sum.times(F::load(&by[1].groups()[i])).store(&mut second.groups_mut()[i]);
    }
}

wide! {
    /// The same with `g = 1 + w`.
    fn add_first_order(rows: usize, w: &Column, by: [&Column; 2], g: &mut Column, out: [&mut Column; 2]) = add_first_order_to_rows
}

#[inline(always)]
fn add_first_order_to_rows<F: Four>(
    rows: usize,
    w: &Column,
    by: [&Column; 2],
    g: &mut Column,
    [first, second]: [&mut Column; 2],
) {
    for i in 0..groups_of(rows) {
        let sum = F::splat(1.0).plus(F::load(&w.groups()[i]));
        sum.store(&mut g.groups_mut()[i]);
        sum.times(F::load(&by[0].groups()[i])).store(&mut first.groups_mut()[i]);
        sum.times(F::load(&by[1].groups()[i])).store(&mut second.groups_mut()[i]);
    }
}

wide! {
    /// `out = a by`, for two columns to multiply by.
    fn multiply_by_both(rows: usize, a: &Column, by: [&Column; 2], out: [&mut Column; 2]) = multiply_rows_by_both
}

#[inline(always)]
fn multiply_rows_by_both<F: Four>(rows: usize, a: &Column, by: [&Column; 2], out: [&mut Column; 2]) {
    let [first, second] = out;
    for i in 0..groups_of(rows) {
        let a = F::load(&a.groups()[i]);
        a.times(F::load(&by[0].groups()[i])).store(&mut first.groups_mut()[i]);
        a.times(F::load(&by[1].groups()[i])).store(&mut second.groups_mut()[i]);
    }
}

wide! {
    /// `out = a b - c`.
    fn product_minus(rows: usize, a: &Column, b: &Column, c: &Column, out: &mut Column) = product_minus_rows
}

#[inline(always)]
fn product_minus_rows<F: Four>(rows: usize, a: &Column, b: &Column, c: &Column, out: &mut Column) {
    let minus = F::splat(-1.0);
    for i in 0..groups_of(rows) {
        let c = F::load(&c.groups()[i]).times(minus);
        F::load(&a.groups()[i]).times_plus(F::load(&b.groups()[i]), c).store(&mut out.groups_mut()[i]);
    }
}

wide! {
    /// How many numbers lie below a limit.
    fn count_below(rows: usize, column: &Column, limit: f64) -> f64 = count_rows_below
}

#[inline(always)]
fn count_rows_below<F: Four>(rows: usize, column: &Column, limit: f64) -> f64 {
    let (limit, mut count) = (F::splat(limit), F::splat(0.0));
    for i in 0..groups_of(rows) {
        count = count.plus(F::load(&column.groups()[i]).is_below(limit));
    }
    count.total()
}
