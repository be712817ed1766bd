//! Output files: written whole or not at all, whatever happens.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Command;

use common::{BINARY, Run, example, slateval};

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn evaluate(more: &[&str]) -> Run {
    let log = example("slates.parquet");
    slateval(&[&["evaluate", &log, "--target", "new=pi_new", "--structure", "additive"], more].concat())
}

/// In a shell in which no file may have more than so many blocks.
fn with_small_files(blocks: &str, more: &[&str]) -> Run {
    let log = example("slates.parquet");
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let words = ["evaluate", &log, "--target", "new=pi_new", "--structure", "additive"];
    let output = Command::new("sh").args(["-c", &script, BINARY]).args(words).args(more).output().unwrap();
    Run {
        code: output.status.code().expect("not ended by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file-size limit stands for a full disk.
#[test]
fn a_summary_that_cannot_be_saved_keeps_nobody_from_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.slateval").display().to_string();
    std::fs::write(&path, "what was there before").unwrap();
    let run = with_small_files("4", &["--save", &path]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stdout.contains("12,000 slates"), "{}", run.stdout);
    assert!(run.stderr.contains("log.slateval"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "what was there before");
    assert_eq!(names(folder.path()), ["log.slateval"]);
    let json = with_small_files("4", &["--save", &path, "--json", "-"]);
    assert_eq!(json.code, 2);
    assert!(serde_json::from_str::<serde_json::Value>(&json.stdout).is_ok(), "{}", json.stdout);
}

#[test]
fn every_file_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let run = with_small_files("4", &["--save", &path("a.slateval"), "--report", &path("b.html")]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("a.slateval") && run.stderr.contains("b.html"), "{}", run.stderr);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn outputs_are_checked_before_the_log_is_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    // A log that cannot be evaluated: whoever reads it complains about it first.
    let log = folder.path().join("log.csv").display().to_string();
    std::fs::write(&log, "reward,mu_1,pi_1\n1,0,0.5\n").unwrap();
    let long = "x".repeat(252);
    for (flag, ending) in
        [("--json", "json"), ("--report", "html"), ("--plot", "svg"), ("--cdf", "csv"), ("--save", "slateval")]
    {
        let below_a_file = folder.path().join("file").join(format!("x.{ending}"));
        let in_no_file_system = Path::new("/proc").join(format!("x.{ending}"));
        let too_long = folder.path().join(format!("{long}.{ending}"));
        let directory = folder.path().join(format!("directory.{ending}"));
        std::fs::create_dir(&directory).unwrap();
        for path in [below_a_file, in_no_file_system, too_long, directory] {
            let path = path.display().to_string();
            let run = slateval(&["evaluate", &log, flag, &path]);
            assert_eq!(run.code, 2);
            assert!(run.stderr.contains(flag) && !run.stderr.contains("mu_1"), "{flag} {path}: {}", run.stderr);
        }
    }
}

#[test]
fn a_name_may_be_as_long_as_the_file_system_allows() {
    let folder = tempfile::tempdir().unwrap();
    let path = |ending: &str| folder.path().join(format!("{}.{ending}", "x".repeat(254 - ending.len())));
    let (saved, json) = (path("slateval"), path("json"));
    let run = evaluate(&["--save", saved.to_str().unwrap(), "--json", json.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(names(folder.path()).len(), 2);
}

/// Of an earlier run that was killed; another run may be writing at this moment.
#[test]
fn leftovers_go_and_files_of_living_runs_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (dead, living) = (".out.json.00000000000000aa.part", ".out.json.00000000000000bb.part");
    std::fs::write(folder.path().join(dead), "half").unwrap();
    let other = std::fs::File::create(folder.path().join(living)).unwrap();
    other.lock().unwrap();
    let run = evaluate(&["--json", folder.path().join("out.json").to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(names(folder.path()), [living, "out.json"]);
}

/// A state that cannot be written stays as it was, and what is evaluated from it is not shown as if it had been saved.
#[test]
fn a_state_that_cannot_be_written_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let rows = |seed: usize| -> String {
        let row = |i: usize| format!("{}.{},0.5,0.{}\n", (i * seed) % 97, i % 10, 1 + i % 9);
        (0..2000).map(row).collect()
    };
    for day in 1..=2 {
        std::fs::write(path(&format!("{day}.csv")), format!("reward,mu_1,pi_1\n{}", rows(day))).unwrap();
    }
    let state = path("state.slateval");
    assert_eq!(slateval(&["update", &state, &path("1.csv")]).code, 0);
    let before = std::fs::read(&state).unwrap();
    let script = "ulimit -f 4; exec \"$0\" \"$@\"";
    let words = ["-c", script, BINARY, "update", &state, &path("2.csv")];
    let output = Command::new("sh").args(words).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("state.slateval") && stderr.contains("large"), "{stderr}");
    assert!(output.stdout.is_empty(), "nothing was added: {}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(std::fs::read(&state).unwrap(), before);
    assert_eq!(names(folder.path()), ["1.csv", "2.csv", "state.slateval"]);
    // When there is room again, the same command adds what it could not.
    let run = slateval(&["update", &state, &path("2.csv")]);
    assert!(run.stdout.contains("4,000 slates in all"), "{}{}", run.stdout, run.stderr);
}

/// A reading of hours does not end for want of a place to keep its work.
#[test]
fn work_that_cannot_be_kept_keeps_nobody_from_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("work.slateval").display().to_string();
    let run = with_small_files("4", &["--resume", &path]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stdout.contains("12,000 slates"), "{}", run.stdout);
    assert_eq!(run.stderr.matches("no further checkpoints").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("work.slateval: a checkpoint could not be written"), "{}", run.stderr);
    assert!(names(folder.path()).is_empty());
    let json = with_small_files("4", &["--resume", &path, "--json", "-"]);
    assert_eq!(json.code, 2);
    assert!(serde_json::from_str::<serde_json::Value>(&json.stdout).is_ok(), "{}", json.stdout);
}

#[test]
fn a_gate_whose_work_cannot_be_kept_says_what_it_judged() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work.slateval").display().to_string();
    let (log, rules) = (example("slates.parquet"), example("gate/passes.toml"));
    let targets = ["--target", "new=pi_new", "--target", "bolder=pi_bolder", "--by", "device"];
    let words = [["gate", &log, "--rules", &rules].as_slice(), &targets].concat();
    let script = "ulimit -f 4; exec \"$0\" \"$@\"";
    let output =
        Command::new("sh").args(["-c", script, BINARY]).args(words).args(["--resume", &work]).output().unwrap();
    let (told, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(2), "{told}{error}");
    assert!(told.contains("rules hold"), "{told}{error}");
    assert!(error.contains("work.slateval: a checkpoint could not be written"), "{error}");
}

/// Runs of every command that prints its result, with standard output sent to `to` as a shell writes it.
#[cfg(target_os = "linux")]
fn printing(to: &str) -> Vec<(Vec<String>, Run)> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let log = example("slates.parquet");
    let saved = path("log.slateval");
    assert_eq!(evaluate(&["--save", &saved]).code, 0);
    let rules = path("rules.toml");
    std::fs::write(&rules, "[[rule]]\nrequire = 'mean(new) >= 0'\n").unwrap();
    let target = ["--target", "new=pi_new", "--structure", "additive"];
    let commands = [
        vec!["show", &saved],
        vec!["show", &saved, "--json", "-"],
        vec!["log", &saved],
        [&["evaluate", &log], &target[..]].concat(),
        [&["inspect", &log], &target[..]].concat(),
        vec!["gate", &saved, "--rules", &rules],
        vec!["--help"],
        vec!["--version"],
        vec!["evaluate", "--help"],
    ];
    let run = |words: &Vec<&str>| {
        let script = format!("\"$0\" \"$@\" {to}");
        let output = Command::new("sh").args(["-c", &script, BINARY]).args(words).output().unwrap();
        let run = Run {
            code: output.status.code().expect("not ended by a signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        (words.iter().map(|word| (*word).to_owned()).collect(), run)
    };
    commands.iter().map(run).collect()
}

/// A result that goes nowhere is no success: not where standard output is closed, and not where its disk is full.
#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_printed_is_a_failure() {
    for to in [">&-", ">/dev/full"] {
        for (words, run) in printing(to) {
            assert_eq!(run.code, 2, "{words:?} {to}: {}", run.stderr);
            assert!(run.stderr.contains("cannot write to standard output"), "{words:?} {to}: {}", run.stderr);
        }
    }
}

/// A standard output that takes the result and drops it is asked for.
#[cfg(target_os = "linux")]
#[test]
fn a_result_that_is_not_wanted_is_a_success() {
    for (words, run) in printing(">/dev/null") {
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{words:?}");
    }
}
