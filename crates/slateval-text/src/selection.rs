//! How the order of the weights was chosen, in words.

use slateval_stats::{Correction, FunctionalTest, OrderTest, PolicyEvaluation, Selection};

use crate::{name, shown};

/// A target's structure and weights.
pub fn assumed(policy: &PolicyEvaluation) -> Option<String> {
    let (structure, correction) = (policy.structure.as_ref()?, policy.correction?);
    let weights = match correction {
        Correction::None => "uncorrected".to_owned(),
        other => other.to_string(),
    };
    let structure = shown(&structure.to_string()).into_owned();
    Some(format!("{}: {structure} structure, {weights} weights", name(&policy.name)))
}

/// What was chosen, at which order the band is, and the tests that the choice rests on.
pub fn words(selection: &Selection) -> String {
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
