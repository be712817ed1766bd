//! The column mapping: names as a user gives them, against the columns of a log. Each line is `option value`, or
//! `column type` for a column that the log has.
#![no_main]

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use libfuzzer_sys::fuzz_target;
use slateval::{Spec, Structure};
use slateval_logs::{Columns, Log, Named, Names};

fuzz_target!(|lines: &str| {
    let (mut names, mut fields, mut structure) = (Names::default(), Vec::new(), Structure::Auto);
    for line in lines.lines() {
        let (word, value) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "structure" => structure = value.parse().unwrap_or(structure),
            _ if take(&mut names, word, value) => {}
            _ => fields.push(Field::new(word, data_type(value), true)),
        }
    }
    let Ok(columns) = names.columns() else { return };
    let log = Log::of_batches("the log", Arc::new(Schema::new(fields)));
    check(&log, &columns, structure);
});

/// Takes a line that names a column; says whether the line was one.
fn take(names: &mut Names, option: &str, value: &str) -> bool {
    let named = || match value.split_once('=') {
        Some((name, column)) => Named::new(name, column),
        None => Named { name: None, column: value.to_owned() },
    };
    match option {
        "--reward" => names.reward = Some(value.to_owned()),
        "--logging" => names.logging = Some(value.to_owned()),
        "--target" => names.target.push(named()),
        "--chi" => names.chi.push(named()),
        "--anywhere" => names.anywhere.push(named()),
        "--weight" => names.weight.push(named()),
        "--long" => names.long = true,
        "--slate" => names.slate = Some(value.to_owned()),
        "--by" => names.by = Some(value.to_owned()),
        "--cluster" => names.cluster = Some(value.to_owned()),
        _ => return false,
    }
    true
}

fn data_type(name: &str) -> DataType {
    let item = |data_type| Arc::new(Field::new("item", data_type, true));
    match name {
        "text" => DataType::Utf8,
        "int" => DataType::Int64,
        "bool" => DataType::Boolean,
        "list" => DataType::List(item(DataType::Float64)),
        "texts" => DataType::List(item(DataType::Utf8)),
        "fixed" => DataType::FixedSizeList(item(DataType::Float32), 2),
        "dictionary" => DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into()),
        _ => DataType::Float64,
    }
}

/// What is found must be described; what is not must be refused.
fn check(log: &Log, columns: &Columns, structure: Structure) {
    let policies: Vec<&str> = columns.targets.iter().map(|target| target.name.as_str()).collect();
    for name in &policies {
        let _ = columns.check_baseline(name);
    }
    let Ok(spec) = log.spec(columns, Spec::new(structure, policies)) else { return };
    assert!(log.describe(columns, &spec).is_ok());
}
