//! The same log in every format, type and layout gives the same summary.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, Float64Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Int32Array, Int64Array, RecordBatch};
use common::*;
use slateval::{Segment, Spec, Structure};
use slateval_logs::{Columns, Log, Source, partial};
use tempfile::tempdir;

/// What the log must give, however it is stored.
fn wanted() -> Checksum {
    let dir = tempdir().unwrap();
    shown(&read(&parquet(&dir.path().join("wide.parquet"), &wide(), 700)).unwrap())
}

fn same(path: &Path) {
    assert_eq!(shown(&read(path).unwrap()), wanted(), "{}", path.display());
}

#[test]
fn the_summary_has_all_rows_and_slots() {
    let dir = tempdir().unwrap();
    let summary = read(&parquet(&dir.path().join("a.parquet"), &wide(), 700)).unwrap();
    assert_eq!((summary.rows(), summary.slots()), (ROWS as u64, Some(2)));
}

#[test]
fn text_formats() {
    let dir = tempdir().unwrap();
    let csv = csv_bytes(&wide());
    let tsv = String::from_utf8(csv.clone()).unwrap().replace(',', "\t").into_bytes();
    let marked = [b"\xef\xbb\xbf".as_slice(), &csv].concat();
    let json = json_bytes(&wide());
    let files = [
        ("a.csv", csv.clone()),
        ("a.csv.gz", gzip(&csv)),
        ("a.csv.zst", zstd::encode_all(&csv[..], 1).unwrap()),
        ("a.tsv", tsv),
        ("marked.csv", marked),
        ("a.jsonl", json.clone()),
        ("a.ndjson.gz", gzip(&json)),
        ("a.json.zst", zstd::encode_all(&json[..], 1).unwrap()),
    ];
    for (name, bytes) in files {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        same(&path);
    }
}

#[test]
fn json_lines_as_people_write_them() {
    let dir = tempdir().unwrap();
    let read_lines = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        shown(&read(&path).unwrap())
    };
    let plain = "{\"reward\": 1, \"mu\": [0.5, 0.25], \"pi\": [0.5, 0.125]}\n".repeat(3);
    let odd = concat!(
        "\n  {\"pi\":[0.5,1.25e-1],\"mu\":[5e-1,0.25],\"reward\":1.0}  \r\n \t\n",
        "{\"note\": {\"mu\": [{}], \"x\": \"}\"}, \"reward\": 1, \"mu\": [ 0.5 ,0.25 ], \"pi\": [0.50, 0.1250]}\n",
        "{\"mu\": [0.5, 0.25], \"\\u0070i\": [0.5, 0.125], \"reward\": 1, \"note\": 3}\n"
    );
    assert_eq!(read_lines("odd.jsonl", odd), read_lines("plain.jsonl", &plain));
}

#[test]
fn arrow_files_and_streams_under_any_name() {
    let dir = tempdir().unwrap();
    for name in ["a.arrow", "a.feather", "nameless", "file.arrows"] {
        let path = dir.path().join(name);
        let mut writer =
            arrow_ipc::writer::FileWriter::try_new(File::create(&path).unwrap(), &wide().schema()).unwrap();
        writer.write(&wide()).unwrap();
        writer.finish().unwrap();
        same(&path);
    }
    for name in ["a.arrows", "stream.arrow", "stream"] {
        let path = dir.path().join(name);
        let file = File::create(&path).unwrap();
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &wide().schema()).unwrap();
        writer.write(&wide().slice(0, 1024)).unwrap();
        writer.write(&wide().slice(1024, ROWS - 1024)).unwrap();
        writer.finish().unwrap();
        same(&path);
    }
    same(&parquet(&dir.path().join("parquet-without-ending"), &wide(), 1000));
}

