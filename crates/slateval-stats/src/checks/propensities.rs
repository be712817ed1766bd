//! Whether propensities, chi and the independence of slots look right.
//! See docs/methods.md, sections 8.1, 8.2 and 8.3.

use crate::correction::corrected::ROUNDING_VARIANCE;
use crate::correction::terms::WeightTerm;
use crate::correction::weight_sums::WeightSums;
use crate::distribution::estimator::Estimator;
use crate::math::normal;
use crate::result::check::{Check, Status};
use crate::result::diagnostics::DesignSource;
use crate::result::finding::{Finding, Remedy};
use crate::spec::correction::{Correction, CorrectionChoice};
use crate::spec::propensity_source::PropensitySource;
use crate::spec::structure::Structure;
use crate::sums::tally::Tally;

/// Rows with `Y_k > 1` below which a slot's ratios say nothing about their mean.
const FEW_HITS: u64 = 30;

/// Standard errors beyond which a check warns, and beyond which it fails.
const WARN: f64 = 3.0;
const FAIL: f64 = 5.0;

/// The mean of a ratio or of the weight that lies furthest from 1.
struct Furthest {
    slot: Option<usize>,
    mean: f64,
    deviation: f64,
    /// Whether the target is hardly ever likelier than logging there.
    has_few_hits: bool,
}

/// What the variances of ratios and weights are taken from.
struct Design {
    /// `E[G^2]`.
    second_moment: f64,
    from: DesignSource,
    /// How many times more the mean weight varies than if rows were independent.
    effect: f64,
}

/// The check of an estimator's ratios and weights.
pub(crate) fn of_estimator(estimator: &Estimator<'_>) -> Check {
    let structure = estimator.structure.as_ref().unwrap_or(&Structure::Additive);
    let second_moment = estimator.design_ess.map_or(f64::INFINITY, |ess| estimator.sums.n / ess);
    // Rows that are alike within clusters are worth fewer.
    let design = Design { second_moment, from: estimator.design_from, effect: estimator.design_effect };
    propensities(structure, &estimator.sums, &design)
}

/// Slot ratios and weights have mean 1 under the logging policy, whatever the rewards are: a mean far from it says that
/// propensities are wrong or that the target shows what logging never did.
fn propensities(structure: &Structure, sums: &WeightSums<'_>, design: &Design) -> Check {
    let (n, totals, tally) = (sums.n, sums.totals(), sums.tally());
    let has_chi = design.from == DesignSource::Chi;
    let mut worst: Option<Furthest> = None;
    let mut few = Vec::new();
    let mut judge = |slot: Option<usize>, mean: f64, variance: f64, has_few_hits: bool| {
        let deviation = in_standard_errors(mean, variance.max(0.0), n / design.effect);
        // With one slot the weight is its ratio, but for rounding; the slot is the better address.
        if worst.as_ref().is_none_or(|w| deviation > w.deviation * (1.0 + 1e-9)) {
            worst = Some(Furthest { slot, mean: 1.0 + mean, deviation, has_few_hits });
        }
    };
    for k in (0..sums.slots).filter(|&k| is_changed(sums, k)) {
        let mean = totals[WeightTerm::Z(k)] / n;
        let has_few_hits = tally.hits[k] < FEW_HITS && !has_chi;
        if has_few_hits {
            few.push(k + 1);
        }
        let variance = if has_chi { sums.chi(k) / n } else { sums.zz(k, k) / n - mean * mean };
        // Hits that are yet to come explain a mean below 1, but no estimate can do without them.
        if !has_few_hits || mean < 0.0 {
            judge(Some(k + 1), mean, variance, has_few_hits);
        }
    }
    // The paper's literal weight has mean 1 too; a given one by its maker's word.
    let variance = match design.from {
        DesignSource::Chi => design.second_moment - 1.0,
        DesignSource::Ratios => totals[WeightTerm::GG] / n - (totals[WeightTerm::G] / n).powi(2),
    };
    let mean = totals[WeightTerm::G] / n - 1.0;
    if few.is_empty() && variance + mean * mean > ROUNDING_VARIANCE {
        judge(None, mean, variance, false);
    }
    let checks = sums.slots as f64 + 1.0;
    let limit = |z: f64| if has_chi { z } else { normal::upper_quantile(normal::upper_tail(z) / checks) };
    let none = Furthest { slot: None, mean: 1.0, deviation: 0.0, has_few_hits: false };
    let Furthest { slot, mean, deviation, has_few_hits } = worst.unwrap_or(none);
    match Status::above(deviation, limit(WARN), limit(FAIL)) {
        Status::Ok if !few.is_empty() => {
            Check::new(Status::Warn, None, Finding::FewHits { slots: few, needed: FEW_HITS })
        }
        Status::Ok => Check::new(Status::Ok, Some(deviation), Finding::RatiosAverageOne),
        status if has_few_hits => Check::new(status, Some(deviation), Finding::NotShown { slot, share: mean }),
        status => {
            let is_given = *structure == Structure::Given;
            Check::new(status, Some(deviation), Finding::RatioMean { slot, mean, deviation, is_given })
        }
    }
}

