//! Intervals, comparisons, selection and clusters: the real binary on real files.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, additive, example, parity_log, slateval, thin_log};
use serde_json::Value;

const TARGETS: [&str; 4] = ["--target", "new=pi_new", "--target", "bolder=pi_bolder"];

/// With the default structure.
fn evaluate(more: &[&str]) -> Run {
    slateval(&[["evaluate", &example("slates.parquet")].as_slice(), &TARGETS, more].concat())
}

fn evaluate_additive(more: &[&str]) -> Run {
    let log = example("slates.parquet");
    slateval(&additive(&[["evaluate", &log].as_slice(), &TARGETS, more].concat()))
}

fn bounds(interval: &Value) -> (f64, f64, f64) {
    let of = |key: &str| interval[key].as_f64().unwrap();
    (of("lower"), of("estimate"), of("upper"))
}

#[test]
fn settings_are_recorded() {
    let flags = [
        ["--band", "multiplier"],
        ["--min-propensity", "0.01"],
        ["--confidence", "0.9"],
        ["--seed", "7"],
        ["--draws", "500"],
        ["--baseline", "new"],
        ["--cluster", "device"],
        ["--threads", "1"],
    ]
    .concat();
    let json = evaluate_additive(&[&flags[..], &["--debias-cvar", "--json", "-"]].concat()).json();
    let settings = &json["settings"];
    assert_eq!(settings["band"], "multiplier");
    assert_eq!((&settings["min_propensity"], &settings["confidence"]), (&0.01.into(), &0.9.into()));
    assert_eq!((&settings["seed"], &settings["draws"]), (&7.into(), &500.into()));
    assert_eq!((&settings["baseline"], &settings["cluster"]), (&"new".into(), &"device".into()));
    assert_eq!(settings["columns"]["cluster"], "device");
    assert_eq!(settings["debias_cvar"], true);
    // What does not go together is refused before the log is read.
    for flags in [&["--band", "bernstein", "--debias-cvar"][..], &["--band", "bernstein", "--cluster", "device"]] {
        let refused = evaluate_additive(flags);
        assert!(refused.code == 2 && refused.stdout.is_empty(), "{flags:?}");
    }
}

#[test]
fn a_summary_compares_with_the_baseline_it_was_made_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    assert_eq!(evaluate_additive(&["--save", &path("plain.slateval")]).code, 0);
    assert_eq!(evaluate_additive(&["--baseline", "new", "--save", &path("new.slateval")]).code, 0);
    let show = |name: &str, more: &[&str]| slateval(&[["show", &path(name)].as_slice(), more].concat());
    let refused = show("plain.slateval", &["--baseline", "new"]);
    assert!(refused.code == 2 && refused.stdout.is_empty(), "{}", refused.stdout);
    assert!(refused.stderr.contains("evaluate --baseline new --save"), "{}", refused.stderr);
    let refused = show("new.slateval", &["--baseline", "bolder"]);
    assert!(refused.code == 2 && refused.stderr.contains("compare with `new`"), "{}", refused.stderr);
    let shown = show("new.slateval", &["--baseline", "new", "--threads", "2", "--seed", "3", "--json", "-"]).json();
    assert_eq!((&shown["settings"]["baseline"], &shown["settings"]["seed"]), (&"new".into(), &3.into()));
    assert_eq!(show("new.slateval", &["--band", "none"]).code, 0);
}