#[test]
fn numeric_types() {
    let dir = tempdir().unwrap();
    let decimal = |value: &dyn Fn(usize) -> f64| -> ArrayRef {
        let values = (0..ROWS).map(|r| Some((value(r) * 1000.0) as i128));
        Arc::new(values.collect::<Decimal128Array>().with_precision_and_scale(10, 3).unwrap())
    };
    let dictionary: ArrayRef = {
        let keys = (0..ROWS).map(|r| Some(((r + 1) % 3) as i32)).collect::<Int32Array>();
        let values = f32s(3, |i| [0.25, 0.5, 0.75][i]);
        Arc::new(DictionaryArray::<Int32Type>::new(keys, values))
    };
    let mixed = batch(vec![
        ("extra", countries(ROWS)),
        ("pi_2", decimal(&|r| pi(r, 1))),
        ("mu_2", dictionary),
        ("pi_1", f32s(ROWS, |r| pi(r, 0))),
        ("mu_1", decimal(&|r| mu(r, 0))),
        ("reward", f32s(ROWS, reward)),
    ]);
    let path = dir.path().join("mixed.arrow");
    let mut writer = arrow_ipc::writer::FileWriter::try_new(File::create(&path).unwrap(), &mixed.schema()).unwrap();
    writer.write(&mixed).unwrap();
    writer.finish().unwrap();
    same(&path);
    same(&parquet(&dir.path().join("mixed.parquet"), &mixed, 700));
}

#[test]
fn truth_values_and_whole_numbers_are_rewards() {
    let dir = tempdir().unwrap();
    let with = |reward: ArrayRef| {
        let mut columns = wide().columns().to_vec();
        columns[0] = reward;
        let names = ["reward", "mu_1", "mu_2", "pi_1", "pi_2", "country"];
        batch(names.into_iter().zip(columns).collect())
    };
    let clicked = |r: usize| r.is_multiple_of(3);
    let bools = with(Arc::new((0..ROWS).map(|r| Some(clicked(r))).collect::<BooleanArray>()));
    let ints = with(Arc::new((0..ROWS).map(|r| Some(i64::from(clicked(r)))).collect::<Int64Array>()));
    let wanted = shown(&read(&parquet(&dir.path().join("ints.parquet"), &ints, 700)).unwrap());
    assert_eq!(shown(&read(&parquet(&dir.path().join("bools.parquet"), &bools, 700)).unwrap()), wanted);
    for (name, bytes) in [("bools.csv", csv_bytes(&bools)), ("bools.jsonl", json_bytes(&bools))] {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert_eq!(shown(&read(&path).unwrap()), wanted, "{name}");
    }
}

fn list(value: impl Fn(usize, usize) -> f64, length: impl Fn(usize) -> usize) -> ArrayRef {
    let mut builder = ListBuilder::new(Float32Builder::new());
    for row in 0..ROWS {
        (0..length(row)).for_each(|slot| builder.values().append_value(value(row, slot) as f32));
        builder.append(true);
    }
    Arc::new(builder.finish())
}

fn fixed(value: impl Fn(usize, usize) -> f64) -> ArrayRef {
    let mut builder = FixedSizeListBuilder::new(Float64Builder::new(), 2);
    for row in 0..ROWS {
        (0..2).for_each(|slot| builder.values().append_value(value(row, slot)));
        builder.append(true);
    }
    Arc::new(builder.finish())
}

#[test]
fn lists_are_slots() {
    let dir = tempdir().unwrap();
    let lists = batch(vec![("reward", f64s(ROWS, reward)), ("mu", list(mu, |_| 2)), ("pi", fixed(pi))]);
    same(&parquet(&dir.path().join("lists.parquet"), &lists, 700));
    let path = dir.path().join("lists.jsonl");
    fs::write(&path, json_bytes(&lists)).unwrap();
    same(&path);
}

