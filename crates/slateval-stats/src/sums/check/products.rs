//! Products in each bin, and products with powers of the reward over the whole log.

use crate::sums::cell::Cell;
use crate::sums::check::policy::PolicyView;
use crate::sums::check::rewards::RewardView;
use crate::sums::check::slots::elementary;
use crate::sums::check::{Fault, Section, Sound, Span, within};
use crate::sums::index::{
    BinSum, CrossProduct, FEW_POWERS, Feature, Layout, Left, MomentSum, POWERS, Pair, Power, Right,
};
use crate::sums::witness::Witness;

/// Refuses a sum of products that is larger than its factors allow (Cauchy and Schwarz).
pub(super) fn within_norms(
    section: Section,
    name: impl std::fmt::Display,
    sum: f64,
    rewards: &RewardView<'_>,
    (left, right): (f64, f64),
) -> Sound {
    let most = (left.max(0.0) * right.max(0.0)).sqrt();
    within(section, name, sum, Span::around(0.0, most + rewards.rounding.of_sum(most)))
}

pub(super) fn check(cell: &Cell, view: &PolicyView<'_>, rewards: &RewardView<'_>) -> Sound {
    for (b, bin) in rewards.bins.iter().enumerate() {
        check_bin(view, rewards, b, bin)?;
    }
    check_with_rewards(view, rewards)?;
    check_chi_errors(view, rewards)?;
    check_witnesses(cell, view, rewards)?;
    check_slot_pairs(cell, view, rewards)
}

/// `sum W_j^2` of a bin, and what rounding may have taken from it.
fn square_in_bin(view: &PolicyView<'_>, rewards: &RewardView<'_>, j: usize, b: usize) -> f64 {
    view.basis[j][b][1] + rewards.rounding.of_sum(view.rounded_to[1])
}

fn check_bin(view: &PolicyView<'_>, rewards: &RewardView<'_>, b: usize, bin: &[f64]) -> Sound {
    let (n, slack) = (rewards.rows[b], rewards.rounding.of_sum(view.rounded_to[1]));
    let bounded = |name: &str, sum: f64, norms: (f64, f64)| within_norms(Section::Bins, name, sum, rewards, norms);
    for (j, sums) in view.basis.iter().enumerate() {
        let [sum, square] = sums[b];
        let most = view.norm(Feature::Weight(j), rewards);
        within(Section::Bins, "a bin's sum of W^2", square, Span { low: 0.0, high: most }.wider(slack))?;
        bounded("a bin's sum of W", sum, (n, square + slack))?;
        for i in 0..j {
            let product = view.part.layout.weight_product(&bin[view.part.start..], Left::Weight(i), j);
            let norms = (square_in_bin(view, rewards, i, b), square + slack);
            bounded("a bin's sum of products of two W", product, norms)?;
        }
        for k in 0..view.shape.slots {
            let product = view.in_bin(bin, BinSum::Product(Left::Weight(j), Right::Ratio(k)));
            bounded("a bin's sum of W Z", product, (square + slack, view.squared_ratio(k)))?;
        }
    }
    for k in 0..view.shape.slots {
        bounded("a bin's sum of Z", view.ratio_in_bin(bin, k), (n, view.squared_ratio(k)))?;
    }
    if !view.shape.chi {
        return Ok(());
    }
    for k in 0..view.shape.slots {
        let least = if view.tally.negative_chi > 0 { f64::NEG_INFINITY } else { -1e-5 * n };
        let span = Span { low: least, high: view.chi_size(&rewards.bins, k) };
        within(Section::Bins, "a bin's sum of chi", view.in_bin(bin, BinSum::Chi(k)), span.wider(slack))?;
        for (m, sums) in view.weights.iter().enumerate() {
            let errors = view.moments.get(MomentSum::ChiErrors { m, i: k, k });
            let sum = view.in_bin(bin, BinSum::ChiError { m, k });
            bounded("a bin's sum of G times its error of chi", sum, (sums[b][1] + slack, errors + slack))?;
        }
    }
    Ok(())
}

