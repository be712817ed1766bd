//! What was left out of a log, in words.

use slateval::{LogFacts, SkipReason, Skipped, SkippedExample};

use crate::number::count;
use crate::text::{name, on_one_line, shown, wrap};

/// What was left out, for a terminal: how much for which reason, and the first ones. None if nothing was.
pub(crate) fn lines(log: &LogFacts) -> Option<String> {
    if log.skipped.is_empty() {
        return None;
    }
    let examples = log.skipped.iter().flat_map(|part| &part.examples);
    let examples = examples.map(|example| wrap(&place(example), 2, 4));
    Some(std::iter::once(wrap(&total(log), 0, 0)).chain(examples).collect::<Vec<_>>().join("\n"))
}

/// How much was left out for which reason, in a sentence.
pub(crate) fn total(log: &LogFacts) -> String {
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

/// Where something was left out, and what stands there.
pub(crate) fn place(example: &SkippedExample) -> String {
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
        _ => "that cannot be used",
    }
}
