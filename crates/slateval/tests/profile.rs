//! Quantiles and tails at many levels: the same numbers as at few, and a band that holds them all.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/truth.rs"]
mod truth;

use common::{Random, quick};
use slateval::{Interval, Profile, Spec, Structure, Tail};
use truth::Truth;

/// As a profile shows it: with the ends of the chosen order only where there are no others.
fn shown(interval: &Interval) -> Interval {
    let mut interval = interval.clone();
    interval.if_order_holds = interval.if_order_holds.filter(|_| interval.conditional);
    interval
}

fn place(profile: &Profile, level: f64) -> usize {
    profile.levels.iter().position(|l| *l == level).unwrap()
}

#[test]
fn at_the_settings_levels_it_is_the_evaluation() {
    let truth = Truth::pairwise(11);
    for (structure, tail) in [(Structure::Auto, Tail::Lower), (Structure::Additive, Tail::Upper)] {
        let summary = truth.log(&Spec::new(structure, ["new"]), 3000, &mut Random(5));
        let mut settings = quick();
        settings.tail = tail;
        let levels = Profile::levels(&settings);
        assert!(levels.windows(2).all(|pair| pair[0] < pair[1]), "{levels:?}");
        let (profile, evaluation) =
            (summary.profile(&levels, &settings).unwrap(), summary.evaluate(&settings).unwrap());
        assert_eq!(profile.policies.len(), evaluation.policies.len());
        for (dense, few) in profile.policies.iter().zip(&evaluation.policies) {
            assert_eq!(dense.name, few.name);
            for (var, cvar) in few.var.iter().zip(&few.cvar) {
                let at = place(&profile, var.alpha);
                assert_eq!((&dense.var[at], &dense.cvar[at]), (&shown(&var.interval), &shown(&cvar.interval)));
            }
        }
        for (dense, few) in profile.comparisons.iter().zip(&evaluation.comparisons) {
            assert_eq!((&dense.policy, &dense.baseline), (&few.policy, &few.baseline));
            for cvar in &few.cvar {
                assert_eq!(dense.cvar[place(&profile, cvar.alpha)], shown(&cvar.interval));
            }
            for quantile in &few.quantiles {
                assert_eq!(dense.quantiles[place(&profile, quantile.level)], shown(&quantile.interval));
            }
        }
    }
}

#[test]
fn the_band_of_differences_holds_all_of_them_at_once() {
    let levels: Vec<f64> = (1..20).map(|i| f64::from(i) / 20.0).collect();
    let (trials, mut at_once, mut each) = (80, 0, 0);
    let truth = Truth::slices(4);
    let (target, logging) = (truth.answers(), truth.logging_answers());
    let holds = |(i, q): (&Interval, &f64)| {
        let difference = target.quantile(*q) - logging.quantile(*q);
        i.lower.unwrap() <= difference + 1e-6 && difference - 1e-6 <= i.upper.unwrap()
    };
    for trial in 0..trials {
        let mut settings = quick();
        settings.draws = 500;
        let summary = truth.log(&Spec::new(Structure::Additive, ["new"]), 1500, &mut Random(70 + trial));
        let comparison = summary.profile(&levels, &settings).unwrap().comparisons.remove(0);
        at_once += u64::from(comparison.quantile_band.iter().zip(&levels).all(holds));
        each += u64::from(comparison.quantiles.iter().zip(&levels).all(holds));
        let wider = |(band, own): (&Interval, &Interval)| band.lower <= own.lower && band.upper >= own.upper;
        assert!(comparison.quantile_band.iter().zip(&comparison.quantiles).all(wider));
    }
    // At .95, 80 trials have a standard error of 1.95: within four of them. Intervals of each level by itself do not hold
    // all levels at once.
    assert!(at_once >= 68, "{at_once} of {trials}");
    assert!(each < at_once, "{each} of {trials}, and {at_once}");
}

#[test]
fn levels_without_an_interval_do_not_widen_the_others() {
    let summary = Truth::slices(4).log(&Spec::new(Structure::Additive, ["new"]), 400, &mut Random(3));
    let with = |levels: &[f64]| summary.profile(levels, &quick()).unwrap().comparisons.remove(0).quantile_band;
    let (all, inner) = (with(&[0.0001, 0.4, 0.6, 0.9999]), with(&[0.4, 0.6]));
    assert!(all[0].lower.is_none() && all[0].reason.is_some() && all[3].upper.is_none(), "{all:?}");
    assert_eq!(all[1..3], inner[..]);
}
