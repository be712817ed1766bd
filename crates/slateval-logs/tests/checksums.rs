//! Damage inside the pages of a Parquet file that has page checksums is noticed, whichever way a page is read.
//!
//! The files in `checksums/` hold the same 400 rows in six compressions, with pages of 600 bytes, dictionaries for some
//! columns and plain values for others. pyarrow wrote them with `write_page_checksum=True`: the `parquet` crate writes
//! no checksums.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::*;
use parquet::file::reader::{FileReader, SerializedFileReader};
use slateval_logs::Columns;
use tempfile::tempdir;

const PACKINGS: [&str; 6] = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"];

fn file(packing: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/checksums/{packing}.parquet"))
}

/// The column chunks of a file: name, first byte, and the byte behind the last.
fn chunks(path: &Path) -> Vec<(String, usize, usize)> {
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let groups = reader.metadata().row_groups().iter();
    let of_group = |group: &parquet::file::metadata::RowGroupMetaData| {
        let chunk = |c: &parquet::file::metadata::ColumnChunkMetaData| {
            let (start, length) = c.byte_range();
            (c.column_path().string(), start as usize, (start + length) as usize)
        };
        group.columns().iter().map(chunk).collect::<Vec<_>>()
    };
    groups.flat_map(of_group).collect()
}

#[test]
fn every_flipped_bit_of_a_page_is_noticed() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("damaged.parquet");
    // Labels and whole numbers are read by the general reader, floats from their pages.
    let columns = Columns { by: Some("country".into()), cluster: Some("clicks".into()), ..Columns::wide_default() };
    for packing in PACKINGS {
        let whole = fs::read(file(packing)).unwrap();
        let read = |path: &Path| read_as(&[path], &columns, spec(), 1);
        let expected = shown(&read(&file(packing)).unwrap());
        let (mut flipped, mut refused) = (0, 0);
        for (column, start, end) in chunks(&file(packing)) {
            for at in (start..end).step_by(17) {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << (at % 8);
                fs::write(&path, &damaged).unwrap();
                flipped += 1;
                match read(&path) {
                    Err(_) => refused += 1,
                    // Statistics in a page's header are not read.
                    Ok(summary) => assert_eq!(shown(&summary), expected, "{packing}: byte {at}, in {column}"),
                }
            }
        }
        // What is not refused are headers of pages, which have no checksum, and which the pages are found by.
        assert!(refused * 10 > flipped * 7, "{packing}: {refused} of {flipped} were refused");
    }
}

#[test]
fn the_library_reads_the_same() {
    run_again_with_the_library("the_library_reads_the_same");
}
