//! Thousands of damaged files of every format: none panics, none takes long, and where a format has checksums over all its
//! bytes, each is refused or gives the very same result.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use common::*;
use slateval::Summary;
use tempfile::tempdir;

/// Damaged files of each format.
const EACH: usize = 450;

/// No file of a few kilobytes takes longer.
const LONGEST: Duration = Duration::from_secs(10);

/// Numbers that are the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }

    /// One of four kinds of damage.
    fn damage(&mut self, whole: &[u8]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        let at = self.below(bytes.len());
        let length = 1 + self.below(64.min(bytes.len() - at));
        match self.below(4) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes.truncate(at),
            2 => bytes[at..at + length].fill(0),
            _ => {
                let other = self.below(bytes.len() - length + 1);
                let block = bytes[at..at + length].to_vec();
                bytes.copy_within(other..other + length, at);
                bytes[other..other + length].copy_from_slice(&block);
            }
        }
        bytes
    }
}

fn arrow(compression: Option<CompressionType>, stream: bool) -> Vec<u8> {
    let (rows, mut bytes) = (wide_rows(300), Vec::new());
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    if stream {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, &rows.schema(), options).unwrap();
        writer.write(&rows).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &rows.schema(), options).unwrap();
        writer.write(&rows).unwrap();
        writer.finish().unwrap();
    }
    bytes
}

fn zstd_with_checksum(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Damages a file again and again. `protected` says that no difference may go unnoticed.
fn attack(name: &str, whole: &[u8], protected: bool) -> usize {
    let folder = tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, whole).unwrap();
    let expected = shown(&read(&path).unwrap());
    let mut random = Random(whole.len() as u64);
    let mut refused = 0;
    for attempt in 0..EACH {
        fs::write(&path, random.damage(whole)).unwrap();
        let started = Instant::now();
        match read(&path) {
            Err(_) => refused += 1,
            Ok(summary) if protected => assert_eq!(shown(&summary), expected, "{name}, attempt {attempt}"),
            Ok(_) => {}
        }
        assert!(started.elapsed() < LONGEST, "{name}, attempt {attempt}");
    }
    refused
}

#[test]
fn damaged_text_is_refused_or_read() {
    let (csv, json) = (csv_bytes(&wide_rows(300)), json_bytes(&wide_rows(300)));
    attack("a.csv", &csv, false);
    attack("a.jsonl", &json, false);
    for (name, bytes) in [("a.csv.gz", gzip(&csv)), ("a.jsonl.gz", gzip(&json))] {
        assert!(attack(name, &bytes, true) > EACH / 2);
    }
    assert!(attack("a.csv.zst", &zstd_with_checksum(&csv), true) > EACH / 2);
    assert!(attack("a.jsonl.zst", &zstd_with_checksum(&json), true) > EACH / 2);
}

#[test]
fn damaged_arrow_is_refused_or_read() {
    for compression in [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)] {
        attack("a.arrow", &arrow(compression, false), false);
        attack("a.arrows", &arrow(compression, true), false);
    }
}

#[test]
fn damaged_parquet_is_refused_or_read() {
    let folder = tempdir().unwrap();
    let plain = parquet(&folder.path().join("plain.parquet"), &wide_rows(300), 100);
    attack("plain.parquet", &fs::read(plain).unwrap(), false);
    for packing in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/checksums/{packing}.parquet"));
        attack("checksums.parquet", &fs::read(path).unwrap(), false);
    }
}

#[test]
fn damaged_summaries_are_refused() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, csv_bytes(&wide_rows(300))).unwrap();
    let whole = read(&path).unwrap().to_bytes();
    let mut random = Random(5);
    for attempt in 0..2000 {
        if let Ok(summary) = Summary::from_bytes(&random.damage(&whole)) {
            assert!(summary.to_bytes() == whole, "attempt {attempt}");
        }
    }
}

#[test]
fn the_library_reads_the_same() {
    run_again_with_the_library("the_library_reads_the_same");
}
