//! One log that nothing may be claimed from, in every output: the same mark everywhere.
#![allow(clippy::unwrap_used)]

mod common;

use common::{example, parity_log, slateval};
use serde_json::Value;

const TARGETS: [&str; 4] = ["--target", "new=pi_new", "--target", "bolder=pi_bolder"];

/// A log whose propensities are half of what they were, with rules and a page beside it.
struct Wrong {
    folder: tempfile::TempDir,
    log: String,
}

impl Wrong {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = parity_log().replace(",0.5,0.5,0.5,", ",0.25,0.25,0.25,");
        let log = write(&folder, "wrong.csv", &text);
        Wrong { folder, log }
    }

    fn run(&self, command: &str, more: &[&str]) -> common::Run {
        slateval(&[&[command, &self.log], more].concat())
    }
}

fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Text without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every interval in some JSON that has an end.
fn intervals(json: &Value) -> Vec<&Value> {
    match json {
        Value::Array(all) => all.iter().flat_map(intervals).collect(),
        Value::Object(all) if json["estimate"].is_f64() => {
            let has_end = all["lower"].is_f64() || all["upper"].is_f64();
            has_end.then_some(json).into_iter().collect()
        }
        Value::Object(all) => all.values().flat_map(intervals).collect(),
        _ => Vec::new(),
    }
}

const REASON: &str = "the check `propensities` of `target` did not pass";

#[test]
fn json_names_the_check_that_stands_against_an_interval() {
    let json = Wrong::new().run("evaluate", &["--by", "city", "--json", "-"]).json();
    let places = [&json["policies"][1], &json["comparisons"], &json["segments"][0]["policies"][1]];
    for interval in places.into_iter().flat_map(intervals) {
        assert_eq!((&interval["refuted"], &interval["conditional"]), (&"propensities".into(), &Value::Null));
        assert!(interval["reason"].as_str().unwrap().starts_with(REASON), "{interval}");
    }
    assert!(intervals(&json["policies"][1]).len() > 10);
    assert_eq!(json["policies"][1]["cdf"]["refuted"], "propensities");
    assert!(intervals(&json["policies"][0]).iter().all(|interval| interval["refuted"].is_null()));
    let of_target = json["disparities"].as_array().unwrap().iter().filter(|d| d["policy"] == "target");
    assert!(of_target.flat_map(intervals).all(|interval| interval["refuted"] == "propensities"));
    assert!(json["comparisons"][0]["dominance"].is_null());
}

#[test]
fn the_table_marks_each_interval_and_says_why_once() {
    let wrong = Wrong::new();
    let text = wrong.run("evaluate", &["--by", "city", "--full"]).stdout;
    let tables = text.split("\nFAILED").next().unwrap();
    // The columns of the table of policies: a label, logging, the target.
    let mean = tables.lines().find(|line| line.trim_start().starts_with("mean ")).unwrap();
    assert_eq!((mean.matches(']').count(), mean.matches("]!").count()), (2, 1), "{mean}");
    let difference = tables.lines().skip_while(|line| !line.contains(" vs ")).find(|l| l.contains("mean")).unwrap();
    assert!(difference.trim_end().ends_with("]!"), "{difference}");
    let band = tables.lines().find(|line| line.contains("CDF band")).unwrap();
    assert!(band.trim_end().ends_with('!'), "{band}");
    let words = flat(&text);
    assert_eq!(words.matches(&format!("[…]! {REASON} (target")).count(), 1, "{text}");
    assert!(words.contains(&format!("cannot tell whether one dominates ({REASON})")), "{text}");
    assert!(words.contains("[…]! not to be relied on: the log contradicts the structure, or a check did not pass"));
    let (_, segments) = words.split_once("; in segments: ").unwrap();
    assert!(segments.contains("(city 0: target: propensities"), "{segments}");
}

