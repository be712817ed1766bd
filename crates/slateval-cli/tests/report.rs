//! `--report` and `--plot`: the real binary on real files.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{additive, example, slateval};

#[test]
fn pages_and_plots_are_the_same_from_a_log_and_from_its_summary_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (page, drawing, picture, saved) = (path("r.html"), path("p.svg"), path("p.png"), path("s.slateval"));
    let log = example("slates.parquet");
    let common = ["--target", "new=pi_new", "--draws", "200"];
    let evaluate = |more: &[&str]| slateval(&additive(&[&["evaluate", &log], &common[..], more].concat()));
    let run = evaluate(&["--report", &page, "--plot", &drawing, "--save", &saved]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let first = (fs::read(&page).unwrap(), fs::read(&drawing).unwrap());
    evaluate(&["--report", &page, "--plot", &drawing, "--save", &saved, "--threads", "1"]);
    assert_eq!(first.1, fs::read(&drawing).unwrap());

    let run = slateval(&["show", &saved, "--draws", "200", "--plot", &picture, "--report", &page]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    let shown = fs::read_to_string(&page).unwrap();
    assert!(shown.contains("slateval show ") && shown.contains("<!doctype html>"));
    let drawn = slateval(&["show", &saved, "--draws", "200", "--plot", &drawing]);
    assert_eq!(drawn.code, 0);
    assert_eq!(first.1, fs::read(&drawing).unwrap(), "a summary gives the log's picture");
}

#[test]
fn names_that_cannot_be_written_are_refused() {
    let log = example("slates.parquet");
    for (flag, name, expected) in [
        ("--report", "report.pdf", "the name must end in .html or .htm"),
        ("--plot", "plot", "the name must end in .svg or .png"),
        ("--plot", "no/such/plot.svg", "there is no directory no/such"),
    ] {
        let run = slateval(&["evaluate", &log, "--target", "new=pi_new", flag, name]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
    let folder = tempfile::tempdir().unwrap();
    let both = folder.path().join("same.html").display().to_string();
    let run = slateval(&["evaluate", &log, "--target", "new=pi_new", "--report", &both, "--json", &both]);
    assert!(run.code == 2 && run.stderr.contains("writes to the same file"), "{}", run.stderr);
    assert!(!std::path::Path::new(&both).exists());
}
