//! Sums over all rows of a policy that are no sums over bins, a block at a time.
//! See docs/methods.md, section 3.2.

use slateval_stats::ORDERS;
use slateval_stats::sums::{MomentSum, Moments};

use crate::kernel::columns::PolicyColumns;
use crate::kernel::rewards::Rewards;
use crate::kernel::simd::vector::{add_products, add_products_among};

/// Powers of the reward beside anything but weights: those of the mean and the second moment.
const FEW_POWERS: usize = 2;

/// Adds the rows of a block.
pub(crate) fn add(sums: &mut Moments, columns: &PolicyColumns, rewards: &Rewards) {
    let plus = |to: &mut [f64], more: &[f64]| to.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    plus(sums.from_mut(MomentSum::Reward { power: 1 }), &rewards.sums);
    for (m, visit) in columns.visits.iter().enumerate() {
        plus(sums.from_mut(MomentSum::Weight { m, power: 1 }), &visit.sums);
    }
    add_ratios(sums, columns, rewards);
    if sums.layout.shape.chi {
        add_chi(sums, columns, rewards);
    }
}

/// `Z_k` beside `R` and `R^2`, with each weight and without, and beside each other.
fn add_ratios(sums: &mut Moments, columns: &PolicyColumns, rewards: &Rewards) {
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
    add_products(rows, lefts, z, sums.from_mut(MomentSum::Ratio { k: 0, power: 1 }));
    add_products_among(rows, z, sums.from_mut(MomentSum::Ratios { i: 0, k: 0 }));
}

fn add_chi(sums: &mut Moments, columns: &PolicyColumns, rewards: &Rewards) {
    let (rows, slots) = (columns.rows, sums.layout.shape.slots);
    if slots == 0 {
        return;
    }
    add_products(
        rows,
        &[&rewards.centred, &rewards.squared],
        &columns.chi,
        sums.from_mut(MomentSum::Chi { k: 0, power: 1 }),
    );
    for (m, errors) in columns.chi_errors.chunks_exact(slots).enumerate() {
        let visit = &columns.visits[m];
        add_products(
            rows,
            &[&visit.with_reward, &visit.with_squared_reward],
            errors,
            sums.from_mut(MomentSum::ChiError { m, k: 0, power: 1 }),
        );
        add_products_among(rows, errors, sums.from_mut(MomentSum::ChiErrors { m, i: 0, k: 0 }));
    }
}
