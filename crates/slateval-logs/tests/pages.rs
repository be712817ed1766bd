//! Parquet in all the ways that writers store it gives the summary that the same rows give as an Arrow file.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, LargeListBuilder, ListBuilder};
use arrow_array::{ArrayRef, Float32Array, LargeStringArray, RecordBatch, StringArray, StringViewArray};
use common::*;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use slateval_logs::Columns;
use tempfile::tempdir;

/// More than two batches of the reader.
const MANY: usize = 20_000;

/// Properties under which floats are stored in different ways, each with pages that end inside batches.
fn ways() -> Vec<(&'static str, WriterProperties)> {
    let small = || {
        WriterProperties::builder()
            .set_data_page_row_count_limit(700)
            .set_write_batch_size(100)
            .set_max_row_group_row_count(Some(6500))
            .set_statistics_enabled(EnabledStatistics::None)
    };
    let built = |way: WriterPropertiesBuilder| way.build();
    vec![
        ("dictionary", built(small())),
        ("plain", built(small().set_dictionary_enabled(false))),
        ("a dictionary that overflows", built(small().set_dictionary_page_size_limit(512))),
        ("second version", built(small().set_writer_version(WriterVersion::PARQUET_2_0))),
        ("snappy", built(small().set_compression(Compression::SNAPPY))),
        (
            "snappy, second version",
            built(small().set_compression(Compression::SNAPPY).set_writer_version(WriterVersion::PARQUET_2_0)),
        ),
        ("lz4", built(small().set_compression(Compression::LZ4_RAW).set_writer_version(WriterVersion::PARQUET_2_0))),
        (
            "split rewards",
            built(
                small()
                    .set_column_dictionary_enabled("reward".into(), false)
                    .set_column_encoding("reward".into(), Encoding::BYTE_STREAM_SPLIT),
            ),
        ),
    ]
}

