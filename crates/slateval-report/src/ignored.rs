//! Files that were left out of a log because they are no logs, in words.

use slateval::LogFacts;

use crate::number::count;
use crate::text::wrap;

/// Files that are named to readers; the JSON has more.
const NAMED: usize = 20;

/// The files for a terminal: how many, and the first ones. None if there are none.
pub(crate) fn lines(log: &LogFacts) -> Option<String> {
    if log.ignored.is_empty() {
        return None;
    }
    let files = files(log).map(|file| wrap(&file, 2, 4));
    Some(std::iter::once(wrap(&total(log), 0, 0)).chain(files).collect::<Vec<_>>().join("\n"))
}

/// How many files there are, in a sentence.
pub(crate) fn total(log: &LogFacts) -> String {
    let all = log.ignored_files;
    let files = if all == 1 { "file" } else { "files" };
    let named = log.ignored.len().min(NAMED);
    let first = if (named as u64) < all { format!(" The first {named}:") } else { String::new() };
    format!("Left out: {} {files} that cannot be read as a log.{first}", count(all))
}

/// The first files, each with what it is.
pub(crate) fn files(log: &LogFacts) -> impl Iterator<Item = String> {
    log.ignored.iter().take(NAMED).map(ToString::to_string)
}
