//! Policies against each other: differences, and who dominates.

use slateval::{Comparison, Evaluation};
use slateval_text::comparison;

use crate::Voice;
use crate::grid::{Column, Grid, Kind};
use crate::metrics::{Shown, intervals_of, labels, of_comparison};
use crate::text::{name, wrap};

/// Differences, target minus baseline.
pub(crate) fn grid(evaluation: &Evaluation, shown: Shown) -> Option<Grid> {
    let labels = labels(&of_comparison(evaluation.comparisons.first()?, shown));
    let column = |c: &Comparison| Column {
        name: format!("{} vs {}", name(&c.policy), name(&c.baseline)),
        kind: Kind::Difference,
        cells: intervals_of(&of_comparison(c, shown)),
        more: Vec::new(),
    };
    Some(Grid { corner: "difference".into(), labels, columns: evaluation.comparisons.iter().map(column).collect() })
}

/// Whether one distribution lies above the other, a line for each comparison; nothing where it was not looked at.
pub(crate) fn dominance(evaluation: &Evaluation, voice: Voice) -> Option<String> {
    let lines = evaluation.comparisons.iter().filter_map(|c| comparison::dominance(c, voice));
    let lines: Vec<String> = lines.map(|line| wrap(&line, 0, 2)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
