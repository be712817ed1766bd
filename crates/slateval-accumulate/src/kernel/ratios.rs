//! Slot ratios `Z_k = pi_k / mu_k - 1`, a block of rows at a time.
//! See docs/methods.md, section 2.

use slateval_stats::{Field, Pool, Structure};

use crate::block::Block;
use crate::kernel::simd::column::{Column, groups_of};
use crate::kernel::simd::lanes::{Eight, totals, wide};
use crate::kernel::simd::vector;

/// The smallest and the largest logging propensity of each slot of a block: 1 and 0 where no slate has the slot.
#[derive(Debug, Clone, Default)]
pub(crate) struct PropensityRanges(Vec<(f64, f64)>);

impl PropensityRanges {
    /// Takes in a block that has been checked, if the structure divides by logging propensities.
    pub(crate) fn fill(&mut self, structure: &Structure, block: &Block) {
        self.0.clear();
        if structure.needs().logging {
            self.0.extend((0..block.slots()).map(|slot| range_of(block, slot)));
        }
    }
}

fn range_of(block: &Block, slot: usize) -> (f64, f64) {
    if block.has_missing_in(slot) {
        // Slates without the slot have 1 in its place.
        let mu = block.column(Field::Logging { slot });
        let present = (0..block.rows()).filter(|&row| !block.is_missing(row, slot)).map(|row| mu[row]);
        return present.fold((1.0, 0.0), |(least, most), mu| (vector::min(least, mu), vector::max(most, mu)));
    }
    let known = block.range(Field::Logging { slot });
    known.or_else(|| vector::range(block.column(Field::Logging { slot }))).unwrap_or((1.0, 0.0))
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
    (block, ranges): (&Block, &PropensityRanges),
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
            _ => {
                let mu = block.whole_column(Field::Logging { slot });
                SlotFacts { propensities: ranges.0[slot], ..divided(block.rows(), pi, mu, z) }
            }
        };
        seen(slot, facts);
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
