//! This crate reads what the `parquet` crate's Arrow reader reads, with the same values: files of several writers, random
//! files, and damaged ones.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod compare;
mod random;

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use compare::{Part, compare};
use random::Written;

/// Damaged copies of each file.
const DAMAGED: usize = 15;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The files of the corpus, by name.
fn corpus() -> Vec<(String, Bytes)> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "parquet")).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files.into_iter().map(|path| (name(&path), fs::read(&path).unwrap().into())).collect()
}

#[test]
fn files_of_many_writers_are_read_alike() {
    let files = corpus();
    for writer in ["arrow_rs", "duckdb", "fastparquet", "polars", "pyarrow"] {
        assert!(files.iter().any(|(name, _)| name.starts_with(writer)), "none of {writer}");
    }
    for (name, bytes) in files {
        for batch_rows in [7, 64, 16_384] {
            let rows = compare(&bytes, &Part::all(batch_rows));
            assert_eq!(rows, Some(if name == "pyarrow_empty" { 0 } else { 260 }), "{name}");
        }
    }
}

#[test]
fn single_columns_are_read_alike() {
    for (name, bytes) in corpus() {
        let footer = parquet::arrow::arrow_reader::ArrowReaderMetadata::load(&bytes, Default::default()).unwrap();
        for column in 0..footer.schema().fields().len() {
            let part = Part { columns: Some(vec![column]), ..Part::all(100) };
            assert!(compare(&bytes, &part).is_some(), "{name}, column {column}");
        }
    }
}

#[test]
fn damaged_files_never_panic_and_never_differ() {
    let (mut read, mut refused) = (0, 0);
    for (name, bytes) in corpus() {
        let mut random = proptest::test_runner::TestRunner::deterministic();
        for _ in 0..DAMAGED {
            let at = (0..bytes.len(), 1_u8..=255).new_tree(&mut random).unwrap().current();
            let mut damaged = bytes.to_vec();
            damaged[at.0] ^= at.1;
            let compared = std::panic::catch_unwind(|| compare(&damaged.into(), &Part::all(100)));
            match compared {
                Ok(rows) => *(if rows.is_some() { &mut read } else { &mut refused }) += 1,
                Err(_) => panic!("{name}, byte {} xor {}", at.0, at.1),
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn random_files_are_read_alike(written in Written::any(), batch_rows in 1_usize..300) {
        let (bytes, rows) = (written.bytes(), written.rows());
        prop_assert_eq!(compare(&bytes, &Part::all(batch_rows)), Some(rows));
        let footer = parquet::arrow::arrow_reader::ArrowReaderMetadata::load(&bytes, Default::default()).unwrap();
        let groups = footer.metadata().num_row_groups();
        let part = Part { columns: Some(vec![0]), row_groups: Some(groups / 3..groups), batch_rows };
        prop_assert!(compare(&bytes, &part).is_some());
    }

    #[test]
    fn random_files_that_are_damaged_never_differ(
        written in Written::any(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..=255), 1..4),
    ) {
        let mut bytes = written.bytes().to_vec();
        for (at, bits) in damage {
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
        }
        compare(&bytes.into(), &Part::all(100));
    }
}

#[test]
#[ignore = "writes files of the corpus anew"]
fn write_arrow_rs() {
    for (name, written) in Written::samples() {
        fs::write(folder().join(format!("arrow_rs_{name}.parquet")), written.bytes()).unwrap();
    }
}
