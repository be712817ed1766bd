//! Text on its way to a terminal.

pub(crate) use slateval_text::{is_obeyed, name, on_one_line, segment_name, sentence, shown};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

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

/// A paragraph, and below it things of one kind, a line each.
pub(crate) fn with_items(paragraph: &str, items: impl Iterator<Item = String>) -> String {
    let items = items.map(|item| wrap(&item, 2, 4));
    std::iter::once(wrap(paragraph, 0, 0)).chain(items).collect::<Vec<_>>().join("\n")
}

/// Columns that most terminals have.
pub(crate) const WIDTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

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
