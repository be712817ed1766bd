//! The order chosen from the data: how often it is right, and what it costs.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/truth.rs"]
mod truth;

use common::{Random, Slate, summarise};
use slateval::{Band, Evaluation, Refutation, Settings, Spec, Status, Structure, TargetSlots};
use slateval::{InWords, Voice};
use truth::{Answers, Truth};

fn settings(seed: usize) -> Settings {
    let mut settings = Settings::default();
    settings.band = Band::None;
    settings.draws = 400;
    settings.seed = seed as u64;
    settings
}

fn evaluate(truth: &Truth, structure: Structure, n: usize, trial: usize) -> Evaluation {
    let spec = Spec::new(structure, ["new"]).with_chi();
    truth.log(&spec, n, &mut Random(77 + trial as u64)).evaluate(&settings(trial)).unwrap()
}

/// The largest distance of the estimated CDF to the true one, at logged rewards.
fn distance(evaluation: &Evaluation, answers: &Answers) -> f64 {
    let cdf = &evaluation.policy("new").unwrap().cdf;
    cdf.reward.iter().zip(&cdf.estimate).map(|(v, f)| (f - answers.cdf(*v)).abs()).fold(0.0, f64::max)
}

/// How often any order was found active, and how often order 2 was.
fn shares_active(truth: &Truth, trials: usize) -> (f64, f64) {
    let orders = |trial: usize| {
        let evaluation = evaluate(truth, Structure::Auto, 2000, trial);
        evaluation.policy("new").unwrap().selection.clone().unwrap().orders
    };
    let found: Vec<_> = (0..trials).map(orders).collect();
    let share = |count: usize| count as f64 / trials as f64;
    let any = found.iter().filter(|orders| orders.iter().any(|test| test.active)).count();
    (share(any), share(found.iter().filter(|orders| orders[0].active).count()))
}

#[test]
fn an_order_without_effect_is_seldom_taken_for_active_and_one_with_effect_seldom_missed() {
    // 300 trials: the share's standard error is .013 at .05 and .021 at .83, the power in docs/coverage.md.
    let (size, _) = shares_active(&Truth::additive(11), 300);
    assert!(size <= 0.05 + 3.0 * 0.013, "{size}");
    let (_, power) = shares_active(&Truth::pairwise(11), 300);
    assert!(power > 0.83 - 3.0 * 0.021, "{power}");
}

/// The reward is high where an even number of slots shows action 0, and nothing of lower order shows that.
fn parity_log(slots: usize, rows: usize, seed: u64) -> Vec<Slate> {
    let mut random = Random(seed);
    let row = |_| {
        let actions: Vec<usize> = (0..slots).map(|_| random.below(2)).collect();
        let even = f64::from(u8::from(actions.iter().sum::<usize>() % 2 == 0));
        let pi = actions.iter().map(|&a| [0.75, 0.25][a]).collect();
        Slate { reward: even + random.uniform(), mu: vec![0.5; slots], pi, chi: vec![0.25; slots] }
    };
    (0..rows).map(row).collect()
}

#[test]
fn an_active_order_is_chosen_though_those_below_it_are_silent() {
    let summary = summarise(&Spec::new(Structure::Auto, ["new"]), &parity_log(3, 5000, 4));
    let mut settings = settings(1);
    settings.band = Band::Multiplier;
    let evaluation = summary.evaluate(&settings).unwrap();
    let new = evaluation.policy("new").unwrap();
    let selection = new.selection.as_ref().unwrap();
    assert!(!selection.orders[0].active && selection.orders[1].active, "{selection:?}");
    assert_eq!((selection.cdf, selection.mean, selection.band), (3, 3, Some(3)));
    // P(even) = (1 + (1/2)^3) / 2 under the target.
    let (lower, upper) = (new.mean.lower.unwrap(), new.mean.upper.unwrap());
    assert!(lower < 0.5625 + 0.5 && 0.5625 + 0.5 < upper && upper - lower < 0.2, "{:?}", new.mean);
}

/// The reward is high where an even number of the slots that the target changes shows action 0.
fn parity_of_some(slots: usize, changes: impl Fn(usize) -> Vec<usize>) -> slateval::PolicyEvaluation {
    let mut random = Random(12);
    let row = |i: usize| {
        let actions: Vec<usize> = (0..slots).map(|_| random.below(2)).collect();
        let changed = changes(i);
        let odd = changed.iter().map(|&slot| actions[slot]).sum::<usize>() % 2;
        let pi = |slot: usize| if changed.contains(&slot) { [0.75, 0.25][actions[slot]] } else { 0.5 };
        let (pi, chi) = ((0..slots).map(pi).collect(), vec![0.25; slots]);
        Slate { reward: odd as f64 + random.uniform(), mu: vec![0.5; slots], pi, chi }
    };
    let slates: Vec<Slate> = (0..5000).map(row).collect();
    let mut settings = settings(1);
    settings.band = Band::Multiplier;
    let evaluation = summarise(&Spec::new(Structure::Auto, ["new"]), &slates).evaluate(&settings).unwrap();
    evaluation.policies[1].clone()
}

