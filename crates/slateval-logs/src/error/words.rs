//! Parts of messages.

use slateval::IgnoredFile;

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

/// How many files were left out, and the first of them.
pub(super) fn unknown(files: &[IgnoredFile]) -> String {
    let count = if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
    format!("{count} that cannot be read as a log: {}", IgnoredFile::several(files, files.len() as u64))
}

/// What else is in a directory without logs.
pub(super) fn left_out(ignored: &[IgnoredFile]) -> String {
    if ignored.is_empty() { String::new() } else { format!("; it has {}", unknown(ignored)) }
}
