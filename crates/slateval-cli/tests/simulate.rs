//! `slateval simulate` and what `evaluate` makes of its logs: the truth, as far as chance allows.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::{Run, slateval};
use serde_json::Value;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Simulates into `log.parquet`, and gives the truth.
    fn simulate(&self, arguments: &str) -> Value {
        let run = self.try_simulate(arguments);
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str(&std::fs::read_to_string(self.path("log.truth.json")).unwrap()).unwrap()
    }

    fn try_simulate(&self, arguments: &str) -> Run {
        let log = self.path("log.parquet");
        let mut words: Vec<&str> = vec!["simulate"];
        words.extend(arguments.split_whitespace());
        slateval(&[&words[..], &["-o", &log]].concat())
    }

    fn evaluate(&self, arguments: &str) -> Value {
        let log = self.path("log.parquet");
        let mut words = vec!["evaluate", log.as_str(), "--json", "-", "--full-cdf"];
        words.extend(arguments.split_whitespace());
        slateval(&words).json()
    }

    fn files(&self) -> Vec<String> {
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().display().to_string();
        let mut files: Vec<String> = std::fs::read_dir(self.0.path()).unwrap().map(name).collect();
        files.sort();
        files
    }
}

fn policy<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["policies"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap()
}

/// Mean, and the CDF where the truth has its quartiles, within `z` standard errors of a weighted mean: `sqrt(E[G^2]/n)`
/// for anything between 0 and `scale`.
fn close(evaluation: &Value, truth: &Value, name: &str, second_moment: f64, scale: f64) {
    let (found, truth) = (policy(evaluation, name), policy(truth, name));
    let n = evaluation["log"]["rows"].as_f64().unwrap();
    let error = (second_moment / n).sqrt();
    let mean = |p: &Value| p["mean"].as_f64().unwrap();
    let estimate = mean(&serde_json::json!({ "mean": found["mean"]["estimate"] }));
    assert!((estimate - mean(truth)).abs() < 4.5 * error * scale, "{name}: mean {estimate} for {}", mean(truth));
    let numbers = |v: &Value| -> Vec<f64> { v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
    let (rewards, values) = (numbers(&found["cdf"]["reward"]), numbers(&found["cdf"]["estimate"]));
    let (grid, cdf) = (numbers(&truth["cdf"]["reward"]), numbers(&truth["cdf"]["value"]));
    for (v, f) in grid.iter().zip(cdf) {
        let at = rewards.partition_point(|r| r <= v);
        let estimate = if at == 0 { 0.0 } else { values[at - 1] };
        assert!((estimate - f).abs() < 4.5 * error, "{name}: F({v}) {estimate} for {f}");
    }
}

#[test]
fn additive_logs_are_evaluated_to_the_truth() {
    let folder = Folder::new();
    let truth = folder.simulate("additive --rows 60000 --seed 3");
    assert_eq!(truth["schema"], "slateval/truth/1");
    assert_eq!(policy(&truth, "target")["method"], "exact");
    let evaluation = folder.evaluate("");
    assert_eq!(evaluation["log"]["slots"], 3);
    // E[G^2] = 1 + K (N - 1).
    close(&evaluation, &truth, "target", 7.0, 1.0);
    close(&evaluation, &truth, "logging", 1.0, 1.0);
    close(&folder.evaluate("--estimator suno"), &truth, "target", 7.0, 1.0);
    assert_eq!(policy(&evaluation, "target")["correction"], "calibrated", "chi passes its check");
}

#[test]
fn several_targets_have_columns_of_their_own() {
    let folder = Folder::new();
    let targets = "--target bold=softmax:2 --target meek=epsilon-greedy:0.1";
    let truth = folder.simulate(&format!("pairwise --any-interaction --rows 60000 {targets}"));
    let evaluation = folder.evaluate("--structure order:2 --target bold=pi_bold --target meek=pi_meek");
    // At most prod of 1 + chi_k, which is at most N - 1 each.
    close(&evaluation, &truth, "bold", 33.0, 1.0);
    close(&evaluation, &truth, "meek", 33.0, 1.0);
}

#[test]
fn rankings_are_evaluated_by_their_own_weight() {
    let folder = Folder::new();
    let truth = folder.simulate("additive --items 5 --rows 60000 --logging ranking --target plackett-luce:1");
    let evaluation = folder.evaluate("--structure ranking:5 --target-slots joint");
    // E[G^2] = 13 for a deterministic ranking of 3 out of 5; a Plackett-Luce one is a mixture of those.
    close(&evaluation, &truth, "target", 13.0, 1.0);
}

#[test]
fn cascades_need_all_orders() {
    let folder = Folder::new();
    let truth = folder.simulate("cascade --items 5 --rows 100000");
    let evaluation = folder.evaluate("--structure product");
    // Three slots with chi at most exp(3) - 1 over contexts, and in fact below 1.2.
    close(&evaluation, &truth, "target", 2.2f64.powi(3), 3.0);
}

#[test]
fn wrong_propensities_do_not_pass() {
    let folder = Folder::new();
    folder.simulate("cascade --rows 50000 --logging mismatch");
    let evaluation = folder.evaluate("--structure product");
    let checks = policy(&evaluation, "target")["diagnostics"]["checks"].as_array().unwrap();
    assert!(checks.iter().any(|c| c["name"] == "propensities" && c["status"] == "fail"), "{checks:?}");
}

#[test]
fn ratings_become_slates() {
    let folder = Folder::new();
    let mut text = "userId,movieId,rating,timestamp\n".to_owned();
    for user in 0u32..200 {
        for place in 0..12 {
            let item = (user * 7 + place * place * 3 + user % 5 * place) % 40;
            text += &format!("{user},{item},{},0\n", 3 + (user + place) % 3);
        }
    }
    std::fs::write(folder.path("ratings.csv"), text).unwrap();
    let file = folder.path("ratings.csv");
    let settings = "--slots 3 --items 8 --likes 5-12 --lambda 20 --truth-rows 100000 --rows 60000 --reward dcg";
    let targets = "--target epsilon-greedy:0.05";
    let truth = folder.simulate(&format!("ratings --ratings {file} {settings} {targets}"));
    assert_eq!(policy(&truth, "target")["method"], "monte-carlo");
    assert_eq!(policy(&truth, "target")["rows"], 100_000);
    let evaluation = folder.evaluate("--structure product");
    let largest = evaluation["log"]["reward"]["max"].as_f64().unwrap();
    // chi_k = (0.65^2 + 7 * 0.05^2) * 8 - 1 = 2.52 a slot, and the truth's own error.
    close(&evaluation, &truth, "target", 3.52f64.powi(3) + 0.6, largest);
    let run = folder.try_simulate(&format!("ratings --ratings {file} --slots 3 --items 8 --likes 300-400"));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("no user has 300 to 400 likes"), "{}", run.stderr);
}

