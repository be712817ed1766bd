//! What is refused, and what the message says.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use common::*;
use slateval::Summary;
use slateval_logs::{Columns, Error, Log, RowFormat};
use tempfile::{TempDir, tempdir};

fn csv(dir: &TempDir, text: &str) -> PathBuf {
    let path = dir.path().join("log.csv");
    fs::write(&path, text).unwrap();
    path
}

fn read_csv(text: &str) -> Result<Summary, Error> {
    let dir = tempdir().unwrap();
    read(&csv(&dir, text))
}

fn open(path: &str) -> Result<Summary, Error> {
    read(Path::new(path))
}

#[cfg(not(feature = "object-store"))]
#[test]
fn addresses_need_a_build_that_reads_them() {
    let wanted = ["s3://bucket/log.parquet", "this build reads local files only", "--features object-store"];
    refused(open("s3a://bucket/log.parquet"), &wanted);
}

#[cfg(feature = "object-store")]
#[test]
fn web_servers_list_no_files() {
    let wanted = ["each file needs an address of its own", "s3://"];
    refused(open("https://host/logs/"), &wanted);
    refused(open("https://host/logs/*.parquet"), &wanted);
}

#[test]
fn paths_that_lead_nowhere() {
    let dir = tempdir().unwrap();
    refused(open("/nowhere/log.parquet"), &["/nowhere/log.parquet", "no such file"]);
    refused(open("hdfs://host/log.parquet"), &["hdfs://host/log.parquet", "`hdfs` is not read", "s3://"]);
    refused(open("file:///nowhere/log.parquet"), &["/nowhere/log.parquet", "no such file"]);
    refused(open("dbfs:/nowhere/log.parquet"), &["/dbfs/nowhere/log.parquet", "no such file"]);
    refused(open("/nowhere/*.parquet"), &["/nowhere/*.parquet", "no file fits"]);
    refused(open("/nowhere/[.parquet"), &["not a valid pattern"]);
    refused(read(dir.path()), &[dir.path().to_str().unwrap(), "no logs in this directory"]);
    let odd = dir.path().join("odd");
    fs::write(&odd, "some text").unwrap();
    refused(read(&odd), &["odd", "neither the name nor the first bytes"]);
}

#[test]
fn empty_logs() {
    let dir = tempdir().unwrap();
    refused(read_csv(""), &["there are no rows in", "log.csv"]);
    refused(read_csv("reward,mu_1,pi_1\n"), &["there are no rows in", "log.csv"]);
    refused(read(&parquet(&dir.path().join("none.parquet"), &wide_rows(0), 10)), &["no rows", "none.parquet"]);
    let lines = dir.path().join("log.jsonl");
    fs::write(&lines, "\n\n").unwrap();
    refused(read(&lines), &["no rows", "log.jsonl"]);
}

#[test]
fn missing_and_misnamed_columns() {
    refused(read_csv("rewrad,mu_1,pi_1\n1,1,1\n"), &["log.csv", "no column `reward`", "Did you mean `rewrad`?"]);
    refused(read_csv("reward,p_1,pi_1\n1,1,1\n"), &["no column `mu` (looked for `mu_1`, `mu_2`, … and for a list)"]);
    refused(read_csv("reward,mu_1,mu_3,pi_1\n1,1,1,1\n"), &["a column `mu_3` but no `mu_2`"]);
    refused(read_csv("reward,mu_0,mu_1,pi_1\n1,1,1,1\n"), &["`mu_0`", "from 1"]);
    refused(read_csv("reward,mu_1,mu_2,pi_1\n1,1,1,1\n"), &["`mu` has 2 slots and `pi` has 1"]);
    let mut columns = Columns::wide_default();
    columns.by = Some("contry".into());
    let dir = tempdir().unwrap();
    let path = parquet(&dir.path().join("a.parquet"), &wide_rows(3), 10);
    refused(read_as(&[&path], &columns, spec(), 1), &["a.parquet", "`contry`", "`country`", "segments"]);
}

#[test]
fn types_that_cannot_be() {
    let dir = tempdir().unwrap();
    let words: ArrayRef = Arc::new(StringArray::from(vec!["0.5"; 3]));
    let log = |reward: ArrayRef, mu: ArrayRef| {
        let log = batch(vec![("reward", reward), ("mu_1", mu), ("pi_1", f64s(3, |_| 0.5)), ("p", f64s(3, |_| 0.5))]);
        parquet(&dir.path().join("a.parquet"), &log, 10)
    };
    let path = log(f64s(3, reward), words);
    refused(read(&path), &["a.parquet", "column `mu_1` is of type Utf8", "cast it first"]);
    let path = log(f64s(3, reward), f64s(3, |_| 0.5));
    let mut columns = Columns::wide_default();
    columns.by = Some("p".into());
    refused(read_as(&[&path], &columns, spec(), 1), &["`p` is of type Float64", "bins first"]);
    // A column of numbers is one slot.
    columns = Columns::wide_default();
    columns.logging = "p".into();
    assert_eq!(read_as(&[&path], &columns, spec(), 1).unwrap().slots(), Some(1));
}

