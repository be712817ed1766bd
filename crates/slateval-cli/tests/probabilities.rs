//! `--at-least`, and what the table shows for few distinct rewards.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, additive, example, slateval};

/// Clicks on slates of one slot: of ten slates that show item 0, one has one click and one has two; of ten that show
/// item 1, three have one click. The target shows item 1 in 9 of 10 slates.
fn clicks() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "reward,mu_1,pi_1\n".to_owned();
    for at in 0..2000 {
        let (item, turn) = (at % 2, at / 2 % 10);
        let reward = match (item, turn) {
            (0, 9) => 2,
            (0, 8) | (1, 7..) => 1,
            _ => 0,
        };
        text += &format!("{reward},0.5,{}\n", if item == 1 { 0.9 } else { 0.1 });
    }
    std::fs::write(folder.path().join("clicks.csv"), text).unwrap();
    folder
}

fn evaluate(folder: &tempfile::TempDir, more: &[&str]) -> Run {
    let log = folder.path().join("clicks.csv").display().to_string();
    slateval(&additive(&[["evaluate", &log].as_slice(), more].concat()))
}

#[test]
fn clicks_have_probabilities_in_place_of_tails_that_are_all_alike() {
    let folder = clicks();
    for detail in [&[][..], &["--full"]] {
        let table = evaluate(&folder, detail).stdout;
        for expected in ["mean", "P(≥ 1)", "P(≥ 2)", "0.2900", "0.0100", "+0.0400"] {
            assert!(table.contains(expected), "{expected} in\n{table}");
        }
        assert!(!table.contains("VaR"), "{table}");
    }
    // Whoever asks for a tail sees it.
    assert!(evaluate(&folder, &["--alpha", "0.2"]).stdout.contains("CVaR 20%"));
    let json = evaluate(&folder, &["--json", "-"]).json();
    assert_eq!(json["policies"][1]["probabilities"][0]["at_least"], 1.0);
    assert_eq!(json["comparisons"][0]["probabilities"].as_array().unwrap().len(), 2);
    assert_eq!(json["settings"].get("at_least"), None, "nobody asked");
    assert!(json["policies"][1]["cvar"].is_array(), "the JSON has everything");
}

#[test]
fn probabilities_are_told_where_they_are_asked_for() {
    let folder = clicks();
    let json = evaluate(&folder, &["--at-least", "1,1.5,-1", "--json", "-"]).json();
    let found = json["policies"][0]["probabilities"].as_array().unwrap();
    let estimates: Vec<f64> = found.iter().map(|p| p["estimate"].as_f64().unwrap()).collect();
    for (found, expected) in estimates.iter().zip([0.25, 0.05, 1.0]) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }
    assert!(found[0]["lower"].as_f64().unwrap() < 0.25 && 0.25 < found[0]["upper"].as_f64().unwrap());
    assert_eq!(json["settings"]["at_least"], serde_json::json!([1.0, 1.5, -1.0]));

    let sample = ["evaluate", &example("slates.parquet"), "--target", "new=pi_new", "--structure", "additive"];
    let table = slateval(&[&sample[..], &["--at-least", "0.5"]].concat()).stdout;
    assert!(table.contains("P(≥ 0.5)") && table.contains("CVaR 10%"), "{table}");
    assert!(!slateval(&sample).stdout.contains("P(≥"), "many distinct rewards");
    let refused = slateval(&[&sample[..], &["--at-least", "nan"]].concat());
    assert!(refused.code == 2 && refused.stderr.contains("at-least"), "{}", refused.stderr);

    let saved = folder.path().join("clicks.slateval").display().to_string();
    evaluate(&folder, &["--save", &saved]);
    let shown = slateval(&["show", &saved, "--at-least", "2", "--json", "-"]).json();
    assert_eq!(shown["policies"][0]["probabilities"][0]["at_least"], 2.0);
}

#[test]
fn the_page_has_them_too() {
    let folder = clicks();
    let page = folder.path().join("page.html").display().to_string();
    assert_eq!(evaluate(&folder, &["--report", &page]).code, 0);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("P(≥ 1)") && html.contains("slates with a reward of at least 1"), "no probabilities");
    assert!(!html.contains("worst 10% of slates: the same"), "tails that are all alike stay in the headline");
}

#[test]
fn negative_rewards_need_no_equals_sign() {
    let log = example("slates.parquet");
    let words =
        ["evaluate", &log, "--target", "pi_new", "--structure", "additive", "--json", "-", "--at-least", "-1,0.5"];
    let json = slateval(&words).json();
    let found = json["policies"][1]["probabilities"].as_array().unwrap();
    assert_eq!((found.len(), &found[0]["at_least"]), (2, &(-1.0).into()));
}