#[test]
fn a_target_that_changes_few_slots_leaves_nothing_untested() {
    // Three of twelve slots that interact; and one slot of each slate, which is not always the same.
    for (slots, order, new) in [
        (5, 2, parity_of_some(5, |_| vec![0, 1])),
        (12, 3, parity_of_some(12, |_| vec![0, 4, 11])),
        (6, 1, parity_of_some(6, |row| vec![row % 2])),
    ] {
        let check = new.diagnostics.checks.iter().find(|check| check.name().as_str() == "order").unwrap();
        assert_eq!(check.status, Status::Ok, "{slots}: {:?}", check.finding);
        let plural = if order == 1 { "" } else { "s" };
        let why =
            format!("the target changes at most {order} slot{plural} of a slate: nothing is assumed at this order");
        let reason = new.selection.as_ref().unwrap().reason.in_words(Voice::Plain);
        assert!(reason.starts_with(&format!("CDF at order {order}")) && reason.ends_with(&why), "{reason}");
        assert!(!new.mean.conditional && new.mean.lower.is_some());
    }
}

#[test]
fn a_structure_asked_for_by_name_is_refuted_where_the_log_does() {
    let mut settings = settings(1);
    settings.band = Band::Multiplier;
    for (structure, slots, refuted) in [
        ("additive", 3, true),
        ("order:2", 3, true),
        ("interactions:1+2,2+3", 3, true),
        ("order:3", 3, false),
        ("product", 3, false),
        ("interactions:1+2+3", 3, false),
        ("additive", 5, true),
        ("order:4", 5, true),
    ] {
        let name = structure;
        let structure: Structure = structure.parse().unwrap();
        let summary = summarise(&Spec::new(structure, ["new"]), &parity_log(slots, 5000, 5));
        let evaluation = summary.evaluate(&settings).unwrap();
        let new = evaluation.policy("new").unwrap();
        let check = new.diagnostics.checks.iter().find(|check| check.name().as_str() == "structure");
        assert_eq!(check.is_some_and(|check| check.status == Status::Fail), refuted, "{name}: {check:?}");
        // Refuted intervals are there, with a mark.
        for interval in [&new.mean, &new.std, &new.quantiles[1].interval, &evaluation.comparisons[0].mean] {
            let by = interval.refuted.as_ref().map(ToString::to_string);
            assert_eq!((by.as_deref(), interval.reason.is_some()), (refuted.then_some(name), refuted), "{interval:?}");
            assert!(interval.lower.is_some() && !interval.conditional);
        }
        assert_eq!(new.cdf.refuted.is_some(), refuted);
    }
}

#[test]
fn an_order_of_a_summary_that_kept_several_is_refuted_too() {
    let summary = summarise(&Spec::new(Structure::Auto, ["new"]), &parity_log(3, 5000, 6));
    for (order, refuted) in [(1, true), (2, true), (3, false)] {
        let mut settings = settings(1);
        (settings.band, settings.structure) = (Band::Multiplier, Some(Structure::Order(order)));
        let evaluation = summary.evaluate(&settings).unwrap();
        let by = refuted.then_some(Refutation::Structure(Structure::Order(order)));
        assert_eq!(evaluation.policy("new").unwrap().mean.refuted, by);
    }
}

#[test]
fn the_chosen_order_is_nearly_as_good_as_the_best_fixed_one() {
    for (name, truth) in [("additive", Truth::additive(11)), ("pairwise", Truth::pairwise(11))] {
        let answers = truth.answers();
        for (n, trials) in [(2000, 60), (10_000, 25)] {
            let mean = |structure: Structure| {
                let one = |trial| distance(&evaluate(&truth, structure.clone(), n, trial), &answers);
                (0..trials).map(one).sum::<f64>() / trials as f64
            };
            let best = mean(Structure::Order(1)).min(mean(Structure::Order(2)));
            let chosen = mean(Structure::Auto);
            assert!(chosen <= 1.15 * best, "{name}, {n} rows: {chosen} against {best}");
        }
    }
}