#[test]
fn cells_that_are_no_numbers() {
    let text = "reward,mu_1,pi_1\n1,0.5,0.5\n0,0.5,0.5\n1,n/a,0.5\n";
    refused(read_csv(text), &["log.csv, row 3: `mu_1` is `n/a`, which is not a number"]);
    refused(read_csv("reward,mu_1,pi_1\n1,0.5\n"), &["log.csv", "CSV file"]);
    let dir = tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    let good = "{\"reward\": 1, \"mu\": [0.5], \"pi\": [1]}\n";
    fs::write(&path, good.repeat(1500) + "{\"reward\": \"much\", \"mu\": [0.5], \"pi\": [1]}\n" + good).unwrap();
    refused(read(&path), &["log.jsonl, row 1501", "reward", "much"]);
    fs::write(&path, good.repeat(1500) + "{\"reward\": 1, \"mu\"\n").unwrap();
    refused(read(&path), &["log.jsonl, row 1501", "one JSON object"]);
    fs::write(&path, good.repeat(1500) + &good.trim().repeat(2) + "\n").unwrap();
    refused(read(&path), &["log.jsonl, row 1501", "one JSON object"]);
    fs::write(&path, "[1, 2]\n").unwrap();
    refused(read(&path), &["log.jsonl", "JSON lines"]);
    fs::write(&path, good.replace(", ", ",\n")).unwrap();
    refused(read(&path), &["log.jsonl, row 1", "one JSON object"]);
    fs::write(&path, good.repeat(3) + "7\n").unwrap();
    refused(read(&path), &["log.jsonl, row 4", "one JSON object"]);
    fs::write(&path, good.replace("[1]", "[[1]]")).unwrap();
    refused(read(&path), &["log.jsonl", "`pi` is of type List"]);
}

#[test]
fn values_that_no_probability_has() {
    let rows = |bad: &str| format!("reward,mu_1,mu_2,pi_1,pi_2\n1,0.5,0.5,0.5,0.5\n{bad}\n");
    refused(read_csv(&rows("1,0.5,0,0.5,0.5")), &["log.csv, row 2: `mu_2` is 0", "lies in (0, 1]"]);
    refused(read_csv(&rows("1,0.5,0.5,0.5,1.5")), &["row 2: `pi_2` is 1.5", "lies in [0, 1]"]);
    refused(read_csv(&rows("inf,0.5,0.5,0.5,0.5")), &["row 2: `reward` is inf", "finite"]);
    refused(read_csv(&rows("1,NaN,0.5,0.5,0.5")), &["row 2: `mu_1` is NaN"]);
    refused(
        read_csv(&rows(",0.5,0.5,0.5,0.5")),
        &["row 2: `reward` is null: rewards must be finite numbers", "only if rewards are missing at random"],
    );
    refused(read_csv(&rows("1,0.5,,0.5,0.5")), &["row 2: `mu_2` is null but `pi_2` is not"]);
    refused(read_csv(&rows("1,0.5,0.5,0.5,")), &["row 2: `pi_2` is null but `mu_2` is not"]);
    let chi = "reward,mu_1,pi_1,chi_1\n1,0.5,0.5,0\n1,,,\n1,0.5,0.5,\n";
    refused(read_csv(chi), &["row 3: `chi_1` is null: chi must be a finite number"]);
}

#[test]
fn a_bad_value_is_named_by_its_row_in_the_file() {
    let dir = tempdir().unwrap();
    let rows = 700_000;
    let bad = 654_321;
    let log = batch(vec![
        ("reward", f32s(rows, |_| 1.0)),
        ("mu_1", f32s(rows, |r| if r + 1 >= bad { 0.0 } else { 0.5 })),
        ("pi_1", f32s(rows, |_| 0.5)),
    ]);
    let path = parquet(&dir.path().join("a.parquet"), &log, 50_000);
    for threads in [1, 2, 4] {
        let result = read_as(&[&path], &Columns::wide_default(), spec(), threads);
        refused(result, &["a.parquet, row 654321: `mu_1` is 0"]);
    }
}

