//! Files that were written anew, became bad or became good between two runs.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use common::{Run, slateval};
use serde_json::Value;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        fs::create_dir(folder.path("logs")).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A file so large that its fingerprint is made from samples.
    fn write_large(&self, name: &str) {
        let rows: String = (0..40_000).map(|i| format!("{},0.5,0.{}\n", i % 7, 1 + i % 9)).collect();
        fs::write(self.path(name), format!("reward,mu_1,pi_1\n{rows}")).unwrap();
        self.set_time(name, 100);
    }

    /// Changes one digit between two samples; size and fingerprint stay.
    fn change_between_samples(&self, name: &str) {
        let mut bytes = fs::read(self.path(name)).unwrap();
        let line = 40_000 + bytes[40_000..].iter().position(|&byte| byte == b'\n').unwrap();
        bytes[line + 1] = if bytes[line + 1] == b'5' { b'6' } else { b'5' };
        fs::write(self.path(name), bytes).unwrap();
    }

    fn write_small(&self, name: &str) {
        let seed = name.len() + name.bytes().map(usize::from).sum::<usize>();
        let rows: String = (0..50).map(|i| format!("{},0.5,0.{}\n", (i * 7 + seed) % 10, 1 + i % 9)).collect();
        fs::write(self.path(name), format!("reward,mu_1,pi_1\n{rows}")).unwrap();
    }

    /// So many seconds ago.
    fn set_time(&self, name: &str, seconds: u64) {
        let time = SystemTime::now() - Duration::from_secs(seconds);
        File::options().append(true).open(self.path(name)).unwrap().set_modified(time).unwrap();
    }

    fn update(&self, more: &[&str]) -> Run {
        let words = ["update", &self.text("state.slateval"), &self.text("logs"), "--structure", "additive"];
        slateval(&[words.as_slice(), more].concat())
    }

    fn resume(&self, more: &[&str]) -> Run {
        let (work, out) = (self.text("work"), self.text("out.json"));
        let words = ["evaluate", &self.text("logs"), "--resume", &work, "--json", &out, "--structure", "additive"];
        slateval(&[words.as_slice(), more].concat())
    }

    fn state(&self) -> Value {
        slateval(&["show", &self.text("state.slateval"), "--json", "-"]).json()
    }
}

fn refused(run: &Run, words: &[&str]) {
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    words.iter().for_each(|word| assert!(run.stderr.contains(word), "{word}: {}", run.stderr));
}

#[test]
fn an_update_notices_a_file_that_was_rewritten_between_the_samples() {
    let folder = Folder::new();
    folder.write_large("logs/a.csv");
    assert_eq!(folder.update(&[]).code, 0);
    let before = fs::read(folder.path("state.slateval")).unwrap();
    // The same content, written again or not.
    for seconds in [100, 50, 0] {
        folder.set_time("logs/a.csv", seconds);
        let run = folder.update(&[]);
        assert!(run.code == 0 && run.stdout.contains("in it already"), "{}{}", run.stdout, run.stderr);
    }
    folder.change_between_samples("logs/a.csv");
    refused(&folder.update(&[]), &["a.csv", "in it already, with other content"]);
    assert_eq!(fs::read(folder.path("state.slateval")).unwrap(), before);
}

/// States of before know a file by its samples alone, and so does a summary that `evaluate` saved.
#[test]
fn a_state_that_remembers_no_content_knows_files_by_their_samples() {
    let folder = Folder::new();
    folder.write_large("logs/a.csv");
    let words = ["evaluate", &folder.text("logs"), "--structure", "additive", "--save", &folder.text("state.slateval")];
    assert_eq!(slateval(&words).code, 0);
    folder.set_time("logs/a.csv", 50);
    let run = folder.update(&[]);
    assert!(run.code == 0 && run.stdout.contains("in it already"), "{}{}", run.stdout, run.stderr);
}

