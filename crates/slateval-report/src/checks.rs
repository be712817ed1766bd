//! Checks: what did not go well, and how many did.

use slateval::{Check, Evaluation, PolicyEvaluation, Status};

use crate::text::name;
use crate::{Look, Style, skipped};

/// How many checks went how.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    /// As they should.
    pub passed: usize,
    /// To be looked at.
    pub warned: usize,
    /// Do not rely on the numbers.
    pub failed: usize,
}

impl Tally {
    pub(crate) fn of<'a>(policies: impl IntoIterator<Item = &'a PolicyEvaluation>) -> Self {
        let mut tally = Tally::default();
        for check in policies.into_iter().flat_map(|p| &p.diagnostics.checks) {
            *match check.status {
                Status::Ok => &mut tally.passed,
                Status::Warn => &mut tally.warned,
                Status::Fail => &mut tally.failed,
            } += 1;
        }
        tally
    }

    fn words(&self) -> String {
        format!("{} passed, {} warned, {} failed", self.passed, self.warned, self.failed)
    }
}

/// Names of the checks that leave nothing of these policies, each once.
pub(crate) fn spoiled_names<'a>(policies: impl IntoIterator<Item = &'a PolicyEvaluation>) -> Vec<&'static str> {
    let spoiled = policies.into_iter().flat_map(|p| p.diagnostics.spoiled());
    let mut names: Vec<&str> = spoiled.map(|c| c.name().as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
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
    let mut lines: Vec<String> = skipped::lines(&evaluation.log).into_iter().collect();
    lines.extend(troubles(evaluation, look));
    if evaluation.worst_status() != Status::Ok {
        lines.extend(summary(evaluation));
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

/// The last line: a failed check never hides.
pub(crate) fn summary(evaluation: &Evaluation) -> Option<String> {
    let whole = Tally::of(&evaluation.policies);
    if whole == Tally::default() {
        return None;
    }
    let mut text = format!("Checks: {}", whole.words());
    let failed = names(evaluation, Status::Fail);
    if !failed.is_empty() {
        text += &format!(" ({})", failed.join(", "));
    }
    if !evaluation.segments.is_empty() {
        let parts = Tally::of(evaluation.segments.iter().flat_map(|s| &s.policies));
        text += &format!("; in segments: {}", parts.words());
    }
    Some(text + ".")
}

/// The checks of the whole log that went this way, with their policies.
pub(crate) fn names(evaluation: &Evaluation, status: Status) -> Vec<String> {
    let of = |p: &PolicyEvaluation| -> Vec<String> {
        let checks = p.diagnostics.checks.iter().filter(|c| c.status == status);
        checks.map(|c| format!("{}: {}", name(&p.name), c.name())).collect()
    };
    evaluation.policies.iter().flat_map(of).collect()
}
