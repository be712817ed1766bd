//! Segments side by side: who gains, who loses.

use comfy_table::Cell;
use slateval::{Evaluation, Segment, SegmentEvaluation};

use crate::number::{count, decimals, fixed, signed};
use crate::terminal::{new_table, right};

/// More segments than this are a file's business.
const SHOWN: usize = 20;

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
    Some(text)
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
        row.push(right(&mean.map_or("–".to_owned(), |x| fixed(x, d))));
        if i > 0 {
            row.push(right(&mean.zip(logging).map_or(String::new(), |(a, b)| signed(a - b, d))));
        }
    }
    row
}
