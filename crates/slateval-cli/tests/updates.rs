//! Runs of every day: resumed, added to a state, watched by programs.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::PathBuf;

use common::{Run, example, slateval};
use serde_json::Value;

struct Folder(tempfile::TempDir);

impl Folder {
    /// Three small logs, one for each day.
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        for day in 1..=3 {
            folder.write(&format!("{day}.csv"), day);
        }
        folder
    }

    fn write(&self, name: &str, seed: u64) {
        let mut text = "reward,mu_1,pi_1,pi_new_1\n".to_owned();
        for row in 0..50 {
            let reward = (row * 7 + seed * 13) % 10;
            text += &format!("{reward},0.5,0.{},0.25\n", 1 + (row + seed) % 9);
        }
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn update(&self, log: &str, more: &[&str]) -> Run {
        slateval(&[&["update", &self.text("state.slateval"), &self.text(log)], more].concat())
    }

    fn log(&self) -> Value {
        slateval(&["log", &self.text("state.slateval"), "--json", "-"]).json()
    }
}

#[test]
fn a_state_grows_day_by_day() {
    let folder = Folder::new();
    let flags = ["--target", "new=pi_new", "--structure", "additive", "--day", "2024-05-01"];
    let first = folder.update("1.csv", &flags);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stdout.contains("1 file with 50 slates added; 50 slates in all"), "{}", first.stdout);
    let second = folder.update("2.csv", &["--day", "2024-05-02"]);
    assert!(second.stdout.contains("100 slates in all"), "{}{}", second.stdout, second.stderr);
    let before = std::fs::read(folder.path("state.slateval")).unwrap();
    let again = folder.update("2.csv", &["--target", "new=pi_new", "--day", "2024-05-02"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stdout.contains("nothing added; 1 file skipped, in it already: "), "{}", again.stdout);
    assert_eq!(std::fs::read(folder.path("state.slateval")).unwrap(), before);

    let both = folder.update("", &["--json", "-", "--day", "2024-05-03"]);
    assert!(both.stderr.contains("1 file with 50 slates added; 2 files skipped"), "{}", both.stderr);
    assert_eq!(both.json()["log"]["rows"], 150);
    assert_eq!(both.json()["log"]["inputs"].as_array().unwrap().len(), 3);

    let log = folder.log();
    assert_eq!(log["days"], serde_json::json!(["2024-05-01", "2024-05-02", "2024-05-03"]));
    assert_eq!(log["inputs"][1]["day"], "2024-05-02");
    assert_eq!(log["inputs"][1]["rows"], 50);
    assert_eq!(log["targets"], serde_json::json!(["new"]));
    assert_eq!(log["reading"], serde_json::json!(["--target=new=pi_new", "--structure=additive"]));
    assert!(log["commands"][0].as_str().unwrap().contains("--target new=pi_new"));
    let text = slateval(&["log", &folder.text("state.slateval")]).stdout;
    assert!(text.contains("150 slates of 3 files, of 3 days from 2024-05-01 to 2024-05-03"), "{text}");
    assert!(text.contains("made by\n  slateval update "), "{text}");
}

/// The numbers are those of one reading of all logs.
#[test]
fn a_state_says_what_its_logs_say() {
    let folder = Folder::new();
    for log in ["1.csv", "2.csv", "3.csv"] {
        assert_eq!(folder.update(log, &["--structure", "additive", "--alpha", "0.2"]).code, 0);
    }
    let logs = ["1.csv", "2.csv", "3.csv"].map(|log| folder.text(log));
    let words = ["--structure", "additive", "--alpha", "0.2", "--json", "-"];
    let whole = slateval(&[&["evaluate"], logs.each_ref().map(String::as_str).as_slice(), &words].concat()).json();
    let state = folder.update("1.csv", &["--json", "-"]).json();
    assert_eq!(state["policies"], whole["policies"]);
    assert_eq!(state["log"], whole["log"]);
}

