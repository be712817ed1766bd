//! Whether to believe the numbers: effective sample sizes and checks of what they rest on.

use crate::answer::check::{Check, Status};
use crate::answer::diagnostics::{DesignSource, Diagnostics};

use crate::answer::selection::{OrderTest, Selection};
use crate::estimate::design::ROWS_NEEDED;
use crate::estimate::design::effective_rows;
use crate::estimate::estimator::Estimator;
use crate::estimate::reward_tail::RewardTail;
use crate::estimate::terms::WeightTerm;
use crate::estimate::weight_sums::WeightSums;
use crate::math::normal;
use crate::question::correction::{Correction, CorrectionChoice};
use crate::question::structure::Structure;
use crate::summary::tally::Tally;
use crate::uncertainty::bernstein::WeightBounds;
use crate::uncertainty::limits::{FEW_GROUPS, TAIL_ROWS};
use crate::uncertainty::trust::{Trust, Trusts};

/// Rows with `Y_k > 1` below which a slot's ratios say nothing about their mean.
const FEW_HITS: u64 = 30;

impl Diagnostics {
    /// Of the logged rewards themselves: every row weighs 1.
    pub(crate) fn of_logging(n: f64) -> Self {
        Diagnostics {
            ess: Some(n),
            design_ess: Some(n),
            design_ess_from: DesignSource::Ratios,
            weight_mean: 1.0,
            weight_min: 1.0,
            weight_max: 1.0,
            negative_share: 0.0,
            max_share: Some(1.0 / n),
            weight_histogram: None,
            checks: Vec::new(),
        }
    }

    /// Of a target's weights. `alphas` are the tails that will be reported.
    pub(crate) fn new(estimator: &Estimator<'_>, alphas: &[f64]) -> Self {
        let (sums, structure) = (&estimator.sums, estimator.structure.as_ref().unwrap_or(&Structure::Additive));
        let (n, totals, tally) = (sums.n, sums.totals(), sums.weight_tally());
        let (design_ess, from) = (estimator.design_ess, estimator.design_from);
        let design = design_ess.map_or(f64::INFINITY, |ess| n / ess);
        let positive = |x: f64| (x > 0.0 && x.is_finite()).then_some(x);
        let (least, most) = (tally.min.unwrap_or(0.0), tally.max.unwrap_or(0.0));
        let ess = positive(totals[WeightTerm::GG]).map(|gg| totals[WeightTerm::G].powi(2) / gg);
        let max_share = positive(tally.absolute).map(|sum| least.abs().max(most.abs()) / sum);
        // Rows that are alike within clusters are worth fewer.
        let effect = estimator.design_effect;
        let mut checks = vec![propensities(structure, sums, (design, from), effect)];
        checks.extend(factored(structure, sums, effect));
        checks.push(effective_sample(design_ess.map(|ess| ess / effect)));
        checks.extend(tails(effective_rows(estimator), alphas));
        checks.push(concentration(max_share));
        checks.push(rewards(estimator));
        checks.extend(independent_slots(structure));
        checks.extend(paper_bias(structure));
        Diagnostics {
            ess,
            design_ess,
            design_ess_from: from,
            weight_mean: totals[WeightTerm::G] / n,
            weight_min: least,
            weight_max: most,
            negative_share: tally.negative as f64 / n,
            max_share,
            weight_histogram: tally.counts.histogram(least, most),
            checks,
        }
    }
}

