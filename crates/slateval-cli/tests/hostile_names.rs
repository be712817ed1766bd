//! Names and values from data reach the terminal on one line, and nothing in them is obeyed: no line of its own that a
//! GitHub runner would take for a command, no escape sequence, no mark that turns the direction of writing.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};

use common::{Run, slateval};

/// A name with one of everything that is obeyed somewhere.
const NAME: &str = "a\n::stop-commands::x\r::stop-commands::x\t\u{1b}[2J\u{9b}2J\u{7}\u{85}::stop-commands::x\u{2028}\u{2029}\
                    \u{202e}\u{2066}\u{200b}\u{feff}##[group]z";

/// A name that is a command where a table begins with it, or where a paragraph is broken before it.
const COMMAND: &str = "::stop-commands::x ::stop-commands::x ::stop-commands::x ##[stop-commands]x";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = PathBuf::from(self.path(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        self.path(name)
    }
}

/// A cell of a CSV file.
fn cell(text: &str) -> String {
    format!("\"{text}\"")
}

/// A log with a column of segments and one of clusters.
fn log(segment_column: &str, segment: &str) -> String {
    let mut text = format!("reward,mu_1,mu_2,pi_1,pi_2,{},user\n", cell(segment_column));
    for row in 0..400_u32 {
        let (one, other) = (row % 2, row / 2 % 2);
        let pi = |shown: u32| if shown == 1 { 0.7 } else { 0.3 };
        let value = if row % 3 == 0 { cell(segment) } else { "plain".to_owned() };
        text += &format!("{},0.5,0.5,{},{},{value},{}\n", one + other + row % 5, pi(one), pi(other), row % 40);
    }
    text
}

/// The run's output, once nothing in it is obeyed.
fn harmless(what: &str, run: Run) -> Run {
    for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        for line in text.split('\n') {
            let own =
                ["::error file=", "::warning file=", "::notice file="].iter().any(|start| line.starts_with(start));
            assert!(own || !line.trim_start().starts_with("::"), "{what}: {stream} has the command {line:?}");
            assert!(!line.contains("##"), "{what}: {stream} has the command {line:?}");
            let obeyed = |c: char| {
                c.is_control()
                    || matches!(c, '\u{200b}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
            };
            assert!(!line.contains(obeyed), "{what}: {stream} has a character that is obeyed: {line:?}");
        }
    }
    run
}

fn succeeds(arguments: &[&str]) -> Run {
    let run = harmless(&format!("{arguments:?}"), slateval(arguments));
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
    run
}

/// The message of a refusal, which names what was planted.
fn refused(arguments: &[&str]) -> String {
    let run = harmless(&format!("{arguments:?}"), slateval(arguments));
    assert_eq!(run.code, 2, "{arguments:?}: {}", run.stdout);
    assert!(run.stderr.contains("stop-commands"), "{arguments:?}: the name is said: {}", run.stderr);
    run.stderr
}

#[test]
fn every_command_shows_names_on_one_line() {
    for name in [NAME, COMMAND] {
        let folder = Folder::new();
        let csv = folder.write(&format!("{}.csv", name.replace('/', "")), &log(name, name));
        let target = format!("{name}=pi");
        let log = [csv.as_str(), "--target", &target, "--by", name, "--cluster", "user"];
        let with = |command: &'static str, more: &[&'static str]| -> Vec<String> {
            [&[command], &log[..], more].concat().into_iter().map(str::to_owned).collect()
        };
        let run = |words: Vec<String>| succeeds(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let more: [&[&str]; 4] = [&[], &["--full"], &["--json", "-"], &["--log-level", "debug", "--progress", "json"]];
        more.into_iter().for_each(|more| drop(run(with("evaluate", more))));
        run(with("inspect", &["--interactions"]));
        run(with("inspect", &["--json", "-"]));

        let saved = folder.path(&format!("{name}.slateval"));
        let save = [&["evaluate"], &log[..], &["--save", &saved]].concat();
        succeeds(&save);
        succeeds(&["show", &saved]);
        succeeds(&["show", &saved, "--json", "-"]);
        succeeds(&["log", &saved]);
        succeeds(&["log", &saved, "--json", "-"]);
        let (state, merged) =
            (folder.path(&format!("{name}-state.slateval")), folder.path(&format!("{name}-m.slateval")));
        let update = [&["update", &state], &log[..]].concat();
        succeeds(&update);
        succeeds(&update);
        succeeds(&["log", &state]);
        succeeds(&["merge", &saved, "-o", &merged]);
        refused(&["merge", &saved, &state, "-o", &merged]);
        refused(&["show", &saved, "--baseline", name]);
        refused(&[&update[..], &["--confidence", "0.8"]].concat());
    }
}

/// The JSON is the same for programs: the names are in it as they are.
#[test]
fn json_keeps_the_names() {
    let folder = Folder::new();
    let csv = folder.write("log.csv", &log(NAME, NAME));
    let run = succeeds(&["evaluate", &csv, "--by", NAME, "--json", "-"]);
    assert_eq!(run.json()["segments"][0]["column"], NAME);
    assert!(run.json()["segments"].as_array().unwrap().iter().any(|segment| segment["value"] == NAME));
}