/// Sums with powers of the reward lie where each bin's own sum and rewards allow.
fn check_with_rewards(view: &PolicyView<'_>, rewards: &RewardView<'_>) -> Sound {
    let [size, square_size] = view.rounded_to;
    for (m, of_bins) in view.weights.iter().enumerate() {
        for power in 1..=FEW_POWERS {
            let bins = || of_bins.iter().zip(&rewards.rows).zip(rewards.power(power));
            let middle: f64 = bins().map(|(([sum, _], _), (middle, _))| sum * middle).sum();
            let half: f64 = bins().map(|(([_, square], n), (_, half))| half * (n * square.max(0.0)).sqrt()).sum();
            let span = Span::around(middle, half + rewards.rounding_of(power, size));
            let found = view.moments.get(MomentSum::Weight { m, power });
            within(Section::Moments, format_args!("the sum of G_{} R^{power}", m + 1), found, span)?;
        }
        for power in 1..=POWERS {
            let bins = of_bins.iter().zip(rewards.spans(power));
            let span = bins.fold(Span::ZERO, |sum, ([_, square], span)| sum.plus(span.times(square.max(0.0))));
            let found = view.moments.get(MomentSum::SquaredWeight { m, power });
            let span = span.wider(rewards.rounding_of(power, square_size));
            within(Section::Moments, format_args!("the sum of G_{}^2 R^{power}", m + 1), found, span)?;
        }
    }
    for power in 1..=FEW_POWERS {
        check_with_ratios(view, rewards, power)?;
    }
    Ok(())
}

fn check_with_ratios(view: &PolicyView<'_>, rewards: &RewardView<'_>, power: usize) -> Sound {
    let square_size = view.rounded_to[1];
    // The middles of the bins' own sums, give or take what lies between a bin's rewards.
    let expect = |name: &str, sum: MomentSum, of_bin: &dyn Fn(&[f64]) -> f64, half: f64, size: f64| {
        let bins = rewards.bins.iter().zip(rewards.power(power));
        let middle: f64 = bins.map(|(bin, (middle, _))| of_bin(bin) * middle).sum();
        let span = Span::around(middle, half + rewards.rounding_of(power, size));
        within(Section::Moments, format_args!("the sum of {name} R^{power}"), view.moments.get(sum), span)
    };
    let halves = |of: &dyn Fn(usize) -> f64| -> f64 {
        rewards.power(power).enumerate().map(|(b, (_, half))| half * half * of(b).max(0.0)).sum()
    };
    let by_rows = halves(&|b| rewards.rows[b]);
    for k in 0..view.shape.slots {
        let square = view.squared_ratio(k).max(0.0);
        let half = (by_rows * square).sqrt();
        let own = |bin: &[f64]| view.ratio_in_bin(bin, k);
        expect("Z", MomentSum::Ratio { k, power }, &own, half, view.n + square)?;
        if view.shape.chi {
            let chi_size = view.chi_size(&rewards.bins, k);
            let most = rewards.power(power).map(|(_, half)| half).fold(0.0, f64::max);
            let own = |bin: &[f64]| view.in_bin(bin, BinSum::Chi(k));
            let half = if most > 0.0 { most * chi_size } else { 0.0 };
            expect("chi", MomentSum::Chi { k, power }, &own, half, chi_size)?;
        }
        for m in 0..view.weights.len() {
            let by_squares = halves(&|b| view.weights[m][b][1]);
            let own = |bin: &[f64]| view.weighted_ratio_in_bin(bin, m, k);
            let size = square_size + square;
            expect("G Z", MomentSum::WeightedRatio { m, k, power }, &own, (by_squares * square).sqrt(), size)?;
            if view.shape.chi {
                let errors = view.moments.get(MomentSum::ChiErrors { m, i: k, k }).max(0.0);
                let own = |bin: &[f64]| view.in_bin(bin, BinSum::ChiError { m, k });
                let half = (by_squares * errors).sqrt();
                expect("G D", MomentSum::ChiError { m, k, power }, &own, half, square_size + errors)?;
            }
        }
    }
    Ok(())
}

fn check_chi_errors(view: &PolicyView<'_>, rewards: &RewardView<'_>) -> Sound {
    if !view.shape.chi {
        return Ok(());
    }
    for m in 0..view.weights.len() {
        let square = |k: usize| view.moments.get(MomentSum::ChiErrors { m, i: k, k });
        for k in 0..view.shape.slots {
            let most = view.chi_error_limit(m, k, rewards);
            let slack = rewards.rounding.of_sum(most);
            within(Section::Moments, "the sum of D^2", square(k), Span { low: 0.0, high: most }.wider(slack))?;
            for i in 0..k {
                let sum = view.moments.get(MomentSum::ChiErrors { m, i, k });
                within_norms(Section::Moments, "the sum of D D", sum, rewards, (square(i), square(k)))?;
            }
        }
    }
    Ok(())
}

