//! Files of a directory whose names do not say that they are logs: read by their contents, or left out and named.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;

use common::{Run, example, slateval};
use serde_json::{Value, json};
use tempfile::TempDir;

const ROWS: &str = "reward,mu_1,pi_1\n1,0.5,0.5\n0,0.5,0.25\n1,0.5,0.75\n0,0.5,0.5\n";

const LINES: &str = "{\"reward\": 1, \"mu_1\": 0.5, \"pi_1\": 0.25}\n{\"reward\": 0, \"mu_1\": 0.5, \"pi_1\": 0.75}\n";

/// A directory with one log that is known by its name.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.csv"), ROWS).unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

fn evaluated(folder: &TempDir, flags: &[&str]) -> Run {
    let log = folder.path().display().to_string();
    slateval(&[&["evaluate", log.as_str(), "--structure", "additive", "--json", "-"], flags].concat())
}

/// What is left out, by name within the directory and reason.
fn ignored(json: &Value, folder: &TempDir) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let inside = |name: String| Path::new(&name).strip_prefix(folder.path()).unwrap().display().to_string();
    let files = json["log"]["ignored"].as_array().cloned().unwrap_or_default();
    files.iter().map(|file| (inside(text(&file["name"])), text(&file["reason"]))).collect()
}

const STRANGE: [(&str, &[u8]); 7] = [
    ("b.csv.bz2", b"BZh91AY&SY"),
    ("c.orc", b"ORC\x08\x03"),
    ("d.avro", b"Obj\x01\x04"),
    ("README", b"What this is.\n"),
    ("day=1/table.txt", b"reward,mu_1,pi_1\n1,0.5,0.5\n"),
    ("old.slateval", b"SLATEVAL\x06\0\0\0"),
    ("noise", &[3, 0, 200, 1]),
];

const REASONS: [(&str, &str); 7] = [
    ("README", "text"),
    ("b.csv.bz2", "bzip2"),
    ("c.orc", "orc"),
    ("d.avro", "avro"),
    ("day=1/table.txt", "text"),
    ("noise", "unknown-contents"),
    ("old.slateval", "summary"),
];

#[test]
fn known_contents_are_read_whatever_they_are_called() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.parquet", "b.parq", "000001_0", "day=1/part-r-00000"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(example("slates.parquet"), path).unwrap();
    }
    let run = evaluated(&folder, &["--target", "new=pi_new", "--band", "none"]);
    let json = run.json();
    assert_eq!(json["log"]["rows"], 48_000);
    assert_eq!(json["log"].get("ignored"), None);
    assert!(!run.stderr.contains("left out"), "{}", run.stderr);
}

#[test]
fn lines_of_json_are_read_without_an_ending_also_packed() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(LINES.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let folder = folder(&[("part-00000", LINES.as_bytes()), ("part-00001.zz", &packed)]);
    assert_eq!(evaluated(&folder, &[]).json()["log"]["rows"], 8);
    // Named alone, and cut into tasks, it is the same file.
    let run = slateval(&["evaluate", &path(&folder, "part-00001.zz"), "--structure", "additive", "--json", "-"]);
    assert_eq!(run.json()["log"]["rows"], 2);
}

#[test]
fn files_that_are_no_logs_are_counted_and_named() {
    let folder = folder(&STRANGE);
    fs::write(folder.path().join("_SUCCESS"), "").unwrap();
    fs::write(folder.path().join(".a.csv.crc"), "crc").unwrap();
    let run = evaluated(&folder, &[]);
    let json = run.json();
    let reasons = REASONS.map(|(name, reason)| (name.to_owned(), reason.to_owned()));
    assert_eq!(ignored(&json, &folder), reasons);
    assert_eq!((&json["log"]["ignored_files"], &json["log"]["rows"]), (&json!(7), &json!(4)));
    let first = format!("7 files left out that cannot be read as a log: {} (", path(&folder, "README"));
    assert!(run.stderr.contains(&first) && run.stderr.contains("and 4 more"), "{}", run.stderr);
    assert!(!run.stderr.contains("_SUCCESS"), "{}", run.stderr);
}

