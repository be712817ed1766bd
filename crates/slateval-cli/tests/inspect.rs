//! `slateval inspect`: the real binary on real files.
#![allow(clippy::unwrap_used)]

mod common;

use common::{additive, example, slateval};

const TARGETS: [&str; 4] = ["--target", "new=pi_new", "--target", "bolder=pi_bolder"];

fn inspect_example(more: &[&str]) -> common::Run {
    slateval(&additive(&[["inspect", &example("slates.parquet")].as_slice(), &TARGETS, more].concat()))
}

#[test]
fn a_healthy_log() {
    let run = inspect_example(&[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for expected in [
        "1 file, 313.5 kB: 12,000 slates, 5 slots",
        "Rewards: continuous, from 0.0000 to 1.0000",
        "mu_1 … mu_5",
        "chi of bolder",
        "not used: device",
        "slot ratios and weights have mean 1",
        "additive structure, calibrated weights",
        "CDF band",
    ] {
        assert!(run.stdout.contains(expected), "{expected} in\n{}", run.stdout);
    }
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "{}", run.stdout);
    assert!(run.stdout.ends_with("All 16 checks passed.\n"), "{}", run.stdout);
}

/// Failed checks are a result, not an error; the last line names them.
#[test]
fn a_sick_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.csv").display().to_string();
    let row = |i: usize| format!("{},0.5,{},{}\n", i % 2, if i.is_multiple_of(4) { 0.9 } else { 0.1 }, i % 3);
    let rows: String = (0..2000).map(row).collect();
    std::fs::write(&path, format!("reward,mu_1,pi_1,part\n{rows}")).unwrap();
    let run = slateval(&additive(&["inspect", &path, "--by", "part"]));
    assert_eq!(run.code, 0, "{}", run.stderr);
    for expected in [
        "Rewards: binary, 0 and 1",
        "chi of target",
        "not found, so control variates will be used",
        "FAILED",
        "check the logging and target columns",
        "3 segments by part: checks: 9 passed, 3 warned (0: target: tail; 1: target: tail; 2: target: tail), 3 failed (0: \
         target: propensities; 1: target: propensities; 2: target: propensities)",
    ] {
        let flat = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(expected), "{expected} in\n{}", run.stdout);
    }
    let last = run.stdout.lines().last().unwrap();
    assert!(last.starts_with("1 check failed") && last.contains("target: propensities"), "{last}");

    let run = slateval(&additive(&["inspect", &path, "--json", "-"]));
    assert!(run.stderr.contains("FAILED  target: propensities"), "{}", run.stderr);
    assert_eq!(run.json()["checks"]["failed"], 1);
}

#[test]
fn the_json_of_an_inspection() {
    let json = inspect_example(&["--json", "-", "--by", "device", "--band-width", "0.1"]).json();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let wanted = "checks columns interactions log policies schema segments settings suspicions unused";
    assert_eq!(keys, wanted.split(' ').collect::<Vec<_>>());
    assert_eq!(json["schema"], "slateval/inspection/1");
    assert_eq!((&json["log"]["rows"], &json["log"]["files"]), (&12_000.into(), &1.into()));
    assert_eq!(json["log"]["reward_type"], "continuous");
    assert_eq!(json["columns"][1]["columns"].as_array().unwrap().len(), 5);
    assert_eq!((&json["columns"][0]["role"], &json["columns"][0]["type"]), (&"reward".into(), &"Float32".into()));
    let new = &json["policies"][1];
    assert_eq!((&new["name"], &new["structure"]), (&"new".into(), &"additive".into()));
    assert_eq!(new["band"]["wanted_width"], 0.1);
    assert_eq!((&new["band"]["conditional"], &new["band"]["refuted"]), (&false.into(), &serde_json::Value::Null));
    assert!(new["diagnostics"]["checks"].as_array().unwrap().len() > 4);
    assert_eq!(json["segments"].as_array().unwrap().len(), 3);
    assert_eq!(json["checks"]["passed"], 16);
    assert!(json["interactions"].is_null());

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.json").display().to_string();
    let run = inspect_example(&["--json", &path]);
    assert!(run.stdout.contains("checks passed"));
    assert!(std::fs::read_to_string(&path).unwrap().contains("slateval/inspection/1"));
}

#[test]
fn bad_input_is_refused() {
    for (more, mention) in [
        (["--band-width", "0"], "between 0 and 1"),
        (["--confidence", "1"], "between 0 and 1"),
        (["--json", "no/such/folder/x.json"], "no directory"),
    ] {
        let run = inspect_example(&more);
        assert!(run.code == 2 && run.stdout.is_empty() && run.stderr.contains(mention), "{more:?}: {}", run.stderr);
    }
    // The columns that were found are shown all the same.
    let run = inspect_example(&["--reward", "rewrad"]);
    assert!(run.code == 2 && run.stdout.contains("mu_1") && run.stderr.contains("`reward`"), "{}", run.stderr);
}

#[test]
fn the_default_chooses_the_order_and_tells_what_a_band_needs() {
    let run = slateval(&[["inspect", &example("slates.parquet")].as_slice(), &TARGETS].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    for expected in ["Order chosen from the data", "order 2: CDF", "a width of 0.05", "at 95% confidence"] {
        assert!(run.stdout.contains(expected), "{expected} in\n{}", run.stdout);
    }
    let json = inspect_example(&["--json", "-"]).json();
    let band = &json["policies"][1]["band"];
    let wanted = 12_000.0 * (2.0 * band["half_width"].as_f64().unwrap() / 0.05).powi(2);
    assert!((band["rows_needed"].as_f64().unwrap() - wanted).abs() <= 1.0);
}

#[test]
fn interactions_on_request() {
    let run = inspect_example(&["--interactions"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("interacting slots") && run.stdout.contains("1+2"), "{}", run.stdout);
    let json = inspect_example(&["--interactions", "--json", "-"]).json();
    // Ten pairs of five slots, for two targets.
    assert_eq!(json["interactions"].as_array().unwrap().len(), 20);
}
