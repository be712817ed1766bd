//! What people and programs see of the sample log, as it was last looked at. After a change that is meant,
//! `INSTA_UPDATE=always cargo test -p slateval-cli --test snapshots` writes it anew; read the difference.
#![allow(clippy::unwrap_used)]

mod common;

use common::{example, slateval};
use serde_json::Value;

const TARGETS: [&str; 4] = ["--target", "new=pi_new", "--target", "bolder=pi_bolder"];

fn evaluate(more: &[&str]) -> String {
    let run = slateval(&[["evaluate", &example("slates.parquet")].as_slice(), &TARGETS, more].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout
}

#[test]
fn tables() {
    insta::assert_snapshot!("table", evaluate(&["--by", "device"]));
    insta::assert_snapshot!("table_in_full", evaluate(&["--by", "device", "--full"]));
    insta::assert_snapshot!("table_of_guaranteed_bands", evaluate(&["--band", "bernstein", "--structure", "additive"]));
    let run = slateval(&[["inspect", &example("slates.parquet")].as_slice(), &TARGETS].concat());
    insta::assert_snapshot!("inspection", run.stdout);
}

#[test]
fn json() {
    let json: Value = serde_json::from_str(&evaluate(&["--by", "device", "--json", "-"])).unwrap();
    insta::assert_snapshot!("evaluation", serde_json::to_string_pretty(&outline(json)).unwrap());
}

/// The words of the page, without its pictures, data, style and script.
#[test]
fn page() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    evaluate(&["--by", "device", "--report", file.to_str().unwrap()]);
    let page = std::fs::read_to_string(file).unwrap();
    let page = page.replace(&*folder.path().to_string_lossy(), "FOLDER").replace(&example("slates.parquet"), "LOG");
    insta::assert_snapshot!("page", words(&page));
}

/// Numbers with six digits, for systems may round the last one otherwise, and long lists by their ends.
fn outline(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let text = format!("{:.5e}", number.as_f64().unwrap_or(0.0));
            Value::from(text.parse::<f64>().unwrap())
        }
        Value::Array(values) if values.len() > 12 => {
            let count = values.len();
            let mut ends: Vec<Value> = values.into_iter().map(outline).collect();
            ends.drain(2..count - 2);
            ends.insert(2, Value::from(format!("… {} more", count - 4)));
            Value::Array(ends)
        }
        Value::Array(values) => values.into_iter().map(outline).collect(),
        Value::Object(entries) => {
            let kept = entries.into_iter().filter(|(key, _)| key != "paths" && key != "inputs");
            Value::Object(kept.map(|(key, value)| (key, outline(value))).collect())
        }
        other => other,
    }
}

/// What stands between tags, a line for each piece.
fn words(page: &str) -> String {
    let mut rest = page.to_owned();
    for tag in ["svg", "script", "style", "title"] {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        while let Some(start) = rest.find(&open) {
            let end = rest[start..].find(&close).map_or(rest.len(), |end| start + end + close.len());
            rest.replace_range(start..end, "");
        }
    }
    let pieces = rest.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, text)| text.trim());
    pieces.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}
