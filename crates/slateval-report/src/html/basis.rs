//! What the numbers rest on, and how to get them again.

use serde_json::Value;
use slateval::{Band, PolicyEvaluation, Structure};

use super::Page;
use crate::markup::Markup;
use crate::terminal::Detail;
use crate::text::on_one_line;
use crate::{ignored, notes, selection, skipped};

pub(crate) fn assumptions(m: &mut Markup, page: &Page<'_>) {
    let evaluation = page.evaluation;
    m.within("ul", &[("class", &"notes")], |m| {
        for policy in &evaluation.policies {
            let Some(assumed) = selection::assumed(policy) else { continue };
            let chosen = policy.selection.as_ref().map(|s| format!(" {}", selection::words(s))).unwrap_or_default();
            m.element("li", &[], format_args!("{assumed}.{chosen}"));
        }
        let once = [selection::trust(evaluation), selection::taken_for_granted(evaluation, page.voice)];
        for line in once.into_iter().flatten() {
            m.element("li", &[], on_one_line(&line));
        }
        for line in fixed_assumptions(page) {
            m.element("li", &[], line);
        }
    });
    skipped_parts(m, page);
    ignored_files(m, page);
    for line in notes::confidence(evaluation, page.settings, Detail::Full)
        .into_iter()
        .chain(notes::clusters(evaluation, page.voice))
    {
        m.element("p", &[("class", &"aside")], on_one_line(&line));
    }
}

/// What was left out of the log, if anything was.
fn skipped_parts(m: &mut Markup, page: &Page<'_>) {
    let log = &page.evaluation.log;
    if log.skipped.is_empty() {
        return;
    }
    m.element("p", &[("id", &"skipped")], skipped::total(log));
    m.within("ul", &[("class", &"notes")], |m| {
        for example in log.skipped.iter().flat_map(|part| &part.examples) {
            m.element("li", &[], skipped::place(example));
        }
    });
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

/// What no log can show.
fn fixed_assumptions(page: &Page<'_>) -> Vec<String> {
    let (evaluation, settings) = (page.evaluation, page.settings);
    let given = |p: &PolicyEvaluation| matches!(p.structure, Some(Structure::Given));
    let mut lines = vec![
        "Larger rewards are better.".to_owned(),
        if evaluation.policies.iter().any(given) {
            "The weights are taken as given: they are those of the target.".to_owned()
        } else {
            "The propensities are taken at their word: logging showed each action with the probability that the log \
             says, and the target would show it with the probability that is given. The checks find many wrong ones, \
             not all."
                .to_owned()
        },
        "Logging could show whatever the target would show: what it never showed has left no trace.".to_owned(),
        if page.clusters {
            "Clusters are independent of each other; slates of one cluster need not be.".to_owned()
        } else {
            format!(
                "Slates are independent of each other. If those of one user are not, intervals are too narrow: {} names \
                 the user’s column.",
                page.voice.flag("cluster")
            )
        },
        "The reward of a slate does not depend on the policy that showed it, nor on slates shown before, and stays \
         what it was while the log was written."
            .to_owned(),
    ];
    if settings.band == Band::Multiplier {
        lines.push("Intervals are right for many slates; the checks say when there are too few.".to_owned());
    }
    lines
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
