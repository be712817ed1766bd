//! `Columns::cluster`: read like segments, from every kind of log, and never null.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use common::*;
use slateval::Summary;
use slateval_logs::{Columns, Error};
use tempfile::tempdir;

const USERS: usize = 100;

fn user(row: usize) -> i64 {
    (row * 7 % USERS) as i64
}

/// The usual log with one more column.
fn with(name: &str, users: ArrayRef) -> RecordBatch {
    let log = wide_rows(users.len());
    let schema = log.schema();
    let mut columns: Vec<(&str, ArrayRef)> =
        schema.fields().iter().zip(log.columns()).map(|(f, c)| (f.name().as_str(), c.clone())).collect();
    columns.push((name, users));
    batch(columns)
}

fn numbers(rows: usize) -> ArrayRef {
    Arc::new((0..rows).map(|r| Some(user(r))).collect::<Int64Array>())
}

fn clustered() -> Columns {
    let mut columns = Columns::wide_default();
    columns.cluster = Some("user".into());
    columns
}

fn read_clustered(path: &Path) -> Result<Summary, Error> {
    read_as(&[path], &clustered(), spec(), 1)
}

#[test]
fn every_type_and_format_gives_the_same_clusters() {
    let dir = tempdir().unwrap();
    let path = parquet(&dir.path().join("numbers.parquet"), &with("user", numbers(ROWS)), 700);
    let wanted = read_clustered(&path).unwrap();
    assert_eq!(wanted.spec().cluster.as_deref(), Some("user"));
    assert_eq!(wanted.rows(), ROWS as u64);

    let words: StringArray = (0..ROWS).map(|r| Some(user(r).to_string())).collect();
    let dictionary: DictionaryArray<Int32Type> = words.iter().collect();
    let kinds: [(&str, ArrayRef); 2] = [("text", Arc::new(words)), ("dictionary", Arc::new(dictionary))];
    for (name, users) in kinds {
        let path = parquet(&dir.path().join(format!("{name}.parquet")), &with("user", users), 501);
        assert_eq!(shown(&read_clustered(&path).unwrap()), shown(&wanted), "{name}");
    }
    let log = with("user", numbers(ROWS));
    for (name, bytes) in [("a.csv", csv_bytes(&log)), ("a.jsonl", json_bytes(&log))] {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert_eq!(shown(&read_clustered(&path).unwrap()), shown(&wanted), "{name}");
    }
    let truth: ArrayRef = Arc::new((0..ROWS).map(|r| Some(r.is_multiple_of(2))).collect::<BooleanArray>());
    assert!(read_clustered(&parquet(&dir.path().join("bool.parquet"), &with("user", truth), 700)).is_ok());
}

#[test]
fn a_directory_is_a_cluster_and_may_be_a_segment_too() {
    let dir = tempdir().unwrap();
    for user in ["user=1", "user=2"] {
        fs::create_dir_all(dir.path().join(user)).unwrap();
        parquet(&dir.path().join(user).join("a.parquet"), &wide_rows(10), 700);
    }
    let mut columns = clustered();
    columns.by = Some("user".into());
    let summary = read_as(&[dir.path()], &columns, spec(), 2).unwrap();
    assert_eq!((summary.rows(), summary.segments().count()), (20, 2));
    let nobody = dir.path().join("user=__HIVE_DEFAULT_PARTITION__");
    fs::create_dir_all(&nobody).unwrap();
    parquet(&nobody.join("a.parquet"), &wide_rows(10), 700);
    refused(read_clustered(dir.path()), &["a.parquet", "`user` is null", "a cluster of its own"]);
}

const HEADER: &str =
    "slate_id,position,reward,pscore_item_position,evaluation_policy_pscore_item_position,user,country\n";

fn read_long(rows: &str) -> Result<Summary, Error> {
    let dir = tempdir().unwrap();
    let path = dir.path().join("long.csv");
    fs::write(&path, format!("{HEADER}{rows}")).unwrap();
    let columns = Columns { cluster: Some("user".into()), by: Some("country".into()), ..Columns::long_default() };
    read_as(&[&path], &columns, spec(), 1)
}

#[test]
fn a_long_log_has_one_cluster_for_each_slate() {
    let good = read_long("1,1,0,.5,.5,u,de\n1,2,1,.5,.5,u,de\n2,1,0,.5,.2,v,fr\n2,2,0,.5,.8,v,fr\n").unwrap();
    assert_eq!((good.rows(), good.spec().cluster.as_deref()), (2, Some("user")));
    refused(
        read_long("1,1,0,.5,.5,u,de\n1,2,1,.5,.5,v,de\n"),
        &["long.csv, row 2", "slate 1", "`user` = v here and u in its first row", "one cluster"],
    );
    refused(read_long("1,1,0,.5,.5,u,de\n1,2,1,.5,.5,u,fr\n"), &["`country` = fr here and de", "one segment"]);
    refused(read_long("1,1,0,.5,.5,u,de\n2,1,1,.5,.5,,de\n"), &["long.csv, row 2: `user` is null", "drop the row"]);
}

#[test]
fn what_cannot_be_a_cluster() {
    let dir = tempdir().unwrap();
    let some: ArrayRef = Arc::new((0..2000).map(|r| (r != 1500).then(|| user(r))).collect::<Int64Array>());
    let path = parquet(&dir.path().join("nulls.parquet"), &with("user", some), 700);
    refused(read_clustered(&path), &["nulls.parquet, row 1501: `user` is null", "drop the row", "of its own"]);
    let path = dir.path().join("cells.csv");
    fs::write(&path, "reward,mu_1,pi_1,user\n1,.5,.5,a\n1,.5,.5,\n").unwrap();
    refused(read_clustered(&path), &["cells.csv, row 2: `user` is null"]);
    let decimals: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 10]));
    let path = parquet(&dir.path().join("decimals.parquet"), &with("user", decimals), 700);
    refused(read_clustered(&path), &["decimals.parquet", "`user` is of type Float64", "cast it first"]);
    let path = parquet(&dir.path().join("none.parquet"), &with("usr", numbers(10)), 700);
    refused(read_clustered(&path), &["no column `user`", "the clusters", "`usr`"]);
}

/// Rows that are copied ten times over carry no more information if they are known to belong together.
#[test]
fn clusters_widen_intervals() {
    let dir = tempdir().unwrap();
    let copies: ArrayRef = Arc::new((0..ROWS).map(|r| Some((r / 10) as i64)).collect::<Int64Array>());
    let log = batch(vec![
        ("reward", f64s(ROWS, |r| reward(r / 10))),
        ("mu_1", f64s(ROWS, |_| 0.5)),
        ("pi_1", f64s(ROWS, |r| if (r / 10).is_multiple_of(2) { 0.25 } else { 0.75 })),
        ("user", copies),
    ]);
    let path = parquet(&dir.path().join("copies.parquet"), &log, 700);
    let width = |summary: &Summary| {
        let evaluation = summary.evaluate(&slateval::Settings::default()).unwrap();
        let mean = &evaluation.policies[1].mean;
        mean.upper.unwrap() - mean.lower.unwrap()
    };
    let ratio = width(&read_clustered(&path).unwrap()) / width(&read(&path).unwrap());
    // The square root of ten, but for clusters that share a group.
    assert!(ratio > 2.5, "{ratio}");
}