/// A number and its square, both summed over the rows of a bin.
fn check_squares(rewards: &RewardView<'_>, name: &str, n: f64, [sum, square]: [f64; 2], most: f64) -> Sound {
    let slack = rewards.rounding.of_sum(most);
    within(
        Section::Bins,
        format_args!("a bin's sum of squares of {name}"),
        square,
        Span { low: 0.0, high: most }.wider(slack),
    )?;
    let slack = if slack.is_finite() { slack.min(square) } else { 0.0 };
    within_norms(Section::Bins, format_args!("a bin's sum of {name}"), sum, rewards, (n, square + slack))
}

fn check_witnesses(cell: &Cell, view: &PolicyView<'_>, rewards: &RewardView<'_>) -> Sound {
    let section = &cell.layout.witnesses[view.policy];
    for &witness in &section.layout.list {
        let of_all = |numbers: &[f64]| match witness {
            Witness::Order(order) => elementary(numbers, order),
            Witness::Beyond(_) => numbers.iter().map(|number| 1.0 + number).product(),
        };
        let largest = of_all(&view.ratio_limits).powi(2);
        // The square of a sum of products is at most their number times the sum of their squares, which is part of
        // prod(1 + Z^2), where that is kept.
        let products = of_all(&vec![1.0; view.shape.slots]);
        let kept = Some(view.tally.product_ratios).filter(|&sum| sum > 0.0).map_or(f64::INFINITY, |sum| products * sum);
        for (bin, &n) in rewards.bins.iter().zip(&rewards.rows) {
            let sums = [Power::First, Power::Second].map(|power| bin[section.place((witness, power))]);
            check_squares(rewards, "a product of slots", n, sums, kept.min(n * largest))?;
        }
    }
    Ok(())
}

fn check_slot_pairs(cell: &Cell, view: &PolicyView<'_>, rewards: &RewardView<'_>) -> Sound {
    let Some(section) = cell.layout.pairs.get(view.policy) else { return Ok(()) };
    for k in 0..view.shape.slots {
        for j in 0..k {
            let of = |bin: &[f64]| [Power::First, Power::Second].map(|power| bin[section.place(Pair { j, k, power })]);
            let fourths = (view.tally.fourths[j] * view.tally.fourths[k]).sqrt();
            for (bin, &n) in rewards.bins.iter().zip(&rewards.rows) {
                check_squares(rewards, "a pair of slots", n, of(bin), fourths)?;
            }
            let total: f64 = rewards.bins.iter().map(|bin| of(bin)[0]).sum();
            let size = (view.squared_ratio(j) * view.squared_ratio(k)).sqrt();
            let whole = view.moments.get(MomentSum::Ratios { i: j, k });
            let span = Span::around(whole, rewards.rounding.of_sum(size));
            within(Section::Bins, "the sum of a pair of slots over all bins", total, span)?;
        }
    }
    Ok(())
}

/// Products of a policy's features with those of the baseline.
pub(super) fn check_baselines(cell: &Cell, rewards: &RewardView<'_>, policies: &[PolicyView<'_>]) -> Sound {
    for (cross, (p, b)) in cell.cross.iter().zip(cell.kept.compared()) {
        let norms = |p: usize| policies[p].norms(&cell.kept.features(p, cell.slots), rewards);
        let (left, right) = (norms(p), norms(b));
        let check = || {
            for (sums, &left) in cross.sums.chunks_exact(cross.columns).zip(&left) {
                for (&sum, &right) in sums.iter().zip(&right) {
                    within_norms(Section::Baseline, "a sum of products", sum, rewards, (left, right))?;
                }
            }
            Ok(())
        };
        check().map_err(|fault: Fault| fault.of_policy(p))?;
    }
    for section in &cell.layout.cross {
        let (policy, baseline) = (&policies[section.policy], &policies[section.baseline]);
        let rights = section.sums.layout;
        let norms = (policy.norms(&rights.policy, rewards), baseline.norms(&rights.baseline, rewards));
        for (b, bin) in rewards.bins.iter().enumerate() {
            for key in rights.keys() {
                let (left, right) = match key {
                    CrossProduct::OfPolicy(i, right) => {
                        (square_in_bin(policy, rewards, i, b), norms.1[rights.baseline.place(right)])
                    }
                    CrossProduct::OfBaseline(i, right) => {
                        (square_in_bin(baseline, rewards, i, b), norms.0[rights.policy.place(right)])
                    }
                };
                let sum = bin[section.sums.place(key)];
                within_norms(Section::Baseline, "a bin's sum of products", sum, rewards, (left, right))
                    .map_err(|fault| fault.of_policy(section.policy))?;
            }
        }
    }
    Ok(())
}