fn write(path: &Path, batch: &RecordBatch, properties: WriterProperties) {
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// Compares with the Arrow file. All row groups together are one task, as the Arrow file is.
fn check(what: &str, batch: &RecordBatch) {
    let folder = tempdir().unwrap();
    let arrow = folder.path().join("log.arrow");
    let mut writer = arrow_ipc::writer::FileWriter::try_new(File::create(&arrow).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    let columns = Columns { by: Some("country".into()), ..Columns::wide_default() };
    let summary = |path: &Path| shown(&read_as(&[path], &columns, spec(), 1).unwrap());
    let wanted = summary(&arrow);
    for (way, properties) in ways() {
        let path = folder.path().join("log.parquet");
        write(&path, batch, properties);
        assert!(summary(&path) == wanted, "{what}, {way}");
    }
}

/// Ever other values, so that dictionaries are large.
fn various(row: usize, slot: usize) -> f64 {
    f64::from(((row * 7 + slot * 3) % 1000 + 1) as u16) / 1024.0
}

fn with_slots(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let own = vec![("reward", f32s(MANY, reward)), ("country", countries(MANY))];
    batch(own.into_iter().chain(columns).collect())
}

fn lists(length: impl Fn(usize) -> usize) -> ArrayRef {
    let mut builder = ListBuilder::new(Float32Builder::new());
    for row in 0..MANY {
        (0..length(row)).for_each(|slot| builder.values().append_value(various(row, slot) as f32));
        builder.append(true);
    }
    Arc::new(builder.finish())
}

#[test]
fn columns_of_floats() {
    check("f64", &wide_rows(MANY));
    let single = |slot: usize| f32s(MANY, move |row| various(row, slot));
    check("f32", &with_slots(vec![("mu_1", single(0)), ("mu_2", single(1)), ("pi_1", single(2)), ("pi_2", single(3))]));
}

#[test]
fn columns_of_few_values() {
    // One value in twenty is another: runs are short, and some rows have neither of the first two values.
    for values in [1, 2, 3] {
        let column = |slot: usize| {
            f32s(MANY, move |row| [0.5, 0.25, 0.125][if (row * 7 + slot) % 20 < 3 { row % values } else { 0 }])
        };
        let slots = vec![("mu_1", column(0)), ("mu_2", column(1)), ("pi_1", column(2)), ("pi_2", column(3))];
        check(&format!("{values} values"), &with_slots(slots));
    }
}

#[test]
fn columns_with_nulls_from_some_row_on() {
    for first in [0, 1, 13_000, 16_383, 16_384, MANY - 1] {
        let column = |slot: usize| -> ArrayRef {
            let value =
                |row: usize| (slot == 0 || row < first || !row.is_multiple_of(3)).then(|| various(row, slot) as f32);
            Arc::new((0..MANY).map(value).collect::<Float32Array>())
        };
        let slots = vec![("mu_1", column(0)), ("mu_2", column(1)), ("pi_1", column(0)), ("pi_2", column(1))];
        check(&format!("nulls from row {first} on"), &with_slots(slots));
    }
}

#[test]
fn lists_of_equal_and_unequal_length() {
    check("lists of 3", &with_slots(vec![("mu", lists(|_| 3)), ("pi", lists(|_| 3))]));
    check("lists of 1", &with_slots(vec![("mu", lists(|_| 1)), ("pi", lists(|_| 1))]));
    for first in [1, 13_000, 16_384, MANY - 1] {
        for (what, other) in [("longer", 4), ("shorter", 1), ("empty", 0)] {
            let length = |row: usize| if row < first || !row.is_multiple_of(2) { 2 } else { other };
            check(
                &format!("{what} from row {first} on"),
                &with_slots(vec![("mu", lists(length)), ("pi", lists(length))]),
            );
        }
    }
}

#[test]
fn large_lists_and_lists_of_fixed_size() {
    let mut large = LargeListBuilder::new(Float32Builder::new());
    let mut fixed = FixedSizeListBuilder::new(Float32Builder::new(), 2);
    for row in 0..MANY {
        for slot in 0..2 {
            large.values().append_value(various(row, slot) as f32);
            fixed.values().append_value(various(row, slot + 2) as f32);
        }
        large.append(true);
        fixed.append(true);
    }
    check("other lists", &with_slots(vec![("mu", Arc::new(large.finish())), ("pi", Arc::new(fixed.finish()))]));
}

/// Few labels at the beginning of a row group and more than a small dictionary holds behind them, nulls among both, and
/// pages with nothing but nulls.
fn label(row: usize) -> Option<String> {
    let in_group = row % 6500;
    match in_group {
        _ if row.is_multiple_of(5) || (3000..5000).contains(&in_group) => None,
        0..2000 => Some(country(row).to_owned()),
        _ => Some(format!("region {}", row * 7 % 200)),
    }
}

/// How the pages of a column's first row group are stored, without the dictionary's.
fn page_encodings(path: &Path, column: usize) -> Vec<Encoding> {
    let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let group = file.get_row_group(0).unwrap();
    let pages = group.get_column_page_reader(column).unwrap().map(|page| page.unwrap());
    pages.filter(|page| page.is_data_page()).map(|page| page.encoding()).collect()
}

#[test]
fn labels_with_and_without_dictionary() {
    let labels = (0..MANY).map(label);
    let all = wide_rows(MANY);
    let column = all.schema().index_of("country").unwrap();
    let kinds: [ArrayRef; 3] = [
        Arc::new(labels.clone().collect::<StringArray>()),
        Arc::new(labels.clone().collect::<LargeStringArray>()),
        Arc::new(labels.collect::<StringViewArray>()),
    ];
    let folder = tempdir().unwrap();
    let (csv, path) = (folder.path().join("log.csv"), folder.path().join("log.parquet"));
    let columns = Columns { by: Some("country".into()), ..Columns::wide_default() };
    let summary = |path: &Path, threads| read_as(&[path], &columns, spec(), threads).unwrap();
    for kind in kinds {
        let other = all.columns().iter().enumerate().map(|(i, array)| if i == column { &kind } else { array });
        let names = all.schema();
        let log = batch(names.fields().iter().map(|f| f.name().as_str()).zip(other.cloned()).collect());
        std::fs::write(&csv, csv_bytes(&log)).unwrap();
        let wanted = summary(&csv, 1);
        assert_eq!((wanted.segments().count(), wanted.rows()), (164, MANY as u64));
        for (way, properties) in ways() {
            write(&path, &log, properties);
            if way == "a dictionary that overflows" {
                let encodings = page_encodings(&path, column);
                assert!([Encoding::RLE_DICTIONARY, Encoding::PLAIN].iter().all(|e| encodings.contains(e)));
            }
            for threads in [1, 2] {
                assert!(shown(&summary(&path, threads)) == shown(&wanted), "{way}, {}", kind.data_type());
            }
        }
    }
}

#[test]
fn errors_name_the_row_of_the_file() {
    let folder = tempdir().unwrap();
    for first_null in [MANY, 0, 9000] {
        let mu = |row: usize| if row == 17_000 { 0.0 } else { various(row, 0) as f32 };
        let second: Float32Array = (0..MANY).map(|row| (row < first_null).then_some(0.5)).collect();
        let second: ArrayRef = Arc::new(second);
        let slots = vec![
            ("mu_1", Arc::new((0..MANY).map(|row| Some(mu(row))).collect::<Float32Array>()) as ArrayRef),
            ("mu_2", second.clone()),
            ("pi_1", f32s(MANY, |row| various(row, 1))),
            ("pi_2", second),
        ];
        for (way, properties) in ways() {
            let path = folder.path().join("log.parquet");
            write(&path, &with_slots(slots.clone()), properties);
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("log.parquet, row 17001: `mu_1` is 0"), "{way}: {error}");
        }
    }
}

/// A damaged file is refused, or has all its rows: nothing panics, and nothing is read for ever.
#[test]
fn damaged_files_do_no_harm() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("log.parquet");
    write(&path, &with_slots(vec![("mu", lists(|_| 2)), ("pi", lists(|_| 2))]), ways().remove(0).1);
    let bytes = std::fs::read(&path).unwrap();
    for place in (4..bytes.len() - 8).step_by(bytes.len() / 500) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x55;
        std::fs::write(&path, damaged).unwrap();
        if let Ok(summary) = read(&path) {
            assert_eq!(summary.rows(), MANY as u64);
        }
    }
}

#[test]
fn the_library_reads_the_same() {
    run_again_with_the_library("the_library_reads_the_same");
}
