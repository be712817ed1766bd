//! Thousands of damaged files of every format: none panics, and where a format has checksums over all its bytes, each is
//! refused or gives the very same result.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;

use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use common::*;
use slateval::Summary;
use slateval_testing::Random;
use tempfile::tempdir;

/// Damaged files of each format.
const EACH: usize = 450;

/// One of four kinds of damage.
fn damaged(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut below = |limit: usize| random.below(limit as u64) as usize;
    let mut bytes = whole.to_vec();
    let at = below(bytes.len());
    let length = 1 + below(64.min(bytes.len() - at));
    match below(4) {
        0 => bytes[at] ^= 1 << below(8),
        1 => bytes.truncate(at),
        2 => bytes[at..at + length].fill(0),
        _ => {
            let other = below(bytes.len() - length + 1);
            let block = bytes[at..at + length].to_vec();
            bytes.copy_within(other..other + length, at);
            bytes[other..other + length].copy_from_slice(&block);
        }
    }
    bytes
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
    let mut random = Random::new(whole.len() as u64);
    let mut refused = 0;
    for attempt in 0..EACH {
        fs::write(&path, damaged(whole, &mut random)).unwrap();
        match read(&path) {
            Err(_) => refused += 1,
            Ok(summary) if protected => assert_eq!(shown(&summary), expected, "{name}, attempt {attempt}"),
            Ok(_) => {}
        }
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
    let mut random = Random::new(5);
    for attempt in 0..2000 {
        if let Ok(summary) = Summary::from_bytes(&damaged(&whole, &mut random)) {
            assert!(summary.to_bytes() == whole, "attempt {attempt}");
        }
    }
}

#[test]
fn the_library_reads_the_same() {
    run_again_with_the_library("the_library_reads_the_same");
}
