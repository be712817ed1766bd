//! Parts of messages.

use super::Error;

pub(super) fn in_segments(segments: usize) -> String {
    if segments == 0 { String::new() } else { format!(", for all rows and for each of {segments} segments or more,") }
}

pub(super) fn item_text(item: &Option<usize>) -> String {
    item.map_or(String::new(), |i| format!(" item {i}"))
}

/// Errors line by line.
pub(super) fn several(rows: &[Error], more: bool) -> String {
    let lines: Vec<String> = rows.iter().map(|row| format!("\n  {row}")).collect();
    let end = if more { "\nReading stopped here: there may be more." } else { "" };
    format!("{} rows cannot be used:{}{end}", rows.len(), lines.concat())
}