#[test]
fn a_resumed_reading_notices_a_file_that_was_rewritten() {
    let folder = Folder::new();
    folder.write_large("logs/a.csv");
    fs::write(folder.path("logs/b.csv"), "reward,mu_1,pi_1\n1,2,0.5\n").unwrap();
    refused(&folder.resume(&["--threads", "1"]), &["b.csv, row 1"]);
    assert!(folder.path("work").exists());
    folder.change_between_samples("logs/a.csv");
    refused(&folder.resume(&[]), &["a.csv has been written to since", "--resume", "remove it to begin again"]);
    fs::remove_file(folder.path("work")).unwrap();
}

#[test]
fn a_resumed_reading_notices_files_that_became_bad_or_good() {
    let folder = Folder::new();
    folder.write_small("logs/a.csv");
    fs::write(folder.path("logs/b.csv"), "reward,mu_1,pi_1\n1,2,0.5\n").unwrap();
    // Its last line has no end.
    fs::write(folder.path("logs/c.csv"), "reward,mu_1,pi_1\n1,0.5,0.5").unwrap();
    let skip = ["--on-bad-file", "skip", "--threads", "1"];
    refused(&folder.resume(&skip), &["b.csv, row 1"]);
    assert!(folder.path("work").exists());
    fs::rename(folder.path("logs/c.csv"), folder.path("torn")).unwrap();
    refused(&folder.resume(&skip), &["c.csv is no longer in the log"]);
    folder.write_small("logs/c.csv");
    refused(&folder.resume(&skip), &["c.csv could not be read then, and can be now"]);
    fs::rename(folder.path("torn"), folder.path("logs/c.csv")).unwrap();
    fs::write(folder.path("logs/a.csv"), "reward,mu_1,pi_1\n1,0.5,0.5").unwrap();
    refused(&folder.resume(&skip), &["a.csv cannot be read any more"]);
}

fn skipped_files(state: &Value) -> Vec<(u64, Vec<String>)> {
    let parts = state["log"]["skipped"].as_array().cloned().unwrap_or_default();
    let names = |part: &Value| {
        let examples = part["examples"].as_array().unwrap();
        examples.iter().map(|example| example["file"].as_str().unwrap().to_owned()).collect()
    };
    parts.iter().map(|part| (part["files"].as_u64().unwrap(), names(part))).collect()
}

#[test]
fn a_file_that_stays_bad_is_counted_once_and_a_mended_one_no_more() {
    let folder = Folder::new();
    let skip = ["--on-bad-file", "skip"];
    folder.write_small("logs/1.csv");
    let text = fs::read_to_string(folder.path("logs/1.csv")).unwrap();
    fs::write(folder.path("logs/bad.csv"), &text[..100]).unwrap();
    let bad = [(1, vec![folder.text("logs/bad.csv")])];
    assert_eq!(folder.update(&skip).code, 0);
    assert_eq!(skipped_files(&folder.state()), bad);
    let before = fs::read(folder.path("state.slateval")).unwrap();
    assert_eq!(folder.update(&skip).code, 0);
    assert_eq!(fs::read(folder.path("state.slateval")).unwrap(), before, "a job that is tried again adds nothing");
    folder.write_small("logs/2.csv");
    assert_eq!(folder.update(&skip).code, 0);
    assert_eq!(skipped_files(&folder.state()), bad);
    // Another bad file alone is remembered as well.
    fs::write(folder.path("logs/bad2.csv"), &text[..100]).unwrap();
    let run = folder.update(&skip);
    assert!(run.code == 0 && run.stdout.contains("nothing added"), "{}{}", run.stdout, run.stderr);
    assert_eq!(skipped_files(&folder.state())[0].0, 2);
    for name in ["logs/bad.csv", "logs/bad2.csv"] {
        folder.write_small(name);
    }
    let run = folder.update(&skip);
    assert!(run.stdout.contains("2 files with 100 slates added"), "{}{}", run.stdout, run.stderr);
    let state = folder.state();
    assert_eq!(skipped_files(&state), []);
    assert_eq!(state["log"]["rows"], 200);
}

