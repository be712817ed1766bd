//! Whether to believe it: the checks, worst first, and the weights they are about.

use slateval::{Check, Evaluation, Status};
use slateval_text::checks::{Tally, segment_names};
use slateval_text::weights::spread;

use super::Page;
use super::tables::key;
use crate::Voice;
use crate::chart::{Size, Titles, WeightChart, svg};
use crate::markup::{Markup, html};
use crate::text::{name, sentence};

const WEIGHTS: Size = Size { width: 420.0, height: 250.0 };

pub(crate) fn checks(m: &mut Markup, evaluation: &Evaluation, voice: Voice) {
    let mut all: Vec<(usize, &str, &Check)> = Vec::new();
    for (i, policy) in evaluation.policies.iter().enumerate() {
        all.extend(policy.diagnostics.checks.iter().map(|check| (i, policy.name.as_str(), check)));
    }
    // Stable: among equals, policies stay as given.
    all.sort_by_key(|(_, _, check)| std::cmp::Reverse(check.status));
    html!(m, r#"<p>{}</p><ul class="checks">"#, Tally::of(&evaluation.policies).worst_first());
    for (policy, owner, check) in all {
        // A shape and a word, so that red and green need not be told apart.
        let (class, shape, word) = match check.status {
            Status::Ok => ("ok", "●", "passed"),
            Status::Warn => ("warn", "▲", "look at it"),
            Status::Fail => ("fail", "■", "failed"),
        };
        html!(m, r#"<li class="{}"><span class="light"><span aria-hidden="true" class="shape">"#, class);
        html!(m, r#"{}</span>{}</span><span class="about">"#, shape, word);
        key(m, policy);
        html!(m, r#"{}: {}</span>"#, name(owner), check.name());
        html!(m, r#"<span class="message">{}</span></li>"#, sentence(&voice.finding(&check.finding)));
    }
    html!(m, "</ul>");
    let segments = Tally::of(evaluation.segments.iter().flat_map(|s| &s.policies));
    if segments != Tally::default() {
        html!(m, "<p>In segments: {}</p>", segments.worst_first());
        for (status, words) in [(Status::Fail, "Failed"), (Status::Warn, "To look at")] {
            let names = segment_names(evaluation, status, voice);
            if !names.is_empty() {
                html!(m, r#"<p class="aside">{}: {}.</p>"#, words, names);
            }
        }
    }
}

pub(crate) fn weights(m: &mut Markup, page: &Page<'_>) {
    html!(
        m,
        "<p>A target’s slates are logging’s, each counted by a weight. The more alike the weights, the more the log is \
         worth; a few huge ones decide everything. Both scales are crowded: by ratio, and by powers of ten.</p>"
    );
    html!(m, r#"<div class="tiles">"#);
    for (i, policy) in page.evaluation.policies.iter().enumerate() {
        let Some(histogram) = &policy.diagnostics.weight_histogram else { continue };
        let (title, id) = (format!("Weights of {}", name(&policy.name)), format!("weights-{i}"));
        let words = spread(&policy.diagnostics, page.evaluation.log.rows);
        html!(m, "<figure><h4>");
        key(m, i);
        html!(m, "{}</h4>", name(&policy.name));
        let chart = WeightChart::new(histogram, i);
        svg(m, &chart, (&id, "tile", WEIGHTS), Titles { x: "", y: "" }, (&title, &words));
        html!(m, "<figcaption>{}</figcaption></figure>", words);
    }
    html!(m, "</div>");
}
