//! Text on its way to a terminal.

use slateval::Segment;
pub(crate) use slateval_text::{is_obeyed, name, on_one_line, shown};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Words with a capital at their beginning and a full stop at their end.
pub(crate) fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if words.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
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
    textwrap::fill(&on_one_line(paragraph), options)
}

/// Columns that most terminals have.
pub(crate) const WIDTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

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
