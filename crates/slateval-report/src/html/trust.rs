//! Whether to believe it: the checks, worst first, and the weights they are about.

use slateval::{Check, Evaluation, Status};

use slateval_text::checks::{Tally, segment_names};
use slateval_text::weights::spread;

use super::Page;
use super::tables::key;
use crate::Voice;
use crate::chart::{Size, WeightChart};
use crate::markup::Markup;
use crate::text::{name, sentence};

const WEIGHTS: Size = Size { width: 420.0, height: 250.0 };

pub(crate) fn checks(m: &mut Markup, evaluation: &Evaluation, voice: Voice) {
    let mut all: Vec<(usize, &str, &Check)> = Vec::new();
    for (i, policy) in evaluation.policies.iter().enumerate() {
        all.extend(policy.diagnostics.checks.iter().map(|check| (i, policy.name.as_str(), check)));
    }
    // Stable: among equals, policies stay as given.
    all.sort_by_key(|(_, _, check)| std::cmp::Reverse(check.status));
    let tally = Tally::of(&evaluation.policies);
    m.element("p", &[], tally.worst_first());
    m.within("ul", &[("class", &"checks")], |m| {
        for (policy, owner, check) in all {
            m.within("li", &[("class", &class(check.status))], |m| {
                light(m, check.status);
                m.within("span", &[("class", &"about")], |m| {
                    key(m, policy);
                    m.text(format_args!("{}: {}", name(owner), check.name()));
                });
                m.element("span", &[("class", &"message")], sentence(&voice.finding(&check.finding)));
            });
        }
    });
    let segments = Tally::of(evaluation.segments.iter().flat_map(|s| &s.policies));
    if segments != Tally::default() {
        m.element("p", &[], format_args!("In segments: {}", segments.worst_first()));
        for (status, words) in [(Status::Fail, "Failed"), (Status::Warn, "To look at")] {
            let names = segment_names(evaluation, status, voice);
            if !names.is_empty() {
                m.element("p", &[("class", &"aside")], format_args!("{words}: {names}."));
            }
        }
    }
}

fn class(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Warn => "warn",
        Status::Fail => "fail",
    }
}

/// A shape and a word, so that nobody has to tell red from green.
fn light(m: &mut Markup, status: Status) {
    let (shape, word) = match status {
        Status::Ok => ("●", "passed"),
        Status::Warn => ("▲", "look at it"),
        Status::Fail => ("■", "failed"),
    };
    m.within("span", &[("class", &"light")], |m| {
        m.element("span", &[("aria-hidden", &"true"), ("class", &"shape")], shape);
        m.text(word);
    });
}

pub(crate) fn weights(m: &mut Markup, page: &Page<'_>) {
    m.element(
        "p",
        &[],
        "A target’s slates are logging’s, each counted by a weight. The more alike the weights, the more the log is \
         worth; a few huge ones decide everything. Both scales are crowded: by ratio, and by powers of ten.",
    );
    m.within("div", &[("class", &"tiles")], |m| {
        for (i, policy) in page.evaluation.policies.iter().enumerate() {
            let diagnostics = &policy.diagnostics;
            let Some(histogram) = &diagnostics.weight_histogram else { continue };
            let title = format!("Weights of {}", name(&policy.name));
            let words = spread(diagnostics, page.evaluation.log.rows);
            m.within("figure", &[], |m| {
                m.within("h4", &[], |m| {
                    key(m, i);
                    m.text(name(&policy.name));
                });
                let id = format!("weights-{i}");
                m.add(&WeightChart::new(histogram, i).svg(&id, "tile", WEIGHTS, (&title, &words)));
                m.element("figcaption", &[], &words);
            });
        }
    });
}