#[test]
fn what_does_not_fit_a_state_is_refused() {
    let folder = Folder::new();
    assert_eq!(folder.update("1.csv", &["--structure", "additive"]).code, 0);
    let before = std::fs::read(folder.path("state.slateval")).unwrap();
    let refused = |run: Run, words: &[&str]| {
        assert_eq!(run.code, 2, "{}", run.stdout);
        words.iter().for_each(|word| assert!(run.stderr.contains(word), "{word}: {}", run.stderr));
        assert_eq!(std::fs::read(folder.path("state.slateval")).unwrap(), before);
    };
    refused(folder.update("2.csv", &["--structure", "product"]), &["state.slateval", "structure was", "product"]);
    refused(folder.update("2.csv", &["--reward", "mu_1"]), &["columns.reward was \"reward\" and is \"mu_1\""]);
    refused(folder.update("2.csv", &["--alpha", "0.3"]), &["alpha was"]);
    refused(folder.update("2.csv", &["--day", "2024-02-30"]), &["2024-05-31"]);
    // The defaults, written out, are no contradiction.
    assert_eq!(folder.update("1.csv", &["--reward", "reward", "--seed", "0"]).code, 0);
    folder.write("1.csv", 9);
    refused(folder.update("1.csv", &[]), &["1.csv", "in it already, with other content"]);
    // The same file elsewhere is neither skipped in silence nor counted twice.
    folder.write("1.csv", 1);
    std::fs::create_dir(folder.path("elsewhere")).unwrap();
    std::fs::copy(folder.path("1.csv"), folder.path("elsewhere/1.csv")).unwrap();
    refused(folder.update("elsewhere/1.csv", &[]), &["counted already", "--allow-duplicates"]);
    let other = slateval(&["update", &folder.text("2.csv"), &folder.text("3.csv")]);
    assert!(other.code == 2 && other.stderr.contains("SLATEVAL"), "a log is no state: {}", other.stderr);
}

