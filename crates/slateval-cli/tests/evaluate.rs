//! `slateval evaluate`, `merge` and `show`: the real binary on real files.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use common::{Run, additive, example, slateval, slateval_with_input};
use serde_json::Value;

const TARGETS: [&str; 4] = ["--target", "new=pi_new", "--target", "bolder=pi_bolder"];

fn evaluate_example(more: &[&str]) -> Run {
    slateval(&additive(&[["evaluate", &example("slates.parquet")].as_slice(), &TARGETS, more].concat()))
}

fn policy<'a>(json: &'a Value, name: &str) -> &'a Value {
    json["policies"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap()
}

#[test]
fn the_table_shows_policies_beside_each_other() {
    let run = evaluate_example(&["--by", "device"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stderr, "", "nothing to say in a pipe");
    let decisive =
        ["12,000 slates, 5 slots", "new vs logging", "median", "VaR 10%", "CVaR 10%", "tablet", "worth rows"];
    for expected in decisive.into_iter().chain(["16 passed, 0 warned, 0 failed", "`--full` adds"]) {
        assert!(run.stdout.contains(expected), "{expected} in\n{}", run.stdout);
    }
    let rest =
        ["CVaR 5%", "quantile 25%", "std", "CDF band", "furthest apart", "additive structure, calibrated weights"];
    for unexpected in rest {
        assert!(!run.stdout.contains(unexpected), "{unexpected} in\n{}", run.stdout);
    }
    assert!(run.stdout.rsplit("\n\n").next().unwrap().starts_with("Checks: "), "{}", run.stdout);

    let full = evaluate_example(&["--by", "device", "--full"]).stdout;
    for expected in decisive.into_iter().chain(rest) {
        assert!(full.contains(expected), "{expected} in\n{full}");
    }
    // Whoever asks for a level sees it.
    let asked = evaluate_example(&["--alpha", "0.02", "--quantile", "0.9"]).stdout;
    assert!(asked.contains("CVaR 2%") && asked.contains("quantile 90%") && !asked.contains("median"), "{asked}");
}

/// The shipped log comes with its truth: estimates lie within four standard errors of it, for the whole log and for each
/// device. The standard error of a mean is at most that of `sqrt(E[R^2] / design ESS)`.
#[test]
fn the_shipped_log_gives_back_its_truth() {
    let run = evaluate_example(&["--by", "device", "--json", "-", "--full-cdf"]);
    let json = run.json();
    let truth: Value = serde_json::from_str(&std::fs::read_to_string(example("slates.truth.json")).unwrap()).unwrap();
    let close = |found: &Value, truth: &Value, what: &str| {
        let ess = found["diagnostics"]["design_ess"].as_f64().unwrap();
        let (mean, variance) = (truth["mean"].as_f64().unwrap(), truth["variance"].as_f64().unwrap());
        let error = ((variance + mean * mean) / ess).sqrt();
        assert!((found["mean"]["estimate"].as_f64().unwrap() - mean).abs() < 4.0 * error, "{what}: mean");
        // F at a quantile has a standard error of at most sqrt(1 / ESS).
        let cdf = &found["cdf"];
        let rewards: Vec<f64> = cdf["reward"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        for q in truth["quantiles"].as_array().unwrap() {
            let at = rewards.partition_point(|r| *r <= q["value"].as_f64().unwrap()) - 1;
            let f = cdf["estimate"][at].as_f64().unwrap();
            assert!((f - q["level"].as_f64().unwrap()).abs() < 4.0 / ess.sqrt(), "{what}: quantile");
        }
    };
    for expected in truth["policies"].as_array().unwrap() {
        let name = expected["name"].as_str().unwrap();
        close(policy(&json, name), expected, name);
        for segment in expected["segments"].as_array().unwrap() {
            let value = &segment["device"];
            let found = json["segments"].as_array().unwrap().iter().find(|s| s["value"] == *value).unwrap();
            close(policy(found, name), segment, &format!("{name} on {value}"));
        }
    }
}

/// A page of JSON for each policy and segment, not a book: every bin of rewards only where it is asked for.
#[test]
fn the_json_is_small_unless_every_point_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let cdf = folder.path().join("cdf.csv").display().to_string();
    let log = example("slates.parquet");
    let evaluate = |more: &[&str]| {
        slateval(&[["evaluate", &log, "--by", "device", "--json", "-"].as_slice(), &TARGETS, more].concat())
    };
    let (small, full) = (evaluate(&[]), evaluate(&["--full-cdf", "--cdf", &cdf]));
    assert!(small.stdout.len() < 700_000 && full.stdout.len() > 2 * small.stdout.len(), "{}", small.stdout.len());
    assert!(small.stdout.lines().any(|line| line.trim_start().starts_with("\"raw\": [0.") && line.ends_with("],")));
    let bins = |run: &Run| -> usize {
        let json = run.json();
        let cells = std::iter::once(&json).chain(json["segments"].as_array().unwrap());
        let policies = cells.flat_map(|cell| cell["policies"].as_array().unwrap());
        policies.map(|p| p["cdf"]["reward"].as_array().unwrap().len()).sum()
    };
    assert_eq!(bins(&full), std::fs::read_to_string(&cdf).unwrap().lines().count() - 1);
    assert!(bins(&small) <= 4 * 3 * 256);
    let (mut small, mut full) = (small.json(), full.json());
    for json in [&mut small, &mut full] {
        json["policies"].as_array_mut().unwrap().iter_mut().for_each(|p| p["cdf"] = Value::Null);
        json["segments"] = Value::Null;
    }
    assert_eq!(small, full, "nothing but points of CDFs is left out");

    let alone = slateval(&["evaluate", &log, "--full-cdf"]);
    assert!(alone.code == 2 && alone.stderr.contains("--json"), "{}", alone.stderr);
}

#[test]
fn the_json_keeps_to_the_contract() {
    let json = evaluate_example(&["--by", "device", "--json", "-", "--alpha", "0.1", "--quantile", "0.5"]).json();
    let keys = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let sorted = |names: &[&str]| {
        let mut names: Vec<String> = names.iter().map(|s| (*s).to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(json["schema"], "slateval/evaluation/1");
    assert_eq!(
        keys(&json),
        sorted(&["schema", "log", "settings", "policies", "comparisons", "segments", "disparities"])
    );
    assert_eq!(json["log"]["rows"], 12_000);
    assert_eq!(json["log"]["slots"], 5);
    assert_eq!(keys(&json["log"]["reward"]), ["distinct", "max", "min"]);
    let names: Vec<&str> = json["policies"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["logging", "new", "bolder"]);
    let fields = [
        "name",
        "structure",
        "correction",
        "selection",
        "mean",
        "variance",
        "std",
        "iqr",
        "quantiles",
        "var",
        "cvar",
        "cdf",
        "diagnostics",
    ];
    for p in json["policies"].as_array().unwrap() {
        assert_eq!(keys(p), sorted(&fields));
        let cdf: Vec<String> = keys(&p["cdf"]).into_iter().filter(|k| k != "if_order_holds" && k != "reason").collect();
        assert_eq!(cdf, ["estimate", "half_width", "lower", "raw", "reward", "upper"]);
        let points = p["cdf"]["reward"].as_array().unwrap().len();
        assert!(["estimate", "lower", "raw", "upper"].iter().all(|k| p["cdf"][k].as_array().unwrap().len() == points));
        assert!(points > 200 && points <= 256);
        assert_eq!(p["quantiles"][0]["level"], 0.5);
        assert_eq!(p["cvar"][0]["alpha"], 0.1);
        let interval = &p["mean"];
        assert!(interval["estimate"].is_f64() && interval["lower"].is_null() == interval["reason"].is_string());
        for k in [
            "ess",
            "design_ess",
            "design_ess_from",
            "weight_mean",
            "weight_min",
            "weight_max",
            "negative_share",
            "max_share",
            "checks",
        ] {
            assert!(p["diagnostics"].get(k).is_some(), "{k}");
        }
    }
    assert!(policy(&json, "logging")["structure"].is_null() && policy(&json, "logging")["correction"].is_null());
    assert_eq!(policy(&json, "new")["structure"], "additive");
    assert_eq!(policy(&json, "new")["correction"], "calibrated");
    let comparison = &json["comparisons"][1];
    assert_eq!((&comparison["policy"], &comparison["baseline"]), (&Value::from("bolder"), &Value::from("logging")));
    let difference = policy(&json, "bolder")["mean"]["estimate"].as_f64().unwrap()
        - policy(&json, "logging")["mean"]["estimate"].as_f64().unwrap();
    assert_eq!(comparison["mean"]["estimate"].as_f64().unwrap(), difference);
    let segments: Vec<&Value> = json["segments"].as_array().unwrap().iter().map(|s| &s["value"]).collect();
    assert_eq!(segments, ["desktop", "phone", "tablet"]);
    let rows: u64 = json["segments"].as_array().unwrap().iter().map(|s| s["rows"].as_u64().unwrap()).sum();
    assert_eq!(rows, 12_000);
    assert_eq!(
        keys(&json["disparities"][0]),
        sorted(&["policy", "metric", "alpha", "low", "high", "estimate", "lower", "upper", "se"])
    );
    let settings = &json["settings"];
    assert_eq!((&settings["band"], &settings["confidence"]), (&Value::from("multiplier"), &Value::from(0.95)));
    assert_eq!((&settings["draws"], &settings["seed"]), (&Value::from(2000), &Value::from(0)));
    for unset in ["min_propensity", "baseline", "cluster"] {
        assert!(settings[unset].is_null() && settings.as_object().unwrap().contains_key(unset), "{unset}");
    }
    assert_eq!(settings["debias_cvar"], false);
    assert!(settings.get("threads").is_none(), "threads change no number");
}

/// Several files, so that there is something to do for several threads.
#[test]
fn threads_do_not_change_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    for day in 0..9 {
        std::fs::copy(example("slates.parquet"), folder.path().join(format!("{day}.parquet"))).unwrap();
    }
    let logs = folder.path().display().to_string();
    let run = |threads: &str| {
        let more = ["--json", "-", "--by", "device", "--threads", threads, "--allow-duplicates"];
        let run = slateval(&additive(&[["evaluate", &logs].as_slice(), &TARGETS, &more].concat()));
        assert_eq!(run.json()["log"]["rows"], 108_000);
        run.stdout
    };
    let one = run("1");
    assert_eq!(one, run("2"));
    assert_eq!(one, run("5"));
}

#[test]
fn estimators_of_the_paper_are_one_flag_away() {
    let mean = |more: &[&str]| {
        let json = evaluate_example(&[more, &["--json", "-"]].concat()).json();
        policy(&json, "new")["mean"]["estimate"].as_f64().unwrap()
    };
    assert_eq!(mean(&["--estimator", "suno"]), mean(&["--structure", "additive", "--correction", "none"]));
    assert_eq!(mean(&["--estimator", "uno"]), mean(&["--structure", "product", "--correction", "none"]));
    assert!((mean(&["--structure", "order:5"]) - mean(&["--structure", "product"])).abs() < 1e-12);
    let paper = evaluate_example(&["--structure", "paper-order:2"]);
    assert!(paper.stdout.contains("biased for 1 < m < K"), "{}", paper.stdout);
    let both = evaluate_example(&["--estimator", "suno", "--correction", "calibrated"]);
    assert_eq!(both.code, 2);
    let high = evaluate_example(&["--structure", "order:9"]);
    assert_eq!(high.code, 2);
    assert!(high.stderr.contains("slates have only 5 slots, so there are no sets of 9"), "{}", high.stderr);
}

#[test]
fn summaries_are_saved_merged_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let whole = evaluate_example(&["--save", &path("a.slateval"), "--json", &path("a.json"), "--by", "device"]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let twice = ["merge", &path("a.slateval"), &path("a.slateval"), "-o", &path("b.slateval"), "--allow-duplicates"];
    let merged = slateval(&twice);
    assert_eq!(merged.code, 0, "{}", merged.stderr);
    let shown =
        slateval(&["show", &path("b.slateval"), "--json", "-", "--alpha", "0.3", "--correction", "none"]).json();
    assert_eq!(shown["log"]["rows"], 24_000);
    assert_eq!(shown["policies"][1]["correction"], "none");
    assert_eq!(shown["policies"][1]["cvar"][0]["alpha"], 0.3);

    let again = slateval(&["show", &path("a.slateval"), "--json", "-"]).json();
    let first: Value = serde_json::from_str(&std::fs::read_to_string(path("a.json")).unwrap()).unwrap();
    assert_eq!(again["policies"], first["policies"], "a saved summary says what the log said");
    assert_eq!(again["segments"], first["segments"]);

    let other = evaluate_example(&["--save", &path("c.slateval"), "--structure", "product"]);
    assert_eq!(other.code, 0);
    let refused = slateval(&["merge", &path("a.slateval"), &path("c.slateval"), "-o", &path("d.slateval")]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("structure: additive against product"), "{}", refused.stderr);
    assert!(!folder.path().join("d.slateval").exists());

    let renamed = slateval(&additive(&[
        "evaluate",
        &example("slates.parquet"),
        "--target",
        "new=pi_new",
        "--target",
        "bolder=pi_new",
        "--by",
        "device",
        "--save",
        &path("e.slateval"),
    ]));
    assert_eq!(renamed.code, 0);
    let refused = slateval(&["merge", &path("a.slateval"), &path("e.slateval"), "-o", &path("d.slateval")]);
    assert!(refused.code == 2 && refused.stderr.contains("target bolder `pi_bolder`"), "{}", refused.stderr);

    let bytes = std::fs::read(path("a.slateval")).unwrap();
    std::fs::write(path("cut.slateval"), &bytes[..bytes.len() / 2]).unwrap();
    let cut = slateval(&["show", &path("cut.slateval")]);
    assert_eq!(cut.code, 2);
    assert!(cut.stderr.contains("cut.slateval") && cut.stderr.contains("checksum"), "{}", cut.stderr);
}

#[test]
fn the_cdf_goes_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("cdf.csv").display().to_string();
    let run = evaluate_example(&["--cdf", &csv, "--by", "device", "--bins", "16"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let text = std::fs::read_to_string(&csv).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("policy,segment,reward,raw,estimate,lower,upper"));
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    assert!(rows.iter().all(|r| r.len() == 7));
    assert_eq!(rows.iter().filter(|r| r[0] == "logging" && r[1].is_empty()).count(), 16);
    assert!(rows.iter().any(|r| r[0] == "bolder" && r[1] == "tablet"));

    let parquet = folder.path().join("cdf.parquet").display().to_string();
    assert_eq!(evaluate_example(&["--cdf", &parquet]).code, 0);
    assert!(std::fs::read(&parquet).unwrap().starts_with(b"PAR1"));
    let refused = evaluate_example(&["--cdf", "cdf.xlsx"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains(".parquet or .csv"), "{}", refused.stderr);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary files are left");
}

#[test]
fn a_failed_run_leaves_the_old_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("out.json"), "before").unwrap();
    std::fs::write(path("bad.csv"), "reward,mu_1,pi_1\n1,0.5,0.5\n1,0,0.5\n").unwrap();
    let run = slateval(&["evaluate", &path("bad.csv"), "--json", &path("out.json"), "--save", &path("out.slateval")]);
    assert_eq!(run.code, 2);
    assert_eq!(std::fs::read_to_string(path("out.json")).unwrap(), "before");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// An output never takes the place of an input, of another output, of a link or of a device.
#[test]
fn outputs_destroy_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::copy(example("slates.parquet"), path("log.parquet")).unwrap();
    let run = |more: &[&str]| {
        slateval(&additive(&[["evaluate", &path("log.parquet"), "--target", "pi_new"].as_slice(), more].concat()))
    };
    for flag in ["--cdf", "--save", "--json"] {
        let refused = run(&[flag, &path("log.parquet")]);
        assert!(refused.code == 2 && refused.stderr.contains("overwrite the log"), "{}", refused.stderr);
    }
    let refused = run(&["--json", &path("same"), "--save", &path("same")]);
    assert!(refused.code == 2 && refused.stderr.contains("same file"), "{}", refused.stderr);
    let refused = run(&["--save", &path("nowhere/x.slateval")]);
    assert!(refused.code == 2 && refused.stderr.contains("no directory"), "{}", refused.stderr);
    #[cfg(unix)]
    {
        std::fs::write(path("real.json"), "before").unwrap();
        std::os::unix::fs::symlink(path("real.json"), path("link.json")).unwrap();
        assert_eq!(run(&["--json", &path("link.json")]).code, 0);
        assert!(std::fs::symlink_metadata(path("link.json")).unwrap().is_symlink());
        assert!(std::fs::read_to_string(path("real.json")).unwrap().contains("slateval/evaluation/1"));
    }
}

/// What could mislead is said beside the JSON and in the table of segments too.
#[test]
fn failed_checks_never_hide() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.csv").display().to_string();
    let row = |i: usize| {
        let (pi, segment) = (if i.is_multiple_of(5) { 0.9 } else { 0.025 }, if i < 6 { "tiny" } else { "large" });
        format!("{},{},{pi},{segment}\n", i % 3, 0.2)
    };
    let rows: String = (0..3000).map(row).collect();
    std::fs::write(&path, format!("reward,mu_1,pi_1,part\n{rows}")).unwrap();
    let run = slateval(&additive(&["evaluate", &path, "--by", "part"]));
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.ends_with("3 failed (tiny: target: ess, tail, concentration)."), "{}", run.stdout);
    let run = evaluate_example(&["--structure", "paper-order:2", "--json", "-"]);
    assert!(run.stderr.contains("biased"), "{}", run.stderr);
    assert_eq!(run.json()["schema"], "slateval/evaluation/1");
}

/// `-` reads an Arrow IPC stream, and says so when it gets something else.
#[test]
fn a_stream_comes_in_through_a_pipe() {
    let numbers = |values: &[f64]| Arc::new(Float64Array::from(values.to_vec())) as ArrayRef;
    let columns = [("reward", numbers(&[0.0, 1.0])), ("mu_1", numbers(&[0.5, 0.5])), ("pi_1", numbers(&[0.2, 0.8]))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let run = slateval_with_input(&additive(&["evaluate", "-", "--json", "-", "--correction", "none"]), &bytes);
    let mean = run.json()["policies"][1]["mean"]["estimate"].as_f64().unwrap();
    assert!((mean - 0.8).abs() < 1e-12);
    let refused = slateval_with_input(&["evaluate", "-"], b"reward,mu_1,pi_1\n1,0.5,0.5\n");
    assert!(refused.code == 2 && refused.stderr.contains("Arrow IPC stream"), "{}", refused.stderr);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let status = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!(
            "{} evaluate {} --target new=pi_new --structure additive --json - | head -c 10",
            common::BINARY,
            example("slates.parquet")
        ))
        .output()
        .unwrap();
    assert!(status.stderr.is_empty(), "{}", String::from_utf8_lossy(&status.stderr));
}
