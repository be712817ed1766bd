//! What intervals and bands are, and what their marks mean.

use slateval_stats::{Band, CheckName, Evaluation, Interval, PolicyEvaluation, Reason, Settings, Status};

use crate::number::{count, percent};
use crate::standing::{Standing, has_band, is_bounded};
use crate::{Voice, name, sentence};

/// What the brackets are, said once; nothing where there are none. `is_full` if CDF bands are shown too.
pub fn confidence(evaluation: &Evaluation, settings: &Settings, is_full: bool) -> Option<String> {
    let mean = |p: &PolicyEvaluation| is_bounded(&p.mean) || has_band(p);
    if settings.band == Band::None || !evaluation.policies.iter().any(mean) {
        return None;
    }
    let how = match settings.band {
        Band::Bernstein => "empirical Bernstein bounds".to_owned(),
        _ => format!("multiplier bootstrap, {} draws, seed {}", count(settings.draws as u64), settings.seed),
    };
    let mut text = format!("In brackets: {} confidence intervals ({how}).", percent(settings.confidence));
    if is_full && evaluation.policies.iter().any(has_band) {
        text += " The CDF band holds the whole CDF at once.";
    }
    if !evaluation.comparisons.is_empty() {
        let paired = evaluation.comparisons.iter().all(|c| c.paired);
        text += if paired { " Differences are paired: both policies are judged by the same rows." } else { "" };
    }
    Some(text)
}

/// How many groups of clusters intervals rest on, where that is no trouble.
pub fn clusters(evaluation: &Evaluation, voice: Voice) -> Option<String> {
    let checks = evaluation.policies.iter().flat_map(|p| &p.diagnostics.checks);
    let mut good = checks.filter(|check| check.name() == CheckName::Clusters && check.status == Status::Ok);
    good.next().map(|check| sentence(&voice.finding(&check.finding)))
}

/// What is to be said below a chart of marked intervals, policy by policy, with a space before each sentence. `what` is what
/// the chart draws of them.
pub fn marks<'p>(policies: impl Iterator<Item = (&'p str, &'p [Interval])>, what: &str, voice: Voice) -> String {
    let of = |(policy, intervals): (&str, &'p [Interval])| {
        let marked = intervals.iter().find(|i| Standing::of(i) != Standing::Stands)?;
        Some(mark(policy, Standing::of(marked), marked.reason.as_ref(), what, voice))
    };
    policies.filter_map(of).collect()
}

/// The same of one policy; nothing where nothing is marked.
pub fn mark(policy: &str, standing: Standing, reason: Option<&Reason>, what: &str, voice: Voice) -> String {
    let policy = name(policy);
    let reason = reason.map(|reason| voice.after_mark(reason)).unwrap_or_default();
    match standing {
        Standing::Stands => String::new(),
        Standing::Conditional => format!(" Dashed: for {policy}, {what} {reason}."),
        Standing::Refuted => format!(" Do not rely on {what} for {policy}: {reason}."),
    }
}

/// What a mark means in a table of segments.
pub fn marked_segments(standing: Standing) -> Option<&'static str> {
    match standing {
        Standing::Stands => None,
        Standing::Conditional => Some(
            "(…)? holds only under an assumption about how slots interact that the segment's rows cannot test; the \
             JSON has each reason",
        ),
        Standing::Refuted => Some(
            "[…]! not to be relied on: the log contradicts the structure, or a check did not pass; the JSON has each \
             reason",
        ),
    }
}

/// What a mark means beside a sentence about a comparison.
pub fn marked_comparison(standing: Standing) -> Option<&'static str> {
    match standing {
        Standing::Stands => None,
        Standing::Conditional => {
            Some("(…)? holds only under the condition that the sentence names, and shows nothing without it.")
        }
        Standing::Refuted => {
            Some("[…]! shows nothing: the log contradicts the structure that it rests on, or a check did not pass.")
        }
    }
}
