//! Files that were left out of a log because they are no logs, in words.

use slateval_stats::LogFacts;

use crate::number::count;

/// Files that are named to readers; the JSON has more.
const NAMED: usize = 20;

/// How many files there are, in a sentence.
pub fn total(log: &LogFacts) -> String {
    let all = log.ignored_files;
    let files = if all == 1 { "file" } else { "files" };
    let named = log.ignored.len().min(NAMED);
    let first = if (named as u64) < all { format!(" The first {named}:") } else { String::new() };
    format!("Left out: {} {files} that cannot be read as a log.{first}", count(all))
}

/// The first files, each with what it is.
pub fn files(log: &LogFacts) -> impl Iterator<Item = String> {
    log.ignored.iter().take(NAMED).map(ToString::to_string)
}
