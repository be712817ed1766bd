//! Parquet files that few writers write, and damaged ones whose footers contradict their pages. They were made by hand, page
//! by page: what each holds is said beside it.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::PathBuf;

use common::*;
use slateval::{Correction, Settings, Spec, Structure, Summary};
use slateval_logs::{Columns, Error, Result};

fn read_odd(name: &str) -> Result<Summary> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "odd", name].iter().collect();
    read_as(&[&path], &Columns::wide_default(), Spec::new(Structure::Additive, ["target"]), 1)
}

/// A list may go on in the next page: the second page of `mu` and of `pi` begins with the last two items of a list of four.
#[test]
fn lists_that_go_on_in_the_next_page_are_read_whole() {
    // Propensities are .5, and so are the target's but for the two .9 behind the cut. Every reward is 1.
    for (name, rows) in [("list_in_two_pages.parquet", 1), ("last_list_in_two_pages.parquet", 2)] {
        let summary = read_odd(name).unwrap();
        let settings = Settings::default().with_correction(Correction::None);
        let mean = summary.evaluate(&settings).unwrap().policy("target").unwrap().mean.estimate.unwrap();
        let wanted = 1.0 + 2.0 * 0.8 / f64::from(rows);
        assert!((mean - wanted).abs() < 1e-12, "{name}: {mean} for {wanted}");
        assert_eq!(summary.rows(), u64::try_from(rows).unwrap());
    }
}

/// Row groups of two and of three rows, the first with three rewards, in the second file the second with two.
#[test]
fn columns_that_would_be_out_of_step_are_refused() {
    for name in ["more_rewards_than_rows.parquet", "rewards_shifted.parquet"] {
        let error = read_odd(name).unwrap_err().to_string();
        assert!(error.contains("a row group of 2 rows has 3 values of `reward`"), "{name}: {error}");
    }
}

/// A page's header tells of a list of 2^31 - 1 numbers, of which none is there.
#[test]
fn a_header_without_end_is_refused() {
    let error = read_odd("endless_header.parquet").unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
}

#[test]
fn the_library_reads_the_same() {
    run_again_with_the_library("the_library_reads_the_same");
}

#[test]
fn a_switch_that_is_not_known_is_refused() {
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    let one = "columns_that_would_be_out_of_step_are_refused";
    let output = again.args(["--exact", one]).env("SLATEVAL_PARQUET", "libary").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && text.contains("SLATEVAL_PARQUET is \"libary\""), "{text}");
}
