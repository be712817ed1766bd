//! Where in a rules file something stands, and mistakes that say so.

use std::fmt;

use slateval_text::shown;

/// A rules file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

/// A line and a column, both from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Something in a rules file that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The file.
    pub file: String,
    /// Where.
    pub position: Position,
    /// What is wrong, and what to write instead.
    pub message: String,
    /// The line as it is.
    pub line: String,
}

impl Source<'_> {
    pub(crate) fn position(&self, offset: usize) -> Position {
        let before = &self.text[..self.floor(offset)];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Position { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
    }

    pub(crate) fn mistake(&self, offset: usize, message: impl Into<String>) -> Mistake {
        let position = self.position(offset);
        let line = self.text.lines().nth(position.line - 1).unwrap_or_default().to_owned();
        Mistake { file: self.file.to_owned(), position, message: message.into(), line }
    }

    /// The nearest place before an offset at which a character begins.
    fn floor(&self, offset: usize) -> usize {
        (0..=offset.min(self.text.len())).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position;
        let margin = " ".repeat(line.to_string().len());
        let before: String = self.line.chars().take(column - 1).collect();
        let indent = " ".repeat(shown(&before).chars().count());
        writeln!(f, "{}:{line}:{column}: {}", shown(&self.file), shown(&self.message))?;
        write!(f, "{line} | {}\n{margin} | {indent}^", shown(&self.line))
    }
}

impl std::error::Error for Mistake {}

/// The known word that was probably meant.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let distance = |k: &&str| strsim::damerau_levenshtein(&word.to_lowercase(), &k.to_lowercase());
    known.into_iter().min_by_key(distance).filter(|k| distance(k) <= 1 + k.len() / 4)
}

/// Each byte of a TOML string's value by its place in the file: `span` covers the string as written, quotes included.
pub(crate) fn places(text: &str, span: std::ops::Range<usize>, value: &str) -> Vec<usize> {
    let written = &text[span.clone()];
    let quotes = ["'''\r\n", "\"\"\"\r\n", "'''\n", "\"\"\"\n", "'''", "\"\"\"", "'", "\""];
    let opening = quotes.iter().find(|q| written.starts_with(**q)).map_or(0, |q| q.len());
    if written[opening..].starts_with(value) {
        return (0..=value.len()).map(|at| span.start + opening + at).collect();
    }
    let mut places = Vec::with_capacity(value.len() + 1);
    let mut at = opening;
    for c in value.chars() {
        at += joined_lines(&written[at..]);
        places.extend(std::iter::repeat_n(span.start + at, c.len_utf8()));
        at += written_length(&written[at..]);
    }
    at += joined_lines(&written[at..]);
    places.push(span.start + at.min(written.len()));
    places
}

/// How long a backslash at the end of a line is, with the white space that it takes along; 0 if there is none.
fn joined_lines(rest: &str) -> usize {
    let Some(after) = rest.strip_prefix('\\') else { return 0 };
    let next = after.trim_start_matches([' ', '\t', '\r', '\n']);
    let skipped = &after[..after.len() - next.len()];
    if !skipped.contains('\n') {
        return 0;
    }
    let length = 1 + skipped.len();
    length + joined_lines(next)
}

/// How long the first character of a basic string is as written.
fn written_length(rest: &str) -> usize {
    let mut chars = rest.chars();
    let length = match (chars.next(), chars.next()) {
        (Some('\\'), Some('x')) => 4,
        (Some('\\'), Some('u')) => 6,
        (Some('\\'), Some('U')) => 10,
        (Some('\\'), Some(_)) => 2,
        (Some(c), _) => c.len_utf8(),
        (None, _) => 0,
    };
    (length.min(rest.len())..=rest.len()).find(|&end| rest.is_char_boundary(end)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let source = Source { file: "r.toml", text: "a = 1\nbä = \"x\"\n" };
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(10), Position { line: 2, column: 4 });
        assert_eq!(source.position(999), Position { line: 3, column: 1 });
        let shown = source.mistake(10, "wrong").to_string();
        assert_eq!(shown, "r.toml:2:4: wrong\n2 | bä = \"x\"\n  |    ^");
    }

    #[test]
    fn strings_are_found_where_they_are_written() {
        let text = r#"require = "mean(\"a\") > 0""#;
        let value = "mean(\"a\") > 0";
        let places = places(text, 10..text.len(), value);
        assert_eq!(&text[places[value.find('>').unwrap_or(0)]..][..1], ">");
        assert_eq!(places.len(), value.len() + 1);
        let joined = "\"\"\"\nmean(new) \\  \n    \\\n  => 0 \\\n\"\"\"";
        let value = "mean(new) => 0 ";
        let found = super::places(joined, 0..joined.len(), value);
        assert_eq!(found[10], joined.find("=>").unwrap_or(0));
        assert_eq!((found.len(), found[15]), (16, joined.len() - 3));
        let plain = "'abc'";
        assert_eq!(super::places(plain, 0..5, "abc"), [1, 2, 3, 4]);
    }

    #[test]
    fn slips_of_the_pen_are_understood() {
        assert_eq!(nearest("men", ["mean", "variance"]), Some("mean"));
        assert_eq!(nearest("Quantlie", ["mean", "quantile"]), Some("quantile"));
        assert_eq!(nearest("foo", ["mean", "quantile"]), None);
    }
}
