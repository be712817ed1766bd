//! Slot ratios `Z_k = pi_k / mu_k - 1`, a block of rows at a time.
//! See docs/methods.md, section 2.
//!
//! Divisions are the slowest instructions on the way of a row, and often need not be made: all targets divide by the same
//! logging propensities, and a policy that draws uniformly has one for all rows. There a quotient is had from the reciprocal
//! `i` of the divisor `m`: `q = p i` is right but for its last bits, `r = p - q m` is what is left over, without rounding,
//! and `q + r i` is the quotient as a division rounds it (Markstein, 1990). In particular `m / m` is 1.

use crate::math::column::{Column, groups_of, resize};
use crate::math::lanes::{Eight, LANES, totals, wide};
use crate::math::vector;
use crate::question::field::Field;
use crate::question::structure::{Pool, Structure};
use crate::rows::block::Block;

/// The logging propensities of a block, as all policies divide by them; buffers are kept between blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Divisors {
    slots: Vec<Divisor>,
    /// `1 / mu_k`, where several policies divide by different propensities.
    reciprocals: Vec<Column>,
}

/// How a slot's probabilities are divided.
#[derive(Debug, Clone, Copy)]
struct Divisor {
    /// The smallest and the largest logging propensity; 1 and 0 where there is none.
    range: (f64, f64),
    /// The same of slates that have the slot: others have 1 in its place.
    of_slates: (f64, f64),
    way: Way,
}

#[derive(Debug, Clone, Copy)]
enum Way {
    /// One by one.
    Divide,
    /// By the slot's reciprocals.
    Multiply,
    /// By the reciprocal of the one propensity that all rows have.
    MultiplyAll,
}

/// Smaller propensities may have no finite reciprocal.
const SMALLEST: f64 = 1e-290;

impl Divisors {
    /// Takes in the logging propensities of a block that has been checked, if the structure divides by them.
    pub(crate) fn fill(&mut self, structure: &Structure, block: &Block, policies: usize) {
        self.slots.clear();
        if !structure.needs().logging {
            return;
        }
        resize(&mut self.reciprocals, if policies > 1 { block.slots() } else { 0 });
        for slot in 0..block.slots() {
            let mu = block.whole_column(Field::Logging { slot });
            let known = block.slot_ranges(Field::Logging { slot })[slot];
            let range = known.or_else(|| vector::range(mu.first(block.rows()))).unwrap_or((1.0, 0.0));
            let way = match range {
                (least, _) if least < SMALLEST => Way::Divide,
                (least, most) if least == most => Way::MultiplyAll,
                _ if policies > 1 => {
                    invert(block.rows(), mu, &mut self.reciprocals[slot]);
                    Way::Multiply
                }
                _ => Way::Divide,
            };
            let of_slates = if block.has_missing_in(slot) { range_of_slates(block, slot) } else { range };
            self.slots.push(Divisor { range, of_slates, way });
        }
    }
}

/// What is remembered of a slot beside the first two moments of its ratios.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotFacts {
    /// `sum Z_k^3`.
    pub(crate) cubes: f64,
    /// `sum Z_k^4`.
    pub(crate) fourths: f64,
    /// Rows with `Y_k > 1`.
    pub(crate) positive: u64,
    /// The smallest and the largest logging propensity; 1 and 0 where there is none.
    pub(crate) propensities: (f64, f64),
}

/// Fills `z` with the ratios of each slot of a block that has been checked, for one policy.
///
/// Ranking logs have `mu_k = 1/N`, so `Z_k = N pi_k - 1` there. A missing slot has `Z_k = 0`.
pub(crate) fn slot_ratios(
    structure: &Structure,
    (block, divisors): (&Block, &Divisors),
    policy: usize,
    z: &mut [Column],
    mut seen: impl FnMut(usize, SlotFacts),
) {
    for (slot, z) in z.iter_mut().enumerate() {
        let pi = block.whole_column(Field::Target { policy, slot });
        let facts = match structure {
            Structure::Ranking(pool) => {
                ranking_ratios(pool, block, slot, pi, z);
                facts_of(block.rows(), z)
            }
            _ => divide(block, divisors, slot, pi, z),
        };
        seen(slot, facts);
    }
}

