//! What numbers rest on and no log can show.

use slateval_stats::{Band, Bounds, Evaluation, Interval, PolicyEvaluation, Selection, Settings, Structure};

use crate::Voice;

/// What intervals above the chosen order are worth, said once, where there are any.
pub fn above_the_choice(evaluation: &Evaluation) -> Option<&'static str> {
    let text = "Intervals are taken one order above the chosen one where the log can carry it. So an effect of that \
                order that is too small to be found cannot spoil them; effects of orders further up that do not show \
                would. `if_order_holds` in the JSON has the narrower intervals of the chosen order.";
    let is_above = |p: &PolicyEvaluation| {
        p.selection.is_some() && [&p.mean, &p.variance, &p.iqr].into_iter().any(is_above_the_choice)
    };
    evaluation.policies.iter().any(is_above).then_some(text)
}

/// Whether an interval is at another order than the estimate.
fn is_above_the_choice(interval: &Interval) -> bool {
    let differs = |inner: Bounds| (inner.lower, inner.upper) != (interval.lower, interval.upper);
    interval.lower.is_some() && interval.if_order_holds.is_some_and(differs)
}

/// What weights that multiply slot ratios take for granted, said once, where there are any.
pub fn taken_for_granted(evaluation: &Evaluation, voice: Voice) -> Option<String> {
    let text = || {
        format!(
            "Taken for granted: the target fills its slots independently of each other, given the context. No log can show \
         this; if they depend on each other (no item twice, say), {}.",
            voice.joint_target_slots()
        )
    };
    let slots = evaluation.log.slots.unwrap_or(1);
    let mut policies = evaluation.policies.iter().chain(evaluation.segments.iter().flat_map(|s| &s.policies));
    policies.any(|policy| slots > 1 && multiplies_ratios(policy)).then(text)
}

/// Whether any number of a policy rests on weights of order 2 or above. Where an order was chosen and an interval stands,
/// the interval is at such an order: order 1 alone never vouches for itself.
fn multiplies_ratios(policy: &PolicyEvaluation) -> bool {
    let Some(structure) = &policy.structure else { return false };
    let is_chosen = |s: &Selection| {
        let orders = [Some(s.cdf), Some(s.mean), Some(s.variance), s.band];
        let stands = [&policy.mean, &policy.variance].into_iter().any(|interval| interval.lower.is_some());
        stands || orders.into_iter().flatten().any(|order| order > 1)
    };
    structure.needs_independent_slots() || policy.selection.as_ref().is_some_and(is_chosen)
}

/// What no log can show.
pub fn of_every_log(evaluation: &Evaluation, settings: &Settings, is_clustered: bool, voice: Voice) -> Vec<String> {
    let given = |p: &PolicyEvaluation| matches!(p.structure, Some(Structure::Given));
    let mut lines = vec![
        "Larger rewards are better.".to_owned(),
        if evaluation.policies.iter().any(given) {
            "The weights are taken as given: they are those of the target.".to_owned()
        } else {
            "The propensities are taken at their word: logging showed each action with the probability that the log \
             says, and the target would show it with the probability that is given. The checks find many wrong ones, \
             not all."
                .to_owned()
        },
        "Logging could show whatever the target would show: what it never showed has left no trace.".to_owned(),
        if is_clustered {
            "Clusters are independent of each other; slates of one cluster need not be.".to_owned()
        } else {
            format!(
                "Slates are independent of each other. If those of one user are not, intervals are too narrow: {} names \
                 the user’s column.",
                voice.flag("cluster")
            )
        },
        "The reward of a slate does not depend on the policy that showed it, nor on slates shown before, and stays \
         what it was while the log was written."
            .to_owned(),
    ];
    if settings.band == Band::Multiplier {
        lines.push("Intervals are right for many slates; the checks say when there are too few.".to_owned());
    }
    lines
}