#[test]
fn ragged_lists_and_nulls_say_the_same() {
    let dir = tempdir().unwrap();
    let length = |row: usize| row % 3;
    let lists = batch(vec![("reward", f64s(ROWS, reward)), ("mu", list(mu, length)), ("pi", list(pi, length))]);
    let column = |value: fn(usize, usize) -> f64, slot: usize| -> ArrayRef {
        let values = (0..ROWS).map(|r| (slot < length(r)).then(|| value(r, slot)));
        Arc::new(values.collect::<arrow_array::Float64Array>())
    };
    let nulls = batch(vec![
        ("reward", f64s(ROWS, reward)),
        ("mu_1", column(mu, 0)),
        ("mu_2", column(mu, 1)),
        ("pi_1", column(pi, 0)),
        ("pi_2", column(pi, 1)),
    ]);
    let wanted = shown(&read(&parquet(&dir.path().join("lists.parquet"), &lists, 700)).unwrap());
    assert_eq!(shown(&read(&parquet(&dir.path().join("nulls.parquet"), &nulls, 700)).unwrap()), wanted);
    for (name, bytes) in
        [("nulls.csv", csv_bytes(&nulls)), ("nulls.jsonl", json_bytes(&nulls)), ("lists.jsonl", json_bytes(&lists))]
    {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert_eq!(shown(&read(&path).unwrap()), wanted, "{name}");
    }
}

fn long(first: usize, backwards: bool) -> RecordBatch {
    let slot = |r: usize| if backwards { 1 - r % 2 } else { r % 2 };
    batch(vec![
        ("slate_id", Arc::new((0..2 * ROWS).map(|r| Some((r / 2) as i64)).collect::<Int64Array>())),
        ("position", Arc::new((0..2 * ROWS).map(|r| Some((slot(r) + first) as i32)).collect::<Int32Array>())),
        ("reward", f64s(2 * ROWS, |r| if slot(r) == 0 { reward(r / 2) } else { 0.0 })),
        ("pscore_item_position", f64s(2 * ROWS, |r| mu(r / 2, slot(r)))),
        ("evaluation_policy_pscore_item_position", f64s(2 * ROWS, |r| pi(r / 2, slot(r)))),
        ("country", Arc::new((0..2 * ROWS).map(|r| Some(country(r / 2))).collect::<arrow_array::StringArray>())),
    ])
}

#[test]
fn one_row_per_slot() {
    let dir = tempdir().unwrap();
    let read = |path: &Path| shown(&read_as(&[path], &Columns::long_default(), spec(), 1).unwrap());
    for (first, backwards) in [(0, false), (1, false), (1, true)] {
        let path = parquet(&dir.path().join("long.parquet"), &long(first, backwards), 501);
        assert_eq!(read(&path), wanted());
    }
    let path = dir.path().join("long.csv");
    fs::write(&path, csv_bytes(&long(1, false))).unwrap();
    assert_eq!(read(&path), wanted());
}

