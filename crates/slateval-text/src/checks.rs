//! How checks went: how many, and which.

use slateval_stats::{Evaluation, PolicyEvaluation, SegmentEvaluation, Status};

use crate::{Voice, name, segment_name};

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
    /// The tally of some policies' checks.
    pub fn of<'a>(policies: impl IntoIterator<Item = &'a PolicyEvaluation>) -> Self {
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

    /// How many there are of each kind; those that did not pass are named.
    fn words(&self, warned: &str, failed: &str) -> String {
        format!("{} passed, {} warned{warned}, {} failed{failed}", self.passed, self.warned, self.failed)
    }

    /// How many there are of each kind, the worst first.
    pub fn worst_first(&self) -> String {
        let Tally { passed, warned, failed } = self;
        let checks = if passed + warned + failed == 1 { "check" } else { "checks" };
        format!("{} {checks}: {failed} failed, {warned} to look at, {passed} passed.", passed + warned + failed)
    }
}

/// Names of the checks that leave nothing of these policies, each once.
pub fn spoiled_names<'a>(policies: impl IntoIterator<Item = &'a PolicyEvaluation>) -> Vec<&'static str> {
    let spoiled = policies.into_iter().flat_map(|p| p.diagnostics.spoiled());
    let mut names: Vec<&str> = spoiled.map(|c| c.name().as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The last line: a failed check never hides.
pub fn summary(evaluation: &Evaluation, voice: Voice) -> Option<String> {
    let whole = Tally::of(&evaluation.policies);
    if whole == Tally::default() {
        return None;
    }
    // Those of the whole log that warned stand on lines of their own.
    let mut text = format!("Checks: {}", whole.words("", &in_parentheses(&names(evaluation, Status::Fail).join(", "))));
    if !evaluation.segments.is_empty() {
        text += &format!("; in segments: {}", in_segments(evaluation, voice));
    }
    Some(text + ".")
}

/// How many checks of segments went how, and which did not pass.
pub fn in_segments(evaluation: &Evaluation, voice: Voice) -> String {
    let named = |status: Status| in_parentheses(&segment_names(evaluation, status, voice));
    let tally = Tally::of(evaluation.segments.iter().flat_map(|s| &s.policies));
    tally.words(&named(Status::Warn), &named(Status::Fail))
}

/// Names after a count; nothing where there are none.
fn in_parentheses(names: &str) -> String {
    if names.is_empty() { String::new() } else { format!(" ({names})") }
}

/// More policies of segments than this are not named in a line.
const NAMED: usize = 6;

/// The checks of segments that went this way: `tablet: bolder: ess, tail; …`.
pub fn segment_names(evaluation: &Evaluation, status: Status, voice: Voice) -> String {
    let of_policy = |segment: &SegmentEvaluation, policy: &PolicyEvaluation| {
        let checks = policy.diagnostics.checks.iter().filter(|c| c.status == status);
        let names: Vec<&str> = checks.map(|c| c.name().as_str()).collect();
        let words = format!("{}: {}: {}", segment_name(&segment.value), name(&policy.name), names.join(", "));
        (!names.is_empty()).then_some((words, names.len()))
    };
    let policies = evaluation.segments.iter().flat_map(|s| s.policies.iter().map(move |policy| (s, policy)));
    let all: Vec<(String, usize)> = policies.filter_map(|(segment, policy)| of_policy(segment, policy)).collect();
    let mut named: Vec<String> = all.iter().take(NAMED).map(|(words, _)| words.clone()).collect();
    let more: usize = all.iter().skip(NAMED).map(|(_, checks)| checks).sum();
    if more > 0 {
        named.push(format!("and {more} more, which {} names", voice.everything()));
    }
    named.join("; ")
}

/// The checks of the whole log that went this way, with their policies.
pub fn names(evaluation: &Evaluation, status: Status) -> Vec<String> {
    let of = |p: &PolicyEvaluation| -> Vec<String> {
        let checks = p.diagnostics.checks.iter().filter(|c| c.status == status);
        checks.map(|c| format!("{}: {}", name(&p.name), c.name())).collect()
    };
    evaluation.policies.iter().flat_map(of).collect()
}
