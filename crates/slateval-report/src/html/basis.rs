//! What the numbers rest on, and how to get them again.

use serde_json::Value;
use slateval_text::{assumptions, ignored, intervals, selection, skipped};

use super::Page;
use crate::markup::{Markup, html};

pub(crate) fn section(m: &mut Markup, page: &Page<'_>) {
    let (evaluation, log) = (page.evaluation, &page.evaluation.log);
    m.within(r#"ul class="notes""#, |m| {
        for policy in &evaluation.policies {
            let Some(assumed) = selection::assumed(policy) else { continue };
            let chosen = policy.selection.as_ref().map(|s| format!(" {}", selection::words(s))).unwrap_or_default();
            html!(m, "<li>{}.{}</li>", assumed, chosen);
        }
        let above = assumptions::above_the_choice(evaluation).map(str::to_owned);
        let granted = assumptions::taken_for_granted(evaluation, page.voice);
        let fixed = assumptions::of_every_log(evaluation, page.settings, page.clusters, page.voice);
        above.into_iter().chain(granted).chain(fixed).for_each(|line| html!(m, "<li>{}</li>", line));
    });
    if !log.skipped.is_empty() {
        left_out(m, "skipped", &skipped::total(log), skipped::places(log));
    }
    if !log.ignored.is_empty() {
        left_out(m, "ignored", &ignored::total(log), ignored::files(log));
    }
    let confidence = intervals::confidence(evaluation, page.settings, true);
    for line in confidence.into_iter().chain(intervals::clusters(evaluation, page.voice)) {
        html!(m, r#"<p class="aside">{}</p>"#, line);
    }
}

/// What was left out of the log.
fn left_out(m: &mut Markup, id: &str, total: &str, parts: impl Iterator<Item = String>) {
    html!(m, r#"<p id="{}">{}</p>"#, id, total);
    m.within(r#"ul class="notes""#, |m| parts.for_each(|part| html!(m, "<li>{}</li>", part)));
}

pub(crate) fn settings(m: &mut Markup, record: &Value, command: &str) {
    html!(m, r#"<p>The same input gives this page again, byte for byte:</p><div class="command">"#);
    html!(m, r#"<pre tabindex="0" role="region" aria-label="Command"><code id="command">{}</code></pre>"#, command);
    html!(m, r#"<button type="button" class="quiet moves" data-copy="command">Copy command</button></div>"#);
    let Value::Object(entries) = record else { return };
    m.within(r#"dl class="settings""#, |m| {
        for (key, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
            html!(m, "<div><dt>{}</dt><dd>{}</dd></div>", key.replace('_', " "), words(value));
        }
    });
}

/// JSON as people write it down.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Object(entries) => {
            let known = entries.iter().filter(|(_, value)| !value.is_null());
            known
                .map(|(key, value)| format!("{} {}", key.replace('_', " "), words(value)))
                .collect::<Vec<_>>()
                .join("; ")
        }
    }
}
