//! An evaluation as tables for a terminal: policies as columns, metrics as rows.

use comfy_table::Color;
use slateval::{CheckName, Evaluation, LogFacts, PolicyEvaluation, Settings};
use slateval_text::{assumptions, intervals, selection, skipped};

use crate::checks::{colour, troubles};
use crate::grid::{Column, DASH, Grid, Kind};
use crate::metrics::{Shown, intervals_of, labels, of_policy};
use crate::number::{count, decimals, fixed};
use crate::standing::{Standing, band_ends};
use crate::text::{name, with_items, wrap};
use crate::{Voice, compare, notes, segments};

/// Whether the reader's terminal shows colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Letters alone.
    #[default]
    Plain,
    /// Colour for what needs attention.
    Colour,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// What people decide on first.
    #[default]
    Short,
    /// Everything.
    Full,
}

/// How an evaluation is shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    /// Colour or none.
    pub style: Style,
    /// In whose terms settings are named.
    pub voice: Voice,
    /// How much is shown.
    pub detail: Detail,
}

/// The evaluation for people: the log, each policy's distribution and its difference to logging's, segments, and what to
/// be wary of; in full also what the numbers assume. `settings` are those that made it.
pub fn table(evaluation: &Evaluation, settings: &Settings, look: Look) -> String {
    let shown = Shown::new(evaluation, settings, look.detail);
    let policies = policy_grid(evaluation, shown, look.style);
    let differences = compare::grid(evaluation, shown);
    let decimals = policies.decimals();
    let mut parts = vec![headline(&evaluation.log), policies.render(decimals)];
    parts.extend(differences.as_ref().map(|grid| grid.render(decimals)));
    if look.detail == Detail::Full {
        parts.extend(compare::dominance(evaluation, look.voice));
    }
    parts.extend(segments::table(evaluation, settings, look.detail));
    if look.detail == Detail::Full {
        parts.extend(segments::disparities(evaluation));
    }

    let grids: Vec<&Grid> = [&policies].into_iter().chain(&differences).collect();
    let missing = notes::missing(&grids, look.voice);
    let bands = notes::bands(evaluation, &missing, look.voice);
    let is_full = look.detail == Detail::Full;
    let confidence = intervals::confidence(evaluation, settings, is_full).map(|text| wrap(&text, 0, 0));
    let mut remarks: Vec<String> = confidence.into_iter().collect();
    remarks.extend(missing.lines);
    if is_full {
        remarks.extend(bands);
        remarks.extend(intervals::clusters(evaluation, look.voice).map(|text| wrap(&text, 0, 0)));
        parts.push(remarks.join("\n"));
        parts.push(assumed(evaluation, look.voice));
    } else {
        remarks.extend(assumptions::taken_for_granted(evaluation, look.voice).map(|text| wrap(&text, 0, 0)));
        remarks.extend(rest(evaluation, look.voice));
        parts.push(remarks.join("\n"));
    }
    parts.extend(skipped_parts(&evaluation.log));
    // The checks come last: what failed never hides.
    let troubles = troubles(evaluation, look);
    let summary = slateval_text::checks::summary(evaluation, look.voice).map(|line| wrap(&line, 0, 2));
    parts.push(troubles.into_iter().chain(summary).collect::<Vec<_>>().join("\n"));
    finish(parts)
}

/// What the numbers assume, target by target, and what is said once of all.
fn assumed(evaluation: &Evaluation, voice: Voice) -> String {
    let above = assumptions::above_the_choice(evaluation).map(|text| wrap(text, 0, 0));
    let granted = assumptions::taken_for_granted(evaluation, voice).map(|text| wrap(&text, 0, 0));
    evaluation.policies.iter().filter_map(basis).chain(above).chain(granted).collect::<Vec<_>>().join("\n")
}

/// What a target's numbers assume: its structure and weights, and how the order was chosen if it was.
pub(crate) fn basis(policy: &PolicyEvaluation) -> Option<String> {
    let line = wrap(&selection::assumed(policy)?, 0, 2);
    Some(match &policy.selection {
        None => line,
        Some(chosen) => format!("{line}\n{}", wrap(&selection::words(chosen), 2, 2)),
    })
}

