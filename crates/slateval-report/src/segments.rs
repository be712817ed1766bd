//! Segments side by side: who gains, who loses.

use std::collections::BTreeSet;

use slateval::{Comparison, Disparity, Evaluation, Interval, PolicyEvaluation, SegmentEvaluation, Settings};
use slateval_text::intervals::marked_segments;

use crate::grid::{Column, Grid, Kind};
use crate::html::headline_alpha;
use crate::number::{count, percent};
use crate::standing::Standing;
use crate::terminal::Detail;
use crate::text::{name, segment_name, wrap};

/// More segments than this are a file's business.
const SHOWN: usize = 20;

/// The mean reward of each segment under each policy, its difference to logging's, and that of a tail.
pub(crate) fn table(evaluation: &Evaluation, settings: &Settings, detail: Detail) -> Option<String> {
    let first = evaluation.segments.first()?;
    let shown: Vec<&SegmentEvaluation> = evaluation.segments.iter().take(SHOWN).collect();
    let grid = Grid {
        corner: format!("mean by {}", name(&first.column)),
        labels: shown.iter().map(|s| label(s)).collect(),
        columns: columns(first, &shown),
    };
    let mut text = grid.render(grid.decimals());
    let tails = if detail == Detail::Full { tails(first, &shown, settings) } else { None };
    if let Some(tails) = &tails {
        text.push_str("\n\n");
        text.push_str(&tails.render(tails.decimals().max(grid.decimals())));
    }
    let more = evaluation.segments.len() - shown.len();
    if more > 0 {
        text.push_str(&format!("\n … and {more} more, in the JSON"));
    }
    for mark in [grid].iter().chain(&tails).flat_map(marks).collect::<BTreeSet<_>>() {
        text.push_str(&format!("\n{}", wrap(mark, 1, 3)));
    }
    Some(text)
}

/// What the marks of a grid's intervals mean. Segments have reasons of their own, too many to list.
fn marks(grid: &Grid) -> impl Iterator<Item = &'static str> {
    let cells = grid.columns.iter().flat_map(|column| &column.cells);
    cells.filter_map(|cell| marked_segments(Standing::of(cell)))
}

/// The segments furthest apart, for each policy: in mean, and in each CVaR.
pub(crate) fn disparities(evaluation: &Evaluation) -> Option<String> {
    if evaluation.disparities.is_empty() {
        return None;
    }
    let label = |d: &Disparity| {
        format!("{}: {}, {} over {}", name(&d.policy), disparity_metric(d), segment_name(&d.high), segment_name(&d.low))
    };
    let cells = evaluation.disparities.iter().map(|d| d.interval.clone()).collect();
    let grid = Grid {
        corner: "furthest apart".into(),
        labels: evaluation.disparities.iter().map(label).collect(),
        columns: vec![Column { name: "difference".into(), kind: Kind::Value, cells, more: Vec::new() }],
    };
    Some(grid.render(grid.decimals()))
}

/// What two segments differ in.
pub(crate) fn disparity_metric(disparity: &Disparity) -> String {
    disparity.alpha.map_or(disparity.metric.to_owned(), |alpha| format!("CVaR {}", percent(alpha)))
}

fn label(segment: &SegmentEvaluation) -> String {
    format!("{} ({})", segment_name(&segment.value), count(segment.rows))
}

fn columns(first: &SegmentEvaluation, shown: &[&SegmentEvaluation]) -> Vec<Column> {
    let mut columns = Vec::new();
    for (i, policy) in first.policies.iter().enumerate() {
        columns.push(Column {
            name: name(&policy.name),
            kind: Kind::Value,
            cells: shown.iter().map(|s| s.policies[i].mean.clone()).collect(),
            more: Vec::new(),
        });
        let cells = shown.iter().map(|s| Some(against_logging(s, &policy.name)?.mean.clone()));
        columns.extend(difference("vs logging".into(), cells));
    }
    columns
}

/// The difference of each target's tail to logging's: the tail that headlines speak of.
fn tails(first: &SegmentEvaluation, shown: &[&SegmentEvaluation], settings: &Settings) -> Option<Grid> {
    let alpha = settings.alphas[headline_alpha(settings)?];
    let column = |policy: &PolicyEvaluation| {
        let cells = shown.iter().map(|s| {
            let mut tails = against_logging(s, &policy.name)?.cvar.iter();
            tails.find(|t| t.alpha == alpha).map(|t| t.interval.clone())
        });
        difference(format!("{} vs logging", name(&policy.name)), cells)
    };
    let columns: Vec<Column> = first.policies.iter().filter_map(column).collect();
    let corner = format!("CVaR {} by {}", percent(alpha), name(&first.column));
    (!columns.is_empty()).then(|| Grid { corner, labels: shown.iter().map(|s| label(s)).collect(), columns })
}

/// A column of differences, if every segment has one.
fn difference(name: String, cells: impl Iterator<Item = Option<Interval>>) -> Option<Column> {
    let cells: Option<Vec<Interval>> = cells.collect();
    Some(Column { name, kind: Kind::Difference, cells: cells?, more: Vec::new() })
}

pub(crate) fn against_logging<'s>(segment: &'s SegmentEvaluation, policy: &str) -> Option<&'s Comparison> {
    segment.comparisons.iter().find(|c| c.policy == policy && c.baseline == slateval::LOGGING)
}
