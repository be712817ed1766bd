//! `P(reward >= x)`: by enumeration, at atoms and beside them, with intervals, and when nobody asked.
#![allow(clippy::unwrap_used)]

use slateval::{Band, Evaluation, Interval, PolicyEvaluation, Settings, Slates, Summary};

/// Two items, shown equally often; the target shows the first in 9 of 10 slates. Item 0 has rewards 0, 1, 1, 3 in turn,
/// item 1 has rewards 0, 0, 0, 1.
fn summary(times: usize) -> Summary {
    let reward = [0.0, 1.0, 1.0, 3.0, 0.0, 0.0, 0.0, 1.0].repeat(times);
    let pi = [0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1].repeat(times);
    let mu = vec![0.5; reward.len()];
    Slates::new(&reward).logging(&mu).target("new", &pi).summary().unwrap()
}

fn estimates(policy: &PolicyEvaluation) -> Vec<(f64, f64)> {
    policy.probabilities.iter().map(|p| (p.at_least, p.interval.estimate.unwrap())).collect()
}

fn assert_near(found: &[(f64, f64)], expected: &[(f64, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((x, p), (at, q)) in found.iter().zip(expected) {
        assert!(x == at && (p - q).abs() < 1e-12, "P(reward >= {x}) is {p}, not {q} (at {at})");
    }
}

fn evaluate(summary: &Summary, at_least: &[f64]) -> Evaluation {
    summary.evaluate(&Settings::default().with_at_least(at_least)).unwrap()
}

#[test]
fn an_atom_counts_for_itself() {
    let evaluation = evaluate(&summary(50), &[-1.0, 0.0, 0.5, 1.0, 1.5, 3.0, 4.0]);
    // Of the log: 4/8 are 0, 3/8 are 1, 1/8 are 3. Of the target: 0.9 (1, 2, 1)/4 + 0.1 (3, 1, 0)/4.
    let logged = [(-1.0, 1.0), (0.0, 1.0), (0.5, 0.5), (1.0, 0.5), (1.5, 0.125), (3.0, 0.125), (4.0, 0.0)];
    assert_near(&estimates(&evaluation.policies[0]), &logged);
    let new = [(-1.0, 1.0), (0.0, 1.0), (0.5, 0.7), (1.0, 0.7), (1.5, 0.225), (3.0, 0.225), (4.0, 0.0)];
    assert_near(&estimates(&evaluation.policies[1]), &new);
}

#[test]
fn differences_are_those_of_the_policies() {
    let evaluation = evaluate(&summary(200), &[1.0, 3.0]);
    let found: Vec<&Interval> = evaluation.comparisons[0].probabilities.iter().map(|p| &p.interval).collect();
    for (interval, expected) in found.iter().zip([0.2, 0.1]) {
        assert!((interval.estimate.unwrap() - expected).abs() < 1e-12);
        let (lower, upper) = (interval.lower.unwrap(), interval.upper.unwrap());
        assert!(0.0 < lower && lower < expected && expected < upper, "[{lower}, {upper}]");
    }
}

/// A share of independent rows: the interval of logging has about the width of a normal one, and holds the estimate.
#[test]
fn intervals_are_those_of_a_share() {
    let evaluation = evaluate(&summary(200), &[1.0]);
    let interval = &evaluation.policies[0].probabilities[0].interval;
    let (lower, upper) = (interval.lower.unwrap(), interval.upper.unwrap());
    let width = 2.0 * 1.96 * (0.25f64 / 1600.0).sqrt();
    assert!(lower < 0.5 && 0.5 < upper && ((upper - lower) / width - 1.0).abs() < 0.1, "[{lower}, {upper}]");
    let guaranteed = summary(200).evaluate(&Settings::default().with_at_least([1.0]).with_band(Band::Bernstein));
    let interval = &guaranteed.unwrap().policies[0].probabilities[0].interval;
    assert!(interval.lower.unwrap() < lower && upper < interval.upper.unwrap());
}

#[test]
fn few_rewards_are_told_without_being_asked_for() {
    let found = summary(50).evaluate(&Settings::default()).unwrap();
    assert_near(&estimates(&found.policies[1]), &[(1.0, 0.7), (3.0, 0.225)]);
    assert_eq!(found.comparisons[0].probabilities.len(), 2);
    let many: Vec<f64> = (0..90).map(|i| f64::from(i % 9)).collect();
    let found = Slates::new(&many).logging(&[0.5; 90]).target("new", &[0.5; 90]).evaluate(&Settings::default());
    assert!(found.unwrap().policies[0].probabilities.is_empty(), "nine distinct rewards are not few");
}

/// 0.2 in single precision is more than 0.2, and 0.7 is less; both are meant by the number.
#[test]
fn single_precision_is_seen_through() {
    let reward: Vec<f64> = [0.2f32, 0.7, 0.7, 0.9].repeat(50).into_iter().map(f64::from).collect();
    let summary = Slates::new(&reward).logging(&[0.5; 200]).target("new", &[0.5; 200]).summary().unwrap();
    let found = evaluate(&summary, &[0.2, 0.7, 0.8, 0.9]);
    assert_near(&estimates(&found.policies[0]), &[(0.2, 1.0), (0.7, 0.75), (0.8, 0.25), (0.9, 0.25)]);
}

/// Beyond 4,096 distinct rewards they are binned: the probability is read inside a bin, to within its share.
#[test]
fn binned_rewards_are_read_inside_their_bins() {
    let reward: Vec<f64> = (0..20_000).map(|i| f64::from(i) / 20_000.0).collect();
    let flat = vec![0.5; reward.len()];
    let summary = Slates::new(&reward).logging(&flat).target("new", &flat).summary().unwrap();
    let found = evaluate(&summary, &[0.0, 0.25, 0.5, 0.99995]);
    for (x, p) in estimates(&found.policies[0]) {
        assert!((p - (1.0 - x)).abs() < 2.0 / 4096.0, "P(reward >= {x}) is {p}");
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    let refused = summary(2).evaluate(&Settings::default().with_at_least([f64::NAN]));
    assert!(refused.unwrap_err().to_string().contains("at-least"));
}