#[test]
fn segments_from_columns_and_directories() {
    let dir = tempdir().unwrap();
    let mut columns = Columns::wide_default();
    columns.by = Some("country".into());
    let text = |s: &str| Segment::Text(s.into());
    let whole = parquet(&dir.path().join("whole.parquet"), &wide(), 700);
    let whole = read_as(&[&whole], &columns, spec(), 2).unwrap();
    assert_eq!(whole.segments().cloned().collect::<Vec<_>>(), [text("de"), text("fr"), text("pl")]);
    let csv = dir.path().join("whole.csv");
    fs::write(&csv, csv_bytes(&wide())).unwrap();
    assert_eq!(shown(&read_as(&[&csv], &columns, spec(), 1).unwrap()), shown(&whole));
    let mut by_slot = Columns::long_default();
    by_slot.by = Some("country".into());
    let path = parquet(&dir.path().join("long.parquet"), &long(1, false), 700);
    let long = read_as(&[&path], &by_slot, spec(), 1).unwrap();
    assert_eq!((long.rows(), shown(&long)), (whole.rows(), shown(&whole)));

    let root = dir.path().join("hive");
    for (day, name) in [("day=2", "b.parquet"), ("day=10", "a.parquet"), ("day=10", "_skipped.parquet")] {
        fs::create_dir_all(root.join(day)).unwrap();
        parquet(&root.join(day).join(name), &wide_rows(10), 700);
    }
    columns.by = Some("day".into());
    let log = Log::open(&[root.to_str().unwrap().to_owned()]).unwrap();
    assert_eq!((log.rows(), log.files().len()), (Some(20), 2));
    assert!(log.schema().field_with_name("day").is_ok());
    let summary = read_as(&[&root], &columns, spec(), 1).unwrap();
    assert_eq!(summary.segments().cloned().collect::<Vec<_>>(), [Segment::Int(2), Segment::Int(10)]);

    // Several columns, one of them a directory: each combination of values.
    columns.by = Some("day, country".into());
    let pairs = read_as(&[&root], &columns, spec(), 1).unwrap();
    let found: Vec<Segment> = pairs.segments().cloned().collect();
    assert!(found.contains(&text("10, de")) && found.contains(&text("2, fr")), "{found:?}");
    columns.by = Some("day,city".into());
    let refused = read_as(&[&root], &columns, spec(), 1).unwrap_err().to_string();
    assert!(refused.contains("there is no column `city`"), "{refused}");
}

#[test]
fn chi_is_used_where_the_log_has_it() {
    let dir = tempdir().unwrap();
    let plain = parquet(&dir.path().join("plain.parquet"), &wide_rows(10), 700);
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (field, column) in wide_rows(10).schema().fields().iter().zip(wide_rows(10).columns()) {
        columns.push((field.name().clone(), column.clone()));
    }
    columns.push(("chi_1".into(), f64s(10, |_| 0.5)));
    columns.push(("chi_2".into(), f64s(10, |_| 0.25)));
    let chi = batch(columns.iter().map(|(n, c)| (n.as_str(), c.clone())).collect());
    let chi = parquet(&dir.path().join("chi.parquet"), &chi, 700);
    let has = |paths: &[&Path]| read_as(paths, &Columns::wide_default(), spec(), 1).unwrap().spec().policies[0].chi;
    assert!(has(&[&chi]));
    assert!(!has(&[&plain]));
    let mut none = Columns::wide_default();
    none.targets[0].chi = Source::Absent;
    assert!(!read_as(&[&chi], &none, spec(), 1).unwrap().spec().policies[0].chi);
    none.targets[0].chi = Source::Column("chi".into());
    refused(read_as(&[&plain], &none, spec(), 1), &["plain.parquet", "`chi`", "`chi_1`"]);
}

#[test]
fn other_structures_need_other_columns() {
    let dir = tempdir().unwrap();
    let log = batch(vec![
        ("reward", f64s(10, reward)),
        ("pi_1", f64s(10, |_| 0.25)),
        ("pi_2", f64s(10, |_| 0.25)),
        ("any_1", f64s(10, |_| 0.5)),
        ("any_2", f64s(10, |_| 0.5)),
        ("items", Arc::new(Int32Array::from(vec![20; 10]))),
        ("weight", f64s(10, |_| 1.0)),
    ]);
    let path = parquet(&dir.path().join("log.parquet"), &log, 700);
    let columns = Columns::wide_default();
    let read = |structure: &str| {
        let spec = Spec::new(structure.parse::<Structure>().unwrap(), ["target"]);
        read_as(&[&path], &columns, spec, 1)
    };
    assert_eq!(read("ranking:20").unwrap().slots(), Some(2));
    assert_eq!(read("ranking:items").unwrap().rows(), 10);
    assert_eq!(read("given").unwrap().slots(), None);
    refused(read("additive"), &["there is no column `mu`"]);
    refused(read("ranking:nowhere"), &["there is no column `nowhere`"]);
}

