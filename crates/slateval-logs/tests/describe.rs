//! `Log::describe`: the schema as understood.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use arrow_array::ArrayRef;
use common::*;
use slateval::Spec;
use slateval_logs::{ColumnRole, Columns, Description, Log};
use tempfile::tempdir;

fn describe(path: &std::path::Path, columns: &Columns, spec: Spec) -> Description {
    let log = Log::open(&[path.display().to_string()]).unwrap();
    let spec = log.spec(columns, spec).unwrap();
    log.describe(columns, &spec).unwrap()
}

#[test]
fn roles_types_and_what_is_not_there() {
    let dir = tempdir().unwrap();
    let log = wide_rows(5);
    let schema = log.schema();
    let mut columns: Vec<(&str, ArrayRef)> =
        schema.fields().iter().zip(log.columns()).map(|(f, c)| (f.name().as_str(), c.clone())).collect();
    columns.push(("weight", f64s(5, |_| 1.0)));
    columns.push(("noise", f64s(5, |_| 1.0)));
    let path = parquet(&dir.path().join("a.parquet"), &batch(columns), 10);
    let wanted = Columns { cluster: Some("country".into()), ..Columns::wide_default() };
    let found = describe(&path, &wanted, spec());
    let of = |role| found.uses.iter().find(|u| u.role == role).unwrap();
    assert_eq!(of(ColumnRole::Reward).data_type.as_deref(), Some("Float64"));
    assert_eq!(of(ColumnRole::Logging).columns, ["mu_1", "mu_2"]);
    let target = of(ColumnRole::Target);
    assert_eq!((target.policy.as_deref(), target.name.as_str(), target.used), (Some("target"), "pi", true));
    assert_eq!((of(ColumnRole::Chi).columns.len(), of(ColumnRole::Chi).used), (0, false));
    assert_eq!((of(ColumnRole::Weight).columns.len(), of(ColumnRole::Weight).used), (1, false));
    assert_eq!(of(ColumnRole::Cluster).columns, ["country"]);
    assert_eq!(found.unused, ["noise"]);
}

#[test]
fn directories_and_long_logs() {
    let dir = tempdir().unwrap();
    let day = dir.path().join("day=3");
    fs::create_dir_all(&day).unwrap();
    let header = "slate_id,position,reward,pscore_item_position,evaluation_policy_pscore_item_position\n";
    fs::write(day.join("a.csv"), format!("{header}1,1,0,.5,.5\n")).unwrap();
    let columns = Columns { by: Some("day".into()), ..Columns::long_default() };
    let found = describe(dir.path(), &columns, spec());
    let roles: Vec<&str> = found.uses.iter().map(|u| u.role.word()).collect();
    assert_eq!(roles, ["reward", "logging", "target", "chi", "slate", "position", "segment"]);
    let segment = found.uses.last().unwrap();
    assert_eq!((segment.data_type.as_deref(), segment.used), (Some("directory"), true));
    assert_eq!(found.uses[0].data_type.as_deref(), Some("CSV"));
    assert!(found.unused.is_empty());
}