#[test]
fn every_estimate_has_an_interval_around_it() {
    let run = evaluate_additive(&[]);
    assert!(run.stdout.contains("In brackets: 95% confidence intervals"), "{}", run.stdout);
    assert_eq!(run.stdout.matches("95% confidence").count(), 1, "the confidence is named once\n{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "{}", run.stdout);
    let json = evaluate_additive(&["--json", "-"]).json();
    for p in json["policies"].as_array().unwrap() {
        for metric in [&p["mean"], &p["variance"], &p["std"], &p["iqr"], &p["quantiles"][1], &p["cvar"][2]] {
            let (lower, estimate, upper) = bounds(metric);
            assert!(lower <= estimate && estimate <= upper, "{metric}");
        }
        assert!(p["cdf"]["half_width"].as_f64().unwrap() > 0.0);
        assert!(p["cdf"]["lower"].as_array().unwrap().iter().all(Value::is_f64));
    }
    let narrow = evaluate_additive(&["--json", "-", "--confidence", "0.5"]).json();
    let width = |json: &Value| {
        let (lower, _, upper) = bounds(&json["policies"][1]["mean"]);
        upper - lower
    };
    assert!(width(&narrow) < 0.5 * width(&json));
}

#[test]
fn the_default_chooses_an_order() {
    let run = evaluate(&["--full"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for expected in ["Order chosen from the data", "order 2: CDF", "`if_order_holds` in the JSON"] {
        assert!(run.stdout.contains(expected), "{expected} in\n{}", run.stdout);
    }
    let json = evaluate(&["--json", "-"]).json();
    let new = &json["policies"][1];
    assert!(new["selection"]["reason"].is_string() && json["policies"][0]["selection"].is_null());
    let inner = &new["mean"]["if_order_holds"];
    assert!(inner["lower"].is_f64() && inner["upper"].is_f64());
    assert_eq!(json["settings"]["structure"], "auto");
}

#[test]
fn comparisons_are_paired_and_go_both_ways() {
    let json = evaluate_additive(&["--baseline", "new", "--json", "-"]).json();
    let pairs: Vec<(&str, &str)> = json["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["policy"].as_str().unwrap(), c["baseline"].as_str().unwrap()))
        .collect();
    assert_eq!(pairs, [("new", "logging"), ("bolder", "logging"), ("bolder", "new")]);
    let comparison = &json["comparisons"][2];
    assert_eq!(comparison["paired"], true);
    let (lower, estimate, upper) = bounds(&comparison["mean"]);
    assert!(lower < estimate && estimate < upper);
    let run = evaluate_additive(&["--baseline", "new"]);
    assert!(run.stdout.contains("bolder vs new") && run.stdout.contains("dominate"), "{}", run.stdout);
}

#[test]
fn seeds_and_threads() {
    let run = |more: &[&str]| evaluate_additive(&[&["--json", "-"], more].concat()).stdout;
    assert_eq!(run(&["--threads", "1"]), run(&["--threads", "3"]));
    assert_ne!(run(&["--seed", "1"]), run(&["--seed", "2"]));
}

#[test]
fn bands_of_other_kinds() {
    let json = evaluate_additive(&["--band", "none", "--json", "-"]).json();
    let mean = &json["policies"][1]["mean"];
    assert!(mean["lower"].is_null() && mean["reason"].is_string());
    let run = evaluate_additive(&["--band", "none"]);
    assert!(!run.stdout.contains('[') && run.stdout.contains("No intervals:"), "{}", run.stdout);
    let width = |more: &[&str]| {
        let json = evaluate_additive(&[&["--json", "-"], more].concat()).json();
        let cdf = &json["policies"][1]["cdf"];
        let middle = cdf["reward"].as_array().unwrap().len() / 2;
        cdf["upper"][middle].as_f64().unwrap() - cdf["lower"][middle].as_f64().unwrap()
    };
    assert!(width(&["--band", "bernstein", "--min-propensity", "0.01"]) > width(&[]));
}

#[test]
fn few_clusters_are_a_warning() {
    let run = evaluate_additive(&["--cluster", "device"]);
    assert!(run.stdout.contains("cluster") && run.stdout.contains("warn"), "{}", run.stdout);
}

#[test]
fn what_the_rows_cannot_carry_is_withheld() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.csv").display().to_string();
    // One slate in 500 is the target's own: 8 of 4000.
    let row = |i: usize| {
        let hit = i.is_multiple_of(500);
        format!("{},0.002,{}\n", i % 7, if hit { 1 } else { 0 })
    };
    let rows: String = (0..4000).map(row).collect();
    std::fs::write(&path, format!("reward,mu_1,pi_1\n{rows}")).unwrap();
    let json = slateval(&additive(&["evaluate", &path, "--json", "-"])).json();
    let target = &json["policies"][1];
    assert!(target["mean"]["lower"].is_null() && target["mean"]["reason"].is_string(), "{}", target["mean"]);
    assert!(target["cdf"]["half_width"].is_null() && target["cdf"]["reason"].is_string());
    let run = slateval(&additive(&["evaluate", &path]));
    assert!(run.stdout.contains("[–]") && run.stdout.contains("FAILED  target: ess"), "{}", run.stdout);
}

/// A file that is gone after the test.
fn written(folder: &tempfile::TempDir, text: &str) -> String {
    let path = folder.path().join("log.csv").display().to_string();
    std::fs::write(&path, text).unwrap();
    path
}

/// Text without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn check<'j>(policy: &'j Value, name: &str) -> &'j Value {
    let checks = policy["diagnostics"]["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn a_log_too_thin_to_test_the_order_gives_conditional_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let log = written(&folder, &thin_log());
    let json = slateval(&["evaluate", &log, "--by", "city", "--json", "-"]).json();
    let target = &json["policies"][1];
    assert_eq!((&target["selection"]["cdf"], &target["selection"]["band"]), (&1.into(), &Value::Null));
    for interval in [&target["mean"], &target["quantiles"][1], &target["cdf"], &json["comparisons"][0]["mean"]] {
        assert_eq!((&interval["conditional"], &interval["refuted"]), (&true.into(), &Value::Null), "{interval}");
        assert!(!interval["if_order_holds"].is_null() && interval["half_width"].is_null(), "{interval}");
        let reason = interval["reason"].as_str().unwrap();
        assert!(reason.starts_with("it holds if slots do not interact: this log is too thin to tell"), "{reason}");
    }
    let mean = &target["mean"];
    assert!(mean["lower"].is_null() && mean["upper"].is_null() && mean["if_order_holds"]["lower"].is_f64(), "{mean}");
    assert_eq!(check(target, "order")["status"], "warn");
    // Segments are as thin, and so are their differences.
    assert_eq!(json["segments"][0]["policies"][1]["mean"]["conditional"], true);
    let disparities = json["disparities"].as_array().unwrap();
    let found = disparities.iter().find(|d| d["policy"] == "target").unwrap();
    assert!(found["conditional"] == true && found["if_order_holds"]["upper"].is_f64(), "{found}");

    let run = slateval(&["evaluate", &log, "--by", "city", "--full"]);
    assert!(run.stdout.contains(")?") && run.stdout.contains("(±0."), "{}", run.stdout);
    // All but the checks, which stand on a line each.
    let tables = run.stdout.split("\nwarning  ").next().unwrap();
    assert!(tables.lines().all(|line| line.chars().count() <= 100), "{tables}");
    let text = flat(&run.stdout);
    let note = "(…)? holds if slots do not interact: this log is too thin to tell";
    assert_eq!(text.matches(note).count(), 1, "{}", run.stdout);
    assert!(text.contains("and 10 are needed) (target; target vs logging)"), "{}", run.stdout);
    assert!(text.contains("(…)? holds only under an assumption about how slots interact"), "{}", run.stdout);
    assert!(!text.contains("Taken for granted") && !text.contains("Intervals are taken"), "{}", run.stdout);
    // Whoever names the structure makes the assumption.
    let named = slateval(&["evaluate", &log, "--structure", "additive", "--json", "-"]).json();
    let mean = &named["policies"][1]["mean"];
    assert!(mean["lower"].is_f64() && mean["conditional"].is_null() && mean["refuted"].is_null(), "{mean}");
}

#[test]
fn a_structure_that_the_log_contradicts_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let log = written(&folder, &parity_log());
    let json = slateval(&["evaluate", &log, "--structure", "additive", "--json", "-"]).json();
    let target = &json["policies"][1];
    for interval in [&target["mean"], &target["quantiles"][1], &json["comparisons"][0]["mean"]] {
        assert_eq!((&interval["refuted"], &interval["conditional"]), (&"additive".into(), &Value::Null), "{interval}");
        assert!(interval["lower"].is_f64() && interval["upper"].is_f64(), "{interval}");
    }
    assert_eq!((&target["cdf"]["refuted"], target["cdf"]["half_width"].is_f64()), (&"additive".into(), true));
    assert_eq!(check(target, "structure")["status"], "fail");
    assert!(json["comparisons"][0]["dominance"].is_null());

    let run = slateval(&["evaluate", &log, "--structure", "additive"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("]!") && run.stdout.contains("FAILED  target: structure"), "{}", run.stdout);
    let text = flat(&run.stdout);
    let note = "[…]! the log contradicts this structure: effects of 3 slots show in it (target; target vs logging)";
    assert_eq!(text.matches(note).count(), 1, "{}", run.stdout);
    // The second moment is no matter of three slots here, but the mean that the variance is taken about is.
    assert_eq!(target["std"]["refuted"], "additive", "{}", target["std"]);
    assert!(run.stdout.lines().last().unwrap().contains("1 failed (target: structure)"), "{}", run.stdout);

    // The order chosen from the data is the one that is there.
    let chosen = slateval(&["evaluate", &log, "--json", "-"]).json();
    let target = &chosen["policies"][1];
    assert_eq!((&target["selection"]["cdf"], &target["mean"]["refuted"]), (&3.into(), &Value::Null));
    let run = slateval(&["evaluate", &log]);
    assert_eq!(flat(&run.stdout).matches("Taken for granted: the target fills its slots independently").count(), 1);
}

#[test]
fn a_joint_target_has_conditional_intervals() {
    let run = evaluate(&["--target-slots", "joint", "--json", "-"]);
    let mean = &run.json()["policies"][1]["mean"];
    assert_eq!((&mean["conditional"], mean["lower"].is_null()), (&true.into(), true), "{mean}");
    let text = flat(&evaluate(&["--target-slots", "joint"]).stdout);
    assert!(
        text.contains("(…)? holds if slots do not interact: for a target whose slots depend on each other"),
        "{text}"
    );
    assert!(!text.contains("Taken for granted"), "{text}");
}
