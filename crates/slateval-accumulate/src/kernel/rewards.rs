//! The rewards of a block, in the forms in which they are summed.

use slateval_stats::sums::{POWERS, SHARED};

use crate::kernel::simd::column::{Column, ROWS, groups_of};
use crate::kernel::simd::lanes::{Eight, totals, wide};

/// Columns of the rewards, and their sums. All policies share them.
#[derive(Debug, Clone)]
pub(crate) struct Rewards {
    /// `R` itself.
    pub(crate) plain: Column,
    /// `-R`.
    negated: Column,
    ones: Column,
    /// `R` as seen from the cell's origin, and its square; 0 behind the last row.
    pub(crate) centred: Column,
    pub(crate) squared: Column,
    /// The sums of the first powers of the centred rewards.
    pub(crate) sums: [f64; POWERS],
}

impl Default for Rewards {
    fn default() -> Self {
        let mut ones = Column::ZERO;
        ones.first_mut(ROWS).fill(1.0);
        let zero = Column::ZERO;
        Rewards { plain: zero, negated: zero, ones, centred: zero, squared: zero, sums: [0.0; POWERS] }
    }
}

impl Rewards {
    /// Takes in the rewards of a block. `-0.0` becomes `0.0`.
    pub(crate) fn fill(&mut self, rows: usize, rewards: &Column) {
        take_in(rows, rewards, self);
    }

    /// What all policies share of a row: 1 and the reward, and the reward for the smallest and the largest one.
    pub(crate) fn shared(&self) -> [&Column; SHARED] {
        [&self.ones, &self.plain, &self.plain, &self.negated]
    }

    /// Fills all that depends on the origin, when it is known.
    pub(crate) fn centre(&mut self, rows: usize, origin: f64) {
        self.sums = centre(rows, origin, self);
    }

    /// A column of ones.
    pub(crate) fn ones(&self) -> &Column {
        &self.ones
    }
}

wide! {
    /// Fills what does not depend on the origin.
    fn take_in(rows: usize, from: &Column, rewards: &mut Rewards) = take_in_rows
}

#[inline(always)]
fn take_in_rows<F: Eight>(rows: usize, from: &Column, rewards: &mut Rewards) {
    for i in 0..groups_of(rows) {
        let r = F::load(&from.groups()[i]).plus(F::splat(0.0));
        r.store(&mut rewards.plain.groups_mut()[i]);
        // -0.0 for 0.0, so that the largest of such rewards is 0.0 again.
        r.times_plus(F::splat(-1.0), F::splat(-0.0)).store(&mut rewards.negated.groups_mut()[i]);
    }
}

wide! {
    /// Fills what depends on the origin. Returns the sums of `R` to `R^4`.
    fn centre(rows: usize, origin: f64, rewards: &mut Rewards) -> [f64; POWERS] = centre_rows
}

#[inline(always)]
fn centre_rows<F: Eight>(rows: usize, origin: f64, rewards: &mut Rewards) -> [f64; POWERS] {
    let mut sums = [F::splat(0.0); POWERS];
    // What fills up the last group is 0 seen from the origin.
    rewards.plain.fill_up(rows, origin);
    for i in 0..groups_of(rows) {
        let r = F::load(&rewards.plain.groups()[i]).plus(F::splat(-origin));
        let square = r.times(r);
        r.store(&mut rewards.centred.groups_mut()[i]);
        square.store(&mut rewards.squared.groups_mut()[i]);
        sums[0] = sums[0].plus(r);
        sums[1] = sums[1].plus(square);
        sums[2] = square.times_plus(r, sums[2]);
        sums[3] = square.times_plus(square, sums[3]);
    }
    totals(sums)
}
