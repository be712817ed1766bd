//! An evaluation as tables for a terminal: policies as columns, metrics as rows.

use comfy_table::Color;
use slateval::{CheckName, Evaluation, Interval, LogFacts, PolicyEvaluation, Settings, Status};
use slateval_text::{assumptions, intervals, selection, skipped};

use crate::grid::{Column, DASH, Grid, Kind};
use crate::number::{count, decimals, fixed, percent};
use crate::standing::{Standing, band_ends};
use crate::text::{name, with_items, wrap};
use crate::{Voice, checks, compare, notes, segments};

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
    let troubles = checks::troubles(evaluation, look);
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

/// Which levels are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    pub(crate) detail: Detail,
    /// Whether all quantiles are shown: those that someone asked for are.
    quantiles: bool,
    /// The same for tails.
    tails: bool,
    /// Whether no tail is shown: they say nothing, and the probabilities of few rewards stand in their place.
    no_tails: bool,
}

impl Shown {
    pub(crate) fn new(evaluation: &Evaluation, settings: &Settings, detail: Detail) -> Self {
        let usual = Settings::default();
        let is_full = detail == Detail::Full;
        Shown {
            detail,
            quantiles: is_full || settings.quantiles != usual.quantiles,
            tails: is_full || settings.alphas != usual.alphas,
            no_tails: settings.alphas == usual.alphas && has_same_tails(evaluation),
        }
    }

    pub(crate) fn quantile(self, level: f64) -> bool {
        self.quantiles || level == 0.5
    }

    pub(crate) fn tail(self, alpha: f64) -> bool {
        !self.no_tails && (self.tails || alpha == 0.1)
    }
}

/// Whether few distinct rewards leave every policy with the same tails, as those of clicks are all 0.
pub(crate) fn has_same_tails(evaluation: &Evaluation) -> bool {
    let is_few = evaluation.log.reward.distinct.is_some_and(|count| count <= Evaluation::FEW_REWARDS);
    let tails = evaluation.policies.iter().flat_map(|policy| policy.var.iter().chain(&policy.cvar));
    let mut estimates = tails.map(|tail| tail.interval.estimate);
    let first = estimates.next();
    is_few && estimates.all(|estimate| Some(estimate) == first)
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

pub(crate) fn quantile_name(level: f64) -> String {
    if level == 0.5 { "median".to_owned() } else { format!("quantile {}", percent(level)) }
}

pub(crate) fn probability_name(at_least: f64) -> String {
    format!("P(≥ {at_least})")
}

pub(crate) fn policy_grid(evaluation: &Evaluation, shown: Shown, style: Style) -> Grid {
    let policies = &evaluation.policies;
    let mut labels: Vec<String> =
        policies.first().map_or_else(Vec::new, |p| metrics(p, shown).map(|(name, _)| name).collect());
    let has_band = shown.detail == Detail::Full && policies.iter().any(|p| reach(p).is_some());
    labels.extend(has_band.then(|| "CDF band".to_owned()));
    labels.push("worth rows".to_owned());
    let column = |p: &PolicyEvaluation| {
        let band = has_band.then(|| (reach(p).map_or(DASH.to_owned(), |c| of_band(p, c)), None));
        Column {
            name: name(&p.name),
            kind: Kind::Value,
            cells: metrics(p, shown).map(|(_, interval)| interval.clone()).collect(),
            more: band.into_iter().chain([effective_rows(p, style)]).collect(),
        }
    };
    Grid { corner: String::new(), labels, columns: policies.iter().map(column).collect() }
}

fn of_band(policy: &PolicyEvaluation, reach: f64) -> String {
    Standing::of_band(&policy.cdf).marked(&format!("±{reach:.4}"))
}

/// How far the band reaches from the estimate, at most.
pub(crate) fn reach(policy: &PolicyEvaluation) -> Option<f64> {
    let (cdf, (lower, upper)) = (&policy.cdf, band_ends(&policy.cdf));
    let ends = cdf.estimate.iter().zip(lower.iter().zip(upper));
    let reaches = ends.filter_map(|(f, (lower, upper))| Some((f - (*lower)?).max((*upper)? - f)));
    reaches.reduce(f64::max)
}

/// What is read off a policy's distribution, by name.
fn metrics(policy: &PolicyEvaluation, shown: Shown) -> impl Iterator<Item = (String, &Interval)> {
    let is_full = shown.detail == Detail::Full;
    let tail = |what: &'static str| move |t: &slateval::TailEstimate| format!("{what} {}", percent(t.alpha));
    let (var, cvar) = (tail("VaR"), tail("CVaR"));
    let quantiles = policy.quantiles.iter().filter(move |q| shown.quantile(q.level));
    let tails = move |all: &'_ [slateval::TailEstimate]| -> Vec<usize> {
        (0..all.len()).filter(|&i| shown.tail(all[i].alpha)).collect()
    };
    let (var_places, cvar_places) = (tails(&policy.var), tails(&policy.cvar));
    [("mean".to_owned(), &policy.mean)]
        .into_iter()
        .chain(is_full.then_some(("std".to_owned(), &policy.std)))
        .chain(policy.probabilities.iter().map(|p| (probability_name(p.at_least), &p.interval)))
        .chain(quantiles.map(|q| (quantile_name(q.level), &q.interval)))
        .chain(is_full.then_some(("IQR".to_owned(), &policy.iqr)))
        .chain(var_places.into_iter().map(move |i| (var(&policy.var[i]), &policy.var[i].interval)))
        .chain(cvar_places.into_iter().map(move |i| (cvar(&policy.cvar[i]), &policy.cvar[i].interval)))
}

fn effective_rows(policy: &PolicyEvaluation, style: Style) -> (String, Option<Color>) {
    let ess = policy.diagnostics.design_ess;
    let text = ess.map_or(DASH.to_owned(), |ess| fixed(ess, usize::from(ess < 10.0)));
    let check = policy.diagnostics.checks.iter().find(|c| c.name() == CheckName::Ess);
    let colour = match (style, check.map(|c| c.status)) {
        (Style::Colour, Some(Status::Fail)) => Some(Color::Red),
        (Style::Colour, Some(Status::Warn)) => Some(Color::Yellow),
        _ => None,
    };
    (text, colour)
}
