//! Segments side by side: who gains, who loses.

use slateval::{Comparison, Disparity, Evaluation, Interval, SegmentEvaluation, Settings, TailEstimate};

use crate::checks::spoiled_names;
use crate::grid::{Column, Grid, Kind};
use crate::html::headline_alpha;
use crate::number::{count, percent};
use crate::text::{name, segment_name};

/// More segments than this are a file's business.
const SHOWN: usize = 20;

/// Stands before a segment that is not to be relied on.
const FAILED: &str = "!";

/// The mean reward of each segment under each policy, its difference to logging's, and that of a tail's mean.
pub(crate) fn table(evaluation: &Evaluation, settings: &Settings) -> Option<String> {
    let first = evaluation.segments.first()?;
    let shown: Vec<&SegmentEvaluation> = evaluation.segments.iter().take(SHOWN).collect();
    let grid = Grid {
        corner: format!("mean by {}", name(&first.column)),
        labels: shown.iter().map(|s| label(s)).collect(),
        columns: columns(first, &shown, headline_alpha(settings).map(|at| settings.alphas[at])),
    };
    let mut text = grid.render(grid.decimals());
    let more = evaluation.segments.len() - shown.len();
    if more > 0 {
        text.push_str(&format!("\n … and {more} more, in the JSON"));
    }
    let spoiled = evaluation.segments.iter().filter(|s| is_spoiled(s)).count();
    if spoiled > 0 {
        let plural = if spoiled == 1 { "segment" } else { "segments" };
        text.push_str(&format!(
            "\n {FAILED} {spoiled} {plural} with checks not passed: do not rely on these; the JSON says why"
        ));
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
        format!("{}: {metric}, {} over {}", name(&d.policy), segment_name(&d.high), segment_name(&d.low))
    };
    let cells = evaluation.disparities.iter().map(|d| d.interval.clone()).collect();
    let grid = Grid {
        corner: "furthest apart".into(),
        labels: evaluation.disparities.iter().map(label).collect(),
        columns: vec![Column { name: "difference".into(), kind: Kind::Value, cells, more: Vec::new() }],
    };
    Some(grid.render(grid.decimals()))
}

/// Whether any policy's numbers are not to be relied on there.
fn is_spoiled(segment: &SegmentEvaluation) -> bool {
    !spoiled_names(&segment.policies).is_empty()
}

fn label(segment: &SegmentEvaluation) -> String {
    let mark = if is_spoiled(segment) { FAILED } else { "" };
    format!("{mark}{} ({})", segment_name(&segment.value), count(segment.rows))
}

fn columns(first: &SegmentEvaluation, shown: &[&SegmentEvaluation], alpha: Option<f64>) -> Vec<Column> {
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
            all.find(|c| c.policy == policy.name && c.baseline == slateval::LOGGING).cloned()
        };
        let all: Vec<Comparison> = shown.iter().filter_map(|s| against(s)).collect();
        if all.len() < shown.len() {
            continue;
        }
        let mut add = |name: String, cells: Vec<Interval>| {
            if cells.len() == shown.len() {
                columns.push(Column { name, kind: Kind::Difference, cells, more: Vec::new() });
            }
        };
        add("vs logging".into(), all.iter().map(|c| c.mean.clone()).collect());
        let tails: Vec<&TailEstimate> =
            all.iter().filter_map(|c| c.cvar.iter().find(|t| Some(t.alpha) == alpha)).collect();
        if let Some(first) = tails.first() {
            let name = format!("CVaR {} vs logging", percent(first.alpha));
            add(name, tails.iter().map(|t| t.interval.clone()).collect());
        }
    }
    columns
}
