//! Quantiles, VaR, CVaR and moments against their definitions, on rewards with and without atoms.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Random, Slate, contextual_log, points, summarise};
use proptest::prelude::*;
use slateval::Reason;
use slateval::{Binning, Correction, CorrectionChoice, Interval, PolicyEvaluation, Settings, Spec, Structure, Tail};

/// A log whose target is its logging policy: the estimate is the empirical distribution, which can be checked by hand.
fn on_policy(rewards: &[f64]) -> Vec<Slate> {
    rewards.iter().map(|&reward| Slate { reward, mu: vec![0.5], pi: vec![0.5], chi: vec![0.0] }).collect()
}

fn evaluate(slates: &[Slate], binning: Binning, settings: &Settings) -> PolicyEvaluation {
    let spec = Spec::new(Structure::Additive, ["new"]).with_binning(binning);
    summarise(&spec, slates).evaluate(settings).unwrap().policy("new").unwrap().clone()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// Peers count `<`, or take a bin's right edge for its mean, and get 1.0 here.
#[test]
fn binary_rewards_with_mean_284() {
    let rewards: Vec<f64> = (0..1000).map(|i| f64::from(u8::from(i < 284))).collect();
    let mut settings = points();
    settings.alphas = vec![0.1, 0.8];
    let new = evaluate(&on_policy(&rewards), Binning::default(), &settings);
    assert_eq!(new.cdf.reward, [0.0, 1.0]);
    assert!(new.cdf.reward[0].is_sign_positive(), "-0.0 is no reward");
    assert!(near(new.cdf.estimate[0], 0.716) && new.cdf.estimate[1] == 1.0);
    assert!(near(new.mean.estimate.unwrap(), 0.284));
    assert_eq!(new.cvar[0].interval.estimate, Some(0.0));
    // The worst 80% are 716 zeros and 84 ones.
    assert!(near(new.cvar[1].interval.estimate.unwrap(), 0.084 / 0.8));
    assert_eq!(new.quantiles.iter().map(|q| q.interval.estimate.unwrap()).collect::<Vec<_>>(), [0.0, 0.0, 1.0]);
    assert_eq!(new.iqr.estimate, Some(1.0));
    settings.tail = Tail::Upper;
    let new = evaluate(&on_policy(&rewards), Binning::default(), &settings);
    assert!(near(new.cvar[0].interval.estimate.unwrap(), 1.0));
    assert_eq!(new.var[0].interval.estimate, Some(1.0));
    assert!(near(new.cvar[1].interval.estimate.unwrap(), 0.284 / 0.8));
}

/// The definitions, on sorted rewards: `VaR_a` is the `ceil(a n)`-th, `CVaR_a` its average over levels up to `a`.
fn textbook_tail(rewards: &[f64], alpha: f64) -> (f64, f64) {
    let mut sorted = rewards.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let at = (alpha * n - 1e-9).ceil().max(1.0) as usize - 1;
    let whole: f64 = sorted[..at].iter().sum();
    (sorted[at], (whole + (alpha * n - at as f64) * sorted[at]) / (alpha * n))
}

proptest! {
    #[test]
    fn var_and_cvar_are_those_of_the_definition(
        rewards in prop::collection::vec(prop_oneof![-3i32..4, Just(0)], 1..60),
        alpha in prop_oneof![Just(0.05), Just(0.1), Just(0.25), Just(0.5), 0.01..0.99f64],
    ) {
        let rewards: Vec<f64> = rewards.into_iter().map(f64::from).collect();
        let mut settings = points();
        settings.alphas = vec![alpha];
        let lower = evaluate(&on_policy(&rewards), Binning::default(), &settings);
        let (var, cvar) = textbook_tail(&rewards, alpha);
        prop_assert_eq!(lower.var[0].interval.estimate, Some(var));
        prop_assert!((lower.cvar[0].interval.estimate.unwrap() - cvar).abs() < 1e-10);
        // The upper tail is the lower tail of the negated rewards.
        settings.tail = Tail::Upper;
        let upper = evaluate(&on_policy(&rewards), Binning::default(), &settings);
        let negated: Vec<f64> = rewards.iter().map(|r| -r).collect();
        let (_, cvar) = textbook_tail(&negated, alpha);
        prop_assert!((upper.cvar[0].interval.estimate.unwrap() + cvar).abs() < 1e-10);
    }

    /// Rearranged and clipped, it is a CDF, and no further from the truth than before.
    #[test]
    fn a_repaired_cdf_is_a_cdf(seed in 0u64..500, m in 1usize..4) {
        let slates = contextual_log(seed, 40, 3, 3);
        let mut settings = points();
        settings.correction = CorrectionChoice::Fixed(Correction::None);
        let summary = summarise(&Spec::new(Structure::Order(m), ["new"]), &slates);
        let new = summary.evaluate(&settings).unwrap().policy("new").unwrap().clone();
        prop_assert!(new.cdf.estimate.iter().all(|f| (0.0..=1.0).contains(f)));
        prop_assert!(new.cdf.estimate.is_sorted());
        prop_assert_eq!(*new.cdf.estimate.last().unwrap(), 1.0);
        prop_assert!(new.cdf.reward.is_sorted_by(|a, b| a < b));
        // Any CDF serves as truth for the theorem; take the logged one.
        let n = slates.len() as f64;
        let truth = |v: f64| slates.iter().filter(|s| s.reward <= v).count() as f64 / n;
        let distance = |f: &[f64]| f.iter().zip(&new.cdf.reward).map(|(f, v)| (f - truth(*v)).abs()).fold(0.0, f64::max);
        prop_assert!(distance(&new.cdf.estimate) <= distance(&new.cdf.raw) + 1e-12);
    }
}

/// Mean and variance come from unbinned sums, whatever the bins.
#[test]
fn moments_do_not_depend_on_the_bins_and_quantiles_hardly() {
    let slates = contextual_log(11, 20_000, 3, 4);
    let settings = points();
    let exact = evaluate(&slates, Binning { capacity: 1 << 20, ..Binning::default() }, &settings);
    for binning in ["16", "1024", "4096", "log"] {
        let binned = evaluate(&slates, binning.parse().unwrap(), &settings);
        assert!(binned.cdf.reward.len() < exact.cdf.reward.len());
        // The coefficients of the controls are sums over bins: more or fewer bins round differently.
        let same = |a: &Interval, b: &Interval| {
            let (a, b) = (a.estimate.unwrap(), b.estimate.unwrap());
            assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} {b}");
        };
        same(&binned.mean, &exact.mean);
        same(&binned.variance, &exact.variance);
        // At every place where both are known, they agree: sums up to an edge count R <= edge.
        for (v, f) in binned.cdf.reward.iter().zip(&binned.cdf.raw) {
            let at = exact.cdf.reward.partition_point(|r| r <= v) - 1;
            assert!((exact.cdf.raw[at] - f).abs() < 1e-10);
        }
        if binning != "16" {
            for (a, b) in binned.cvar.iter().zip(&exact.cvar) {
                assert!((a.interval.estimate.unwrap() - b.interval.estimate.unwrap()).abs() < 0.01);
            }
            for (a, b) in binned.quantiles.iter().zip(&exact.quantiles) {
                assert!((a.interval.estimate.unwrap() - b.interval.estimate.unwrap()).abs() < 0.02);
            }
        }
    }
}

