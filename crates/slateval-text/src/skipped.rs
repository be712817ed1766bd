//! What was left out of a log, in words.

use slateval_stats::{LogFacts, SkipReason, Skipped, SkippedExample};

use crate::number::count;
use crate::{name, on_one_line, shown};

/// How much was left out for which reason, in a sentence.
pub fn total(log: &LogFacts) -> String {
    let parts: Vec<String> = log.skipped.iter().map(part).collect();
    let named: usize = log.skipped.iter().map(|part| part.examples.len()).sum();
    let all: u64 = log.skipped.iter().map(|part| if part.files > 0 { part.files } else { part.rows }).sum();
    let first = if (named as u64) < all { format!(" The first {named}:") } else { String::new() };
    format!("Skipped: {}.{first}", parts.join("; "))
}

fn part(part: &Skipped) -> String {
    let plural = |n: u64, noun: &str| format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" });
    let rows = match (part.files, part.rows) {
        (0, rows) => plural(rows, "row"),
        (files, 0) => plural(files, "file"),
        (files, rows) => format!("{} with {}", plural(files, "file"), plural(rows, "row")),
    };
    format!("{rows} {}", why(part.reason))
}

/// The first ones, each with where it was and what stands there.
pub fn places(log: &LogFacts) -> impl Iterator<Item = String> {
    log.skipped.iter().flat_map(|part| &part.examples).map(place)
}

/// Where something was left out, and what stands there.
fn place(example: &SkippedExample) -> String {
    let row = example.row.map_or(String::new(), |row| format!(", row {row}"));
    let column = example.column.as_ref().map_or(String::new(), |column| format!("`{}` is ", name(column)));
    let value = example.value.as_deref().unwrap_or_default();
    on_one_line(&format!("{}{row}: {column}{}", shown(&example.file), shown(value)))
}

fn why(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::NotANumber => "with text in place of a number",
        SkipReason::Missing => "with a missing value",
        SkipReason::OutOfRange => "with a value that no reward or probability can have",
        SkipReason::UnevenSlots => "with slots that are in one column and not in another",
        SkipReason::TooManySlots => "with too many slots",
        SkipReason::Malformed => "that are not built like the others",
        SkipReason::Positions => "of slates without all their positions",
        SkipReason::TwoLabels => "of slates in two segments or clusters",
        SkipReason::UnreadableFile => "that cannot be read",
    }
}
