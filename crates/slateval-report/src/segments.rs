//! Segments side by side: who gains, who loses.

use slateval::{Disparity, Evaluation, Segment, SegmentEvaluation, Status};

use crate::grid::{Column, Grid, Kind};
use crate::number::{count, percent};
use crate::text::name;

/// More segments than this are a file's business.
const SHOWN: usize = 20;

/// Stands before a segment whose checks failed.
const FAILED: &str = "!";

/// The mean reward of each segment under each policy, and its difference to logging's.
pub(crate) fn table(evaluation: &Evaluation) -> Option<String> {
    let first = evaluation.segments.first()?;
    let shown: Vec<&SegmentEvaluation> = evaluation.segments.iter().take(SHOWN).collect();
    let grid = Grid {
        corner: format!("mean by {}", name(&first.column)),
        labels: shown.iter().map(|s| label(s)).collect(),
        columns: columns(first, &shown),
    };
    let mut text = grid.render(grid.decimals());
    let more = evaluation.segments.len() - shown.len();
    if more > 0 {
        text.push_str(&format!("\n … and {more} more, in the JSON"));
    }
    let failed = evaluation.segments.iter().filter(|s| has_failed(s)).count();
    if failed > 0 {
        let plural = if failed == 1 { "segment has" } else { "segments have" };
        text.push_str(&format!("\n {FAILED} {failed} {plural} failed checks: do not rely on these; the JSON says why"));
    }
    Some(text)
}

/// The segments furthest apart, for each policy: in mean, and in each CVaR.
pub(crate) fn disparities(evaluation: &Evaluation) -> Option<String> {
    if evaluation.disparities.is_empty() {
        return None;
    }
    let label = |d: &Disparity| {
        let metric = d.alpha.map_or(d.metric.to_owned(), |alpha| format!("CVaR {}", percent(alpha)));
        let value = |segment: &Segment| name(&segment.to_string());
        format!("{}: {metric}, {} over {}", name(&d.policy), value(&d.high), value(&d.low))
    };
    let cells = evaluation.disparities.iter().map(|d| d.interval.clone()).collect();
    let grid = Grid {
        corner: "furthest apart".into(),
        labels: evaluation.disparities.iter().map(label).collect(),
        columns: vec![Column { name: "difference".into(), kind: Kind::Value, cells, more: Vec::new() }],
    };
    Some(grid.render(grid.decimals()))
}

pub(crate) fn has_failed(segment: &SegmentEvaluation) -> bool {
    segment.policies.iter().any(|p| p.diagnostics.worst_status() == Status::Fail)
}

fn label(segment: &SegmentEvaluation) -> String {
    let mark = if has_failed(segment) { FAILED } else { "" };
    format!("{mark}{} ({})", name(&segment.value.to_string()), count(segment.rows))
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
        let against = |s: &SegmentEvaluation| {
            let mut all = s.comparisons.iter();
            all.find(|c| c.policy == policy.name && c.baseline == slateval::LOGGING).map(|c| c.mean.clone())
        };
        let cells: Vec<_> = shown.iter().filter_map(|s| against(s)).collect();
        if cells.len() == shown.len() {
            columns.push(Column { name: "vs logging".into(), kind: Kind::Difference, cells, more: Vec::new() });
        }
    }
    columns
}