#[test]
fn names_that_are_no_text_are_two_names() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let path = |byte: u8| folder.path("logs").join(std::ffi::OsStr::from_bytes(&[b'a', byte, b'.', b'c', b's', b'v']));
    folder.write_small("1.csv");
    folder.write_small("22.csv");
    if fs::copy(folder.path("1.csv"), path(0xff)).is_err() {
        return;
    }
    assert_eq!(folder.update(&[]).code, 0);
    fs::copy(folder.path("22.csv"), path(0xfe)).unwrap();
    let run = folder.update(&[]);
    assert!(run.stdout.contains("1 file with 50 slates added; 1 file skipped"), "{}{}", run.stdout, run.stderr);
    let names: Vec<Value> =
        folder.state()["log"]["inputs"].as_array().unwrap().iter().map(|i| i["name"].clone()).collect();
    assert!(
        names[0].as_str().unwrap().ends_with("a\\xfe.csv") && names[1].as_str().unwrap().ends_with("a\\xff.csv"),
        "{names:?}"
    );
}

/// A log of so many rows that are all bad.
fn all_bad(rows: usize) -> String {
    format!("reward,mu_1,pi_1\n{}", "1,2,0.5\n".repeat(rows))
}

fn skipped_rows(state: &Value) -> u64 {
    let parts = state["log"]["skipped"].as_array().cloned().unwrap_or_default();
    parts.iter().map(|part| part["rows"].as_u64().unwrap()).sum()
}

#[test]
fn rows_of_a_file_that_is_all_bad_are_counted_once() {
    let folder = Folder::new();
    let skip = ["--on-bad-row", "skip", "--on-bad-file", "skip"];
    folder.write_small("logs/1.csv");
    assert_eq!(folder.update(&skip).code, 0);
    fs::write(folder.path("logs/allbad.csv"), all_bad(50)).unwrap();
    let run = folder.update(&skip);
    assert!(run.stdout.contains("nothing added") && run.stdout.contains("50 rows"), "{}{}", run.stdout, run.stderr);
    assert_eq!(skipped_rows(&folder.state()), 50);
    let before = fs::read(folder.path("state.slateval")).unwrap();
    let run = folder.update(&skip);
    assert!(run.stdout.contains("2 files skipped, in it already"), "{}{}", run.stdout, run.stderr);
    assert_eq!(fs::read(folder.path("state.slateval")).unwrap(), before);
    for name in ["logs/torn1.csv", "logs/torn2.csv"] {
        fs::write(folder.path(name), "reward,mu_1,pi_1\n1,0.5").unwrap();
        assert_eq!(folder.update(&skip).code, 0);
        assert_eq!(skipped_rows(&folder.state()), 50, "beside another bad file");
    }
    // What was read of a day says nothing about other content.
    fs::write(folder.path("logs/allbad.csv"), all_bad(60)).unwrap();
    refused(&folder.update(&skip), &["allbad.csv", "in it already, with other content"]);
}

#[test]
fn a_file_that_was_without_rows_is_read_when_it_has_some() {
    let folder = Folder::new();
    folder.write_small("logs/1.csv");
    fs::write(folder.path("logs/2.csv"), "reward,mu_1,pi_1\n").unwrap();
    assert_eq!(folder.update(&[]).code, 0);
    folder.write_small("logs/2.csv");
    let run = folder.update(&[]);
    assert!(run.stdout.contains("1 file with 50 slates added"), "{}{}", run.stdout, run.stderr);
}