fn lists(mu: &[Option<&[Option<f64>]>], pi: &[Option<&[Option<f64>]>]) -> RecordBatch {
    let list = |rows: &[Option<&[Option<f64>]>]| -> ArrayRef {
        let mut builder = ListBuilder::new(Float64Builder::new());
        for row in rows {
            row.unwrap_or_default().iter().for_each(|v| builder.values().append_option(*v));
            builder.append(row.is_some());
        }
        Arc::new(builder.finish())
    };
    batch(vec![("reward", f64s(mu.len(), |_| 1.0)), ("mu", list(mu)), ("pi", list(pi))])
}

#[test]
fn lists_that_do_not_fit() {
    let dir = tempdir().unwrap();
    let read = |mu: &[Option<&[Option<f64>]>], pi: &[Option<&[Option<f64>]>]| {
        read(&parquet(&dir.path().join("a.parquet"), &lists(mu, pi), 10))
    };
    let two: &[Option<f64>] = &[Some(0.5), Some(0.5)];
    let one: &[Option<f64>] = &[Some(0.5)];
    let hole: &[Option<f64>] = &[Some(0.5), None];
    let bad: &[Option<f64>] = &[Some(0.5), Some(7.0)];
    let none: &[Option<f64>] = &[];
    let long = [Some(0.5); 1001];
    let words = ["a.parquet, row 2", "`mu` has 2 items", "`pi` has 1"];
    refused(read(&[Some(two), Some(two)], &[Some(two), Some(one)]), &words);
    refused(read(&[Some(two), None], &[Some(two), None]), &["row 2: `mu` is null"]);
    refused(read(&[Some(two), Some(hole)], &[Some(two), Some(two)]), &["row 2: `mu` item 2 is null but `pi` item 2"]);
    refused(read(&[Some(two), Some(two)], &[Some(two), Some(bad)]), &["row 2: `pi` item 2 is 7"]);
    refused(read(&[Some(&long)], &[Some(&long)]), &["row 1", "1001 slots"]);
    assert_eq!(read(&[Some(two), Some(hole)], &[Some(two), Some(hole)]).unwrap().rows(), 2);
    assert_eq!(read(&[Some(none), Some(one)], &[Some(none), Some(one)]).unwrap().slots(), Some(1));
    assert_eq!(read(&[Some(none)], &[Some(none)]).unwrap().slots(), Some(0));
}

#[test]
fn files_that_are_not_one_log() {
    let dir = tempdir().unwrap();
    let a = parquet(&dir.path().join("a.parquet"), &wide_rows(3), 10);
    let file = |name: &str, columns: Vec<(&str, ArrayRef)>| parquet(&dir.path().join(name), &batch(columns), 10);
    let half = || f32s(3, |_| 0.5);
    let pair = |second: &Path| read_as(&[&a, second], &Columns::wide_default(), spec(), 1);

    let other = file(
        "order.parquet",
        vec![("pi_2", half()), ("mu_1", half()), ("x", half()), ("mu_2", half()), ("pi_1", half()), ("reward", half())],
    );
    assert_eq!(pair(&other).unwrap().rows(), 6);
    let other = file("one.parquet", vec![("reward", half()), ("mu_1", half()), ("pi_1", half())]);
    refused(pair(&other), &["`mu_2` is Float64 in", "a.parquet", "absent in", "one.parquet"]);
    let other = file("none.parquet", vec![("reward", half()), ("pi_1", half()), ("pi_2", half())]);
    refused(pair(&other), &["`mu_1` is Float64", "a.parquet", "absent", "none.parquet"]);
    let words: ArrayRef = Arc::new(StringArray::from(vec!["1"; 3]));
    let other = file("text.parquet", vec![("reward", words)]);
    refused(pair(&other), &["`reward` is Float64 in", "a.parquet", "Utf8 in", "text.parquet"]);
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    let dir = tempdir().unwrap();
    let whole = fs::read(parquet(&dir.path().join("whole.parquet"), &wide(), 700)).unwrap();
    let cut = dir.path().join("cut.parquet");
    for part in 0..40 {
        fs::write(&cut, &whole[..whole.len() * part / 40]).unwrap();
        refused(read(&cut), &["cut.parquet", "not a readable Parquet file", "truncated"]);
    }
    // Bytes flipped inside: an error or, where it is a value that changes, a number; but no panic.
    for at in (4..whole.len()).step_by(whole.len() / 150) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x5a;
        fs::write(&cut, &damaged).unwrap();
        let _ = read(&cut);
    }
    let packed = gzip(&csv_bytes(&wide()));
    let cut = dir.path().join("cut.csv.gz");
    fs::write(&cut, &packed[..packed.len() / 2]).unwrap();
    refused(read(&cut), &["cut.csv.gz", "truncated"]);
    let mut arrow = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut arrow, &wide().schema()).unwrap();
    writer.write(&wide()).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let cut = dir.path().join("cut.arrow");
    for part in 0..20 {
        fs::write(&cut, &arrow[..arrow.len() * part / 20]).unwrap();
        refused(read(&cut), &["cut.arrow", "truncated"]);
    }
}

