//! Bad input gets exit code 2 and one message: what, where, and what to do. Never a number.
#![allow(clippy::unwrap_used)]

mod common;

use common::{additive, example, slateval};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }
}

/// Runs `evaluate` and expects a refusal that mentions all of these.
fn refused(arguments: &[&str], mentions: &[&str]) {
    let run = slateval(&additive(&[&["evaluate"], arguments].concat()));
    assert_eq!(run.code, 2, "{arguments:?} gave\n{}{}", run.stdout, run.stderr);
    assert_eq!(run.stdout, "", "no numbers");
    for mention in mentions {
        assert!(run.stderr.contains(mention), "`{mention}` is missing in: {}", run.stderr);
    }
}

#[test]
fn values_that_cannot_be() {
    let folder = Folder::new();
    let cases = [
        (
            "reward,mu_1,pi_1\n1,0.5,0.5\nNaN,0.5,0.5\n",
            vec!["row 2", "`reward`", "NaN", "finite", "often means 0", "only if rewards are missing at random"],
        ),
        ("reward,mu_1,pi_1\ninf,0.5,0.5\n", vec!["row 1", "`reward`", "inf"]),
        ("reward,mu_1,pi_1\n1,0.5,0.5\n,0.5,0.5\n", vec!["row 2", "`reward`"]),
        ("reward,mu_1,pi_1\n1,0,0.5\n", vec!["row 1", "`mu_1`", "0", "(0, 1]"]),
        ("reward,mu_1,pi_1\n1,1.5,0.5\n", vec!["row 1", "`mu_1`", "1.5"]),
        ("reward,mu_1,pi_1\n1,0.5,-0.5\n", vec!["row 1", "`pi_1`", "-0.5", "[0, 1]"]),
        ("reward,mu_1,mu_2,pi_1,pi_2\n1,0.5,0.5,0.5,2\n", vec!["row 1", "`pi_2`", "2"]),
        ("reward,mu_1,pi_1\n1,0.5,\n", vec!["row 1", "`pi_1`"]),
        ("reward,mu_1,pi_1\n1,0.5,a\n", vec!["row 1", "`pi_1`", "`a`"]),
    ];
    for (content, mentions) in cases {
        let path = folder.write("log.csv", content);
        refused(&[&path], &[&["log.csv"], mentions.as_slice()].concat());
    }
}

#[test]
fn lists_of_different_lengths_in_one_row() {
    let folder = Folder::new();
    let lines = "{\"reward\":1,\"mu\":[0.5,0.5],\"pi\":[0.5,0.5]}\n{\"reward\":0,\"mu\":[0.5],\"pi\":[0.5,0.5]}\n";
    refused(&[&folder.write("log.jsonl", lines)], &["log.jsonl", "row 2", "`mu`", "`pi`", "1", "2"]);
}

#[test]
fn columns_that_are_not_there() {
    let folder = Folder::new();
    let path = folder.write("log.csv", "rewrad,mu_1,pi_1\n1,0.5,0.5\n");
    refused(&[&path], &["log.csv", "`reward`", "rewrad"]);
    refused(&[&example("slates.parquet")], &["`pi`", "pi_new", "slates.parquet"]);
    refused(&[&example("slates.parquet"), "--target", "new=pi_nwe"], &["pi_nwe", "pi_new"]);
    refused(&[&example("slates.parquet"), "--target", "pi_new", "--by", "divice"], &["divice", "device"]);
    refused(&[&example("slates.parquet"), "--target", "pi_new", "--structure", "ranking:8"], &["any_new"]);
    refused(&[&example("slates.parquet"), "--target", "logging=pi_new"], &["logging", "reserved"]);
    refused(&[&example("slates.parquet"), "--target", "a=pi_new", "--target", "a=pi_bolder"], &["`a`", "two targets"]);
}

#[test]
fn files_that_are_not_logs() {
    let folder = Folder::new();
    refused(&["nowhere.parquet"], &["nowhere.parquet"]);
    let empty = folder.0.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    refused(&[&empty.display().to_string()], &["empty"]);
    refused(&[&folder.0.path().join("*.parquet").display().to_string()], &["*.parquet"]);
    refused(&[&folder.write("none.csv", "reward,mu_1,pi_1\n")], &["none.csv", "no rows"]);
    refused(&[&folder.write("blank.csv", "")], &["blank.csv"]);
    let whole = std::fs::read(example("slates.parquet")).unwrap();
    for length in [1, 7, 1000, whole.len() / 2, whole.len() - 1] {
        let cut = folder.write("cut.parquet", &whole[..length]);
        refused(&[&cut, "--target", "pi_new"], &["cut.parquet", "truncated"]);
    }
    let mut damaged = whole.clone();
    damaged[2000..90_000].fill(0xAB);
    refused(&[&folder.write("damaged.parquet", damaged), "--target", "pi_new"], &["damaged.parquet"]);
}

#[test]
fn files_that_do_not_fit_together() {
    let folder = Folder::new();
    let first = folder.write("a.csv", "reward,mu_1,pi_1\n1,0.5,0.5\n");
    let second = folder.write("b.csv", "reward,mu_1,mu_2,pi_1,pi_2\n1,0.5,0.5,0.5,0.5\n");
    refused(&[&first, &second], &["a.csv", "b.csv"]);
    refused(&[&first, &example("slates.parquet")], &["slates.parquet", "pi"]);
}

