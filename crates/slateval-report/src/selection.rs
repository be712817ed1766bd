//! How the order of the weights was chosen, in words.

use slateval::{Evaluation, FunctionalTest, OrderTest, PolicyEvaluation, Selection};

use crate::text::{name, printable, wrap};

/// What a target's numbers assume: its structure and weights, and how the order was chosen if it was.
pub(crate) fn basis(policy: &PolicyEvaluation) -> Option<String> {
    let line = wrap(&assumed(policy)?, 0, 2);
    Some(match &policy.selection {
        None => line,
        Some(selection) => format!("{line}\n{}", wrap(&words(selection), 2, 2)),
    })
}

/// A target's structure and weights.
pub(crate) fn assumed(policy: &PolicyEvaluation) -> Option<String> {
    let (structure, correction) = (policy.structure.as_ref()?, policy.correction?);
    let above_one =
        |s: &Selection| [Some(s.cdf), Some(s.mean), Some(s.variance), s.band].into_iter().flatten().any(|m| m > 1);
    let independent = structure.needs_independent_slots() || policy.selection.as_ref().is_some_and(above_one);
    let slots = if independent { ", target slots independent given the context" } else { "" };
    let weights = match correction {
        slateval::Correction::None => "uncorrected".to_owned(),
        other => other.to_string(),
    };
    let structure = printable(&structure.to_string()).into_owned();
    Some(format!("{}: {structure} structure, {weights} weights{slots}", name(&policy.name)))
}

/// What was chosen, on what grounds: the tests up to the first order that was not needed. Why the choice could not be
/// validated, where it could not.
pub(crate) fn words(selection: &Selection) -> String {
    let Selection { cdf, mean, variance, .. } = selection;
    let chosen =
        format!("Order chosen from the data: {cdf} for the CDF, {mean} for the mean, {variance} for the variance");
    let needed = cdf.max(mean).max(variance) + 1;
    let tests: Vec<String> = selection.orders.iter().filter(|test| test.order <= needed).map(order).collect();
    let tested = if tests.is_empty() {
        String::new()
    } else {
        format!(" Tested against their critical values: {}.", tests.join("; "))
    };
    match selection.band {
        Some(order) => format!("{chosen}; the band is at order {order}.{tested}"),
        None => format!("{chosen}.{tested} Not validated: {}.", printable(&selection.reason)),
    }
}

fn order(test: &OrderTest) -> String {
    let OrderTest { order, statistic, critical, active, mean, variance, .. } = test;
    let cdf = FunctionalTest { statistic: *statistic, critical: *critical, active: *active };
    let one = |what: &str, test: &FunctionalTest| {
        let sign = if test.active { '>' } else { '≤' };
        format!("{what} {} {sign} {}", short(test.statistic), short(test.critical))
    };
    format!("order {order}: {}, {}, {}", one("CDF", &cdf), one("mean", mean), one("variance", variance))
}

/// Three digits.
fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let places = (2.0 - x.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{x:.places$}")
}

/// What the intervals of a chosen order are worth, said once, where they are at another order.
pub(crate) fn trust(evaluation: &Evaluation) -> Option<String> {
    let above = |p: &PolicyEvaluation| {
        crate::notes::has_band(p) && p.selection.as_ref().is_some_and(|s| s.band.is_some_and(|band| band > s.cdf))
    };
    let text = "Intervals are taken one order above the chosen one, so that they need not trust the choice; \
                `if_order_holds` in the JSON has those that do.";
    evaluation.policies.iter().any(above).then(|| wrap(text, 0, 0))
}