#[test]
fn the_mean_the_variance_and_the_cdf_have_orders_of_their_own() {
    // The reward is a sum over slots: its mean is additive, its square of order 2, and its CDF neither.
    let mut random = Random(3);
    let row = |_| {
        let mut slate = Slate { reward: 0.0, mu: vec![], pi: vec![], chi: vec![] };
        for _ in 0..3 {
            let a = random.below(2);
            slate.mu.push(0.5);
            slate.pi.push([0.9, 0.1][a]);
            slate.chi.push(0.64);
            slate.reward += a as f64;
        }
        slate
    };
    let slates: Vec<Slate> = (0..20_000).map(row).collect();
    let evaluation =
        summarise(&Spec::new(Structure::Auto, ["new"]).with_chi(), &slates).evaluate(&settings(1)).unwrap();
    let new = evaluation.policy("new").unwrap();
    let selection = new.selection.as_ref().unwrap();
    assert_eq!((selection.mean, selection.variance, selection.cdf), (1, 2, 3), "{:?}", selection.reason);
    assert_eq!(new.structure, Some(Structure::Order(3)));
    // Three independent slots with variance .09 each.
    let variance = new.variance.estimate.unwrap();
    assert!((variance - 0.27).abs() < 0.05, "{variance}");
    assert!((new.mean.estimate.unwrap() - 0.3).abs() < 0.03);
    // At the order of the mean it would be far off.
    let additive = summarise(&Spec::new(Structure::Additive, ["new"]).with_chi(), &slates);
    let wrong = additive.evaluate(&settings(1)).unwrap().policy("new").unwrap().variance.estimate;
    assert!(wrong.is_none_or(|v| (v - 0.27).abs() > 0.2), "{wrong:?}");
    // Nothing lies above the order of all slots: the band needs no trust in the choice.
    assert_eq!(selection.band, Some(3));
}

#[test]
fn intervals_without_trust_in_the_order_hold_those_with_it_in_their_place() {
    let truth = Truth::pairwise(11);
    let spec = Spec::new(Structure::Auto, ["new"]).with_chi();
    let mut settings = settings(5);
    settings.band = Band::Multiplier;
    let evaluation = truth.log(&spec, 10_000, &mut Random(5)).evaluate(&settings).unwrap();
    let new = evaluation.policy("new").unwrap();
    let selection = new.selection.as_ref().unwrap();
    assert_eq!((selection.cdf, selection.band), (2, Some(3)));
    for interval in [&new.mean, &new.variance, &new.iqr, &new.quantiles[1].interval, &new.cvar[1].interval] {
        let (estimate, inner) = (interval.estimate.unwrap(), interval.if_order_holds.unwrap());
        assert!(interval.lower.unwrap() <= estimate && estimate <= interval.upper.unwrap());
        assert!(inner.lower.unwrap() <= estimate && estimate <= inner.upper.unwrap());
    }
    let inner = new.cdf.if_order_holds.as_ref().unwrap();
    let total = |lower: &[Option<f64>], upper: &[Option<f64>]| -> f64 {
        upper.iter().zip(lower).map(|(u, l)| u.unwrap() - l.unwrap()).sum()
    };
    assert!(total(&inner.lower, &inner.upper) < total(&new.cdf.lower, &new.cdf.upper));
    assert!(evaluation.comparisons[0].mean.if_order_holds.is_some());
    // The logging policy has no order.
    assert!(evaluation.policies[0].mean.if_order_holds.is_none() && evaluation.policies[0].selection.is_none());
}

#[test]
fn an_order_that_the_log_cannot_carry_is_not_used_and_this_is_said() {
    // 100 rows: order 2 of four slots has a design effective sample size below 10.
    let truth = Truth::additive(11);
    let mut settings = settings(1);
    settings.band = Band::Multiplier;
    let spec = Spec::new(Structure::Auto, ["new"]).with_chi();
    let evaluation = truth.log(&spec, 100, &mut Random(78)).evaluate(&settings).unwrap();
    let new = evaluation.policy("new").unwrap();
    let selection = new.selection.as_ref().unwrap();
    assert!(selection.orders[0].design_ess.unwrap() < 10.0);
    assert_eq!((selection.cdf, selection.band), (1, None));
    assert!(selection.reason.in_words(Voice::Plain).contains("too thin to tell"), "{:?}", selection.reason);
    let check = new.diagnostics.checks.iter().find(|c| c.name().as_str() == "order").unwrap();
    assert_eq!(check.status, Status::Warn);
    // What rests on the order alone is given as such.
    for interval in [&new.mean, &new.quantiles[1].interval, &evaluation.comparisons[0].mean] {
        assert!(interval.conditional && interval.lower.is_none() && interval.upper.is_none(), "{interval:?}");
        assert!(interval.if_order_holds.is_some() && interval.reason.is_some());
    }
    assert!(new.cdf.conditional && new.cdf.lower[0].is_none() && new.cdf.if_order_holds.is_some());
    // Who names the structure makes the assumption.
    let mut named = settings.clone();
    named.structure = Some(Structure::Additive);
    let evaluation = truth.log(&spec, 100, &mut Random(78)).evaluate(&named).unwrap();
    let mean = &evaluation.policy("new").unwrap().mean;
    assert!(!mean.conditional && mean.refuted.is_none() && mean.lower.is_some());
}