#[test]
fn they_can_be_refused_or_left_out_without_a_word() {
    let folder = folder(&STRANGE);
    let skipped = evaluated(&folder, &["--on-unknown-file", "skip"]);
    assert_eq!(ignored(&skipped.json(), &folder).len(), 7);
    assert!(!skipped.stderr.contains("left out"), "{}", skipped.stderr);
    let rules = path(&folder, ".rules.toml");
    fs::write(&rules, "[[rule]]\nname = \"mean\"\nrequire = \"mean(target) > 0\"\n").unwrap();
    let log = folder.path().display().to_string();
    let gate = ["gate", &log, "--rules", &rules, "--structure", "additive", "--on-unknown-file", "fail"];
    let state = path(&folder, ".state.slateval");
    for run in [
        evaluated(&folder, &["--on-unknown-file", "fail"]),
        slateval(&["inspect", &log, "--on-unknown-file", "fail"]),
        slateval(&["update", &state, &log, "--on-unknown-file", "fail"]),
        slateval(&gate),
    ] {
        assert_eq!(run.code, 2, "{}", run.stderr);
        let wanted = ["7 files", "README", "b.csv.bz2 (compressed with bzip2)", "--on-unknown-file skip"];
        assert!(wanted.iter().all(|part| run.stderr.contains(part)), "{}", run.stderr);
    }
    let refused = evaluated(&folder, &["--on-unknown-file", "sometimes"]);
    assert!(refused.code == 2 && refused.stderr.contains("warn, fail or skip"), "{}", refused.stderr);
}

#[test]
fn inspect_and_the_page_name_them() {
    let folder = folder(&STRANGE);
    let log = folder.path().display().to_string();
    let run = slateval(&["inspect", &log, "--structure", "additive"]);
    assert!(run.stdout.contains("Left out: 7 files that cannot be read as a log."), "{}", run.stdout);
    assert!(run.stdout.contains("c.orc (an ORC file)"), "{}", run.stdout);
    let run = slateval(&["inspect", &log, "--structure", "additive", "--json", "-"]);
    assert_eq!(ignored(&run.json(), &folder).len(), 7);
    let page = path(&folder, ".page.html");
    assert_eq!(evaluated(&folder, &["--report", &page]).code, 0);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Left out: 7 files") && page.contains("noise (unknown ending and contents)"));
}

#[test]
fn summaries_remember_them_and_count_each_once() {
    let folder = folder(&STRANGE[..2]);
    let [one, both] = [".one.slateval", ".both.slateval"].map(|name| path(&folder, name));
    assert_eq!(evaluated(&folder, &["--save", &one]).code, 0);
    fs::rename(folder.path().join("a.csv"), folder.path().join("other.csv")).unwrap();
    fs::write(folder.path().join("other.csv"), ROWS.replace("0.75", "0.7")).unwrap();
    fs::write(folder.path().join("noise"), [1, 0]).unwrap();
    let two = path(&folder, ".two.slateval");
    assert_eq!(evaluated(&folder, &["--save", &two]).code, 0);
    assert_eq!(slateval(&["merge", &one, &two, "-o", &both]).code, 0);
    let shown = slateval(&["show", &both, "--json", "-"]).json();
    assert_eq!(shown["log"]["rows"], 8);
    let names: Vec<String> = ignored(&shown, &folder).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["b.csv.bz2", "c.orc", "noise"]);
    let listed = slateval(&["log", &both]).stdout;
    assert!(listed.contains("3 files") && listed.contains("c.orc (an ORC file)"), "{listed}");
    assert_eq!(slateval(&["log", &both, "--json", "-"]).json()["ignored_files"], 3);
}

#[test]
fn what_a_saved_summary_lacks_is_said_again() {
    let folder = folder(&STRANGE);
    let (saved, rules) = (path(&folder, ".s.slateval"), path(&folder, ".rules.toml"));
    fs::write(&rules, "[[rule]]\nname = \"mean\"\nrequire = \"mean(target) > 0\"\n").unwrap();
    assert_eq!(evaluated(&folder, &["--save", &saved]).code, 0);
    let log = folder.path().display().to_string();
    let of_log = ["gate", &log, "--rules", &rules, "--structure", "additive", "--format", "json"];
    let of_summary = ["gate", &saved, "--rules", &rules, "--format", "json"];
    for run in [slateval(&["show", &saved]), slateval(&of_summary), slateval(&of_log)] {
        let said = format!("7 files left out that cannot be read as a log: {} (", path(&folder, "README"));
        assert_eq!(run.stderr.matches(&said).count(), 1, "{}", run.stderr);
    }
    for arguments in [of_summary.as_slice(), &of_log] {
        let verdicts: Value = serde_json::from_str(&slateval(arguments).stdout).unwrap();
        assert_eq!(verdicts["ignored_files"], 7);
        assert_eq!(verdicts["ignored"][2]["reason"], "orc");
    }
}

