//! An evaluation as tables for a terminal: policies as columns, metrics as rows.

use comfy_table::{Cell, CellAlignment, Color, Table, presets};
use slateval::{Evaluation, Interval, PolicyEvaluation, Status};

use crate::number::{count, decimals, fixed, percent, signed};
use crate::segments;

/// Whether the reader's terminal shows colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Letters alone.
    Plain,
    /// Colour for what needs attention.
    Colour,
}

/// The whole evaluation: the log, each policy's distribution beside logging's, segments, and what to be wary of.
pub fn table(evaluation: &Evaluation, style: Style) -> String {
    let mut parts = vec![headline(evaluation), metrics(evaluation, style)];
    parts.extend(segments::table(evaluation));
    parts.push(basis(evaluation));
    parts.extend(checks(evaluation, style));
    // Cells are padded to the right edge, which no reader and no diff needs.
    let text = parts.join("\n\n");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn headline(evaluation: &Evaluation) -> String {
    let log = &evaluation.log;
    let slots = match log.slots {
        Some(1) => ", 1 slot".to_owned(),
        Some(k) => format!(", {k} slots"),
        None => String::new(),
    };
    let d = decimals([log.reward.min, log.reward.max].into_iter());
    let distinct = log.reward.distinct.map_or("binned".to_owned(), |n| match n {
        1 => "1 value".to_owned(),
        n => format!("{} values", count(n as u64)),
    });
    let slates = if log.rows == 1 { "slate" } else { "slates" };
    format!(
        "{} {slates}{slots}, rewards from {} to {} ({distinct})",
        count(log.rows),
        fixed(log.reward.min, d),
        fixed(log.reward.max, d)
    )
}

/// A metric: its name, its value for a policy, and whether a difference to logging says something.
struct Metric {
    name: String,
    values: Vec<Interval>,
}

fn all_metrics(policies: &[PolicyEvaluation]) -> Vec<Metric> {
    let metric = |name: String, of: &dyn Fn(&PolicyEvaluation) -> Interval| Metric {
        name,
        values: policies.iter().map(of).collect(),
    };
    let first = &policies[0];
    let mut metrics = vec![metric("mean".into(), &|p| p.mean.clone()), metric("std".into(), &|p| p.std.clone())];
    for (i, q) in first.quantiles.iter().enumerate() {
        let name = if q.level == 0.5 { "median".into() } else { format!("quantile {}", percent(q.level)) };
        metrics.push(metric(name, &|p| p.quantiles[i].interval.clone()));
    }
    metrics.push(metric("IQR".into(), &|p| p.iqr.clone()));
    for (i, t) in first.var.iter().enumerate() {
        metrics.push(metric(format!("VaR {}", percent(t.alpha)), &|p| p.var[i].interval.clone()));
    }
    for (i, t) in first.cvar.iter().enumerate() {
        metrics.push(metric(format!("CVaR {}", percent(t.alpha)), &|p| p.cvar[i].interval.clone()));
    }
    metrics
}

fn metrics(evaluation: &Evaluation, style: Style) -> String {
    let policies = &evaluation.policies;
    let mut table = new_table();
    let mut header = vec![Cell::new("")];
    for (i, policy) in policies.iter().enumerate() {
        header.push(right(&policy.name));
        if i > 0 {
            header.push(right("vs logging"));
        }
    }
    table.set_header(header);
    for metric in all_metrics(policies) {
        let d = decimals(metric.values.iter().filter_map(|v| v.estimate));
        let mut row = vec![Cell::new(&metric.name)];
        for (i, value) in metric.values.iter().enumerate() {
            row.push(right(&value.estimate.map_or("–".to_owned(), |x| fixed(x, d))));
            if i > 0 {
                let difference = value.estimate.zip(metric.values[0].estimate).map(|(a, b)| a - b);
                row.push(right(&difference.map_or(String::new(), |x| signed(x, d))));
            }
        }
        table.add_row(row);
    }
    table.add_row(effective_rows(policies, style));
    table.to_string()
}

fn effective_rows(policies: &[PolicyEvaluation], style: Style) -> Vec<Cell> {
    let mut row = vec![Cell::new("worth rows")];
    for (i, policy) in policies.iter().enumerate() {
        let ess = policy.diagnostics.design_ess;
        let text = ess.map_or("–".to_owned(), |ess| fixed(ess, usize::from(ess < 10.0)));
        let check = policy.diagnostics.checks.iter().find(|c| c.name == "ess");
        let cell = match (style, check.map(|c| c.status)) {
            (Style::Colour, Some(Status::Fail)) => right(&text).fg(Color::Red),
            (Style::Colour, Some(Status::Warn)) => right(&text).fg(Color::Yellow),
            _ => right(&text),
        };
        row.push(cell);
        if i > 0 {
            row.push(Cell::new(""));
        }
    }
    row
}

/// What the numbers assume, for each target.
fn basis(evaluation: &Evaluation) -> String {
    let line = |p: &PolicyEvaluation| {
        let (structure, correction) = (p.structure.as_ref()?, p.correction?);
        let slots =
            if structure.needs_independent_slots() { ", target slots independent given the context" } else { "" };
        let weights = match correction {
            slateval::Correction::None => "uncorrected".to_owned(),
            other => other.to_string(),
        };
        Some(format!("{}: {structure} structure, {weights} weights{slots}", p.name))
    };
    evaluation.policies.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// The checks of the whole log that did not go well, a line each.
pub fn warnings(evaluation: &Evaluation, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for policy in &evaluation.policies {
        for check in &policy.diagnostics.checks {
            let (mark, colour) = match check.status {
                Status::Ok => continue,
                Status::Warn => ("warning", "33"),
                Status::Fail => ("FAILED", "31"),
            };
            let mark = match style {
                Style::Plain => mark.to_owned(),
                Style::Colour => format!("\u{1b}[{colour}m{mark}\u{1b}[0m"),
            };
            lines.push(format!("{mark}  {}: {} — {}", policy.name, check.name, check.message));
        }
    }
    lines
}

/// What did not go well, or that everything did.
fn checks(evaluation: &Evaluation, style: Style) -> Option<String> {
    let lines = warnings(evaluation, style);
    if !lines.is_empty() {
        return Some(lines.join("\n"));
    }
    let passed: usize = evaluation.policies.iter().map(|p| p.diagnostics.checks.len()).sum();
    let whole = if evaluation.segments.is_empty() { "" } else { " of the whole log" };
    (passed > 0).then(|| format!("All {passed} checks{whole} passed."))
}

pub(crate) fn new_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

pub(crate) fn right(text: &str) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}
