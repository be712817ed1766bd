//! How the order of the weights was chosen, in words.

use slateval::{Advice, Evaluation, FunctionalTest, Interval, OrderTest, PolicyEvaluation, Selection, Words};

use crate::Voice;
use crate::text::{name, shown, wrap};

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
    let weights = match correction {
        slateval::Correction::None => "uncorrected".to_owned(),
        other => other.to_string(),
    };
    let structure = shown(&structure.to_string()).into_owned();
    Some(format!("{}: {structure} structure, {weights} weights", name(&policy.name)))
}

/// What was chosen, at which order the band is, and the tests that the choice rests on.
pub(crate) fn words(selection: &Selection) -> String {
    let Selection { cdf, mean, variance, band, .. } = selection;
    let band = band.map_or(String::new(), |order| format!("; the band is at order {order}"));
    let doubt = match selection.band {
        _ if is_contradicted(selection) => " The log contradicts this: the check `order` says why.",
        None => " The log cannot tell whether this is enough: the check `order` says why.",
        Some(_) => "",
    };
    let chosen = format!(
        "Order chosen from the data: {cdf} for the CDF, {mean} for the mean, {variance} for the variance{band}.{doubt}"
    );
    match tests(selection) {
        None => chosen,
        Some(tests) => format!("{chosen} Tested against their critical values, at a joint level of 5%: {tests}."),
    }
}

/// The tests of all orders: with numbers up to the first order that was not needed, and for orders that show; the others
/// by name, and so is one that cannot show because the target changes fewer slots.
fn tests(selection: &Selection) -> Option<String> {
    let needed = selection.cdf.max(selection.mean).max(selection.variance) + 1;
    let is_told = |test: &&OrderTest| {
        test.critical > 0.0 && test.order <= needed || test.active || test.mean.active || test.variance.active
    };
    let (told, silent): (Vec<&OrderTest>, Vec<&OrderTest>) = selection.orders.iter().partition(is_told);
    let mut parts: Vec<String> = told.into_iter().map(order).collect();
    let silent: Vec<String> = silent.into_iter().map(number).collect();
    parts.extend(match &silent[..] {
        [] => None,
        [one] => Some(format!("order {one} does not show")),
        [all @ .., last] => Some(format!("orders {} and {last} do not show", all.join(", "))),
    });
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// `3`, or `5 or more`.
fn number(test: &OrderTest) -> String {
    format!("{}{}", test.order, if test.and_above { " or more" } else { "" })
}

/// Whether an order shows in the log that is above the one used: for the CDF, the mean or the variance.
fn is_contradicted(Selection { orders, cdf, mean, variance, .. }: &Selection) -> bool {
    let is_above = |test: &OrderTest| {
        let shows = [(cdf, test.active), (mean, test.mean.active), (variance, test.variance.active)];
        shows.into_iter().any(|(used, active)| active && test.order > *used)
    };
    orders.iter().any(is_above)
}

fn order(test: &OrderTest) -> String {
    let one = |what: &str, test: &FunctionalTest| {
        let (sign, remark) = match (test.statistic > test.critical, test.active) {
            (true, true) => ('>', ""),
            // All orders share one level: one that is judged before it may have ended the search.
            (true, false) => ('>', " (by itself, not jointly)"),
            (false, _) => ('≤', ""),
        };
        format!("{what} {} {sign} {}{remark}", short(test.statistic), short(test.critical))
    };
    format!(
        "order {}: {}, {}, {}",
        number(test),
        one("CDF", &test.cdf()),
        one("mean", &test.mean),
        one("variance", &test.variance)
    )
}

/// Three digits.
fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let places = (2.0 - x.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{x:.places$}")
}

/// What intervals above the chosen order are worth, said once, where there are any.
pub(crate) fn trust(evaluation: &Evaluation) -> Option<String> {
    let text = "Intervals are taken one order above the chosen one where the log can carry it. So an effect of that \
                order that is too small to be found cannot spoil them; effects of orders further up that do not show \
                would. `if_order_holds` in the JSON has the narrower intervals of the chosen order.";
    let is_above = |p: &PolicyEvaluation| {
        p.selection.is_some() && [&p.mean, &p.variance, &p.iqr].into_iter().any(is_above_the_choice)
    };
    evaluation.policies.iter().any(is_above).then(|| wrap(text, 0, 0))
}

/// Whether an interval is at another order than the estimate.
fn is_above_the_choice(interval: &Interval) -> bool {
    let differs = |inner: slateval::Bounds| (inner.lower, inner.upper) != (interval.lower, interval.upper);
    interval.lower.is_some() && interval.if_order_holds.is_some_and(differs)
}

/// What weights that multiply slot ratios take for granted, said once, where there are any.
pub(crate) fn taken_for_granted(evaluation: &Evaluation, voice: Voice) -> Option<String> {
    let text = format!(
        "Taken for granted: the target fills its slots independently of each other, given the context. No log can show \
         this; if they depend on each other (no item twice, say), {}.",
        voice.advice(Advice::JointTargetSlots)
    );
    let slots = evaluation.log.slots.unwrap_or(1);
    let mut policies = evaluation.policies.iter().chain(evaluation.segments.iter().flat_map(|s| &s.policies));
    policies.any(|policy| slots > 1 && multiplies_ratios(policy)).then(|| wrap(&text, 0, 0))
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
