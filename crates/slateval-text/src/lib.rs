//! What reports and verdicts share of words: text from outside made fit to be shown, for names, messages and rules may hold
//! anything; and settings named in the reader's terms ([`Voice`]).
//!
//! Shared by `slateval-report` and `slateval-gate`. It needs nothing but the core: a gate in continuous integration needs
//! no fonts and no file formats.

mod voice;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use std::borrow::Cow;

pub use voice::Voice;

/// The text without what a terminal would obey instead of show: control characters (escape sequences begin with one)
/// and the marks that turn the direction of writing. Line breaks stay.
///
/// ```
/// assert_eq!(slateval_text::printable("new\u{1b}[2J"), "new [2J");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_obeyed(c) { ' ' } else { c }).collect())
}

/// Whether a character does something in place of being seen.
pub fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Words on one line, one blank between them.
///
/// ```
/// assert_eq!(slateval_text::on_one_line(" two\n  lines "), "two lines");
/// ```
pub fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name on one line, printable. A long one is cut in its middle: names often differ at their ends.
pub fn name(text: &str) -> String {
    const LONGEST: usize = 40;
    let line = printable(text).replace('\n', " ");
    let letters: Vec<char> = line.chars().collect();
    if letters.len() <= LONGEST {
        return line;
    }
    let (start, end) = (LONGEST / 2, letters.len() - (LONGEST - 1 - LONGEST / 2));
    letters[..start].iter().chain(&['…']).chain(&letters[end..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_told_nothing() {
        assert_eq!(printable("plain ä −"), "plain ä −");
        assert_eq!(printable("a\u{1b}]0;b\u{7}\u{9b}c\u{202e}d\r"), "a ]0;b  c d ");
        assert_eq!(name("two\nlines"), "two lines");
        let long = format!("start{}end", "x".repeat(50));
        assert_eq!(name(&long), format!("start{}…{}end", "x".repeat(15), "x".repeat(16)));
        assert_eq!(name(&"ä".repeat(40)), "ä".repeat(40));
    }
}
