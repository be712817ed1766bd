//! Verdicts for GitHub Actions: annotations of the rules file, and a table for the summary of a run.

use crate::evidence::Evidence;
use crate::judge::{Judgement, Verdict, Verdicts};
use crate::text::{closing, line};

/// A workflow command for each judgement: an error, a warning or a notice at the rule's place; then how many rules hold.
pub fn annotations(verdicts: &Verdicts) -> String {
    let commands = verdicts.judgements.iter().map(|judgement| command(verdicts, judgement));
    commands.collect::<String>() + &closing(verdicts) + "\n"
}

fn command(verdicts: &Verdicts, judgement: &Judgement) -> String {
    let rule = verdicts.rule(judgement);
    let level = match judgement.verdict {
        Verdict::Holds => "notice",
        Verdict::DoesNotHold => "error",
        Verdict::CannotTell => "warning",
    };
    let title = format!("{}: {}{}", judgement.verdict, line(&rule.name), place(verdicts, judgement));
    let message = format!("{}: {}", line(&rule.require), line(&Evidence::new(verdicts, judgement).in_full()));
    let (file, title) = (property(&line(verdicts.rules.file())), property(&title));
    let (row, column) = (rule.position.line, rule.position.column);
    format!("::{level} file={file},line={row},col={column},title={title}::{}\n", data(&message))
}

fn place(verdicts: &Verdicts, judgement: &Judgement) -> String {
    match (&verdicts.column, &judgement.segment) {
        (Some(column), Some(segment)) => format!(" ({} = {})", line(column), line(&segment.to_string())),
        _ => String::new(),
    }
}

/// As the runner reads a message: it would take a line break for its end.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// As it reads a property, which ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A table in Markdown, for the file that `GITHUB_STEP_SUMMARY` names.
pub fn markdown(verdicts: &Verdicts) -> String {
    let mut out = format!("### slateval gate: {}\n\n", closing(verdicts));
    out += "| | rule | requires | found |\n|---|---|---|---|\n";
    for judgement in &verdicts.judgements {
        let rule = verdicts.rule(judgement);
        let cells = [
            judgement.verdict.to_string(),
            rule.name.clone() + &place(verdicts, judgement),
            rule.require.clone(),
            Evidence::new(verdicts, judgement).in_full(),
        ];
        out += &format!("| {} |\n", cells.map(|cell| plain(&line(&cell))).join(" | "));
    }
    out + "\n"
}

/// Text that means nothing in Markdown or HTML.
fn plain(text: &str) -> String {
    let escaped = |c: char| match c {
        '&' | '<' | '>' | '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '#' | '@' | '$' | '!' | ':' | '/' => {
            format!("&#{};", u32::from(c))
        }
        c => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes() {
        assert_eq!(data("50%\r\n::error::x"), "50%25%0D%0A::error::x");
        assert_eq!(property("a:b,c%"), "a%3Ab%2Cc%25");
        assert_eq!(plain("<b>|[x](y)"), "&#60;b&#62;&#124;&#91;x&#93;(y)");
    }
}