/// What was left out of the log, for which reason, and the first rows; none if nothing was.
pub(crate) fn skipped_parts(log: &LogFacts) -> Option<String> {
    (!log.skipped.is_empty()).then(|| with_items(&skipped::total(log), skipped::places(log)))
}

/// Where the rest is.
fn rest(evaluation: &Evaluation, voice: Voice) -> Option<String> {
    let segments = if evaluation.segments.is_empty() { "" } else { "which segments differ most, " };
    let text = format!(
        "`--full` adds the standard deviation, every quantile and tail, the CDF's band, who dominates, {segments}and how the \
         structure was chosen."
    );
    (voice == Voice::CommandLine).then(|| wrap(&text, 0, 0))
}

/// Parts with a blank line between them.
pub(crate) fn finish(mut parts: Vec<String>) -> String {
    parts.retain(|part| !part.is_empty());
    // Cells are padded to the right edge, which no reader and no diff needs.
    let text = parts.join("\n\n");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

pub(crate) fn headline(log: &LogFacts) -> String {
    format!("{}, {}", slates(log), rewards(log))
}

/// How many slates, of how many slots.
pub(crate) fn slates(log: &LogFacts) -> String {
    let slots = match log.slots {
        Some(1) => ", 1 slot".to_owned(),
        Some(k) => format!(", {k} slots"),
        None => String::new(),
    };
    let slates = if log.rows == 1 { "slate" } else { "slates" };
    format!("{} {slates}{slots}", count(log.rows))
}

fn rewards(log: &LogFacts) -> String {
    let d = decimals([log.reward.min, log.reward.max].into_iter());
    let distinct = log.reward.distinct.map_or("binned".to_owned(), |n| match n {
        1 => "1 value".to_owned(),
        n => format!("{} values", count(n as u64)),
    });
    format!("rewards from {} to {} ({distinct})", fixed(log.reward.min, d), fixed(log.reward.max, d))
}

/// What each policy's distribution is like, how wide its band is, and what the log is worth for it.
pub(crate) fn policy_grid(evaluation: &Evaluation, shown: Shown, style: Style) -> Grid {
    let policies = &evaluation.policies;
    let mut labels = policies.first().map_or_else(Vec::new, |p| labels(&of_policy(p, shown)));
    let has_band = shown.detail == Detail::Full && policies.iter().any(|p| reach(p).is_some());
    labels.extend(has_band.then(|| "CDF band".to_owned()));
    labels.push("worth rows".to_owned());
    let band = |p: &PolicyEvaluation| match reach(p) {
        Some(reach) => Standing::of_band(&p.cdf).marked(&format!("±{reach:.4}")),
        None => DASH.to_owned(),
    };
    let column = |p: &PolicyEvaluation| Column {
        name: name(&p.name),
        kind: Kind::Value,
        cells: intervals_of(&of_policy(p, shown)),
        more: has_band.then(|| (band(p), None)).into_iter().chain([effective_rows(p, style)]).collect(),
    };
    Grid { corner: String::new(), labels, columns: policies.iter().map(column).collect() }
}

/// How far the band reaches from the estimate, at most.
pub(crate) fn reach(policy: &PolicyEvaluation) -> Option<f64> {
    let (cdf, (lower, upper)) = (&policy.cdf, band_ends(&policy.cdf));
    let ends = cdf.estimate.iter().zip(lower.iter().zip(upper));
    let reaches = ends.filter_map(|(f, (lower, upper))| Some((f - (*lower)?).max((*upper)? - f)));
    reaches.reduce(f64::max)
}

fn effective_rows(policy: &PolicyEvaluation, style: Style) -> (String, Option<Color>) {
    let ess = policy.diagnostics.design_ess;
    let text = ess.map_or(DASH.to_owned(), |ess| fixed(ess, usize::from(ess < 10.0)));
    let check = policy.diagnostics.checks.iter().find(|c| c.name() == CheckName::Ess);
    (text, check.and_then(|check| colour(check.status, style)))
}