#[test]
fn files_without_rows_do_not_break_a_job_that_is_tried_again() {
    let folder = Folder::new();
    std::fs::write(folder.path("empty.csv"), "reward,mu_1,pi_1,pi_new_1\n").unwrap();
    let words = ["update", &folder.text("state.slateval"), &folder.text("1.csv"), &folder.text("empty.csv")];
    for _ in 0..2 {
        let run = slateval(&words);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    assert_eq!(folder.log()["rows"], 50);
}

#[test]
fn a_saved_summary_knows_its_day() {
    let folder = Folder::new();
    let saved = folder.text("state.slateval");
    let run = slateval(&["evaluate", &folder.text("1.csv"), "--save", &saved, "--day", "2024-02-29"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(folder.log()["days"], serde_json::json!(["2024-02-29"]));
}

/// A work file is made by a run that cannot write its output in the end.
#[cfg(unix)]
fn interrupted(folder: &Folder, more: &[&str]) -> Run {
    let out = folder.text("out.json");
    let words = ["evaluate", &folder.text("logs"), "--structure", "additive", "--resume", &folder.text("work")];
    let all = [words.as_slice(), &["--json", &out], more].concat();
    slateval(&all.iter().map(|word| &**word).collect::<Vec<_>>())
}

#[cfg(unix)]
#[test]
fn work_of_another_reading_is_refused() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("logs")).unwrap();
    for log in ["1.csv", "2.csv"] {
        std::fs::copy(folder.path(log), folder.path("logs").join(log)).unwrap();
    }
    // The second file ends in a row that is refused: the first is done by then.
    let good = std::fs::read_to_string(folder.path("logs/2.csv")).unwrap();
    std::fs::write(folder.path("logs/2.csv"), format!("{good}1,2,0.5,0.5\n")).unwrap();
    let run = interrupted(&folder, &["--threads", "1"]);
    assert!(run.code == 2 && run.stderr.contains("2.csv, row 51"), "{}", run.stderr);
    assert!(folder.path("work").exists() && !folder.path("out.json").exists());
    let work = std::fs::read(folder.path("work")).unwrap();
    let refused = |more: &[&str], words: &[&str]| {
        let run = interrupted(&folder, more);
        assert_eq!(run.code, 2);
        words.iter().for_each(|word| assert!(run.stderr.contains(word), "{word}: {}", run.stderr));
        assert_eq!(std::fs::read(folder.path("work")).unwrap(), work, "it is still there");
    };
    refused(&["--alpha", "0.3"], &["--resume", "alpha was [0.05,0.1,0.25] and is [0.3]", "remove it"]);
    refused(&["--target", "new=pi_new"], &["targets was"]);
    std::fs::write(folder.path("logs/2.csv"), &good).unwrap();
    refused(&[], &["2.csv has other content"]);
    std::fs::copy(folder.path("3.csv"), folder.path("logs/3.csv")).unwrap();
    refused(&[], &["3.csv is new in the log"]);
    std::fs::write(folder.path("work"), &work[..work.len() - 9]).unwrap();
    assert!(interrupted(&folder, &[]).stderr.contains("it is damaged; remove it"));
    std::fs::write(folder.path("work"), "my diary").unwrap();
    assert!(interrupted(&folder, &[]).stderr.contains("not the work of an interrupted reading"));
    assert_eq!(std::fs::read(folder.path("work")).unwrap(), b"my diary");
    folder.update("1.csv", &[]);
    std::fs::copy(folder.path("state.slateval"), folder.path("work")).unwrap();
    assert!(interrupted(&folder, &[]).stderr.contains("choose another name"), "a summary is not overwritten either");
}

#[test]
fn inspect_and_gate_can_be_resumed_too() {
    let folder = Folder::new();
    std::fs::write(folder.path("rules.toml"), "[[rule]]\nrequire = \"mean(target) >= 0\"\n").unwrap();
    let work = folder.text("work");
    let inspect = ["inspect", &folder.text("1.csv"), "--resume", &work, "--structure", "additive"];
    let run = slateval(&inspect);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let rules = folder.text("rules.toml");
    let gate = ["gate", &folder.text("1.csv"), "--rules", &rules, "--resume", &work, "--structure", "additive"];
    let run = slateval(&gate);
    assert!(run.code < 2, "{}", run.stderr);
    assert!(!folder.path("work").exists());
    let input = slateval(&["evaluate", "-", "--resume", &work]);
    assert_eq!(input.code, 2);
}

#[test]
fn programs_can_follow_the_progress() {
    let run = slateval(&["evaluate", &example("slates.parquet"), "--target", "new=pi_new", "--progress", "json"]);
    assert_eq!(run.code, 0);
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with('{')).collect();
    let last: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    assert_eq!((&last["rows"], &last["files"], &last["done"]), (&12_000.into(), &1.into(), &true.into()));
    assert_eq!(last["bytes"], last["total_bytes"]);
    assert!(last["seconds"].as_f64().unwrap() > 0.0);
    let silent = slateval(&["evaluate", &example("slates.parquet"), "--target", "new=pi_new", "--progress", "none"]);
    assert!(silent.stderr.is_empty(), "{}", silent.stderr);
}

#[test]
fn the_log_level_decides_what_is_said() {
    let folder = Folder::new();
    let run = |level: &str| {
        let log = folder.text("1.csv");
        slateval(&["evaluate", &log, "--structure", "additive", "--json", "-", "--log-level", level])
    };
    let [error, warn, debug] = ["error", "warn", "debug"].map(run);
    assert!(error.stderr.is_empty(), "{}", error.stderr);
    assert!(!warn.stderr.is_empty(), "few rows are a reason to warn");
    assert!(debug.stderr.contains("reads ") && debug.stderr.contains("reading the log: "), "{}", debug.stderr);
    assert_eq!((&error.stdout, &warn.stdout), (&warn.stdout, &debug.stdout));
    let failed = slateval(&["evaluate", "nowhere.csv", "--log-level", "error"]);
    assert!(failed.code == 2 && failed.stderr.contains("nowhere.csv"));
}