/// CVaR is continuous in alpha and its slope is VaR, inside bins as between them.
#[test]
fn tails_inside_a_bin_are_consistent() {
    let mut random = Random(12);
    let rewards: Vec<f64> = (0..5000).map(|_| random.uniform().powi(3)).collect();
    let mut settings = points();
    settings.alphas = (1..2000).map(|i| f64::from(i) / 2000.0).collect();
    let new = evaluate(&on_policy(&rewards), Binning { capacity: 8, ..Binning::default() }, &settings);
    let integral = |i: usize| new.cvar[i].interval.estimate.unwrap() * settings.alphas[i];
    for i in 1..settings.alphas.len() {
        let slope = (integral(i) - integral(i - 1)) * 2000.0;
        let (lo, hi) = (new.var[i - 1].interval.estimate.unwrap(), new.var[i].interval.estimate.unwrap());
        assert!(lo - 1e-9 <= slope && slope <= hi + 1e-9, "{lo} {slope} {hi}");
    }
}

/// Rewards a million away from zero keep their variance: `E[R^2] - E[R]^2` alone would lose it to rounding.
#[test]
fn an_offset_does_not_cost_the_variance() {
    let near_zero = contextual_log(13, 3000, 2, 3);
    let mut far = near_zero.clone();
    far.iter_mut().for_each(|s| s.reward += 1e8);
    for structure in [Structure::Additive, Structure::Product] {
        let spec = Spec::new(structure, ["new"]).with_chi();
        let get = |slates: &[Slate]| {
            let mut summary = summarise(&spec, &slates[..1000]);
            summary.merge(&summarise(&spec, &slates[1000..])).unwrap();
            summary.evaluate(&points()).unwrap()
        };
        let (a, b) = (get(&near_zero), get(&far));
        for name in ["logging", "new"] {
            let (a, b) = (a.policy(name).unwrap(), b.policy(name).unwrap());
            let relative = b.variance.estimate.unwrap() / a.variance.estimate.unwrap() - 1.0;
            assert!(relative.abs() < 1e-6, "{name}: {relative}");
            assert!((b.mean.estimate.unwrap() - a.mean.estimate.unwrap() - 1e8).abs() < 1e-6);
        }
    }
}

