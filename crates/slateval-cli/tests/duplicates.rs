//! No row is counted twice: the same file by another path, and the same summary again, are refused by name.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use common::{Run, additive, example, slateval};

struct Folder {
    directory: tempfile::TempDir,
}

impl Folder {
    /// With the sample log in it, as `a.parquet`.
    fn new() -> Self {
        let folder = Folder { directory: tempfile::tempdir().unwrap() };
        fs::copy(example("slates.parquet"), folder.path("a.parquet")).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }
}

fn evaluate(arguments: &[&str]) -> Run {
    slateval(&additive(&[["evaluate", "--target", "new=pi_new", "--json", "-"].as_slice(), arguments].concat()))
}

fn refused(run: &Run, names: &[&str]) {
    assert_eq!(run.code, 2, "{}", run.stdout);
    for name in names.iter().chain(&["--allow-duplicates"]) {
        assert!(run.stderr.contains(name), "{name} in {}", run.stderr);
    }
}

fn rows(run: &Run) -> u64 {
    run.json()["log"]["rows"].as_u64().unwrap()
}

#[test]
fn a_file_by_two_paths_is_refused() {
    let folder = Folder::new();
    let a = folder.text("a.parquet");
    fs::create_dir(folder.path("deep")).unwrap();
    let around = folder.text("deep/../a.parquet");
    symlink(folder.path("a.parquet"), folder.path("link.parquet")).unwrap();
    fs::hard_link(folder.path("a.parquet"), folder.path("hard.parquet")).unwrap();
    for other in [around, folder.text("link.parquet"), folder.text("hard.parquet")] {
        refused(&evaluate(&[&a, &other]), &[&a, &other]);
        assert_eq!(rows(&evaluate(&[&a, &other, "--allow-duplicates"])), 24_000);
    }
    refused(&evaluate(&[&a, &a]), &[&a]);
    // A directory whose name is a column's changes nothing.
    fs::create_dir(folder.path("day=1")).unwrap();
    symlink(folder.path("a.parquet"), folder.path("day=1/a.parquet")).unwrap();
    refused(&evaluate(&[&a, &folder.text("day=1/a.parquet")]), &[&a]);
    // A copy is a file of its own.
    fs::copy(folder.path("a.parquet"), folder.path("copy.parquet")).unwrap();
    assert_eq!(rows(&evaluate(&[&a, &folder.text("copy.parquet")])), 24_000);
    assert_eq!(rows(&evaluate(&[&a, &a, "--allow-duplicates"])), 24_000);
}

#[test]
fn a_directory_that_links_to_itself_is_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.path("deep")).unwrap();
    symlink(folder.directory.path(), folder.path("deep/loop")).unwrap();
    let run = evaluate(&[&folder.text("")]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("deep/loop") && run.stderr.contains("the same directory as"), "{}", run.stderr);
    // A link to a directory elsewhere is a directory.
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(folder.path("a.parquet"), elsewhere.path().join("b.parquet")).unwrap();
    symlink(elsewhere.path(), folder.path("deep/loop2")).unwrap();
    fs::remove_file(folder.path("deep/loop")).unwrap();
    refused(&evaluate(&[&folder.text("")]), &["a.parquet", "loop2/b.parquet"]);
}

/// Each of some directories links to all others: there are more paths than anybody can walk.
#[test]
fn directories_that_link_to_each_other_are_refused_at_once() {
    let folder = Folder::new();
    let names = ["b", "c", "d", "e"];
    names.iter().for_each(|name| fs::create_dir(folder.path(name)).unwrap());
    for (from, to) in names.iter().flat_map(|from| names.iter().map(move |to| (from, to))).filter(|(a, b)| a != b) {
        symlink(folder.path(to), folder.path(&format!("{from}/{to}"))).unwrap();
    }
    let run = evaluate(&[&folder.text("")]);
    assert!(run.code == 2 && run.stderr.contains("the same directory as"), "{}", run.stderr);
}

#[test]
fn a_name_that_is_not_utf_8_is_read() {
    use std::os::unix::ffi::OsStringExt;
    let folder = Folder::new();
    let name = std::ffi::OsString::from_vec(b"\xff.parquet".to_vec());
    if fs::copy(folder.path("a.parquet"), folder.directory.path().join(name)).is_ok() {
        assert_eq!(rows(&evaluate(&[&folder.text("")])), 24_000);
    }
}