#[test]
fn long_logs_whose_slates_are_scattered() {
    let folder = Folder::new();
    let header = "slate_id,position,reward,pscore_item_position,evaluation_policy_pscore_item_position\n";
    let good = "1,1,0,0.5,0.5\n1,2,1,0.5,0.5\n2,1,0,0.5,0.2\n2,2,0,0.5,0.8\n";
    let scattered = "1,1,0,0.5,0.5\n2,1,0,0.5,0.2\n1,2,1,0.5,0.5\n2,2,0,0.5,0.8\n";
    let path = folder.write("good.csv", format!("{header}{good}"));
    let run = slateval(&additive(&["evaluate", &path, "--long", "--json", "-"]));
    let json = run.json();
    assert_eq!((json["log"]["rows"].as_u64(), json["log"]["slots"].as_u64()), (Some(2), Some(2)));
    let path = folder.write("bad.csv", format!("{header}{scattered}"));
    refused(&[&path, "--long"], &["bad.csv", "sort", "slate"]);
}

#[test]
fn settings_out_of_range_are_refused_before_the_log_is_read() {
    let log = example("slates.parquet");
    for (flag, value, mention) in [
        ("--alpha", "0", "alpha"),
        ("--alpha", "1.5", "alpha"),
        ("--quantile", "-0.1", "quantile"),
        ("--bins", "1", "bins"),
        ("--bins", "many", "bins"),
        ("--structure", "order:0", "order"),
        ("--structure", "cubic", "additive"),
        ("--structure", "interactions:0+1", "slots count from 1"),
        ("--correction", "best", "calibrated"),
        ("--tail", "left", "lower or upper"),
        ("--threads", "0", "threads"),
        ("--confidence", "95", "between 0 and 1"),
        ("--band", "wide", "multiplier, bernstein or none"),
        ("--min-propensity", "0", "above 0"),
        ("--draws", "10", "between 100 and 1,000,000"),
        ("--seed", "-1", "seed"),
        ("--baseline", "old", "no target `old`, only target"),
        ("--baseline", "logging", "anyway"),
        ("--baseline", "target", "the only target"),
    ] {
        refused(&[&log, "--target", "pi_new", &format!("{flag}={value}")], &[mention]);
    }
    refused(&[&log, "--target", "pi_new", "--structure", "interactions:1+6"], &["slot 6", "5 slots"]);
    refused(&[&log, "--target", "pi_new", "--structure", "product", "--target-slots", "joint"], &["independent"]);
    refused(
        &[&log, "--target", "pi_new", "--structure", "paper-order:2", "--correction", "calibrated"],
        &["paper-order"],
    );
    refused(&[&log, "--target", "pi_new", "--json", "no/such/folder/x.json"], &["no/such/folder"]);
}

#[test]
fn too_many_segments() {
    let folder = Folder::new();
    let rows: String = (0..1100).map(|i| format!("{},0.5,0.5,{i}\n", i % 2)).collect();
    let path = folder.write("log.csv", format!("reward,mu_1,pi_1,user\n{rows}"));
    refused(&[&path, "--by", "user"], &["user", "1000", "coarser"]);
}

/// Names and values of a log end up in messages; a terminal must show them and not obey them.
#[test]
fn messages_carry_no_control_characters() {
    let folder = Folder::new();
    let path = folder.write("log.csv", "reward,mu_1,pi_1\n1,0.5,\u{1b}[2J\u{7}\n");
    let run = slateval(&additive(&["evaluate", &path]));
    assert!(run.code == 2 && run.stderr.contains("[2J"), "{}", run.stderr);
    assert!(!run.stderr.trim_end().contains(char::is_control), "{:?}", run.stderr);
    let path = folder.write("fine.csv", "reward,mu_1,pi_1,part\n1,0.5,0.5,\u{1b}[31m\n0,0.5,0.5,a\n");
    for command in ["evaluate", "inspect"] {
        let run = slateval(&additive(&[command, &path, "--by", "part", "--target", "\u{1b}c=pi"]));
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(!run.stdout.contains(|c: char| c.is_control() && c != '\n'), "{:?}", run.stdout);
    }
}

#[test]
fn clusters_that_are_not_there() {
    let folder = Folder::new();
    let path = folder.write("log.csv", "reward,mu_1,pi_1,user\n1,0.5,0.5,a\n0,0.5,0.5,\n");
    refused(
        &[&path, "--cluster", "user"],
        &["log.csv, row 2", "`user`", "null", "of its own", "drop the row if clusters are missing at random"],
    );
    refused(&[&path, "--cluster", "usr"], &["`usr`", "`user`", "clusters"]);
    let run = slateval(&["inspect", &path, "--cluster", "user", "--structure", "additive"]);
    assert!(run.code == 2 && run.stdout.is_empty() && run.stderr.contains("row 2"), "{}", run.stderr);
}

/// Target mass that logging could never show cannot be seen in shown actions, but slot ratios with a mean far from 1 can.
#[test]
fn wrong_propensities_are_a_warning() {
    let folder = Folder::new();
    let rows: String = (0..2000).map(|i| format!("{},0.5,{}\n", i % 2, if i % 4 == 0 { 0.9 } else { 0.1 })).collect();
    let path = folder.write("log.csv", format!("reward,mu_1,pi_1\n{rows}"));
    let run = slateval(&additive(&["evaluate", &path]));
    assert_eq!(run.code, 0);
    assert!(run.stdout.contains("FAILED") && run.stdout.contains("slot 1 has mean 0.6"), "{}", run.stdout);
}

/// The file is damaged so that the `parquet` crate panics, which is its error and no fault of this program.
#[test]
fn a_panic_of_a_reader_is_told_as_damage_and_nothing_else() {
    let file = format!("{}/tests/damaged/reader-panics.parquet", env!("CARGO_MANIFEST_DIR"));
    let run = slateval(&["evaluate", &file, "--structure", "product", "--band", "none"]);
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("reader-panics.parquet: this Parquet file is damaged"), "{}", run.stderr);
    assert!(!run.stderr.contains("panicked") && run.stderr.lines().count() == 1, "{}", run.stderr);
}
