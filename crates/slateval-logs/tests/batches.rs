//! Rows that come as record batches give what the same rows in a file give.
#![allow(clippy::unwrap_used)]

mod common;

use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use common::*;
use slateval::{Spec, Summary};
use slateval_logs::{Columns, Error, Log};
use tempfile::tempdir;

fn read_batches(batches: Vec<RecordBatch>, columns: &Columns, spec: Spec, threads: usize) -> Result<Summary, Error> {
    let log = Log::of_batches("data", batches[0].schema());
    let spec = log.spec(columns, spec)?;
    let mut batches = batches.into_iter().map(Ok::<_, ArrowError>);
    log.summarize_batches(columns, &spec, Some(threads), &mut batches, &mut |_| ControlFlow::Continue(()))
}

fn cut(batch: &RecordBatch, size: usize) -> Vec<RecordBatch> {
    (0..batch.num_rows()).step_by(size).map(|at| batch.slice(at, size.min(batch.num_rows() - at))).collect()
}

#[test]
fn batches_are_rows_of_a_file() {
    let dir = tempdir().unwrap();
    let path = parquet(&dir.path().join("log.parquet"), &wide(), ROWS);
    let file = shown(&read(&path).unwrap());
    for size in [1024, ROWS] {
        for threads in [1, 4] {
            let found = read_batches(cut(&wide(), size), &Columns::wide_default(), spec(), threads).unwrap();
            assert_eq!(shown(&found), file, "batches of {size}, {threads} threads");
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // Three parts and a bit.
    let batches = cut(&wide_rows(800_000), 300_001);
    let one = read_batches(batches.clone(), &Columns::wide_default(), spec(), 1).unwrap();
    let many = read_batches(batches, &Columns::wide_default(), spec(), 5).unwrap();
    assert_eq!(one.rows(), 800_000);
    assert_eq!(shown(&one), shown(&many));
}

#[test]
fn columns_may_stand_in_another_order_later() {
    let whole = wide();
    let turned = whole.slice(1000, 2000).project(&[5, 3, 4, 0, 2, 1]).unwrap();
    let found = read_batches(vec![whole.slice(0, 1000), turned], &Columns::wide_default(), spec(), 2).unwrap();
    let wanted = read_batches(cut(&whole, 1000), &Columns::wide_default(), spec(), 2).unwrap();
    let mean = |summary: &Summary| summary.evaluate(&slateval::Settings::default()).unwrap().policies[1].mean.estimate;
    assert!((mean(&found).unwrap() - mean(&wanted).unwrap()).abs() < 1e-12);
    let narrow = whole.slice(1000, 2000).project(&[0, 1, 3, 4, 5]).unwrap();
    let refusal = read_batches(vec![whole.slice(0, 1000), narrow], &Columns::wide_default(), spec(), 2);
    refused(refusal, &["data from row 1001 on: `mu` has 1 slots and `pi` has 2"]);
}

#[test]
fn rows_are_counted_over_all_batches() {
    let bad = batch(vec![
        ("reward", f64s(5, reward)),
        ("mu_1", f64s(5, |r| if r == 3 { 0.0 } else { 0.5 })),
        ("pi_1", f64s(5, |_| 0.5)),
    ]);
    let good = batch(vec![("reward", f64s(100, reward)), ("mu_1", f64s(100, |_| 0.5)), ("pi_1", f64s(100, |_| 0.5))]);
    let refusal = read_batches(vec![good, bad], &Columns::wide_default(), spec(), 2);
    refused(refusal, &["data, row 104: `mu_1` is 0"]);
    let empty = read_batches(vec![wide_rows(0)], &Columns::wide_default(), spec(), 2);
    refused(empty, &["there are no rows in data"]);
}

#[test]
fn whoever_watches_can_stop_it() {
    let one = wide_rows(10_000);
    let log = Log::of_batches("data", one.schema());
    let columns = Columns::wide_default();
    let spec = log.spec(&columns, spec()).unwrap();
    let mut endless = std::iter::repeat_with(|| Ok::<_, ArrowError>(one.clone()));
    let mut seen = 0;
    let stopped = log.summarize_batches(&columns, &spec, Some(2), &mut endless, &mut |now| {
        seen = now.rows;
        if now.rows > 100_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(Error::Stopped)));
    assert!(seen > 100_000);
}

#[test]
fn a_stream_that_breaks_says_why() {
    let log = Log::of_batches("data", wide().schema());
    let columns = Columns::wide_default();
    let spec = log.spec(&columns, spec()).unwrap();
    let mut broken =
        [Ok(wide()), Err(ArrowError::IoError("gone".into(), std::io::ErrorKind::Other.into()))].into_iter();
    let found = log.summarize_batches(&columns, &spec, None, &mut broken, &mut |_| ControlFlow::Continue(()));
    refused(found, &["data: not a readable stream of record batches", "gone"]);
}