#[test]
fn where_every_order_shows_nothing_vouches_for_the_cdf() {
    // The reward is 1 where all five slots agree with the target: effects of every order.
    let mut random = Random(8);
    let row = |_| {
        let actions: Vec<usize> = (0..5).map(|_| random.below(2)).collect();
        let reward = f64::from(u8::from(actions.iter().all(|&a| a == 0)));
        let pi = actions.iter().map(|&a| [0.8, 0.2][a]).collect();
        Slate { reward, mu: vec![0.5; 5], pi, chi: vec![0.36; 5] }
    };
    let slates: Vec<Slate> = (0..50_000).map(row).collect();
    let mut settings = settings(1);
    settings.band = Band::Multiplier;
    let evaluation = summarise(&Spec::new(Structure::Auto, ["new"]).with_chi(), &slates).evaluate(&settings).unwrap();
    let new = evaluation.policy("new").unwrap();
    let selection = new.selection.as_ref().unwrap();
    assert_eq!((selection.cdf, selection.band), (4, None), "{:?}", selection.reason);
    let check = new.diagnostics.checks.iter().find(|c| c.name().as_str() == "order").unwrap();
    assert_eq!(check.status, Status::Fail);
    let median = &new.quantiles[1].interval;
    assert!(median.lower.is_none() && median.reason.is_some() && median.if_order_holds.is_some());
    assert!(new.cdf.lower[0].is_none() && new.cdf.reason.is_some() && new.cdf.if_order_holds.is_some());
    assert_eq!(evaluation.comparisons[0].dominance, None);
}

#[test]
fn a_target_with_joint_slots_stays_at_order_one() {
    let mut spec = Spec::new(Structure::Auto, ["new"]);
    spec.target_slots = TargetSlots::Joint;
    let mut settings = settings(1);
    settings.band = Band::Multiplier;
    for (truth, contradicted) in [(Truth::additive(11), false), (Truth::pairwise(11), true)] {
        let evaluation = truth.log(&spec, 5000, &mut Random(1)).evaluate(&settings).unwrap();
        let new = evaluation.policy("new").unwrap();
        let selection = new.selection.clone().unwrap();
        assert_eq!((selection.cdf, selection.mean, selection.variance, selection.band), (1, 1, 1, None));
        // No test can vouch for the additive order, but the log may contradict it.
        assert_eq!(selection.orders[0].active, contradicted, "{:?}", selection.reason);
        let median = &new.quantiles[1].interval;
        assert_eq!(median.conditional, !contradicted);
        assert!(median.lower.is_none() && median.if_order_holds.is_some(), "{median:?}");
    }
}

#[test]
fn slots_that_interact_are_named() {
    // Only slots 1 and 3 do.
    let mut random = Random(9);
    let row = |_| {
        let actions: Vec<usize> = (0..3).map(|_| random.below(2)).collect();
        let agree = f64::from(u8::from(actions[0] == actions[2]));
        let pi = actions.iter().map(|&a| [0.8, 0.2][a]).collect();
        Slate { reward: agree + 0.3 * random.uniform(), mu: vec![0.5; 3], pi, chi: vec![0.36; 3] }
    };
    let slates: Vec<Slate> = (0..5000).map(row).collect();
    let mut spec = Spec::new(Structure::Auto, ["new"]);
    assert!(summarise(&spec, &slates).interactions(&settings(1)).is_err(), "they were not kept");
    spec.interactions = true;
    let found = summarise(&spec, &slates).interactions(&settings(1)).unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!((found[0].slots, found[0].active), ([1, 3], true));
    assert!(found[1..].iter().all(|pair| !pair.active), "{found:?}");
    // Z_1 Z_3 is .36 where they agree, -.36 where not; the CDF at .5 differs by 1 between the two.
    assert!((found[0].strength - 0.18).abs() < 0.02, "{}", found[0].strength);
}
