//! The same small log in every format.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use slateval::{Spec, Structure, Summary};
use slateval_logs::{Columns, Error, Log};

pub const ROWS: usize = 3000;

/// Values that f32 holds exactly, so that every type gives the same summary.
pub fn mu(row: usize, slot: usize) -> f64 {
    [0.25, 0.5, 0.75][(row + slot) % 3]
}

pub fn pi(row: usize, slot: usize) -> f64 {
    [0.125, 0.625, 0.5, 0.0][(row * 7 + slot) % 4]
}

pub fn reward(row: usize) -> f64 {
    [0.0, 1.0, 0.25][row * 5 % 7 % 3]
}

pub fn country(row: usize) -> &'static str {
    ["de", "fr", "pl"][row % 11 % 3]
}

pub fn f64s(rows: usize, value: impl Fn(usize) -> f64) -> ArrayRef {
    Arc::new((0..rows).map(|r| Some(value(r))).collect::<Float64Array>())
}

pub fn f32s(rows: usize, value: impl Fn(usize) -> f64) -> ArrayRef {
    Arc::new((0..rows).map(|r| Some(value(r) as f32)).collect::<Float32Array>())
}

pub fn countries(rows: usize) -> ArrayRef {
    Arc::new((0..rows).map(|r| Some(country(r))).collect::<StringArray>())
}

pub fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
}

/// The log of two slots, as wide columns of f64.
pub fn wide() -> RecordBatch {
    wide_rows(ROWS)
}

pub fn wide_rows(rows: usize) -> RecordBatch {
    batch(vec![
        ("reward", f64s(rows, reward)),
        ("mu_1", f64s(rows, |r| mu(r, 0))),
        ("mu_2", f64s(rows, |r| mu(r, 1))),
        ("pi_1", f64s(rows, |r| pi(r, 0))),
        ("pi_2", f64s(rows, |r| pi(r, 1))),
        ("country", countries(rows)),
    ])
}

pub fn parquet(path: &Path, batch: &RecordBatch, group: usize) -> PathBuf {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    path.to_owned()
}

pub fn csv_bytes(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    arrow_csv::Writer::new(&mut bytes).write(batch).unwrap();
    bytes
}

pub fn json_bytes(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_json::LineDelimitedWriter::new(Vec::new());
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn spec() -> Spec {
    Spec::new(Structure::Additive, ["target"])
}

pub fn read_as(paths: &[&Path], columns: &Columns, spec: Spec, threads: usize) -> Result<Summary, Error> {
    let paths: Vec<String> = paths.iter().map(|p| p.to_str().unwrap().to_owned()).collect();
    let log = Log::open(&paths)?;
    let spec = log.spec(columns, spec)?;
    log.summarize(columns, &spec, Some(threads), &|_| {})
}

pub fn read(path: &Path) -> Result<Summary, Error> {
    read_as(&[path], &Columns::wide_default(), spec(), 1)
}

pub fn shown(summary: &Summary) -> Checksum {
    let mut summary = summary.clone();
    summary.forget_inputs();
    Checksum(summary.to_bytes())
}

/// The bytes of a summary, of which messages show the number alone.
#[derive(PartialEq)]
pub struct Checksum(Vec<u8>);

impl std::fmt::Debug for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let differing: u64 = self.0.iter().zip(1..).map(|(byte, place)| u64::from(*byte) * place).sum();
        write!(f, "{} bytes, checksum {differing}", self.0.len())
    }
}

/// The message of the error that a log gives, which must contain all the words.
pub fn refused(result: Result<Summary, Error>, words: &[&str]) {
    let message = result.unwrap_err().to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

/// Runs the tests of this program once more, without the one of this name, in a process in which the `parquet` crate decodes
/// all columns of Parquet files.
pub fn run_again_with_the_library(own: &str) {
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    let output = again.args(["--exact", "--skip", own]).env("SLATEVAL_PARQUET", "library").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !text.contains(" 0 passed"), "{text}");
}