#[test]
fn the_page_and_the_gate_make_the_same_decision() {
    let wrong = Wrong::new();
    let page = wrong.folder.path().join("page.html").display().to_string();
    let run = wrong.run("evaluate", &["--by", "city", "--report", &page]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("Do not rely on this: checks not passed (") && html.contains("]!"));
    assert!(
        html.contains(
            "[…]! shows nothing: the log contradicts the structure that it rests on, or a check did not pass"
        )
    );
    let result = html.split("<section id=\"result\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(
        result
            .contains("target, mean: of 2 segments, shown to gain in none, shown to lose in none, cannot be told in 2"),
        "{result}"
    );
    assert!(html.contains("\"refuted\":\"propensities\""), "the page's own JSON");

    let text = "[[rule]]\nrequire = 'mean(target) >= 0'\n[[rule]]\nrequire = 'mean(target) >= 0'\nsegments = 'each'\n";
    let rules = write(&wrong.folder, "rules.toml", text);
    let run = wrong.run("gate", &["--by", "city", "--rules", &rules, "--format", "json"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    for rule in json["rules"].as_array().unwrap() {
        assert_eq!((&rule["verdict"], &rule["refuted"]), (&"cannot tell".into(), &"propensities".into()), "{rule}");
        assert!(rule["lower"].is_f64() && rule["conditional"] == false, "{rule}");
    }
    let shown = wrong.run("gate", &["--by", "city", "--rules", &rules]).stdout;
    assert!(shown.contains("the check `propensities` of target failed"), "{shown}");

    let json = wrong.run("inspect", &["--by", "city", "--json", "-"]).json();
    assert_eq!(json["policies"][1]["band"]["refuted"], "propensities");
    let named = json["segments"][0]["not_passed"].as_array().unwrap();
    assert!(named.iter().any(|check| check["policy"] == "target" && check["name"] == "propensities"), "{json}");
}

/// What would hold under a condition, if the propensities were known.
#[test]
fn estimated_propensities_outrank_a_condition() {
    let log = example("slates.parquet");
    let arguments = ["evaluate", &log, "--target-slots", "joint", "--json", "-"];
    let known = slateval(&[arguments.as_slice(), &TARGETS].concat()).json();
    let estimated = slateval(&[arguments.as_slice(), &TARGETS, &["--propensities", "estimated"]].concat()).json();
    let (known, estimated) = (&known["policies"][1]["mean"], &estimated["policies"][1]["mean"]);
    assert_eq!((&known["conditional"], &known["lower"]), (&true.into(), &Value::Null));
    assert_eq!((&estimated["refuted"], &estimated["conditional"]), (&"estimated-propensities".into(), &Value::Null));
    assert_eq!(
        (&estimated["lower"], &estimated["upper"]),
        (&known["if_order_holds"]["lower"], &known["if_order_holds"]["upper"])
    );
}

#[test]
fn the_biased_weight_of_the_paper_is_marked() {
    let log = example("slates.parquet");
    let run = slateval(&[["evaluate", &log, "--structure", "paper-order:2"].as_slice(), &TARGETS].concat());
    let mean = run.stdout.lines().find(|line| line.trim_start().starts_with("mean ")).unwrap();
    assert_eq!(mean.matches("]!").count(), 2, "{}", run.stdout);
    assert!(flat(&run.stdout).contains("[…]! the check `bias` of `new` did not pass (new; new vs logging)"));
}

/// A target that changes one of three slots leaves the others as they are: no warning.
#[test]
fn unchanged_slots_do_not_warn() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for (i, line) in parity_log().lines().enumerate() {
        let mut cells: Vec<&str> = line.split(',').collect();
        if i > 0 {
            (cells[5], cells[6]) = ("0.5", "0.5");
        }
        text += &(cells.join(",") + "\n");
    }
    let log = write(&folder, "one.csv", &text);
    let json = slateval(&["evaluate", &log, "--structure", "additive", "--json", "-"]).json();
    let checks = json["policies"][1]["diagnostics"]["checks"].as_array().unwrap();
    let remark = checks.iter().find(|check| check["name"] == "correction").unwrap();
    assert_eq!(remark["status"], "ok", "{remark}");
    assert!(remark["message"].as_str().unwrap().contains("slot 2, 3 never varies"), "{remark}");
    let shown = slateval(&["evaluate", &log, "--structure", "additive"]).stdout;
    assert!(!shown.contains("correction"), "{shown}");
}