fn divide(block: &Block, divisors: &Divisors, slot: usize, pi: &Column, z: &mut Column) -> SlotFacts {
    let (rows, mu) = (block.rows(), block.whole_column(Field::Logging { slot }));
    let Divisor { range, of_slates, way } = divisors.slots[slot];
    let facts = match way {
        Way::Divide => divided(rows, pi, mu, z),
        Way::Multiply => multiplied(rows, pi, mu, &divisors.reciprocals[slot], z),
        Way::MultiplyAll => multiplied_by_one(rows, pi, range.0, z),
    };
    SlotFacts { propensities: of_slates, ..facts }
}

/// The smallest and the largest logging propensity of slates that have a slot; 1 and 0 where there is none.
fn range_of_slates(block: &Block, slot: usize) -> (f64, f64) {
    let mu = block.column(Field::Logging { slot });
    let present = (0..block.rows()).filter(|&row| !block.is_missing(row, slot)).map(|row| mu[row]);
    present.fold((1.0, 0.0), |(least, most), mu| (vector::min(least, mu), vector::max(most, mu)))
}

wide! {
    /// `1 / mu`. Propensities stored in single precision may lie a little over 1.
    fn invert(rows: usize, mu: &Column, out: &mut Column) = invert_rows
}

#[inline(always)]
fn invert_rows<F: Eight>(rows: usize, mu: &Column, out: &mut Column) {
    let one = F::splat(1.0);
    for i in 0..groups_of(rows) {
        one.over(F::load(&mu.groups()[i]).least(one)).store(&mut out.groups_mut()[i]);
    }
}

wide! {
    /// `pi / mu - 1`.
    fn divided(rows: usize, pi: &Column, mu: &Column, z: &mut Column) -> SlotFacts = divided_rows
}

/// What is remembered costs nothing here: the loop waits for its divisions.
#[inline(always)]
fn divided_rows<F: Eight>(rows: usize, pi: &Column, mu: &Column, out: &mut Column) -> SlotFacts {
    let (one, minus_one) = (F::splat(1.0), F::splat(-1.0));
    let mut sums = SlotSums::<F>::new();
    for i in 0..groups_of(rows) {
        let (pi, mu) = (F::load(&pi.groups()[i]), F::load(&mu.groups()[i]));
        let z = pi.least(one).over(mu.least(one)).plus(minus_one);
        z.store(&mut out.groups_mut()[i]);
        sums.add(z);
    }
    sums.total()
}

wide! {
    /// The same, given reciprocals.
    fn multiplied(rows: usize, pi: &Column, mu: &Column, reciprocals: &Column, z: &mut Column) -> SlotFacts = multiplied_rows
}

#[inline(always)]
fn multiplied_rows<F: Eight>(
    rows: usize,
    pi: &Column,
    mu: &Column,
    reciprocals: &Column,
    out: &mut Column,
) -> SlotFacts {
    let one = F::splat(1.0);
    let mut sums = SlotSums::<F>::new();
    for i in 0..groups_of(rows) {
        let (pi, mu) = (F::load(&pi.groups()[i]).least(one), F::load(&mu.groups()[i]).least(one));
        let z = quotient(pi, mu, F::load(&reciprocals.groups()[i])).plus(F::splat(-1.0));
        z.store(&mut out.groups_mut()[i]);
        sums.add(z);
    }
    sums.total()
}

wide! {
    /// The same for one propensity.
    fn multiplied_by_one(rows: usize, pi: &Column, mu: f64, z: &mut Column) -> SlotFacts = multiplied_rows_by_one
}

