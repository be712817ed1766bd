//! Rewards far from zero, against their spread: numbers are those of the same rewards close to zero, moved and scaled.
#![allow(clippy::unwrap_used)]

use slateval::{Accumulator, Evaluation, Settings, Slate, Spec, Structure, Summary};

/// Multiples of 1/1024, so that moving and scaling them is exact.
fn unit_reward(row: usize) -> f64 {
    ((row * 7919 + row * row * 31) % 1024) as f64 / 1024.0
}

fn summary(rows: std::ops::Range<usize>, reward: impl Fn(usize) -> f64) -> Summary {
    let mut sums = Accumulator::new(Spec::new(Structure::Additive, ["new"])).unwrap();
    for row in rows {
        let [one, other] = [0.2 + 0.6 * (row % 5) as f64 / 4.0, 0.2 + 0.6 * (row % 7) as f64 / 6.0];
        sums.record(&Slate::new(reward(row)).logging(&[0.5, 0.5]).targets(&[&[one, other]])).unwrap();
    }
    sums.finish().into()
}

fn evaluate(summary: &Summary) -> Evaluation {
    summary.evaluate(&Settings::default()).unwrap()
}

/// Means with their intervals, and standard deviations, as if rewards had not been moved.
fn told(evaluation: &Evaluation, from: f64, scale: f64) -> Vec<f64> {
    let policies = evaluation.policies.iter();
    let told = policies.flat_map(|policy| {
        let mean = &policy.mean;
        let moved = [mean.estimate, mean.lower, mean.upper].map(|x| (x.unwrap() - from) / scale);
        moved.into_iter().chain([policy.std.estimate.unwrap() / scale])
    });
    told.collect()
}

/// To the digits that are left of rewards so far from zero: a mean is rounded where it is.
fn assert_same(found: &Evaluation, (from, scale): (f64, f64), wanted: &[f64]) {
    let tolerance = 16.0 * f64::EPSILON * (1.0 + from.abs() / scale);
    for (found, wanted) in told(found, from, scale).iter().zip(wanted) {
        let off = (found - wanted).abs();
        assert!(off < tolerance, "from {from}, times {scale}: {found} where {wanted} was expected");
    }
}

const PLACES: [(f64, f64); 6] = [
    (0.5, 1.0 / (1_u64 << 30) as f64),
    (0.875, 1.0 / (1_u64 << 32) as f64),
    (-0.6875, 1.0 / (1_u64 << 30) as f64),
    (1.0 / 1024.0, 1.0 / (1_u64 << 36) as f64),
    ((1_u64 << 30) as f64, 1.0),
    (-((1_u64 << 30) as f64), 1.0),
];

#[test]
fn the_place_of_rewards_changes_nothing() {
    for rows in [3000, 60] {
        let wanted = told(&evaluate(&summary(0..rows, unit_reward)), 0.0, 1.0);
        for (from, scale) in PLACES {
            let found = evaluate(&summary(0..rows, |row| from + scale * unit_reward(row)));
            assert_same(&found, (from, scale), &wanted);
        }
    }
}

/// The first block says nothing of the spread.
#[test]
fn rewards_may_be_constant_at_first() {
    let late = |row: usize| if row < 1500 { 0.0 } else { unit_reward(row) };
    let wanted = told(&evaluate(&summary(0..3000, late)), 0.0, 1.0);
    for (from, scale) in PLACES {
        let found = evaluate(&summary(0..3000, |row| from + scale * late(row)));
        assert_same(&found, (from, scale), &wanted);
    }
}

#[test]
fn parts_may_be_small() {
    let merged = |reward: &dyn Fn(usize) -> f64| {
        let mut parts = (0..60).map(|part| summary(part * 50..(part + 1) * 50, reward));
        let mut total = parts.next().unwrap();
        parts.for_each(|part| total.merge(&part).unwrap());
        evaluate(&total)
    };
    let wanted = told(&merged(&unit_reward), 0.0, 1.0);
    for (from, scale) in PLACES {
        let found = merged(&|row| from + scale * unit_reward(row));
        assert_same(&found, (from, scale), &wanted);
    }
}
