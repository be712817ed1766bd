//! Text from outside, on its way to a terminal.

use std::borrow::Cow;

use slateval::Segment;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The text without what a terminal would obey instead of show: control characters (escape sequences begin with one)
/// and the marks that turn the direction of writing. Line breaks stay.
///
/// ```
/// assert_eq!(slateval_report::printable("new\u{1b}[2J"), "new [2J");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_obeyed(c) { ' ' } else { c }).collect())
}

/// Whether a character does something in place of being seen.
pub(crate) fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A paragraph on one line.
pub(crate) fn unwrap_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name on one line. A long one is cut in its middle: names often differ at their ends.
pub(crate) fn name(text: &str) -> String {
    const LONGEST: usize = 40;
    let line = printable(text).replace('\n', " ");
    let letters: Vec<char> = line.chars().collect();
    if letters.len() <= LONGEST {
        return line;
    }
    let (start, end) = (LONGEST / 2, letters.len() - (LONGEST - 1 - LONGEST / 2));
    letters[..start].iter().chain(&['…']).chain(&letters[end..]).collect()
}

/// A segment's value. What is no text does not look like any.
pub(crate) fn segment_name(value: &Segment) -> String {
    match value {
        Segment::Null => "∅ (null)".to_owned(),
        Segment::Text(text) if text.is_empty() => "“” (empty)".to_owned(),
        other => name(&other.to_string()),
    }
}

/// A paragraph broken into lines, the first indented by `first` and the others by `rest`.
pub(crate) fn wrap(paragraph: &str, first: usize, rest: usize) -> String {
    let (first, rest) = (" ".repeat(first), " ".repeat(rest));
    // A word stays whole however long it is: it may be a path, or a formula. The separator and the algorithm are named
    // because their defaults change with the features that other crates ask for.
    let options = Options::new(WIDTH)
        .initial_indent(&first)
        .subsequent_indent(&rest)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(&unwrap_lines(paragraph), options)
}

/// Columns that most terminals have.
pub(crate) const WIDTH: usize = 100;

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

    #[test]
    fn no_value_is_not_the_text_that_says_so() {
        let shown = [Segment::Null, Segment::Text("(null)".into()), Segment::Text(String::new())];
        assert_eq!(shown.each_ref().map(segment_name), ["∅ (null)", "(null)", "“” (empty)"]);
    }

    #[test]
    fn paragraphs_are_broken_between_words() {
        let text = wrap(&"word ".repeat(45), 4, 2);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.starts_with("    word"), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word")), "{text}");
        assert_eq!(text.split_whitespace().count(), 45);
    }

    #[test]
    fn words_stay_whole_and_lines_are_as_long_as_a_terminal_is_wide() {
        let path = format!("/{}", "very-long-".repeat(12));
        assert_eq!(wrap(&format!("in {path}\n of"), 0, 2), format!("in\n  {path}\n  of"));
        assert_eq!(wrap(&format!("{path} of"), 2, 2), format!("  {path}\n  of"));
        // Each of these takes two columns, and fifty fill a line.
        let name = "界".repeat(24);
        assert_eq!(wrap(&format!("{name} {name} {name}"), 0, 0), format!("{name} {name}\n{name}"));
        assert_eq!(wrap("m −0.5\u{a0}or less", 1, 0), " m −0.5 or less");
    }
}
