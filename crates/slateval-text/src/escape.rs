//! Text from outside made fit to be shown: names, messages and rules may hold anything.

use std::borrow::Cow;

use slateval_stats::{Segment, is_obeyed, shown};

/// A message with the line breaks of its own, each line [`shown`]: for what was put together without care.
///
/// ```
/// assert_eq!(slateval_text::printable("two\nlines\u{1b}[2J"), "two\nlines\\u{1b}[2J");
/// ```
pub fn printable(message: &str) -> Cow<'_, str> {
    if message.split('\n').all(|line| matches!(shown(line), Cow::Borrowed(_))) {
        return Cow::Borrowed(message);
    }
    Cow::Owned(message.split('\n').map(shown).collect::<Vec<_>>().join("\n"))
}

/// The same JSON with nothing in it that a terminal or a build server obeys: such characters are written as numbers. JSON
/// has them only inside strings.
///
/// ```
/// assert_eq!(slateval_text::safe_json("[\"\u{9b}2J\"]\n"), "[\"\\u009b2J\"]\n");
/// ```
pub fn safe_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' => out.push(c),
            '#' if out.ends_with('#') => out.push_str("\\u0023"),
            c if is_obeyed(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Words on one line, one blank between them.
///
/// ```
/// assert_eq!(slateval_text::on_one_line(" two\n  lines "), "two lines");
/// ```
pub fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name in a table. A long one is cut in its middle: names often differ at their ends.
pub fn name(text: &str) -> String {
    const LONGEST: usize = 40;
    let line = shown(text);
    let letters: Vec<char> = line.chars().collect();
    if letters.len() <= LONGEST {
        return line.into_owned();
    }
    let (start, end) = (LONGEST / 2, letters.len() - (LONGEST - 1 - LONGEST / 2));
    letters[..start].iter().chain(&['…']).chain(&letters[end..]).collect()
}

/// Words with a capital at their beginning and a full stop at their end.
pub fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if words.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// A segment's value. What is no text does not look like any.
pub fn segment_name(value: &Segment) -> String {
    match value {
        Segment::Null => "∅ (null)".to_owned(),
        Segment::Text(text) if text.is_empty() => "“” (empty)".to_owned(),
        other => name(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_not_the_text_that_says_so() {
        let shown = [Segment::Null, Segment::Text("(null)".into()), Segment::Text(String::new())];
        assert_eq!(shown.each_ref().map(segment_name), ["∅ (null)", "(null)", "“” (empty)"]);
    }

    #[test]
    fn terminals_are_told_nothing() {
        assert_eq!(printable("plain ä −\n"), "plain ä −\n");
        assert_eq!(printable("a\u{1b}]0;b\r\n::error::c"), "a\\u{1b}]0;b\\r\n\\::error::c");
        assert_eq!(safe_json("\"##[a] \u{2028}\"\n"), "\"#\\u0023[a] \\u2028\"\n");
        assert_eq!(name("two\nlines"), "two\\nlines");
        let long = format!("start{}end", "x".repeat(50));
        assert_eq!(name(&long), format!("start{}…{}end", "x".repeat(15), "x".repeat(16)));
        assert_eq!(name(&"ä".repeat(40)), "ä".repeat(40));
    }
}
