//! What a comparison of two policies shows, in sentences.

use slateval_stats::{Comparison, Dominance};

use crate::{Voice, name};

/// Whether one distribution lies above the other; none where it was not looked at.
pub fn dominance(comparison: &Comparison, voice: Voice) -> Option<String> {
    let (policy, baseline) = (name(&comparison.policy), name(&comparison.baseline));
    let over = |better: &str, worse: &str| {
        format!(
            "{better} dominates {worse}: its rewards are larger wherever either CDF is between 5% and 95%, and nowhere shown \
             to be smaller"
        )
    };
    Some(match comparison.dominance {
        Some(Dominance::Policy) => over(&policy, &baseline),
        Some(Dominance::Baseline) => over(&baseline, &policy),
        Some(Dominance::None) => format!("{policy} vs {baseline}: neither is shown to dominate the other"),
        None => {
            let refuted = comparison.quantiles.iter().map(|q| &q.interval).find(|i| i.refuted.is_some())?;
            let reason = voice.reason(refuted.reason.as_ref()?);
            format!("{policy} vs {baseline}: cannot tell whether one dominates ({reason})")
        }
    })
}
