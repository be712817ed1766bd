//! The numbers of a block's rows, column by column: what sums are made of.
//!
//! Every loop here runs over contiguous columns, eight rows at a time.

use slateval_stats::sums::{Basis, Feature, FeatureLayout, Layout, Witness};
use slateval_stats::{Field, Structure};

use crate::block::Block;
use crate::kernel::ratios::{PropensityRanges, SlotFacts, slot_ratios};
use crate::kernel::rewards::Rewards;
use crate::kernel::simd::column::{Column, groups_of, resize};
use crate::kernel::simd::lanes::{Eight, wide};
use crate::kernel::simd::vector::multiply;
use crate::kernel::weight_visit::WeightVisit;
use crate::kernel::weights::{self, ORDERS_AND_REST, OrderFacts};
use crate::kernel::witness;

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
    /// The weight of a structure that is no sum of orders.
    single: Column,
    /// Of each `G_m`.
    pub(crate) visits: Vec<WeightVisit>,
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
            single: Column::ZERO,
            visits: Vec::new(),
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
            Basis::Single => std::slice::from_ref(&self.single),
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
        ranges: &PropensityRanges,
        slots: usize,
        seen: impl FnMut(usize, SlotFacts),
    ) {
        self.rows = block.rows();
        resize(&mut self.ratios, slots);
        let (present, beyond) = self.ratios.split_at_mut(block.slots());
        beyond.fill(Column::ZERO);
        slot_ratios(structure, (block, ranges), policy, present, seen);
    }

    /// Fills the weights, and their products with the reward. Where weights are sums of orders, says what these sum up to.
    pub(crate) fn fill_weights(
        &mut self,
        rows: PolicyBlock<'_>,
        basis: Basis,
        witnesses: &[Witness],
        rewards: &Rewards,
    ) -> Option<OrderFacts> {
        self.basis = basis;
        self.visits.resize_with(basis.count(), WeightVisit::default);
        let z = &self.ratios[..rows.block.slots()];
        let powers = [&rewards.centred, &rewards.squared];
        match basis {
            Basis::Orders(_) => {
                let facts = weights::first_orders(self.rows, z, &mut self.orders);
                for m in 0..basis.count() {
                    // G_m = G_{m-1} + W_m, and G_0 = 1.
                    let (below, above) = self.visits.split_at_mut(m);
                    let below = below.last().map_or(rewards.ones(), |visit| &visit.weight);
                    above[0].fill(self.rows, below, &self.orders[m], powers);
                }
                Some(facts)
            }
            Basis::Single => {
                let PolicyBlock { structure, block, policy } = rows;
                weights::weigh(structure, block, policy, z, &mut self.single, &mut self.terms);
                witness::fill(structure, witnesses, z, self.rows, &mut self.terms, &mut self.witnesses);
                self.visits[0].fill(self.rows, &Column::ZERO, &self.single, powers);
                None
            }
        }
    }

    /// Fills the columns of chi. Returns how many values are below 0, which no policy has.
    pub(crate) fn fill_chi(&mut self, PolicyBlock { block, policy, .. }: PolicyBlock<'_>, slots: usize) -> u64 {
        resize(&mut self.chi, slots);
        resize(&mut self.chi_errors, self.visits.len() * slots);
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
        for (visit, errors) in self.visits.iter().zip(self.chi_errors.chunks_exact_mut(slots.max(1))) {
            for ((z, chi), out) in self.ratios.iter().zip(&self.chi).zip(errors) {
                product_minus(self.rows, &visit.weight, z, chi, out);
            }
        }
        negative
    }

    /// The sums of `e_2(Z)`, the sum over all pairs of slots that slates of the block have, and of its square. Where weights
    /// are no sums of orders.
    pub(crate) fn pairs(&mut self, slots: usize) -> [f64; 2] {
        weights::elementary(2, self.rows, &self.ratios[..slots], &mut self.terms);
        sum_and_squares(self.rows, &self.terms[1])
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
    pub(crate) fn features(&self, layout: FeatureLayout, rewards: &Rewards, out: &mut Vec<Column>) {
        let basis = self.basis();
        resize(out, layout.width());
        for (feature, out) in layout.keys().into_iter().zip(out) {
            match feature {
                Feature::One => {
                    out.first_mut(self.rows).fill(1.0);
                    out.fill_up(self.rows, 0.0);
                }
                Feature::Ratio(k) => *out = self.ratios[k],
                Feature::Weight(j) => {
                    *out = basis[j];
                    // A structure's own weight is 1 where there is no row.
                    out.fill_up(self.rows, 0.0);
                }
                Feature::Reward => *out = rewards.centred,
                Feature::SquaredReward => *out = rewards.squared,
                Feature::WeightedReward(j) => multiply(self.rows, &basis[j], &rewards.centred, out),
                Feature::WeightedSquaredReward(j) => multiply(self.rows, &basis[j], &rewards.squared, out),
                Feature::Chi(k) => *out = self.chi[k],
                Feature::WeightedRatio(j, k) => multiply(self.rows, &basis[j], &self.ratios[k], out),
                Feature::ChiError(_) => unreachable!("errors of chi belong to one weight"),
            }
        }
    }
}

wide! {
    /// The sum of a column, and of its square.
    fn sum_and_squares(rows: usize, column: &Column) -> [f64; 2] = sum_and_squares_of
}

#[inline(always)]
fn sum_and_squares_of<F: Eight>(rows: usize, column: &Column) -> [f64; 2] {
    let (mut sum, mut squares) = (F::splat(0.0), F::splat(0.0));
    for i in 0..groups_of(rows) {
        let x = F::load(&column.groups()[i]);
        sum = sum.plus(x);
        squares = x.times_plus(x, squares);
    }
    [sum.total(), squares.total()]
}

wide! {
    /// `out = a b - c`.
    fn product_minus(rows: usize, a: &Column, b: &Column, c: &Column, out: &mut Column) = product_minus_rows
}

#[inline(always)]
fn product_minus_rows<F: Eight>(rows: usize, a: &Column, b: &Column, c: &Column, out: &mut Column) {
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
fn count_rows_below<F: Eight>(rows: usize, column: &Column, limit: f64) -> f64 {
    let (limit, mut count) = (F::splat(limit), F::splat(0.0));
    for i in 0..groups_of(rows) {
        count = count.plus(F::load(&column.groups()[i]).is_below(limit));
    }
    count.total()
}
