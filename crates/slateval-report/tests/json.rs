//! Which points of the CDFs the JSON has.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use slateval::{Evaluation, Settings, Slates, Spec, Structure, Summary};
use slateval_report::{CdfPoints, MOST_CDF_POINTS, Voice};

/// Rewards on a line, no two of them equal, and targets that prefer the upper half.
fn evaluated(rows: usize, targets: &[&str], settings: &Settings) -> Evaluation {
    let reward: Vec<f64> = (0..rows).map(|i| ((i * 7919) % rows) as f64 / rows as f64).collect();
    let mu = vec![0.5; rows];
    let lean = |target: usize| 0.55 + 0.4 * target as f64 / targets.len() as f64;
    let pi: Vec<Vec<f64>> = (0..targets.len())
        .map(|t| reward.iter().map(|r| if *r > 0.5 { lean(t) } else { 1.0 - lean(t) }).collect())
        .collect();
    let mut summary = Summary::new(Spec::new(Structure::Additive, targets.iter().copied())).unwrap();
    let slates = Slates::new(&reward).logging(&mu);
    targets.iter().zip(&pi).fold(slates, |slates, (name, pi)| slates.target(*name, pi)).add_to(&mut summary).unwrap();
    summary.evaluate(settings).unwrap()
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.draws = 200;
    settings
}

fn json(evaluation: &Evaluation, points: CdfPoints) -> Value {
    serde_json::from_str(&slateval_report::json(evaluation, &"", Voice::CommandLine, points).unwrap()).unwrap()
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// The thinned CDF keeps its ends, and the values of the whole one at every reward it keeps.
fn is_part_of(thin: &Value, whole: &Value) {
    let (kept, rewards) = (numbers(&thin["cdf"]["reward"]), numbers(&whole["cdf"]["reward"]));
    assert!(kept.len() <= MOST_CDF_POINTS && kept.len() > MOST_CDF_POINTS / 2, "{}", kept.len());
    assert_eq!((kept.first(), kept.last()), (rewards.first(), rewards.last()));
    assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
    for (point, reward) in kept.iter().enumerate() {
        let place = rewards.iter().position(|r| r == reward).unwrap();
        for column in ["raw", "estimate", "lower", "upper"] {
            assert_eq!(thin["cdf"][column][point], whole["cdf"][column][place], "{column} at {reward}");
        }
    }
}

/// The reward at which a CDF reaches a level, and the probability that it has there and just before.
fn crossing(policy: &Value, level: f64) -> (f64, f64, f64) {
    let (rewards, values) = (numbers(&policy["cdf"]["reward"]), numbers(&policy["cdf"]["estimate"]));
    let at = values.partition_point(|f| *f < level - 1e-12);
    (rewards[at], values[at], if at == 0 { 0.0 } else { values[at - 1] })
}

#[test]
fn thinned_cdfs_show_the_reported_metrics_exactly() {
    let evaluation = evaluated(3000, &["new", "bold"], &settings());
    let (thin, whole) = (json(&evaluation, CdfPoints::Thinned), json(&evaluation, CdfPoints::Every));
    let policies = thin["policies"].as_array().unwrap().iter().zip(whole["policies"].as_array().unwrap());
    for (thin, whole) in policies {
        assert_eq!(whole["cdf"]["reward"].as_array().unwrap().len(), 3000);
        is_part_of(thin, whole);
        for level in [0.05, 0.1, 0.25, 0.5, 0.75] {
            assert_eq!(crossing(thin, level), crossing(whole, level));
        }
        let kept = numbers(&thin["cdf"]["reward"]);
        for interval in thin["quantiles"].as_array().unwrap().iter().chain(thin["var"].as_array().unwrap()) {
            for end in ["estimate", "lower", "upper"] {
                let end = interval[end].as_f64().unwrap();
                assert!(kept.contains(&end), "{end} is a reward of this log");
            }
        }
        let steps = numbers(&thin["cdf"]["estimate"]);
        assert!(steps.windows(2).all(|pair| pair[1] - pair[0] < 0.02), "the shape is there between the metrics");
    }
    let rewards = &thin["policies"][0]["cdf"]["reward"];
    assert!(
        (1..3).all(|policy| &thin["policies"][policy]["cdf"]["reward"] == rewards),
        "to be compared point by point"
    );
}

#[test]
fn more_metrics_than_points_still_keep_to_the_limit() {
    let mut settings = settings();
    // Policies need different points: more than can be shared, but not more than one policy may have.
    settings.quantiles = (1..100).map(|i| f64::from(i) / 100.0).collect();
    let evaluation = evaluated(4000, &["new", "bold"], &settings);
    let (thin, whole) = (json(&evaluation, CdfPoints::Thinned), json(&evaluation, CdfPoints::Every));
    for (thin, whole) in thin["policies"].as_array().unwrap().iter().zip(whole["policies"].as_array().unwrap()) {
        is_part_of(thin, whole);
        assert!(settings.quantiles.iter().all(|level| crossing(thin, *level) == crossing(whole, *level)));
    }
    settings.quantiles = (1..400).map(|i| f64::from(i) / 400.0).collect();
    let evaluation = evaluated(4000, &["new"], &settings);
    let (thin, whole) = (json(&evaluation, CdfPoints::Thinned), json(&evaluation, CdfPoints::Every));
    is_part_of(&thin["policies"][1], &whole["policies"][1]);
}

#[test]
fn few_points_stay_as_they_are() {
    let evaluation = evaluated(256, &["new"], &settings());
    assert_eq!(json(&evaluation, CdfPoints::Thinned), json(&evaluation, CdfPoints::Every));
}
