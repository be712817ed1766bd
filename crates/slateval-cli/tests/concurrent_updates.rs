//! States that several commands change, whatever files are called and whoever comes first.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::{BINARY, Run, slateval};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A log of so many rows, which differ from those of other seeds.
    fn write(&self, name: &str, rows: usize, seed: usize) {
        let row = |i: usize| format!("{},0.5,0.{}\n", (i * 7 + seed * 3) % 101, 1 + (i + seed) % 9);
        let rows: String = (0..rows).map(row).collect();
        fs::write(self.path(name), format!("reward,mu_1,pi_1\n{rows}")).unwrap();
    }

    /// Runs a command in the folder.
    fn run(&self, words: &[&str]) -> Run {
        let output = Command::new(BINARY).args(words).current_dir(self.0.path()).output().unwrap();
        Run {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn rows(&self, state: &str) -> u64 {
        let path = self.path(state).display().to_string();
        slateval(&["log", &path, "--json", "-"]).json()["rows"].as_u64().unwrap()
    }
}

#[test]
fn a_file_is_known_however_its_path_is_spelled() {
    let folder = Folder::new();
    folder.write("a.csv", 2000, 1);
    assert_eq!(folder.run(&["update", "s", "a.csv"]).code, 0);
    let whole = folder.path("a.csv").display().to_string();
    for spelled in ["./a.csv", ".//a.csv", whole.as_str()] {
        let again = folder.run(&["update", "s", spelled]);
        assert_eq!(again.code, 0, "{}", again.stderr);
        assert!(again.stdout.contains("in it already"), "{}", again.stdout);
        assert_eq!(folder.rows("s"), 2000);
    }
    folder.write("a.csv", 2000, 2);
    for spelled in ["a.csv", "./a.csv", ".//a.csv", whole.as_str()] {
        let refused = folder.run(&["update", "s", spelled]);
        assert_eq!(refused.code, 2, "{spelled}: {}", refused.stdout);
        assert!(refused.stderr.contains("other content"), "{}", refused.stderr);
    }
    assert_eq!(folder.rows("s"), 2000);
}

#[test]
fn a_state_made_without_flags_keeps_to_the_defaults() {
    let folder = Folder::new();
    folder.write("a.csv", 300, 1);
    folder.write("b.csv", 300, 2);
    assert_eq!(folder.run(&["update", "s", "a.csv"]).code, 0);
    for flag in ["--confidence=0.5", "--alpha=0.3", "--structure=product", "--seed=7"] {
        let refused = folder.run(&["update", "s", "b.csv", flag]);
        assert_eq!(refused.code, 2, "{flag}: {}", refused.stdout);
        assert!(refused.stderr.contains("this differs"), "{}", refused.stderr);
    }
    assert_eq!(folder.run(&["update", "s", "b.csv", "--confidence=0.95"]).code, 0);
    assert_eq!(folder.rows("s"), 600);
}

#[test]
fn merges_and_updates_of_one_state_wait_for_each_other() {
    let folder = Folder::new();
    folder.write("day.csv", 1500, 1);
    assert_eq!(folder.run(&["evaluate", "day.csv", "--save", "day"]).code, 0);
    for round in 0..6 {
        let state = format!("s{round}");
        folder.write("first.csv", 2000, 2);
        folder.write("second.csv", 2000, 3);
        assert_eq!(folder.run(&["update", &state, "first.csv"]).code, 0);
        let begin = |words: &[&str]| {
            let mut command = Command::new(BINARY);
            command.args(words).current_dir(folder.0.path()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        };
        let both = [begin(&["merge", &state, "day", "-o", &state]), begin(&["update", &state, "second.csv"])];
        for mut one in both {
            assert_eq!(one.wait().unwrap().code(), Some(0));
        }
        assert_eq!(folder.rows(&state), 5500, "round {round}");
        assert!(!folder.path(&format!(".{state}.lock")).exists());
    }
}
