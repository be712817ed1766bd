//! Text from data on its way into a sentence: names of columns, files and targets, values of cells, what other libraries
//! quote of them. Data may hold anything.

use std::borrow::Cow;

/// The text as it is shown inside a sentence or a table: on one line, with nothing that a terminal or a build server obeys.
///
/// Control characters, line separators and marks that turn the direction of writing are shown by their escapes. So are the
/// two spellings of a workflow command: `::` where a word begins, since a runner obeys a line that begins with it, and `##`
/// anywhere. Showing a text twice changes nothing more.
///
/// ```
/// assert_eq!(slateval_stats::shown("pi_new"), "pi_new");
/// assert_eq!(slateval_stats::shown("new\u{1b}[2J\n::stop-commands::x"), r"new\u{1b}[2J\n::stop-commands::x");
/// assert_eq!(slateval_stats::shown("::stop-commands::x"), r"\::stop-commands::x");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) && !text.contains("::") && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for (at, c) in text.char_indices() {
        match c {
            '\n' | '\r' | '\t' => out.extend(c.escape_default()),
            c if is_obeyed(c) => out.extend(c.escape_unicode()),
            '#' if out.ends_with('#') => out.push_str("\\#"),
            ':' if text[at..].starts_with("::") && begins_a_word(&out) => out.push_str("\\:"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Whether a character does something in place of being seen, or hides among others.
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Whether what comes next may stand at the beginning of a line: lines are broken at blanks.
fn begins_a_word(before: &str) -> bool {
    before.chars().next_back().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_obeyed() {
        let plain = ["plain ä −", "C:\\logs\\a.csv", "std::vector", "# one", "a👩‍💻b", "s3://a/b", ""];
        for text in plain {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("a\r\n\tb\0"), r"a\r\n\tb\u{0}");
        assert_eq!(
            shown("\u{9b}2J\u{85}\u{2028}\u{2029}\u{202e}\u{feff}"),
            r"\u{9b}2J\u{85}\u{2028}\u{2029}\u{202e}\u{feff}"
        );
        assert_eq!(shown("x ::error::y"), r"x \::error::y");
        assert_eq!(shown("\u{3000}::error::y"), "\u{3000}\\::error::y");
        assert_eq!(shown("a ##[group]b ###"), r"a #\#[group]b #\#\#");
    }

    #[test]
    fn twice_is_as_good_as_once() {
        for text in ["a\n::b", ":::: ##", "\u{1b}]0;x\u{7}", "::", "##[x]", "\\::a", "a: ::b"] {
            assert_eq!(shown(&shown(text)), shown(text), "{text:?}");
        }
    }
}