#[test]
fn threads_and_parts_change_nothing() {
    let dir = tempdir().unwrap();
    let rows = 700_000;
    let path = parquet(&dir.path().join("large.parquet"), &wide_rows(rows), 50_000);
    let columns = Columns::wide_default();
    let one = shown(&read_as(&[&path], &columns, spec(), 1).unwrap());
    assert_eq!(shown(&read_as(&[&path], &columns, spec(), 2).unwrap()), one);
    assert_eq!(shown(&read_as(&[&path], &columns, spec(), 5).unwrap()), one);

    let log = Log::open(&[path.to_str().unwrap().to_owned()]).unwrap();
    let spec = log.spec(&columns, spec()).unwrap();
    let plan = log.plan();
    assert_eq!(plan.iter().map(|t| t.row_groups.clone().unwrap()).collect::<Vec<_>>(), [0..6, 6..12, 12..14]);
    let mut total = slateval::Summary::new(spec.clone()).unwrap();
    plan.iter().for_each(|task| total.merge(&partial(task, &columns, &spec).unwrap()).unwrap());
    assert_eq!(shown(&total), one);
    // A part that was merged is not merged again, and a file that was replaced is not read by an old plan.
    assert!(total.merge(&partial(&plan[1], &columns, &spec).unwrap()).is_err());
    let other = parquet(&dir.path().join("other.parquet"), &wide_rows(rows - 1), 50_000);
    let kept = dir.path().join("kept.parquet");
    fs::rename(&path, &kept).unwrap();
    fs::rename(&other, &path).unwrap();
    refused(partial(&plan[1], &columns, &spec), &["large.parquet: it changed"]);
    fs::rename(&kept, &path).unwrap();

    let last = std::sync::Mutex::new((0, 0));
    let note = |p: slateval_logs::Progress| {
        let mut last = last.lock().unwrap();
        *last = (last.0.max(p.rows), last.1.max(p.bytes));
    };
    log.summarize(&columns, &spec, Some(2), &note).unwrap();
    assert_eq!(*last.lock().unwrap(), (rows as u64, log.bytes()));
}

#[test]
fn threads_and_parts_change_nothing_with_segments() {
    let dir = tempdir().unwrap();
    let path = parquet(&dir.path().join("large.parquet"), &wide_rows(700_000), 50_000);
    let mut columns = Columns::wide_default();
    columns.by = Some("country".into());
    let spec = spec().by("country");
    let one = shown(&read_as(&[&path], &columns, spec.clone(), 1).unwrap());
    assert_eq!(shown(&read_as(&[&path], &columns, spec.clone(), 3).unwrap()), one);

    let log = Log::open(&[path.to_str().unwrap().to_owned()]).unwrap();
    let spec = log.spec(&columns, spec).unwrap();
    let mut total = slateval::Summary::new(spec.clone()).unwrap();
    for task in log.plan_for(&columns) {
        total.merge(&partial(&task, &columns, &spec).unwrap()).unwrap();
    }
    assert_eq!(shown(&total), one);
}

#[test]
fn patterns_and_repeated_paths() {
    let dir = tempdir().unwrap();
    for (name, rows) in [("b.parquet", 5), ("a.csv", 5), ("_SUCCESS", 5), ("c.parquet", 6)] {
        match name.ends_with("parquet") {
            true => drop(parquet(&dir.path().join(name), &wide_rows(rows), 700)),
            false => fs::write(dir.path().join(name), csv_bytes(&wide_rows(rows))).unwrap(),
        }
    }
    let pattern = dir.path().join("*");
    let all = read(&pattern).unwrap();
    assert_eq!(all.rows(), 16);
    let twice = read_as(&[&pattern, &dir.path().join("b.parquet")], &Columns::wide_default(), spec(), 1);
    refused(twice, &["b.parquet is counted already"]);
}

#[test]
fn the_library_reads_the_same() {
    run_again_with_the_library("the_library_reads_the_same");
}