fn long(slates: &[&str], positions: &[i64]) -> RecordBatch {
    let n = slates.len();
    batch(vec![
        ("slate_id", Arc::new(StringArray::from(slates.to_vec())) as ArrayRef),
        ("position", Arc::new(Int64Array::from(positions.to_vec()))),
        ("reward", f64s(n, |_| 1.0)),
        ("pscore_item_position", f64s(n, |_| 0.5)),
        ("evaluation_policy_pscore_item_position", f64s(n, |r| if r == 4 { 3.0 } else { 0.5 })),
        ("device", Arc::new((0..n).map(|r| Some(["tv", "web"][usize::from(r == 1)])).collect::<StringArray>())),
    ])
}

#[test]
fn scattered_slates() {
    let dir = tempdir().unwrap();
    let read = |slates: &[&str], positions: &[i64]| {
        let path = parquet(&dir.path().join("long.parquet"), &long(slates, positions), 10);
        read_as(&[&path], &Columns::long_default(), spec(), 1)
    };
    assert_eq!(read(&["a", "a", "b"], &[1, 2, 1]).unwrap().slots(), Some(2));
    let sort = "sort the log by `slate_id, position`";
    refused(read(&["a", "b", "a"], &[1, 1, 2]), &["long.parquet, slate a (row 3): positions 2 where 1", sort]);
    refused(read(&["a", "a"], &[1, 3]), &["slate a (row 1): positions 1, 3 where 1, 2", sort]);
    refused(read(&["a", "a"], &[1, 1]), &["positions 1, 1 where 1, 2", sort]);
    refused(read(&["a"], &[2]), &["slate a (row 1): positions 2 where 1", sort]);
    refused(read(&["a", "b"], &[1, 0]), &["slate b (row 2): positions 0 where 1", sort]);
    let five = ["a", "a", "b", "b", "b"];
    let word = "long.parquet, row 5: `evaluation_policy_pscore_item_position` is 3";
    refused(read(&five, &[1, 2, 3, 2, 1]), &[word]);
}

#[test]
fn long_logs_with_other_faults() {
    let dir = tempdir().unwrap();
    let path = parquet(&dir.path().join("long.parquet"), &long(&["a", "a"], &[1, 2]), 10);
    let mut columns = Columns::long_default();
    columns.by = Some("device".into());
    let words = ["long.parquet, row 2: slate a has `device` = web here and tv in its first row"];
    refused(read_as(&[&path], &columns, spec(), 1), &words);
    columns = Columns::long_default();
    columns.format = RowFormat::Long { slate: "slate".into(), position: "position".into() };
    refused(read_as(&[&path], &columns, spec(), 1), &["no column `slate`", "`slate_id`"]);
    let holes = batch(vec![
        ("slate_id", Arc::new(Int64Array::from(vec![Some(1), None])) as ArrayRef),
        ("position", Arc::new(Int64Array::from(vec![1, 1]))),
        ("reward", f64s(2, |_| 1.0)),
        ("pscore_item_position", f64s(2, |_| 0.5)),
        ("evaluation_policy_pscore_item_position", Arc::new(Float64Array::from(vec![0.5, 0.5]))),
    ]);
    let path = parquet(&dir.path().join("holes.parquet"), &holes, 10);
    refused(read_as(&[&path], &Columns::long_default(), spec(), 1), &["row 2: `slate_id` is null"]);
}

#[test]
fn targets_and_specification_must_fit() {
    let dir = tempdir().unwrap();
    let path = parquet(&dir.path().join("a.parquet"), &wide_rows(3), 10);
    let log = Log::open(&[path.to_str().unwrap().to_owned()]).unwrap();
    let two = slateval::Spec::new(slateval::Structure::Additive, ["a", "b"]);
    let error = log.spec(&Columns::wide_default(), two).unwrap_err();
    assert!(matches!(error, Error::Targets { columns: 1, policies: 2 }), "{error}");
}