#[test]
fn threads_change_nothing() {
    let folder = Folder::new();
    let bytes = |threads: usize| {
        folder.simulate(&format!("cascade --rows 40000 --threads {threads} --seed 9"));
        (std::fs::read(folder.path("log.parquet")).unwrap(), std::fs::read(folder.path("log.truth.json")).unwrap())
    };
    assert_eq!(bytes(1), bytes(3));
    assert_eq!(folder.files(), ["log.parquet", "log.truth.json"], "no temporary files stay");
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let folder = Folder::new();
    let cases = [
        ("additive --slots 0", "whole number from 1"),
        ("additive --rows 0", "0"),
        ("additive --logging deterministic", "never shows"),
        ("additive --logging plackett-luce:1", "no weight is known"),
        ("additive --target sometimes", "must be uniform, deterministic"),
        ("additive --target epsilon-greedy:0.5", "at most 0.333333"),
        ("additive --target logging=uniform", "reserved"),
        ("additive --target uniform --target deterministic", "two targets are called `target`"),
        ("additive --target a=mismatch", "mistake of logging"),
        ("additive --slots 4 --items 3 --logging ranking", "4 slots cannot be filled from 3 items"),
        ("pairwise --slots 1", "two slots"),
        ("pairwise --target uniform", "--any-interaction"),
        ("cascade --items 1", "two items"),
        ("ratings --ratings nowhere.csv", "nowhere.csv"),
        ("ratings", "--ratings"),
        ("additive --alpha 1.5", "between 0 and 1"),
    ];
    for (arguments, mention) in cases {
        let run = folder.try_simulate(arguments);
        assert_eq!(run.code, 2, "{arguments} gave\n{}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(mention), "{arguments}: `{mention}` is missing in: {}", run.stderr);
    }
    assert!(folder.files().is_empty(), "nothing is half-written: {:?}", folder.files());
    for (name, mention) in [("log.csv", ".parquet"), ("no/log.parquet", "no directory")] {
        let run = slateval(&["simulate", "additive", "-o", &folder.path(name)]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains(mention), "{}", run.stderr);
    }
}

#[test]
fn experiments_are_run_again() {
    let folder = Folder::new();
    let arguments = ["reproduce", "table-1a", "--trials", "4", "--sizes", "500"];
    let run = slateval(&[&arguments[..], &["--figures", &folder.path(""), "--csv", &folder.path("a.csv")]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    for mention in ["Table 1(a)", "printed in the paper", "0.131", "0.256", "KS, paper-like", "order 2, calibrated"] {
        assert!(run.stdout.contains(mention), "`{mention}` is missing in: {}", run.stdout);
    }
    let svg = std::fs::read_to_string(Path::new(&folder.path("table-1a.svg"))).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("MSE of the CVaR 0.3") && svg.contains("SUnO"));
    let csv = std::fs::read_to_string(folder.path("a.csv")).unwrap();
    assert!(csv.contains("table-1a,500,\"SUnO\",ks-paper-like,") && csv.contains(",0.131\n"));
    let json = slateval(&[&arguments[..], &["--json", "-", "--threads", "1"]].concat()).json();
    assert_eq!(json["studies"][0]["figures"][0]["trials"], 4);
    let run = slateval(&["reproduce", "table-1b"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("--ratings"), "{}", run.stderr);
    assert_eq!(slateval(&["reproduce", "table-3"]).code, 2);
    assert_eq!(slateval(&["reproduce", "table-1a", "--sizes", "1"]).code, 2);
}