#[test]
fn the_gate_shows_names_on_one_line() {
    let folder = Folder::new();
    for name in [NAME, COMMAND] {
        let csv = folder.write("log.csv", &log(name, name));
        let target = format!("{name}=pi");
        let quoted = serde_json::to_string(name).unwrap();
        let rule = |name: &str| format!("[[rule]]\nname = {quoted}\nrequire = {name}\nsegments = \"each\"\n");
        let require = serde_json::to_string(&format!("mean('{name}') >= 0.1")).unwrap();
        let rules = folder.write(&format!("{}.toml", name.replace('/', "")), &rule(&require));
        for format in ["text", "json", "github"] {
            let words = ["gate", &csv, "--rules", &rules, "--target", &target, "--by", name, "--format", format];
            let run = harmless(format, slateval(&words));
            assert!(run.code <= 1 && run.stdout.contains("stop-commands"), "{format}: {}{}", run.stdout, run.stderr);
        }
        let other = folder.write("other.toml", &rule("\"mean(new) >= 0.1\""));
        refused(&["gate", &csv, "--rules", &other, "--target", &target, "--by", name]);
        let broken = folder.write("broken.toml", &format!("[[rule]]\n{quoted} = 1\n"));
        refused(&["gate", &csv, "--rules", &broken]);
        refused(&["gate", &csv, "--rules", &folder.path(name)]);
    }
}

#[test]
fn refusals_show_columns_cells_and_files_on_one_line() {
    let folder = Folder::new();
    for name in [NAME, COMMAND] {
        let csv = folder.write("log.csv", &log(name, name));
        let message = refused(&["evaluate", &csv, "--reward", &format!("{name}2")]);
        assert!(message.contains("ean"), "a name that comes near is offered: {message}");
        refused(&["evaluate", &csv, "--by", &format!("{name}2")]);
        refused(&["evaluate", &csv, "--target", &format!("{name}=pi"), "--chi", &format!("{name}=none")]);
        refused(&["evaluate", &csv, "--baseline", name]);
        refused(&["evaluate", &folder.path(name)]);
        refused(&["evaluate", &folder.path(&format!("{name}*.csv"))]);
        refused(&["evaluate", &csv, "--json", &folder.path(&format!("{name}/x.json"))]);
        refused(&["evaluate", &csv, "--report", &folder.path(&format!("{name}.txt"))]);
        refused(&["show", &folder.path(&format!("{name}.slateval"))]);

        let header = "reward,mu_1,pi_1,x\n";
        let text = folder.write("text.csv", &format!("{header}{},0.5,0.5,1\n1,0.5,{0},1\n", cell(name)));
        refused(&["evaluate", &text]);
        let skipped = folder.write(
            "skipped.csv",
            &format!("{header}{},0.5,0.5,1\n{}", cell(name), "1,0.5,0.5,1\n0,0.5,0.4,1\n".repeat(40)),
        );
        succeeds(&["evaluate", &skipped, "--on-bad-row", "skip"]);
        succeeds(&["evaluate", &skipped, "--on-bad-row", "skip", "--json", "-"]);

        let key = serde_json::to_string(name).unwrap();
        let json =
            folder.write("keys.jsonl", &format!("{{\"reward\": 1, \"mu\": [0.5], \"pi\": [0.5], {key}: {key}}}\n"));
        refused(&["evaluate", &json, "--reward", name]);
        let line = |reward: &str| format!("{{\"reward\": {reward}, \"mu\": [0.5], \"pi\": [0.5]}}\n");
        let line = folder.write("line.jsonl", &(line("1") + &line(&key)));
        refused(&["evaluate", &line]);
        let long = folder.write(
            "long.csv",
            &format!("slate_id,position,reward,mu,pi,c\n{0},1,1,0.5,0.5,{0}\n{0},2,1,0.5,0.5,b\n", cell(name)),
        );
        refused(&["evaluate", &long, "--long", "--logging", "mu", "--target", "pi", "--by", "c"]);
    }
}

#[test]
fn folders_and_their_files_are_shown_on_one_line() {
    let folder = Folder::new();
    for name in [NAME, COMMAND] {
        let value = name.replace('/', "");
        folder.write(&format!("{value}/site={value}/a.csv"), &log("device", "phone"));
        folder.write(&format!("{value}/site=b/{value}.csv"), &log("device", "desk"));
        folder.write(&format!("{value}/site=b/empty{value}.csv"), "");
        let directory = folder.path(&value);
        succeeds(&["evaluate", &directory, "--by", "site"]);
        succeeds(&["inspect", &directory, "--by", "site", "--log-level", "debug"]);
        folder.write(&format!("{value}/site=b/bad{value}.parquet"), "no Parquet at all");
        refused(&["evaluate", &directory, "--by", "site"]);
        succeeds(&["evaluate", &directory, "--by", "site", "--on-bad-file", "skip"]);
        let state = folder.path(&format!("{value}.slateval"));
        succeeds(&["update", &state, &directory, "--on-bad-file", "skip"]);
        succeeds(&["log", &state]);
    }
}

/// The parser of the command line quotes what it does not understand.
#[test]
fn words_of_the_command_line_are_shown_on_one_line() {
    let folder = Folder::new();
    let csv = folder.write("log.csv", &log("device", "phone"));
    for name in [NAME, COMMAND] {
        refused(&[name]);
        refused(&["evaluate", &csv, "--seed", name]);
        refused(&["evaluate", &csv, "--structure", name]);
        refused(&["evaluate", &csv, &format!("--{name}")]);
        refused(&["evaluate", &csv, "--on-bad-row", name]);
        refused(&["evaluate", &csv, "--target", &format!("{name}=")]);
        refused(&["reproduce", "table-1a", "--figures", &folder.path(name)]);
        let output = folder.path("simulated.parquet");
        let target = format!("{name}=softmax:1");
        let words = ["simulate", "additive", "--rows", "10", "--target", &target, "--output", &output];
        harmless("simulate", slateval(&words));
        refused(&["simulate", "additive", "--rows", "10", "--output", &folder.path(name)]);
    }
    assert!(Path::new(&csv).exists());
}
