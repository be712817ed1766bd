//! What the numbers rest on, and how to get them again.

use serde_json::Value;
use slateval_text::{assumptions, ignored, intervals, selection, skipped};

use super::Page;
use crate::markup::Markup;

pub(crate) fn section(m: &mut Markup, page: &Page<'_>) {
    let evaluation = page.evaluation;
    m.within("ul", &[("class", &"notes")], |m| {
        for policy in &evaluation.policies {
            let Some(assumed) = selection::assumed(policy) else { continue };
            let chosen = policy.selection.as_ref().map(|s| format!(" {}", selection::words(s))).unwrap_or_default();
            m.element("li", &[], format_args!("{assumed}.{chosen}"));
        }
        let above = assumptions::above_the_choice(evaluation).map(str::to_owned);
        let granted = assumptions::taken_for_granted(evaluation, page.voice);
        let fixed = assumptions::of_every_log(evaluation, page.settings, page.clusters, page.voice);
        above.into_iter().chain(granted).chain(fixed).for_each(|line| m.element("li", &[], line));
    });
    skipped_parts(m, page);
    ignored_files(m, page);
    let confidence = intervals::confidence(evaluation, page.settings, true);
    for line in confidence.into_iter().chain(intervals::clusters(evaluation, page.voice)) {
        m.element("p", &[("class", &"aside")], line);
    }
}

/// What was left out of the log, if anything was.
fn skipped_parts(m: &mut Markup, page: &Page<'_>) {
    let log = &page.evaluation.log;
    if log.skipped.is_empty() {
        return;
    }
    m.element("p", &[("id", &"skipped")], skipped::total(log));
    m.within("ul", &[("class", &"notes")], |m| skipped::places(log).for_each(|place| m.element("li", &[], place)));
}

/// Files that were left out because they are no logs, if there are any.
fn ignored_files(m: &mut Markup, page: &Page<'_>) {
    let log = &page.evaluation.log;
    if log.ignored.is_empty() {
        return;
    }
    m.element("p", &[("id", &"ignored")], ignored::total(log));
    m.within("ul", &[("class", &"notes")], |m| ignored::files(log).for_each(|file| m.element("li", &[], file)));
}

pub(crate) fn settings(m: &mut Markup, record: &Value, command: &str) {
    m.element("p", &[], "The same input gives this page again, byte for byte:");
    m.within("div", &[("class", &"command")], |m| {
        m.within("pre", &[("tabindex", &"0"), ("role", &"region"), ("aria-label", &"Command")], |m| {
            m.element("code", &[("id", &"command")], command);
        });
        m.element(
            "button",
            &[("type", &"button"), ("class", &"quiet moves"), ("data-copy", &"command")],
            "Copy command",
        );
    });
    let Value::Object(entries) = record else { return };
    m.within("dl", &[("class", &"settings")], |m| {
        for (key, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
            m.within("div", &[], |m| {
                m.element("dt", &[], key.replace('_', " "));
                m.element("dd", &[], words(value));
            });
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