#[test]
fn a_log_has_one_base_of_positions() {
    let dir = tempdir().unwrap();
    let file = |position: i64| {
        let rows = long(&["a", "b", "c"], &[position; 3]);
        parquet(&dir.path().join(format!("{position}.parquet")), &rows, 10)
    };
    let (zero, one, two) = (file(0), file(1), file(2));
    for threads in [1, 2, 4] {
        let read = |paths: &[&Path]| read_as(paths, &Columns::long_default(), spec(), threads);
        let words = ["0.parquet begin with 0", "1.parquet with 1", "in one file, sorted by `slate_id, position`"];
        refused(read(&[&zero, &one]), &words);
        refused(read(&[&zero, &one, &two]), &words);
        refused(read(&[&one, &zero]), &["1.parquet begin with 1", "0.parquet with 0"]);
        assert_eq!(read(&[&one]).unwrap().rows(), 3);
    }
}

#[test]
fn chi_is_in_all_files_or_in_none() {
    let dir = tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let with = file("with.csv", "reward,mu_1,pi_1,chi_1\n1,0.5,0.5,0\n");
    let without = file("without.csv", "reward,mu_1,pi_1\n1,0.5,0.5\n");
    let words = ["with.csv has a column `chi_1`", "without.csv has not", "add it to all files", "rename"];
    refused(read_as(&[&with, &without], &Columns::wide_default(), spec(), 1), &words);
    refused(read_as(&[&without, &with], &Columns::wide_default(), spec(), 1), &words);
    assert_eq!(read_as(&[&without], &Columns::wide_default(), spec(), 1).unwrap().rows(), 1);
    let given = slateval::Spec::new(slateval::Structure::Given, ["target"]);
    let weight = file("weight.csv", "reward,weight,chi_1\n1,1,0\n");
    let plain = file("plain.csv", "reward,weight\n1,1\n");
    assert_eq!(read_as(&[&weight, &plain], &Columns::wide_default(), given, 1).unwrap().rows(), 2);
}

#[test]
fn a_bad_reward_of_a_slot_is_named_by_its_own_row() {
    let head = "slate_id,position,reward,pscore_item_position,evaluation_policy_pscore_item_position\n";
    for bad in ["NaN", "inf"] {
        let dir = tempdir().unwrap();
        let path = csv(&dir, &format!("{head}a,1,1,0.5,0.5\na,2,1,0.5,0.5\na,3,{bad},0.5,0.5\n"));
        let words = [&*format!("log.csv, row 3: `reward` is {bad}"), "finite"];
        refused(read_as(&[&path], &Columns::long_default(), spec(), 1), &words);
    }
}

#[test]
fn json_arrays_and_long_reasons() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("log.json");
    let object = "{\"reward\": 1, \"mu\": [0.5], \"pi\": [1]}";
    fs::write(&path, format!("\n  [{}]\n", [object; 3000].join(",\n"))).unwrap();
    refused(read(&path), &["log.json is a JSON array; write one object per line (JSON lines)"]);
    fs::write(&path, format!("{{\"reward\": {}\n", "ü".repeat(100_000))).unwrap();
    let message = read(&path).unwrap_err().to_string();
    assert!(message.chars().count() < 600 && message.contains("log.json"), "{message}");
}

#[test]
fn a_missing_base_comes_with_the_nearest_bases() {
    let head = "reward,mu_1,mu_2,pi_new_1,pi_new_2,pi_bolder_1,pi_bolder_2\n1,1,1,1,1,1,1\n";
    refused(read_csv(head), &["no column `pi`", "Did you mean `pi_new` or `pi_bolder`?"]);
    let mut columns = Columns::wide_default();
    columns.targets[0].target = "pii".into();
    let dir = tempdir().unwrap();
    let path = csv(&dir, "reward,mu_1,pi_1\n1,1,1\n");
    refused(read_as(&[&path], &columns, spec(), 1), &["no column `pii`", "Did you mean `pi`?"]);
    refused(
        read_csv("slate_id,position,reward\n1,1,1\n"),
        &["no column `mu`", "`slate_id` and `position`", "long format (option `long`)"],
    );
}

#[test]
fn a_saved_summary_is_no_log() {
    let dir = tempdir().unwrap();
    for name in ["day.slateval", "day", "day.csv", "day.parquet"] {
        let path = dir.path().join(name);
        fs::write(&path, b"SLATEVAL\x01\0\0").unwrap();
        refused(read(&path), &[name, "is a saved summary", "`slateval show` or `slateval merge`"]);
    }
}

#[test]
fn the_library_reads_the_same() {
    run_again_with_the_library("the_library_reads_the_same");
}
