//! Checks that did not go well, line by line.

use comfy_table::Color;
use slateval::{Check, Evaluation, PolicyEvaluation, Status};
use slateval_text::checks::summary;
use slateval_text::name;

use crate::terminal::skipped_parts;
use crate::{Look, Style};

/// What needs attention in colour, where there is any.
pub(crate) fn colour(status: Status, style: Style) -> Option<Color> {
    match (style, status) {
        (Style::Colour, Status::Fail) => Some(Color::Red),
        (Style::Colour, Status::Warn) => Some(Color::Yellow),
        _ => None,
    }
}

/// `warning` or `FAILED`, in colour where there is any.
pub(crate) fn mark(status: Status, style: Style) -> String {
    let (mark, colour) = match status {
        Status::Ok => ("ok", "32"),
        Status::Warn => ("warning", "33"),
        Status::Fail => ("FAILED", "31"),
    };
    match style {
        Style::Plain => mark.to_owned(),
        Style::Colour => format!("\u{1b}[{colour}m{mark}\u{1b}[0m"),
    }
}

/// What was left out of the log; the checks of the whole log that did not go well, a line each, and then how many there
/// are of each kind. Nothing if all went well.
pub fn warnings(evaluation: &Evaluation, look: Look) -> Vec<String> {
    let mut lines: Vec<String> = skipped_parts(&evaluation.log).into_iter().collect();
    lines.extend(troubles(evaluation, look));
    if evaluation.worst_status() != Status::Ok {
        lines.extend(summary(evaluation, look.voice));
    }
    lines
}

pub(crate) fn troubles(evaluation: &Evaluation, look: Look) -> Vec<String> {
    let line = |policy: &PolicyEvaluation, check: &Check| {
        let (policy, message) = (name(&policy.name), look.voice.finding(&check.finding));
        format!("{}  {policy}: {} — {message}", mark(check.status, look.style), check.name())
    };
    let bad = |p: &PolicyEvaluation| -> Vec<String> {
        let checks = p.diagnostics.checks.iter().filter(|c| c.status != Status::Ok);
        checks.map(|c| line(p, c)).collect()
    };
    evaluation.policies.iter().flat_map(bad).collect()
}