fn csv(path: &Path, rows: &str) {
    fs::write(path, format!("reward,mu_1,pi_new_1\n{rows}")).unwrap();
}

#[test]
fn small_files_may_be_alike() {
    let folder = Folder::new();
    for name in ["empty1.csv", "empty2.csv"] {
        csv(&folder.path(name), "");
    }
    csv(&folder.path("one.csv"), "1,0.5,0.5\n0,0.5,0.4\n");
    csv(&folder.path("two.csv"), "1,0.5,0.5\n0,0.5,0.3\n");
    let [empty1, empty2, one, two] = ["empty1.csv", "empty2.csv", "one.csv", "two.csv"].map(|name| folder.text(name));
    assert_eq!(rows(&evaluate(&[&empty1, &one, &empty2, &two])), 4, "empty files are all alike");
    fs::copy(&one, &two).unwrap();
    assert_eq!(rows(&evaluate(&[&one, &two])), 4);
}

fn save(log: &str, summary: &str) {
    let run = evaluate(&[log, "--save", summary, "--band", "none"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn a_summary_is_merged_once() {
    let folder = Folder::new();
    csv(&folder.path("day.csv"), "1,0.5,0.5\n0,0.5,0.4\n");
    csv(&folder.path("next.csv"), "1,0.5,0.5\n1,0.5,0.4\n");
    let [day, next, total] = ["day.slateval", "next.slateval", "total.slateval"].map(|name| folder.text(name));
    save(&folder.text("day.csv"), &day);
    save(&folder.text("next.csv"), &next);
    refused(&slateval(&["merge", &day, &day, "-o", &total]), &["day.csv"]);
    assert!(!Path::new(&total).exists());
    assert_eq!(slateval(&["merge", &day, "-o", &total]).code, 0);
    assert_eq!(slateval(&["merge", &total, &next, "-o", &total]).code, 0);
    // The job is run again.
    refused(&slateval(&["merge", &total, &next, "-o", &total]), &["next.csv"]);
    let run = slateval(&["merge", &total, &next, "-o", &total, "--allow-duplicates"]);
    assert!(run.code == 0 && run.stderr.contains("6 slates"), "{}", run.stderr);
}

#[test]
fn summaries_of_other_columns_do_not_merge() {
    let folder = Folder::new();
    let header = "reward,mu_1,pi_new_1,chi_new_1,chi_old_1";
    fs::write(folder.path("a.csv"), format!("{header}\n1,0.5,0.5,0.1,0.2\n")).unwrap();
    fs::write(folder.path("b.csv"), format!("{header}\n0,0.5,0.5,0.1,0.2\n")).unwrap();
    for (log, chi) in [("a", "new=chi_new"), ("b", "new=chi_old")] {
        let (log, saved) = (folder.text(&format!("{log}.csv")), folder.text(&format!("{log}.slateval")));
        assert_eq!(evaluate(&[&log, "--chi", chi, "--save", &saved, "--band", "none"]).code, 0);
    }
    let run = slateval(&["merge", &folder.text("a.slateval"), &folder.text("b.slateval"), "-o", &folder.text("c")]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("chi_new") && run.stderr.contains("chi_old"), "{}", run.stderr);
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = Folder::new();
    let pipe = folder.text("pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let run = evaluate(&[&pipe]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("neither a file nor a directory"), "{}", run.stderr);
}

/// The squares of such rewards are 0 in double precision: bounds would have no width, and a gate would hold.
#[test]
fn rewards_that_vanish_when_squared_are_refused() {
    let folder = Folder::new();
    let rows: String = (0..200).map(|i| format!("{}e-170,0.5,{}\n", i % 3, 0.5 + 0.1 * f64::from(i % 2))).collect();
    csv(&folder.path("tiny.csv"), &rows);
    let log = folder.text("tiny.csv");
    fs::write(folder.path("rules.toml"), "[[rule]]\nname = \"positive\"\nrequire = \"mean(new) >= 1e-171\"\n").unwrap();
    let gate = ["gate", &log, "--target", "new=pi_new", "--rules", &folder.text("rules.toml")];
    for run in [evaluate(&[&log]), slateval(&gate)] {
        assert_eq!(run.code, 2, "{}", run.stdout);
        assert!(run.stderr.contains("smaller units"), "{}", run.stderr);
    }
}

#[test]
fn another_name_hides_no_file_of_many_rows() {
    let folder = Folder::new();
    symlink(folder.path("a.parquet"), folder.path("link.parquet")).unwrap();
    fs::copy(folder.path("a.parquet"), folder.path("copy.parquet")).unwrap();
    let state = folder.text("state.slateval");
    let flags = ["--target", "new=pi_new", "--structure", "additive", "--band", "none"];
    let update = |log: &str| slateval(&[["update", &state, &folder.text(log)].as_slice(), &flags].concat());
    assert_eq!(update("a.parquet").code, 0);
    let linked = update("link.parquet");
    assert!(linked.code == 0 && linked.stdout.contains("nothing added"), "{}{}", linked.stdout, linked.stderr);
    refused(&update("copy.parquet"), &["copy.parquet", "a.parquet"]);
}

#[test]
fn what_wildcards_stand_for_is_not_hidden() {
    let folder = Folder::new();
    for place in ["h/day=1", "h/_temporary/0", "h/.old"] {
        fs::create_dir_all(folder.path(place)).unwrap();
        fs::copy(folder.path("a.parquet"), folder.path(&format!("{place}/a.parquet"))).unwrap();
    }
    for pattern in ["h", "h/*", "h/*/*.parquet", "h/**/*.parquet", "h/**/0/*.parquet", "h/_temporary/*/*.parquet"] {
        let run = evaluate(&[&folder.text(pattern), "--band", "none"]);
        match pattern {
            // Everything that fits is hidden.
            "h/**/0/*.parquet" => assert_eq!(run.code, 2, "{pattern}: {}", run.stdout),
            _ => assert_eq!(rows(&run), 12_000, "{pattern}"),
        }
    }
}

#[test]
fn the_folder_of_a_table_is_refused() {
    let folder = Folder::new();
    for (place, mark) in [("delta", "_delta_log/0.json"), ("ice", "metadata/v1.metadata.json")] {
        let part = folder.path(&format!("{place}/day=1/a.parquet"));
        fs::create_dir_all(part.parent().unwrap()).unwrap();
        fs::copy(folder.path("a.parquet"), &part).unwrap();
        let mark = folder.path(&format!("{place}/{mark}"));
        fs::create_dir_all(mark.parent().unwrap()).unwrap();
        fs::write(mark, "{}\n").unwrap();
        for pattern in [place.to_owned(), format!("{place}/day=*"), format!("{place}/**/*.parquet")] {
            let run = evaluate(&[&folder.text(&pattern)]);
            assert_eq!(run.code, 2, "{pattern}: {}", run.stdout);
            assert!(run.stderr.contains("docs/tables.md"), "{}", run.stderr);
        }
        // A file that was named is wanted.
        assert_eq!(rows(&evaluate(&[&part.display().to_string(), "--band", "none"])), 12_000);
    }
}

/// Two rows as an Arrow IPC stream.
fn arrow_stream() -> Vec<u8> {
    let numbers = |values: [f64; 2]| Arc::new(Float64Array::from(values.to_vec())) as ArrayRef;
    let columns = [("reward", numbers([0.0, 1.0])), ("mu_1", numbers([0.5, 0.5])), ("pi_new_1", numbers([0.2, 0.8]))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// A stream has no name, but its sums tell it.
#[test]
fn a_stream_is_merged_once() {
    let folder = Folder::new();
    let [day, total] = ["day.slateval", "total.slateval"].map(|name| folder.text(name));
    csv(&folder.path("next.csv"), "1,0.5,0.5\n1,0.5,0.4\n");
    let next = folder.text("next.slateval");
    save(&folder.text("next.csv"), &next);
    let bytes = arrow_stream();
    let words = additive(&["evaluate", "-", "--target", "new=pi_new", "--save", &day, "--band", "none"]);
    let run = common::slateval_with_input(&words, &bytes);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(slateval(&["merge", &next, &day, "-o", &total]).code, 0);
    refused(&slateval(&["merge", &total, &day, "-o", &total]), &["standard input"]);
    refused(&slateval(&["merge", &day, &day, "-o", &total]), &["standard input"]);
    let run = slateval(&["merge", &total, &day, "-o", &total, "--allow-duplicates"]);
    assert!(run.code == 0 && run.stderr.contains("6 slates"), "{}", run.stderr);
}
