//! An evaluation as tables for a terminal: policies as columns, metrics as rows.

use comfy_table::Color;
use slateval::{Evaluation, Interval, LogFacts, PolicyEvaluation, Settings, Status};

use crate::grid::{Column, DASH, Grid, Kind};
use crate::number::{count, decimals, fixed, percent};
use crate::standing::{Standing, band_ends};
use crate::text::name;
use crate::{checks, compare, notes, segments, selection};

/// Whether the reader's terminal shows colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Letters alone.
    Plain,
    /// Colour for what needs attention.
    Colour,
}

/// The whole evaluation: the log, each policy's distribution and its difference to logging's, segments, what the numbers
/// assume, and what to be wary of. `settings` are those that made it.
pub fn table(evaluation: &Evaluation, settings: &Settings, style: Style) -> String {
    let policies = policy_grid(evaluation, style);
    let differences = compare::grid(evaluation);
    let decimals = policies.decimals();
    let mut parts = vec![headline(&evaluation.log), policies.render(decimals)];
    parts.extend(differences.as_ref().map(|grid| grid.render(decimals)));
    parts.extend(compare::dominance(evaluation));
    parts.extend(segments::table(evaluation, settings));
    parts.extend(segments::disparities(evaluation));

    let grids: Vec<&Grid> = [&policies].into_iter().chain(&differences).collect();
    let mut remarks = notes::missing(&grids);
    remarks.extend(notes::bands(evaluation, &remarks));
    remarks.splice(0..0, notes::confidence(evaluation, settings));
    remarks.extend(notes::clusters(evaluation));
    parts.push(remarks.join("\n"));

    let basis = evaluation.policies.iter().filter_map(selection::basis);
    let once = [selection::trust(evaluation), selection::taken_for_granted(evaluation)].into_iter().flatten();
    parts.push(basis.chain(once).collect::<Vec<_>>().join("\n"));
    let troubles = checks::troubles(evaluation, style);
    parts.push(troubles.into_iter().chain(checks::summary(evaluation)).collect::<Vec<_>>().join("\n"));
    finish(parts)
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

pub(crate) fn policy_grid(evaluation: &Evaluation, style: Style) -> Grid {
    let policies = &evaluation.policies;
    let mut labels: Vec<String> =
        policies.first().map_or_else(Vec::new, |p| metrics(p).map(|(name, _)| name).collect());
    let has_band = policies.iter().any(|p| reach(p).is_some());
    labels.extend(has_band.then(|| "CDF band".to_owned()));
    labels.push("worth rows".to_owned());
    let column = |p: &PolicyEvaluation| {
        let band = has_band.then(|| (reach(p).map_or(DASH.to_owned(), |c| of_band(p, c)), None));
        Column {
            name: name(&p.name),
            kind: Kind::Value,
            cells: metrics(p).map(|(_, interval)| interval.clone()).collect(),
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

/// Everything that is read off a policy's distribution, by name.
fn metrics(policy: &PolicyEvaluation) -> impl Iterator<Item = (String, &Interval)> {
    let tail = |what: &'static str| move |t: &slateval::TailEstimate| format!("{what} {}", percent(t.alpha));
    let (var, cvar) = (tail("VaR"), tail("CVaR"));
    [("mean".to_owned(), &policy.mean), ("std".to_owned(), &policy.std)]
        .into_iter()
        .chain(policy.quantiles.iter().map(|q| (quantile_name(q.level), &q.interval)))
        .chain([("IQR".to_owned(), &policy.iqr)])
        .chain(policy.var.iter().map(move |t| (var(t), &t.interval)))
        .chain(policy.cvar.iter().map(move |t| (cvar(t), &t.interval)))
}

fn effective_rows(policy: &PolicyEvaluation, style: Style) -> (String, Option<Color>) {
    let ess = policy.diagnostics.design_ess;
    let text = ess.map_or(DASH.to_owned(), |ess| fixed(ess, usize::from(ess < 10.0)));
    let check = policy.diagnostics.checks.iter().find(|c| c.name == "ess");
    let colour = match (style, check.map(|c| c.status)) {
        (Style::Colour, Some(Status::Fail)) => Some(Color::Red),
        (Style::Colour, Some(Status::Warn)) => Some(Color::Yellow),
        _ => None,
    };
    (text, colour)
}