#[test]
fn a_state_forgets_a_file_that_was_read_since() {
    let folder = folder(&[("later", b"to come")]);
    let (state, log) = (path(&folder, ".state.slateval"), folder.path().display().to_string());
    let update = || slateval(&["update", &state, &log, "--structure", "additive"]);
    let left_out = || slateval(&["log", &state, "--json", "-"]).json()["ignored"].as_array().unwrap().len();
    assert_eq!((update().code, left_out()), (0, 1));
    let before = fs::read(&state).unwrap();
    assert_eq!((update().code, left_out()), (0, 1));
    assert_eq!(fs::read(&state).unwrap(), before, "nothing is new");
    fs::write(folder.path().join("another"), "to stay").unwrap();
    assert_eq!((update().code, left_out()), (0, 2));
    fs::write(folder.path().join("later"), LINES).unwrap();
    let run = update();
    assert!(run.stdout.contains("1 file with 2 slates added"), "{} {}", run.stdout, run.stderr);
    assert_eq!(left_out(), 1);
}

#[test]
fn a_directory_without_a_log_says_what_it_has() {
    let folder = folder(&STRANGE[..2]);
    fs::remove_file(folder.path().join("a.csv")).unwrap();
    let run = evaluated(&folder, &["--on-unknown-file", "skip"]);
    assert_eq!(run.code, 2);
    let wanted = ["no logs in this directory", "2 files", "c.orc (an ORC file)"];
    assert!(wanted.iter().all(|part| run.stderr.contains(part)), "{}", run.stderr);
    let run = slateval(&["evaluate", &path(&folder, "c.orc")]);
    assert!(run.code == 2 && run.stderr.contains("(an ORC file)"), "{}", run.stderr);
}

/// Files that are left out have no part in the types of the columns that directories spell out.
#[test]
fn partitions_are_those_of_the_files_that_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let files = [("day=2/b", LINES), ("day=10/a", LINES), ("day=none/README", "Nothing here.\n")];
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let json = evaluated(&folder, &["--by", "day"]).json();
    let days: Vec<&Value> = json["segments"].as_array().unwrap().iter().map(|segment| &segment["value"]).collect();
    assert_eq!(days, [&json!(2), &json!(10)]);
}

#[cfg(unix)]
#[test]
fn pipes_and_links_that_lead_nowhere_are_left_out() {
    let folder = folder(&[]);
    let pipe = path(&folder, "pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
    let found = ignored(&evaluated(&folder, &[]).json(), &folder);
    let wanted = [("link", "unreadable"), ("pipe", "not-a-file")];
    assert_eq!(found, wanted.map(|(name, reason)| (name.to_owned(), reason.to_owned())));
}

#[test]
fn a_list_beside_numbered_columns_is_said_to_be_read() {
    let line = r#"{"reward": 1, "mu": [0.5], "mu_1": 0.25, "pi_1": 0.5, "pi": 7}"#;
    let folder = folder(&[("b.jsonl", format!("{line}\n{}\n", line.replace("1,", "0,")).as_bytes())]);
    fs::remove_file(folder.path().join("a.csv")).unwrap();
    let run = evaluated(&folder, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("has both `mu` and `mu_1`: the list `mu` is read"), "{}", run.stderr);
    assert!(run.stderr.contains("has both `pi` and `pi_1`: `pi_1`, `pi_2`, … are read"), "{}", run.stderr);
    let log = folder.path().display().to_string();
    let run = slateval(&["inspect", &log, "--structure", "additive"]);
    assert!(run.stdout.contains("has both `mu` and `mu_1`") && run.stderr.contains("`mu_1`"), "{}", run.stdout);
    let json = slateval(&["inspect", &log, "--structure", "additive", "--json", "-"]).json();
    assert_eq!(json["remarks"].as_array().unwrap().len(), 2);
}

#[test]
fn a_column_beside_a_directory_of_its_name_is_said_to_be_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("city=x")).unwrap();
    let text = "reward,mu_1,pi_1,city\n1,0.5,0.5,y\n0,0.5,0.25,z\n";
    fs::write(folder.path().join("city=x/a.csv"), text).unwrap();
    let said = "has a column `city` and a directory `city=…`: the column is read";
    let run = evaluated(&folder, &["--by", "city"]);
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(run.json()["segments"].as_array().unwrap().len(), 2);
    assert!(!evaluated(&folder, &[]).stderr.contains("city"), "neither is read");
    let run = slateval(&["inspect", folder.path().to_str().unwrap(), "--structure", "additive"]);
    assert!(run.stdout.contains("the column would be read") && run.stderr.is_empty(), "{}{}", run.stdout, run.stderr);
}
