//! Segments side by side: who gains, who loses.

use comfy_table::Cell;
use slateval::{Evaluation, Segment, SegmentEvaluation, Status};

use crate::number::{count, decimals, fixed, signed};
use crate::terminal::{new_table, right};

/// More segments than this are a file's business.
const SHOWN: usize = 20;

/// Stands before a number whose checks failed.
const FAILED: &str = "!";

/// The mean reward of each segment under each policy.
pub(crate) fn table(evaluation: &Evaluation) -> Option<String> {
    let first = evaluation.segments.first()?;
    let mut table = new_table();
    let mut header = vec![Cell::new(format!("mean by {}", first.column)), right("slates")];
    for (i, policy) in first.policies.iter().enumerate() {
        header.push(right(&policy.name));
        if i > 0 {
            header.push(right("vs logging"));
        }
    }
    table.set_header(header);
    let shown: Vec<&SegmentEvaluation> = evaluation.segments.iter().take(SHOWN).collect();
    let means = shown.iter().flat_map(|s| s.policies.iter().filter_map(|p| p.mean.estimate));
    let d = decimals(means);
    for segment in &shown {
        table.add_row(row(segment, d));
    }
    let mut text = table.to_string();
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

fn has_failed(segment: &SegmentEvaluation) -> bool {
    segment.policies.iter().any(|p| p.diagnostics.worst_status() == Status::Fail)
}

fn row(segment: &SegmentEvaluation, d: usize) -> Vec<Cell> {
    let name = match &segment.value {
        Segment::Text(text) => text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        other => other.to_string(),
    };
    let mut row = vec![Cell::new(name), right(&count(segment.rows))];
    let logging = segment.policies[0].mean.estimate;
    for (i, policy) in segment.policies.iter().enumerate() {
        let mean = policy.mean.estimate;
        let mark = if policy.diagnostics.worst_status() == Status::Fail { FAILED } else { "" };
        row.push(right(&mean.map_or("–".to_owned(), |x| format!("{mark}{}", fixed(x, d)))));
        if i > 0 {
            row.push(right(&mean.zip(logging).map_or(String::new(), |(a, b)| signed(a - b, d))));
        }
    }
    row
}
