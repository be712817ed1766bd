//! Each slot's ratios, pairs of slots, and what the log is worth by them.

use crate::spec::structure::Structure;
use crate::sums::check::policy::PolicyView;
use crate::sums::check::rewards::RewardView;
use crate::sums::check::{Fault, Rounding, Section, Sound, Span, within};
use crate::sums::index::{Basis, BinSum, MomentSum};

/// How far above 1 a propensity may lie: those stored in single precision do.
const MOST: f64 = 1.001;

pub(super) fn check(view: &PolicyView<'_>, rewards: &RewardView<'_>) -> Sound {
    let rounding = rewards.rounding;
    for k in 0..view.shape.slots {
        check_slot(view, k, rounding)?;
    }
    check_pairs(view, rounding)?;
    check_design(view, rewards)
}

fn check_slot(view: &PolicyView<'_>, k: usize, rounding: Rounding) -> Sound {
    let (tally, n, limit) = (view.tally, view.n, view.ratio_limits[k]);
    let (smallest, largest) = (tally.smallest[k], tally.largest[k]);
    let is_known = 0.0 < smallest && smallest <= largest && largest <= MOST;
    if !is_known && (smallest, largest) != (1.0, 0.0) {
        let what = format!("slot {} has propensities from {smallest:e} to {largest:e}", k + 1);
        return Err(Fault::new(Section::Slots, what));
    }
    if tally.hits[k] as f64 > n {
        return Err(Fault::new(Section::Slots, format!("slot {} has more hits than the log has rows", k + 1)));
    }
    let expect = |what: &str, value: f64, span: Span| {
        let slack = rounding.of_sum(span.size());
        within(Section::Slots, format_args!("the sum of {what} of slot {}", k + 1), value, span.wider(slack))
    };
    let square = view.squared_ratio(k);
    let (cubes, fourths) = (tally.cubes[k], tally.fourths[k]);
    expect("Z^2", square, Span { low: 0.0, high: n * limit * limit })?;
    // Clamped where they overflow.
    if fourths < f64::MAX {
        expect("Z^4", fourths, Span { low: square * square / n, high: limit * limit * square })?;
        expect("Z^3", cubes, Span::around(0.0, (limit * square).min((square * fourths).sqrt())))?;
    }
    Ok(())
}

fn check_pairs(view: &PolicyView<'_>, rounding: Rounding) -> Sound {
    let (slots, n) = (view.shape.slots, view.n);
    let (mut sum, mut size) = (0.0, 0.0);
    for k in 0..slots {
        for i in 0..k {
            let found = view.moments.get(MomentSum::Ratios { i, k });
            let most = (view.squared_ratio(i) * view.squared_ratio(k)).sqrt();
            let span = Span::around(0.0, most).wider(rounding.of_sum(most));
            within(Section::Slots, format_args!("the sum of Z_{} Z_{}", i + 1, k + 1), found, span)?;
            (sum, size) = (sum + found, size + most);
        }
    }
    let (pairs, squared) = (view.tally.pairs, view.tally.pairs_squared);
    if pairs.abs() < f64::MAX && squared < f64::MAX {
        within(Section::Slots, "the sum over pairs", pairs, Span::around(sum, rounding.of_sum(size)))?;
        let most = n * elementary(&view.ratio_limits, 2).powi(2);
        let span = Span { low: pairs * pairs / n, high: most };
        let slack = rounding.of_sum(size * size / n + pairs * pairs / n);
        within(Section::Slots, "the sum of squares over pairs", squared, span.wider(slack))?;
    }
    Ok(())
}

/// The largest sum of products of so many slots.
pub(super) fn elementary(limits: &[f64], order: usize) -> f64 {
    let mut sums = vec![0.0; order + 1];
    sums[0] = 1.0;
    for limit in limits {
        (1..=order).rev().for_each(|r| sums[r] += limit * sums[r - 1]);
    }
    sums[order]
}

/// `G(Z^2)` and `G(chi)` of all rows.
fn check_design(view: &PolicyView<'_>, rewards: &RewardView<'_>) -> Sound {
    let (tally, n, rounding) = (view.tally, view.n, rewards.rounding);
    let most = n * view.ratio_limits.iter().map(|limit| 1.0 + limit * limit).product::<f64>();
    let of_ratios = Span { low: 0.0, high: most }.wider(rounding.of_sum(n));
    let least = if tally.negative_chi > 0 { f64::NEG_INFINITY } else { -0.01 * n };
    let of_chi = Span { low: least, high: most_of_chi(view, rewards) };
    let of_chi = of_chi.wider(rounding.of_sum(n));
    within(Section::Slots, "the sum of prod(1 + Z^2)", tally.product_ratios, of_ratios)?;
    within(Section::Slots, "the sum of prod(1 + chi)", tally.product_chi, of_chi)?;
    for weight in &tally.weights {
        within(Section::Slots, "the sum of G(Z^2)", weight.design_ratios, of_ratios)?;
        within(Section::Slots, "the sum of G(chi)", weight.design_chi, of_chi)?;
    }
    // That of the first order is the sum of the squares.
    if let (Structure::Auto, Basis::Orders(_), Some(first)) = (view.structure, view.shape.basis, tally.weights.first())
    {
        let sum = n + (0..view.shape.slots).map(|k| view.squared_ratio(k)).sum::<f64>();
        within(Section::Slots, "the sum of G_1(Z^2)", first.design_ratios, Span::around(sum, rounding.of_sum(sum)))?;
        if view.shape.chi && tally.negative_chi == 0 {
            let slots = || 0..view.shape.slots;
            let chi = |k: usize| rewards.bins.iter().map(|bin| view.in_bin(bin, BinSum::Chi(k))).sum::<f64>();
            let (sum, size) = (n + slots().map(chi).sum::<f64>(), n + chi_sizes(view, rewards));
            within(Section::Slots, "the sum of G_1(chi)", first.design_chi, Span::around(sum, rounding.of_sum(size)))?;
        }
    }
    Ok(())
}

/// `sum |chi_k|` over all slots is at most this.
fn chi_sizes(view: &PolicyView<'_>, rewards: &RewardView<'_>) -> f64 {
    (0..view.shape.slots).map(|k| view.chi_size(&rewards.bins, k)).sum()
}

/// What the sum of `prod(1 + chi_k)` is at most, and with it that of any weight of chi that is a sum of products of slots:
/// of numbers that are not negative, the sum of products of `r` is no larger than the `r`-th power of their sum, over `r!`.
fn most_of_chi(view: &PolicyView<'_>, rewards: &RewardView<'_>) -> f64 {
    if !view.shape.chi {
        return 0.0;
    }
    if matches!(view.structure, Structure::PaperOrder(_)) {
        return f64::INFINITY;
    }
    let (sizes, mut term) = (chi_sizes(view, rewards), 1.0);
    let add = |r: usize| {
        term *= sizes / r as f64;
        term
    };
    view.n + (1..=view.shape.slots).map(add).sum::<f64>()
}