/// Slot ratios and weights have mean 1 under the logging policy, whatever the rewards are: a mean far from it says that
/// propensities are wrong or that the target shows what logging never did.
fn propensities(
    structure: &Structure,
    sums: &WeightSums<'_>,
    (design, from): (f64, DesignSource),
    effect: f64,
) -> Check {
    const NAME: &str = "propensities";
    let (n, totals, tally) = (sums.n, sums.totals(), sums.tally());
    let has_chi = from == DesignSource::Chi;
    let mut worst: Option<(f64, String)> = None;
    let mut few = Vec::new();
    let mut judge = |mean: f64, variance: f64, what: String| {
        let z = if mean.abs() <= 1e-9 { 0.0 } else { (n / effect).sqrt() * mean.abs() / variance.max(0.0).sqrt() };
        // With one slot the weight is its ratio, but for rounding; the slot is the better address.
        if worst.as_ref().is_none_or(|(w, _)| z > *w * (1.0 + 1e-9)) {
            worst = Some((z, format!("{what} has mean {:.4} instead of 1", 1.0 + mean)));
        }
    };
    for k in 0..sums.slots {
        let mean = totals[WeightTerm::Z(k)] / n;
        if tally.hits[k] < FEW_HITS && sums.zz(k, k) > 0.0 && !has_chi {
            few.push(k + 1);
            continue;
        }
        let variance = if has_chi { sums.chi(k) / n } else { sums.zz(k, k) / n - mean * mean };
        judge(mean, variance, format!("the ratio pi/mu of slot {}", k + 1));
    }
    let mean = totals[WeightTerm::G] / n - 1.0;
    // The paper's literal weight has mean 1 too; a given one by its maker's word.
    let variance = match from {
        DesignSource::Chi => design - 1.0,
        DesignSource::Ratios => totals[WeightTerm::GG] / n - (totals[WeightTerm::G] / n).powi(2),
    };
    if few.is_empty() {
        judge(mean, variance, "the weight".to_owned());
    }
    let checks = sums.slots as f64 + 1.0;
    let limit = |z: f64| if has_chi { z } else { normal::upper_quantile(normal::upper_tail(z) / checks) };
    let (z, what) = worst.unwrap_or((0.0, String::new()));
    let advice = match structure {
        Structure::Given => "check how the weights were made",
        _ => {
            "the propensities are wrong, or the target shows what the logging policy never did; check the logging and \
             target columns, slot by slot"
        }
    };
    match Status::above(z, limit(3.0), limit(5.0)) {
        Status::Ok if !few.is_empty() => {
            let slots: Vec<String> = few.iter().map(ToString::to_string).collect();
            let message = format!(
                "slot {}: fewer than {FEW_HITS} rows where the target is likelier than logging: too few to tell \
                 whether the propensities are right",
                slots.join(", ")
            );
            Check::new(NAME, Status::Warn, None, message)
        }
        Status::Ok => Check::new(NAME, Status::Ok, Some(z), "slot ratios and weights have mean 1, as they should"),
        status => Check::new(NAME, status, Some(z), format!("{what} ({} away): {advice}", standard_errors(z))),
    }
}

/// `E[G Z_k] = E[chi_k]`, and chi is never negative. Without enough hits there is nothing to judge by.
pub(crate) fn chi(
    structure: &Structure,
    choice: CorrectionChoice,
    sums: &WeightSums<'_>,
    effect: f64,
) -> Option<Check> {
    const NAME: &str = "chi";
    // The identity does not hold for the paper's biased weight.
    if !sums.has_chi() || matches!(structure, Structure::PaperOrder(_)) {
        return None;
    }
    let wanted = matches!(choice, CorrectionChoice::Auto | CorrectionChoice::Fixed(Correction::Calibrated));
    let unused = if wanted { ": it was not used" } else { "" };
    let (n, tally, totals) = (sums.n, sums.tally(), sums.totals());
    if tally.negative_chi > 0 {
        let message = format!("chi is below 0 {} times, which no policy's is{unused}", tally.negative_chi);
        return Some(Check::new(NAME, Status::Fail, None, message));
    }
    let error = |k: usize| {
        let mean = (totals[WeightTerm::GZ(k)] - sums.chi(k)) / n;
        let variance = (sums.chi_error_squared(k) / n - mean * mean).max(0.0);
        if mean.abs() <= 1e-9 { 0.0 } else { (n / effect).sqrt() * mean.abs() / variance.sqrt() }
    };
    let judged = (0..sums.slots).filter(|&k| tally.hits[k] >= FEW_HITS);
    let Some((k, z)) = judged.map(|k| (k, error(k))).max_by(|a, b| a.1.total_cmp(&b.1)) else {
        let message = "too few rows where the target is likelier than logging to check the chi column";
        return Some(Check::new(NAME, Status::Warn, None, message));
    };
    let status = Status::above(z, 3.0, 5.0);
    let message = match status {
        Status::Ok => "chi agrees with the logged ratios".to_owned(),
        _ => format!(
            "chi of slot {} does not agree with the logged ratios ({} away): check that it is \
             sum_a pi(a)^2/mu(a) - 1 of the same policies{}",
            k + 1,
            standard_errors(z),
            if status == Status::Fail { unused } else { "" }
        ),
    };
    Some(Check::new(NAME, status, Some(z), message))
}

/// Slots filled independently have `E[e_2(Z)] = 0`.
fn factored(structure: &Structure, sums: &WeightSums<'_>, effect: f64) -> Option<Check> {
    if sums.slots < 2 || !structure.needs().logging {
        return None;
    }
    let (n, tally) = (sums.n, sums.tally());
    let mean = tally.pairs / n;
    let variance = tally.pairs_squared / n - mean * mean;
    let z =
        if mean.abs() <= 1e-9 || variance <= 0.0 { 0.0 } else { (n / effect).sqrt() * mean.abs() / variance.sqrt() };
    let status = Status::above(z, 3.0, f64::INFINITY);
    let message = match (status, likely_pool(tally)) {
        (Status::Ok, _) => "the logging policy's slots look independent".to_owned(),
        (_, Some(pool)) => format!(
            "the logging policy's slots do not look independent ({}): this looks like a log that shows no item twice, \
             drawn from {pool}; if so, use --structure ranking:{pool}",
            standard_errors(z)
        ),
        _ => format!(
            "the logging policy's slots do not look independent ({}): if it shows no item twice, use --structure \
             ranking:N with the number N of candidates",
            standard_errors(z)
        ),
    };
    Some(Check::new("factored", status, Some(z), message))
}

