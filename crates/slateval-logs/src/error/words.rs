//! Parts of messages.

use slateval::{Field, IgnoredFile};

use super::{Error, Likeness, brief};

pub(super) fn in_segments(segments: usize) -> String {
    if segments == 0 { String::new() } else { format!(", for all rows and for each of {segments} segments or more,") }
}

pub(super) fn item_text(item: &Option<usize>) -> String {
    item.map_or(String::new(), |i| format!(" item {i}"))
}

/// What to do about text in place of a number.
pub(super) fn number_advice(of: Option<Field>, value: &str) -> &'static str {
    match of {
        Some(Field::Reward) => {
            "rewards are numbers, such as 1 for a click and 0 for none: write numbers, or name the column that holds the rewards"
        }
        Some(_) if value.starts_with(['[', '(', '{']) => {
            "text files have no lists: write one column for each slot, or write Parquet or JSON lines"
        }
        Some(Field::Logging { .. } | Field::Target { .. } | Field::Chi { .. } | Field::Anywhere { .. }) => {
            "correct it, or leave the cells of a slot that the slate does not have empty in all columns"
        }
        _ => "correct it",
    }
}

/// What to do about a column of something else.
pub(super) fn column_advice(likeness: Likeness, field: Option<Field>) -> &'static str {
    match (likeness, field) {
        (Likeness::Text, field) => number_advice(field, ""),
        (_, field) => field.map_or("", Field::rule),
    }
}

/// Values that are named of a column of something else.
const NAMED: usize = 5;

/// The first of some numbers.
pub(crate) fn numbers_text(values: &[f64]) -> Box<str> {
    let shown: Vec<String> = values.iter().take(NAMED).map(|value| format!("{value:.6}")).collect();
    let shown = shown.iter().map(|text| text.trim_end_matches('0').trim_end_matches('.'));
    shown.collect::<Vec<_>>().join(", ").into()
}

/// The first of some texts.
pub(crate) fn texts_text(values: &[&str]) -> Box<str> {
    let shown = values.iter().take(NAMED).map(|value| format!("`{}`", brief(value)));
    shown.collect::<Vec<_>>().join(", ").into()
}

/// Errors line by line.
pub(super) fn several(rows: &[Error], more: bool) -> String {
    let lines: Vec<String> = rows.iter().map(|row| format!("\n  {row}")).collect();
    let end = if more { "\nReading stopped here: there may be more." } else { "" };
    format!("{} rows cannot be used:{}{end}", rows.len(), lines.concat())
}

/// How many files were left out, and the first of them.
pub(super) fn unknown(files: &[IgnoredFile]) -> String {
    let count = if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
    format!("{count} that cannot be read as a log: {}", IgnoredFile::several(files, files.len() as u64))
}

/// What else is in a directory without logs.
pub(super) fn left_out(ignored: &[IgnoredFile]) -> String {
    if ignored.is_empty() { String::new() } else { format!("; it has {}", unknown(ignored)) }
}