/// Whether a target's slot differs from the logged one by more than rounding, so that its ratios can be judged.
pub(crate) fn is_changed(sums: &WeightSums<'_>, slot: usize) -> bool {
    sums.zz(slot, slot) / sums.n > ROUNDING_VARIANCE
}

/// A warning that no number is to be relied on alone if the propensities are an estimate. Nothing in a log can show what
/// the logging policy looked at beside what the estimate was told.
pub(crate) fn estimated(source: PropensitySource) -> Option<Check> {
    (!source.is_known()).then(|| Check::new(Status::Warn, None, Finding::PropensitiesAreEstimated))
}

/// How far a mean lies from 0; rounding is no deviation.
fn in_standard_errors(mean: f64, variance: f64, rows: f64) -> f64 {
    if mean.abs() <= 1e-9 { 0.0 } else { rows.sqrt() * mean.abs() / variance.sqrt() }
}

/// `E[G Z_k] = E[chi_k]`, and chi is never negative. Without enough hits there is nothing to judge by.
pub(crate) fn chi(
    structure: &Structure,
    choice: CorrectionChoice,
    sums: &WeightSums<'_>,
    effect: f64,
) -> Option<Check> {
    // The identity does not hold for the paper's biased weight.
    if !sums.has_chi() || matches!(structure, Structure::PaperOrder(_)) {
        return None;
    }
    let was_wanted = matches!(choice, CorrectionChoice::Auto | CorrectionChoice::Fixed(Correction::Calibrated));
    let (n, tally, totals) = (sums.n, sums.tally(), sums.totals());
    if tally.negative_chi > 0 {
        let finding = Finding::NegativeChi { times: tally.negative_chi, was_wanted };
        return Some(Check::new(Status::Fail, None, finding));
    }
    let deviation = |k: usize| {
        let mean = (totals[WeightTerm::GZ(k)] - sums.chi(k)) / n;
        let variance = (sums.chi_error_squared(k) / n - mean * mean).max(0.0);
        in_standard_errors(mean, variance, n / effect)
    };
    let judged = (0..sums.slots).filter(|&k| tally.hits[k] >= FEW_HITS && is_changed(sums, k));
    let Some((k, deviation)) = judged.map(|k| (k, deviation(k))).max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Some(Check::new(Status::Warn, None, Finding::ChiUntested));
    };
    let status = Status::above(deviation, WARN, FAIL);
    let finding = match status {
        Status::Ok => Finding::ChiAgrees,
        _ => Finding::ChiDisagrees { slot: k + 1, deviation, was_dropped: was_wanted && status == Status::Fail },
    };
    Some(Check::new(status, Some(deviation), finding))
}

/// Slots filled independently have `E[e_2(Z)] = 0`.
pub(crate) fn factored(structure: &Structure, sums: &WeightSums<'_>, effect: f64, remedy: Remedy) -> Option<Check> {
    if sums.slots < 2 || !structure.needs().logging {
        return None;
    }
    let (n, tally) = (sums.n, sums.tally());
    let mean = tally.pairs / n;
    let variance = tally.pairs_squared / n - mean * mean;
    let deviation = if variance <= 0.0 { 0.0 } else { in_standard_errors(mean, variance, n / effect) };
    let status = Status::above(deviation, WARN, f64::INFINITY);
    let finding = match status {
        Status::Ok => Finding::SlotsLookIndependent,
        _ => Finding::SlotsLookDependent { deviation, pool: likely_pool(tally), remedy },
    };
    Some(Check::new(status, Some(deviation), finding))
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
