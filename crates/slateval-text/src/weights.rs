//! How a policy's weights are spread, in a sentence.

use slateval_stats::Diagnostics;

use crate::number::{count, fixed, percent};

/// What the log is worth by these weights, and how far they range. `rows` are those of the log.
pub fn spread(diagnostics: &Diagnostics, rows: u64) -> String {
    format!(
        "Worth {} of the log’s {} slates. Weights from {} to {}; {}; the largest is {} of the sum of all.",
        diagnostics.design_ess.map_or("an unknown number of".to_owned(), |ess| fixed(ess, 0)),
        count(rows),
        fixed(diagnostics.weight_min, 2),
        fixed(diagnostics.weight_max, 2),
        below_zero(diagnostics.negative_share),
        diagnostics.max_share.map_or("an unknown share".to_owned(), |s| percent((s * 1e4).round() / 1e4)),
    )
}

fn below_zero(share: f64) -> String {
    if share == 0.0 {
        return "none of them is below 0".to_owned();
    }
    let share = match (share * 1000.0).round() / 1000.0 {
        0.0 => "less than 0.1%".to_owned(),
        share => percent(share),
    };
    format!("{share} of them below 0, which is normal")
}