#[test]
fn the_version_tells_how_it_was_built() {
    let run = slateval(&["--version", "--verbose"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for word in ["slateval 0.", "target: ", "features: ", "vector instructions: "] {
        assert!(run.stdout.contains(word), "{}", run.stdout);
    }
    assert_eq!(slateval(&["--version"]).stdout.lines().count(), 1);
    let help = slateval(&["--help"]).stdout;
    assert!(help.contains("Exit codes:"), "{help}");
}

#[test]
fn standard_input_is_not_added_to_a_state() {
    let folder = Folder::new();
    let run = slateval(&["update", &folder.text("state.slateval"), "-"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("write it to a file"), "{}", run.stderr);
    assert!(!folder.path("state.slateval").exists());
}

#[test]
fn bad_rows_of_one_day_do_not_stop_a_state() {
    let folder = Folder::new();
    let flags = ["--target", "new=pi_new", "--structure", "additive"];
    assert_eq!(folder.update("1.csv", &flags).code, 0);
    let good = std::fs::read_to_string(folder.path("2.csv")).unwrap();
    std::fs::write(folder.path("2.csv"), good + "much,0.5,0.5,0.25\n").unwrap();
    std::fs::write(folder.path("3.csv"), "reward,mu_1,pi_1,pi_new_1\nmuch,0.5,0.5,0.25\n").unwrap();
    assert_eq!(folder.update("2.csv", &[]).code, 2);
    let run = folder.update("2.csv", &["--on-bad-row", "skip"]);
    assert!(run.stdout.contains("50 slates added; bad and left out: 1 row, 0 files; 100 slates"), "{}", run.stdout);
    for _ in 0..2 {
        let again = folder.update("2.csv", &["--on-bad-row", "skip"]);
        assert!(again.code == 0 && again.stdout.contains("nothing added"), "{}{}", again.stdout, again.stderr);
        let nothing = folder.update("3.csv", &["--on-bad-row", "skip"]);
        assert!(nothing.code == 0 && nothing.stdout.contains("100 slates"), "{}{}", nothing.stdout, nothing.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_private_state_stays_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let flags = ["--target", "new=pi_new", "--structure", "additive"];
    assert_eq!(folder.update("1.csv", &flags).code, 0);
    let state = folder.path("state.slateval");
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(folder.update("2.csv", &[]).code, 0);
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_saved_summary_says_how_it_was_made_and_what_was_left_out() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("logs")).unwrap();
    let good = std::fs::read_to_string(folder.path("1.csv")).unwrap();
    std::fs::write(folder.path("logs/1.csv"), good.clone() + "n/a,0.5,0.5,0.5\n").unwrap();
    std::fs::write(folder.path("logs/torn.csv"), &good[..good.len() - 3]).unwrap();
    let (logs, saved) = (folder.text("logs"), folder.text("state.slateval"));
    let skip = ["--on-bad-row", "skip", "--on-bad-file", "skip"];
    let run = slateval(&[["evaluate", &logs, "--save", &saved].as_slice(), &skip].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let log = folder.log();
    assert!(log["commands"][0].as_str().unwrap().starts_with("slateval evaluate "), "{log}");
    let wanted = serde_json::json!([
        {"reason": "not-a-number", "rows": 1, "files": 0}, {"reason": "unreadable-file", "rows": 0, "files": 1}
    ]);
    assert_eq!(log["skipped"], wanted);
    assert_eq!(log["skipped_files"], serde_json::json!([folder.text("logs/torn.csv")]));
    let text = slateval(&["log", &saved]).stdout;
    for line in ["bad and left out\n  1 row: not-a-number\n  1 file: unreadable-file\n", "logs/torn.csv\n", "made by\n"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// The number of threads decides how fast a log is read, and not whether it is.
#[test]
fn many_threads_take_no_more_memory_than_there_is() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("logs")).unwrap();
    (0..40).for_each(|i| folder.write(&format!("logs/{i}.csv"), i));
    let logs = folder.text("logs");
    let evaluate = |threads: &str| {
        let words = ["evaluate", &logs, "--json", "-", "--memory", "20MB", "--threads", threads];
        slateval(&words).json()
    };
    assert_eq!(evaluate("64"), evaluate("1"));
}
