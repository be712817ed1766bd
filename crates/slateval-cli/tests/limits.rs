//! Input that claims or asks for too much: an error, never a signal or a panic.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

mod common;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{BINARY, slateval};
use tempfile::tempdir;

const LOG: &str = "reward,mu_1,pi_1\n1,0.5,0.25\n0,0.5,0.75\n";

/// Runs the binary with so many kilobytes of address space; the exit code must be that of an error.
fn refused(kilobytes: usize, arguments: &[&str], words: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\""), BINARY]).args(arguments);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let shown: String = message.chars().take(500).collect();
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(message.contains(words), "`{words}` is not in {shown}");
}

fn write(folder: &Path, name: &str, text: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn lines_without_an_end_are_refused() {
    let folder = tempdir().unwrap();
    for (name, start) in [("a.csv", "reward"), ("a.jsonl", "{\"reward\":\"")] {
        let path = folder.path().join(name);
        let mut file = File::create(&path).unwrap();
        file.write_all(start.as_bytes()).unwrap();
        // A hole: the file is long, and takes no room on disk.
        file.set_len(1_500_000_000).unwrap();
        let path = path.display().to_string();
        refused(1_500_000, &["evaluate", &path, "--threads", "1"], "a line is longer than 64 MB");
    }
}

#[test]
fn too_many_of_anything_are_refused() {
    let folder = tempdir().unwrap();
    let log = write(folder.path(), "log.csv", LOG.as_bytes());
    let rules = "[[rule]]\nname = \"x\"\nrequire = \"mean(target) >= 0\"\n".repeat(20_000);
    let rules = write(folder.path(), "rules.toml", rules.as_bytes());
    refused(3_000_000, &["gate", &log, "--rules", &rules], "there are 20000 rules, and at most 1000");
    let targets: Vec<String> = (0..3000).map(|i| format!("--target=t{i}=pi")).collect();
    let arguments: Vec<&str> = ["evaluate", &log].into_iter().chain(targets.iter().map(String::as_str)).collect();
    refused(3_000_000, &arguments, "at most 1000 target policies");
    let levels = vec!["0.5"; 10_001].join(",");
    refused(3_000_000, &["evaluate", &log, "--quantile", &levels], "at most 10,000");
    let wide = write(folder.path(), "wide.csv", format!("{}\n", vec!["x"; 1_000_000].join(",")).as_bytes());
    refused(3_000_000, &["evaluate", &wide], "1000000 columns, more than the 100000");
    let slots: String = (1..=2000).map(|k| format!(",mu_{k},pi_{k}")).collect();
    let cells = ",1".repeat(4000);
    let slots = write(folder.path(), "slots.csv", format!("reward{slots}\n1{cells}\n").as_bytes());
    refused(3_000_000, &["evaluate", &slots], "more than 1000 columns `mu_1`");
}

#[test]
fn a_log_that_would_not_fit_into_memory_is_refused() {
    let folder = tempdir().unwrap();
    let names: String = (1..=400).map(|k| format!(",mu_{k},pi_{k}")).collect();
    let cells = ",0.5".repeat(800);
    let log = write(folder.path(), "log.csv", format!("reward{names}\n1{cells}\n0{cells}\n").as_bytes());
    refused(8_000_000, &["evaluate", &log, "--memory", "50MB"], "slates of 400 slots for 1 target may take");
    let run = slateval(&["evaluate", &log, "--memory", "nothing"]);
    assert!(run.code == 2 && run.stderr.contains("2GB or 512MiB"), "{}", run.stderr);
}

/// Valid files of some kilobytes, which `limits/make.py` makes. Without the check they take up to 1.2 GB.
#[test]
fn files_that_claim_more_than_the_memory_are_refused_before_they_are_read() {
    for (file, column) in [
        ("page.parquet", "reward"),
        ("batch.arrow", "reward"),
        ("batch.arrows", "reward"),
        ("list-of-floats.parquet", "mu"),
        ("list-of-integers.parquet", "mu"),
        ("list-behind-others.parquet", "mu"),
    ] {
        let path = format!("{}/tests/limits/{file}", env!("CARGO_MANIFEST_DIR"));
        let words = format!("{file}: column `");
        for threads in ["1", "8"] {
            refused(1_000_000, &["evaluate", &path, "--memory", "50MB", "--threads", threads], &words);
        }
        let run = slateval(&["evaluate", &path, "--memory", "50MB"]);
        let of_columns = [column, "pi", "mu_1", "pi_1"].map(|column| format!("column `{column}` claims too much"));
        assert!(of_columns.iter().any(|words| run.stderr.contains(words)), "{}", run.stderr);
        assert!(
            run.stderr.contains("the 25 MB that are allowed") && run.stderr.contains("--memory SIZE"),
            "{}",
            run.stderr
        );
    }
}

/// The limit is for what is held at a time, not for the whole file.
#[test]
fn a_large_page_is_read_where_there_is_memory_for_it() {
    for file in ["page.parquet", "batch.arrow", "batch.arrows"] {
        let path = format!("{}/tests/limits/{file}", env!("CARGO_MANIFEST_DIR"));
        let run = slateval(&["evaluate", &path, "--memory", "400MB", "--structure", "product", "--band", "none"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
}

#[test]
fn standard_error_need_not_be_there() {
    for redirection in ["2>&-", "2>/dev/full"] {
        let line = format!("\"$0\" evaluate no-such-file.csv {redirection}");
        let status = Command::new("sh").args(["-c", &line, BINARY]).status().unwrap();
        assert_eq!(status.code(), Some(2), "{redirection}");
    }
}

/// The correction solves a system with an unknown for each slot.
#[test]
fn slates_of_hundreds_of_slots_are_evaluated() {
    let folder = tempdir().unwrap();
    let names: String = (1..=400).map(|k| format!(",mu_{k},pi_{k}")).collect();
    let cell =
        |row: usize, slot: usize| if (row * 7919 + slot * slot * 31) % 101 < 50 { ",0.5,0.45" } else { ",0.5,0.55" };
    let row = |row: usize| {
        let cells: String = (0..400).map(|slot| cell(row, slot)).collect();
        format!("{}{cells}\n", row * 37 % 100)
    };
    let rows: String = (0..300).map(row).collect();
    let log = write(folder.path(), "log.csv", format!("reward{names}\n{rows}").as_bytes());
    let run = slateval(&["evaluate", &log]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}
