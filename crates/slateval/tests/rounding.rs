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
        assert!(!third.mean.active && !third.variance.active, "seed {seed}: {third:?}");
    }
}