/// Bins of equal width cannot resolve rewards over many orders of magnitude: that is said, and log bins can.
#[test]
fn heavy_tails_want_log_bins() {
    let mut random = Random(15);
    let rewards: Vec<f64> =
        (0..20_000).map(|_| (6.0 * (random.uniform() + random.uniform() - 1.0) * 3.0).exp()).collect();
    let mut sorted = rewards.clone();
    sorted.sort_by(f64::total_cmp);
    let check =
        |p: &PolicyEvaluation| p.diagnostics.checks.iter().find(|c| c.name().as_str() == "bins").map(|c| c.status);
    let linear = evaluate(&on_policy(&rewards), Binning::default(), &points());
    assert_eq!(check(&linear), Some(slateval::Status::Fail));
    let log = evaluate(&on_policy(&rewards), "log".parse().unwrap(), &points());
    assert_eq!(check(&log), None);
    let median = log.quantiles[1].interval.estimate.unwrap();
    assert!((median / sorted[9_999] - 1.0).abs() < 0.01, "{median} against {}", sorted[9_999]);
}

#[test]
fn one_row_and_constant_rewards() {
    let one = evaluate(&on_policy(&[2.5]), Binning::default(), &points());
    assert_eq!(one.mean.estimate, Some(2.5));
    assert_eq!(one.variance.estimate, None);
    assert_eq!(one.variance.reason, Some(Reason::VarianceOfOneRow));
    assert_eq!(one.quantiles[1].interval.estimate, Some(2.5));
    let constant = evaluate(&on_policy(&[3.0; 50]), Binning::default(), &points());
    assert_eq!((constant.mean.estimate, constant.variance.estimate), (Some(3.0), Some(0.0)));
    assert!(near(constant.cvar[0].interval.estimate.unwrap(), 3.0));
    // What never varied may still do: nothing is certain.
    let judged = evaluate(&on_policy(&[3.0; 50]), Binning::default(), &common::quick());
    for interval in [&judged.mean, &judged.variance, &judged.std, &judged.iqr, &judged.cvar[0].interval] {
        assert_eq!((interval.lower, interval.upper), (None, None));
        assert!(interval.estimate.is_some() && interval.reason == Some(Reason::EqualRewards));
    }
    assert!(judged.cdf.lower.iter().all(Option::is_none));
    // -0.0 and 0.0 are one reward.
    let zeros = evaluate(&on_policy(&[0.0, -0.0, 1.0]), Binning::default(), &points());
    assert_eq!(zeros.cdf.reward, [0.0, 1.0]);
}

/// The variance of a sum of slots needs order 2: at order 1 it may come out below 0, and is then not given.
#[test]
fn a_variance_below_zero_is_no_number() {
    let mut random = Random(14);
    let slates: Vec<Slate> = (0..4000)
        .map(|_| {
            let shown: Vec<bool> = (0..6).map(|_| random.uniform() < 0.1).collect();
            let mu: Vec<f64> = shown.iter().map(|&s| if s { 0.1 } else { 0.9 }).collect();
            let pi: Vec<f64> = shown.iter().map(|&s| if s { 0.95 } else { 0.05 }).collect();
            Slate { reward: shown.iter().filter(|s| **s).count() as f64, mu, pi, chi: vec![] }
        })
        .collect();
    let evaluate =
        |structure| summarise(&Spec::new(structure, ["new"]), &slates).evaluate(&points()).unwrap().policies[1].clone();
    let additive = evaluate(Structure::Additive);
    assert_eq!((additive.variance.estimate, additive.std.estimate), (None, None));
    let check = additive.diagnostics.checks.iter().find(|c| c.name().as_str() == "variance").unwrap();
    assert_eq!(check.status, slateval::Status::Fail);
    let truth = 6.0 * 0.95 * 0.05;
    let mean = additive.mean.estimate.unwrap();
    assert!((mean - 5.7).abs() < 0.2, "{mean}");
    assert!(evaluate(Structure::Order(2)).variance.estimate.is_none_or(|v| (v - truth).abs() < 2.0));
}