#[inline(always)]
fn multiplied_rows_by_one<F: Eight>(rows: usize, pi: &Column, mu: f64, out: &mut Column) -> SlotFacts {
    let one = F::splat(1.0);
    let mu = F::splat(mu).least(one);
    let reciprocal = one.over(mu);
    let mut sums = SlotSums::<F>::new();
    for i in 0..groups_of(rows) {
        let pi = F::load(&pi.groups()[i]).least(one);
        let z = quotient(pi, mu, reciprocal).plus(F::splat(-1.0));
        z.store(&mut out.groups_mut()[i]);
        if i < rows / LANES {
            sums.add(z);
        }
    }
    // Behind the last row nothing is decided: the ratio is 0 there.
    out.fill_up(rows, 0.0);
    if !rows.is_multiple_of(LANES) {
        sums.add(F::load(&out.groups()[rows / LANES]));
    }
    sums.total()
}

/// `p / m`, given `1 / m`.
#[inline(always)]
fn quotient<F: Eight>(p: F, m: F, reciprocal: F) -> F {
    let q = p.times(reciprocal);
    let left_over = q.times(F::splat(-1.0)).times_plus(m, p);
    left_over.times_plus(reciprocal, q)
}

wide! {
    /// What is remembered of a slot's ratios.
    fn facts_of(rows: usize, z: &Column) -> SlotFacts = facts_of_rows
}

#[inline(always)]
fn facts_of_rows<F: Eight>(rows: usize, z: &Column) -> SlotFacts {
    let mut sums = SlotSums::<F>::new();
    for i in 0..groups_of(rows) {
        sums.add(F::load(&z.groups()[i]));
    }
    sums.total()
}

/// [`SlotFacts`] in lanes, but for propensities. Ratios of 0 add nothing to them.
struct SlotSums<F> {
    cubes: F,
    fourths: F,
    positive: F,
}

impl<F: Eight> SlotSums<F> {
    #[inline(always)]
    fn new() -> Self {
        let zero = F::splat(0.0);
        SlotSums { cubes: zero, fourths: zero, positive: zero }
    }

    #[inline(always)]
    fn add(&mut self, z: F) {
        let square = z.times(z);
        self.cubes = square.times_plus(z, self.cubes);
        self.fourths = square.times_plus(square, self.fourths);
        self.positive = self.positive.plus(F::splat(0.0).is_below(z));
    }

    #[inline(always)]
    fn total(self) -> SlotFacts {
        let [cubes, fourths, positive] = totals([self.cubes, self.fourths, self.positive]);
        SlotFacts { cubes, fourths, positive: positive as u64, propensities: (1.0, 0.0) }
    }
}

fn ranking_ratios(pool: &Pool, block: &Block, slot: usize, pi: &Column, z: &mut Column) {
    for row in 0..block.rows() {
        let missing = block.is_missing(row, slot);
        z.first_mut(block.rows())[row] =
            if missing { 0.0 } else { block.pool_size(pool, row) * pi.get(row).min(1.0) - 1.0 };
    }
    z.fill_up(block.rows(), 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same as a division to the last bit, whatever the numbers.
    #[test]
    fn quotients_are_rounded_as_divisions_are() {
        let mut state = 7u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for turn in 0..200_000 {
            let mut number = || {
                let x = uniform() * 10f64.powi(-(turn % 12));
                if turn % 3 == 0 { f64::from(x as f32) } else { x }
            };
            let (p, m) = (number(), number().max(1e-280));
            let found = quotient([p; LANES], [m; LANES], [1.0 / m; LANES])[0];
            assert_eq!(found.to_bits(), (p / m).to_bits(), "{p} / {m}");
            assert_eq!(quotient([m; LANES], [m; LANES], [1.0 / m; LANES])[0], 1.0, "{m} / {m}");
        }
        assert_eq!(quotient([0.0; LANES], [0.3; LANES], [1.0 / 0.3; LANES])[0], 0.0);
    }
}