#[test]
fn a_bad_file_that_comes_alone_is_remembered() {
    let folder = Folder::new();
    let update = |more: &[&str]| {
        let words = ["update", &folder.text("state.slateval"), &folder.text("torn.parquet"), "--on-bad-file", "skip"];
        slateval(&[words.as_slice(), more].concat())
    };
    fs::write(folder.path("torn.parquet"), b"PAR1 is not enough").unwrap();
    refused(&update(&["--structure", "additive"]), &["nothing is left"]);
    assert!(!folder.path("state.slateval").exists());
    folder.write_small("logs/1.csv");
    assert_eq!(folder.update(&[]).code, 0);
    for _ in 0..2 {
        let run = update(&[]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.contains("nothing added; bad and left out: 0 rows, 1 file"), "{}", run.stdout);
        assert_eq!(skipped_files(&folder.state()), [(1, vec![folder.text("torn.parquet")])]);
    }
    let fail = ["update", &folder.text("state.slateval"), &folder.text("torn.parquet")];
    refused(&slateval(&fail), &["torn.parquet"]);
}

#[test]
fn a_file_of_a_state_that_became_bad_is_other_content() {
    let folder = Folder::new();
    let skip = ["--on-bad-file", "skip"];
    folder.write_small("logs/1.csv");
    folder.write_small("logs/2.csv");
    assert_eq!(folder.update(&skip).code, 0);
    let before = fs::read(folder.path("state.slateval")).unwrap();
    let text = fs::read(folder.path("logs/2.csv")).unwrap();
    fs::write(folder.path("logs/2.csv"), &text[..100]).unwrap();
    refused(&folder.update(&skip), &["2.csv", "in it already, with other content"]);
    assert_eq!(fs::read(folder.path("state.slateval")).unwrap(), before);
    fs::write(folder.path("logs/2.csv"), &text).unwrap();
    assert_eq!(folder.update(&skip).code, 0);
    assert_eq!(fs::read(folder.path("state.slateval")).unwrap(), before);
}

/// Its last line has no end, which was allowed when it was read.
#[test]
fn a_file_of_a_state_is_known_though_it_would_not_be_read_today() {
    let folder = Folder::new();
    folder.write_small("logs/1.csv");
    fs::write(folder.path("logs/2.csv"), "reward,mu_1,pi_1\n1,0.5,0.5\n2,0.5,0.25").unwrap();
    assert_eq!(folder.update(&["--allow-unended"]).code, 0);
    let run = folder.update(&["--on-bad-file", "skip"]);
    assert!(run.stdout.contains("2 files skipped, in it already"), "{}{}", run.stdout, run.stderr);
    assert_eq!(skipped_files(&folder.state()), []);
}

/// Summaries in which a file is both read and left out come from a merge.
#[test]
fn a_file_that_is_known_is_no_longer_left_out() {
    let folder = Folder::new();
    folder.write_small("logs/1.csv");
    folder.write_small("logs/22.csv");
    let text = fs::read(folder.path("logs/22.csv")).unwrap();
    let save = |name: &str, logs: &[&str]| {
        let logs: Vec<String> = logs.iter().map(|log| folder.text(log)).collect();
        let logs: Vec<&str> = logs.iter().map(String::as_str).collect();
        let words = ["--structure", "additive", "--on-bad-file", "skip", "--save", &folder.text(name)];
        let run = slateval(&[&["evaluate"], logs.as_slice(), &words].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
    };
    save("good.slateval", &["logs/22.csv"]);
    fs::write(folder.path("logs/22.csv"), &text[..100]).unwrap();
    save("bad.slateval", &["logs/1.csv", "logs/22.csv"]);
    fs::write(folder.path("logs/22.csv"), &text).unwrap();
    let (good, bad) = (folder.text("good.slateval"), folder.text("bad.slateval"));
    assert_eq!(slateval(&["merge", &good, &bad, "-o", &folder.text("state.slateval")]).code, 0);
    assert_eq!(skipped_files(&folder.state())[0].0, 1);
    let run = folder.update(&[]);
    assert!(run.stdout.contains("nothing added"), "{}{}", run.stdout, run.stderr);
    assert_eq!(skipped_files(&folder.state()), []);
}