/// From how many items slates without repeats were drawn, as constant propensities tell: `1/N` in every slot, or `1/N`,
/// `1/(N-1)` and so on, if each was logged given the slots before it.
fn likely_pool(tally: &Tally) -> Option<usize> {
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-4;
    let constant = tally.smallest.iter().zip(&tally.largest).all(|(a, b)| near(*a, *b));
    let pool = (1.0 / tally.smallest.first()?).round();
    let marginal = tally.smallest.iter().all(|p| near(*p, 1.0 / pool));
    let conditional = tally.smallest.iter().zip(0..).all(|(p, k)| near(*p, 1.0 / (pool - f64::from(k))));
    (constant && pool >= tally.smallest.len() as f64 && (marginal || conditional)).then_some(pool as usize)
}

/// Joint propensities are products of the slots' only if the target fills them independently: no log can tell.
fn independent_slots(structure: &Structure) -> Option<Check> {
    structure.needs_independent_slots().then(|| {
        let message = format!(
            "{structure} takes the target's slots to be independent given the context, which no log can show: if they \
             are not, use --target-slots joint"
        );
        Check::new("target-slots", Status::Ok, None, message)
    })
}

fn effective_sample(design_ess: Option<f64>) -> Check {
    let ess = design_ess.unwrap_or(0.0);
    let status = if ess < ROWS_NEEDED {
        Status::Fail
    } else if ess < Diagnostics::ENOUGH_ROWS {
        Status::Warn
    } else {
        Status::Ok
    };
    let message = match status {
        Status::Ok => format!("the log is worth {} rows of the target's own", rounded(ess)),
        _ => format!(
            "the log is worth only {} rows of the target's own: collect more, compare a target closer to logging, or \
             assume a simpler structure",
            rounded(ess)
        ),
    };
    Check::new("ess", status, design_ess, message)
}

fn tails(effective: f64, alphas: &[f64]) -> Option<Check> {
    let alpha = alphas.iter().copied().reduce(f64::min)?;
    let rows = alpha * effective;
    let status = if rows < TAIL_ROWS {
        Status::Fail
    } else if rows < 30.0 {
        Status::Warn
    } else {
        Status::Ok
    };
    let message = match status {
        Status::Ok => format!("the {alpha} tail rests on {} effective rows", rounded(rows)),
        _ => format!("the {alpha} tail rests on {} effective rows only: look at larger alphas", rounded(rows)),
    };
    Some(Check::new("tail", status, Some(rows), message))
}

fn concentration(max_share: Option<f64>) -> Check {
    let share = max_share.unwrap_or(1.0);
    let status = Status::above(share, 0.05, 0.2);
    let message = match status {
        Status::Ok => "no single row decides the result".to_owned(),
        _ if max_share.is_none() => "all weights are 0: the log says nothing about this target".to_owned(),
        _ => format!("one row carries {:.0}% of all weight", 100.0 * share),
    };
    Check::new("concentration", status, max_share, message)
}

/// Whether rewards far out leave anything to be said of the mean and the variance.
fn rewards(estimator: &Estimator<'_>) -> Check {
    let tail = RewardTail::of(estimator);
    let shares = format!(
        "one row has {:.0}% of the weighted squares and {:.0}% of the weighted rewards",
        100.0 * tail.largest_square,
        100.0 * tail.largest_product
    );
    let value = Some(tail.weighted_index).filter(|index| index.is_finite());
    let rows = estimator.sums.n;
    let (status, message) = if tail.index < RewardTail::FOR_MEAN {
        let heavy = "rewards have so heavy a tail that a few rows not yet seen may decide the mean and the variance";
        (
            Status::Fail,
            format!("{heavy} (tail index {:.1}; {shares}): look at quantiles, or cap the reward", tail.index),
        )
    } else if tail.weighted_index < RewardTail::needed_for_variance(rows) {
        let heavy = "rewards have so heavy a tail that a few rows not yet seen may decide the variance";
        (
            Status::Warn,
            format!("{heavy} (tail index {:.1}; {shares}): look at quantiles, or cap the reward", tail.index),
        )
    } else if tail.largest_square > RewardTail::LARGE_SHARE {
        (Status::Warn, format!("{shares}: a single reward weighs heavily in the mean and the variance"))
    } else {
        (Status::Ok, "no single reward decides the mean or the variance".to_owned())
    };
    Check::new("rewards", status, value, message)
}

