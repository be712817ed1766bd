//! Slots and weights that vary by rounding alone do not move an estimate, and no order is found in them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Random, points};
use slateval::{CheckName, Evaluation, Settings, Slates, Status, Structure};

const ROWS: usize = 2000;

fn estimate(evaluation: &Evaluation, policy: &str) -> f64 {
    evaluation.policy(policy).unwrap().mean.estimate.unwrap()
}

fn status(evaluation: &Evaluation, name: CheckName) -> Option<Status> {
    let checks = &evaluation.policy("new").unwrap().diagnostics.checks;
    checks.iter().find(|check| check.name() == name).map(|check| check.status)
}

/// A weight that never varies is no control: the estimate is the logged one.
#[test]
fn a_constant_weight_near_one_moves_nothing() {
    let reward: Vec<f64> = (0..1000).map(|i| f64::from(i % 10)).collect();
    for weight in [0.999, 0.9999, 1.0, 1.003, 1.01] {
        let weights = vec![weight; reward.len()];
        let slates = Slates::new(&reward).structure(Structure::Given).weight("new", &weights);
        let evaluation = slates.evaluate(&points()).unwrap();
        assert!((estimate(&evaluation, "new") - 4.5).abs() < 1e-9, "{weight}: {}", estimate(&evaluation, "new"));
        let median = evaluation.policy("new").unwrap().quantiles.iter().find(|q| q.level == 0.5).unwrap();
        assert_eq!(median.interval.estimate, Some(4.0), "{weight}");
    }
}

/// Logged propensities in double precision, and the same policy's in single.
#[test]
fn a_policy_against_itself_in_single_precision_is_the_logged_one() {
    for structure in [Structure::Auto, Structure::Additive, Structure::Product, Structure::Order(2)] {
        let mut random = Random(3);
        let mu: Vec<[f64; 3]> = (0..ROWS).map(|_| [(); 3].map(|()| 0.05 + 0.9 * random.uniform())).collect();
        let pi: Vec<[f64; 3]> = mu.iter().map(|mu| mu.map(|p| f64::from(p as f32))).collect();
        let reward: Vec<f64> = (0..ROWS).map(|_| random.uniform()).collect();
        let slates = Slates::new(&reward).structure(structure.clone()).logging(&mu).target("new", &pi);
        let evaluation = slates.evaluate(&Settings::default()).unwrap();
        let (new, logging) = (estimate(&evaluation, "new"), estimate(&evaluation, "logging"));
        assert!((new - logging).abs() < 1e-6, "{structure}: {new} against {logging}");
        assert_ne!(status(&evaluation, CheckName::Propensities), Some(Status::Fail), "{structure}");
    }
}

/// The target leaves the third slot as it is but for the last bits, so that nothing can be known of its effects.
#[test]
fn no_order_is_found_in_rounding() {
    for seed in 0..40 {
        let mut random = Random(100 + seed);
        let (mut reward, mut mu, mut pi) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROWS {
            let hits = [(); 2].map(|()| random.uniform() < 0.5);
            let last = 0.1 * (1.0 + f64::EPSILON * (random.below(5) as f64 - 2.0));
            mu.push([0.5, 0.5, 0.1]);
            pi.push([if hits[0] { 0.8 } else { 0.2 }, if hits[1] { 0.7 } else { 0.3 }, last]);
            reward.push(100.0 + f64::from(u8::from(hits[0])) + f64::from(u8::from(hits[1])) + random.uniform());
        }
        let evaluation = Slates::new(&reward).logging(&mu).target("new", &pi).evaluate(&Settings::default()).unwrap();
        let selection = evaluation.policy("new").unwrap().selection.as_ref().unwrap();
        let third = selection.orders.iter().find(|test| test.order == 3).unwrap();
        assert!(!third.active && !third.mean.active && !third.variance.active, "seed {seed}: {third:?}");
    }
}

/// The target changes the first slots; the others are the same for both policies, but may be logged in single precision.
fn with_unchanged_slots(
    structure: Structure,
    (changed, slots): (usize, usize),
    reward: impl Fn([bool; 2]) -> bool,
    single: bool,
) -> Evaluation {
    let mut random = Random(11);
    let unchanged = if single { f64::from(0.1_f32) } else { 0.1 };
    let (mut rewards, mut mu, mut pi) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..20_000 {
        let hits = [(); 2].map(|()| random.uniform() < 0.5);
        let target = |k: usize| if hits[k] { 0.8 } else { 0.2 };
        mu.push((0..slots).map(|k| if k < changed { 0.5 } else { unchanged }).collect::<Vec<f64>>());
        pi.push((0..slots).map(|k| if k < changed { target(k) } else { 0.1 }).collect::<Vec<f64>>());
        rewards.push(f64::from(u8::from(reward(hits))) + 0.3 * random.uniform());
    }
    let slates = Slates::new(&rewards).structure(structure).logging(&mu).target("new", &pi);
    slates.evaluate(&Settings::default()).unwrap()
}

/// Products with a slot that is not changed repeat what is known of the others.
#[test]
fn no_order_is_found_in_slots_that_single_precision_changes() {
    for single in [true, false] {
        let evaluation = with_unchanged_slots(Structure::Additive, (1, 2), |hits| hits[0], single);
        assert_ne!(status(&evaluation, CheckName::Structure), Some(Status::Fail), "single {single}");
        assert_eq!(status(&evaluation, CheckName::Propensities), Some(Status::Ok), "single {single}");
        let evaluation = with_unchanged_slots(Structure::Auto, (2, 5), |hits| hits[0] ^ hits[1], single);
        let policy = evaluation.policy("new").unwrap();
        let tests = policy.selection.as_ref().unwrap().orders.iter();
        let active: Vec<usize> = tests.filter(|test| test.active).map(|test| test.order).collect();
        assert_eq!(active, [2], "single {single}");
        assert!(policy.mean.lower.is_some(), "single {single}: {:?}", policy.mean.reason);
    }
}

/// Targets that hardly differ from the logging policy are judged as all others are.
#[test]
fn small_changes_are_no_rounding() {
    let mut random = Random(8);
    let (mut reward, mut mu, mut pi, mut wrong) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..300_000 {
        let first = random.uniform() < 0.5;
        let second = if random.uniform() < 0.8 { first } else { !first };
        let nudged = |hit: bool, by: f64| if hit { 0.5 * (1.0 + by) } else { 0.5 * (1.0 - by) };
        mu.push([0.5, 0.5]);
        pi.push([nudged(first, 9e-4), nudged(second, 9e-4)]);
        wrong.push([nudged(first, 1e-6) * (1.0 + 0.9e-6), 0.5]);
        reward.push(f64::from(u8::from(first)) + random.uniform());
    }
    let evaluation = Slates::new(&reward).logging(&mu).target("new", &pi).evaluate(&points()).unwrap();
    assert_eq!(status(&evaluation, CheckName::Factored), Some(Status::Warn), "slots depend on each other");
    let evaluation = Slates::new(&reward).logging(&mu).target("new", &wrong).evaluate(&points()).unwrap();
    assert_eq!(status(&evaluation, CheckName::Propensities), Some(Status::Fail), "a mean ratio of 1.0000009");
}
