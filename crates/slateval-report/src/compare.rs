//! Policies against each other: differences, and who dominates.

use slateval::{Comparison, Dominance, Evaluation};

use crate::Voice;
use crate::grid::{Column, Grid, Kind};
use crate::number::percent;
use crate::terminal::{Shown, probability_name, quantile_name};
use crate::text::{name, wrap};

/// Differences, target minus baseline.
pub(crate) fn grid(evaluation: &Evaluation, shown: Shown) -> Option<Grid> {
    let first = evaluation.comparisons.first()?;
    let mut labels = vec!["mean".to_owned()];
    labels.extend(first.probabilities.iter().map(|p| probability_name(p.at_least)));
    let quantiles = first.quantiles.iter().map(|q| q.level).filter(|level| shown.quantile(*level));
    labels.extend(quantiles.map(quantile_name));
    let tails = first.cvar.iter().map(|t| t.alpha).filter(|alpha| shown.tail(*alpha));
    labels.extend(tails.map(|alpha| format!("CVaR {}", percent(alpha))));
    let column = |c: &Comparison| Column {
        name: title(c),
        kind: Kind::Difference,
        cells: [&c.mean]
            .into_iter()
            .chain(c.probabilities.iter().map(|p| &p.interval))
            .chain(c.quantiles.iter().filter(|q| shown.quantile(q.level)).map(|q| &q.interval))
            .chain(c.cvar.iter().filter(|t| shown.tail(t.alpha)).map(|t| &t.interval))
            .cloned()
            .collect(),
        more: Vec::new(),
    };
    Some(Grid { corner: "difference".into(), labels, columns: evaluation.comparisons.iter().map(column).collect() })
}

fn title(comparison: &Comparison) -> String {
    format!("{} vs {}", name(&comparison.policy), name(&comparison.baseline))
}

/// Whether one distribution lies above the other, in words; nothing where it was not looked at.
pub(crate) fn dominance(evaluation: &Evaluation, voice: Voice) -> Option<String> {
    let line = |c: &Comparison| {
        let (policy, baseline) = (name(&c.policy), name(&c.baseline));
        let over = |better: &str, worse: &str| {
            format!(
                "{better} dominates {worse}: its rewards are larger wherever either CDF is between 5% and 95%, and nowhere shown to be smaller"
            )
        };
        let refuted = || c.quantiles.iter().map(|q| &q.interval).find(|interval| interval.refuted.is_some());
        Some(wrap(
            &match c.dominance {
                Some(Dominance::Policy) => over(&policy, &baseline),
                Some(Dominance::Baseline) => over(&baseline, &policy),
                Some(Dominance::None) => format!("{policy} vs {baseline}: neither is shown to dominate the other"),
                None => {
                    let reason = voice.reason(refuted()?.reason.as_ref()?);
                    format!("{policy} vs {baseline}: cannot tell whether one dominates ({reason})")
                }
            },
            0,
            2,
        ))
    };
    let lines: Vec<String> = evaluation.comparisons.iter().filter_map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