fn paper_bias(structure: &Structure) -> Option<Check> {
    let Structure::PaperOrder(m) = structure else { return None };
    let message = format!(
        "the paper's m-slot weight is biased for 1 < m < K (here m = {m}): effects of fewer slots are counted several \
         times over. Use order:{m}, which is not"
    );
    Some(Check::new("bias", Status::Warn, None, message))
}

/// Whether the order that was chosen from the data could be checked.
pub(crate) fn order(selection: &Selection, trusts: &Trusts) -> Check {
    let next = selection.orders.iter().find(|test| test.order == selection.cdf + 1);
    let status = match trusts.worst() {
        Trust::Stands => Status::Ok,
        Trust::Conditional(_) => Status::Warn,
        Trust::Refuted(_) | Trust::Withheld(_) => Status::Fail,
    };
    if status == Status::Ok && next.is_some_and(|test| test.critical <= 1e-12) {
        let message = "the target's slot ratios never vary together, so no test can tell the order: intervals hold only \
                       if order 1 does, and if the target's slots are independent given the context";
        return Check::new("order", Status::Warn, None, message);
    }
    let value = next.map(|test| test.statistic / test.critical);
    Check::new("order", status, value, selection.reason.clone())
}

/// Whether the log contradicts a structure that was asked for by name.
pub(crate) fn structure(structure: &Structure, tests: &[OrderTest], trusts: &Trusts) -> Option<Check> {
    let largest = |test: &OrderTest| test.statistic / test.critical;
    let value = tests.iter().map(largest).filter(|ratio| ratio.is_finite()).reduce(f64::max);
    if tests.is_empty() {
        return None;
    }
    Some(match trusts.worst() {
        Trust::Stands => {
            let message = format!("no effect shows in the log that structure {structure} leaves out");
            Check::new("structure", Status::Ok, value, message)
        }
        Trust::Conditional(why) | Trust::Refuted(why) | Trust::Withheld(why) => {
            let what = [("the CDF", &trusts.cdf), ("the mean", &trusts.mean), ("the variance", &trusts.variance)];
            let wrong: Vec<&str> =
                what.into_iter().filter(|(_, trust)| **trust != Trust::Stands).map(|(what, _)| what).collect();
            let message = format!(
                "{why}, so that {} cannot be relied on: let the order be chosen from the data, or assume less",
                listed(&wrong)
            );
            Check::new("structure", Status::Fail, value, message)
        }
    })
}

/// `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Few groups say little about how much groups vary.
pub(crate) fn clusters(occupied: usize, groups: usize) -> Check {
    let status = match occupied {
        few if few < FEW_GROUPS => Status::Fail,
        ..50 => Status::Warn,
        _ => Status::Ok,
    };
    let plural = if occupied == 1 { "" } else { "s" };
    let found = format!("rows are clustered: clusters were put into {occupied} of {groups} group{plural}");
    let message = match status {
        Status::Ok => format!("{found}, which intervals rest on"),
        Status::Warn => format!("{found}: intervals are too narrow with so few; collect more clusters"),
        Status::Fail => format!("{found}, too few for intervals; collect more clusters"),
    };
    Check::new("clusters", status, Some(occupied as f64), message)
}

/// What a guaranteed band rests on; `selected` says that the order was chosen from the data.
pub(crate) fn guarantee(WeightBounds { least, most, known }: WeightBounds, selected: bool) -> Check {
    let range = format!("weights between {} and {}", short(least), short(most));
    let (status, message) = match (known, selected) {
        (true, false) => (Status::Ok, format!("the band is guaranteed, for {range}, if the structure is right")),
        (true, true) => (
            Status::Warn,
            format!("the band is not guaranteed: the order was chosen from the data ({range}); fix --structure"),
        ),
        (false, _) => (
            Status::Warn,
            format!(
                "the band is not guaranteed: the bounds of the weights come from the log itself ({range}); with slot \
                 propensities, give --min-propensity"
            ),
        ),
    };
    Check::new("guarantee", status, None, message)
}

/// A deviation without any variation around it is beyond counting.
fn standard_errors(z: f64) -> String {
    if z < 1000.0 { format!("{z:.1} standard errors") } else { "over 1000 standard errors".to_owned() }
}

/// Four digits.
fn short(x: f64) -> String {
    if x.abs() >= 1e6 {
        format!("{x:.3e}")
    } else {
        format!("{:.4}", x).trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

fn rounded(x: f64) -> String {
    if x >= 10.0 { format!("{x:.0}") } else { format!("{x:.1}") }
}
