//! Differences: between policies, and between segments under one policy.
//! See docs/methods.md, sections 6.14, 6.16 and 6.17.

use crate::distribution::curve::just_below;
use crate::interval::limits::{Limits, Reach, z};
use crate::interval::policy::{DifferenceUncertainty, Estimators, Gap};
use crate::interval::readings::read;
use crate::interval::standing;
use crate::math::normal;
use crate::result::comparison::{Comparison, Disparity, Dominance};
use crate::result::evaluation::{PolicyEvaluation, SegmentEvaluation};
use crate::result::interval::{Bounds, Interval, ProbabilityEstimate, QuantileEstimate, TailEstimate};
use crate::result::reason::Reason;
use crate::result::trust::{Trust, Trusts};
use crate::spec::combination::Metric;
use crate::spec::segment::Segment;
use crate::spec::settings::Settings;

/// A policy's name, and the estimators that its estimates come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'n, 'e, 'a> {
    pub(crate) name: &'n str,
    pub(crate) estimators: Estimators<'e, 'a>,
}

/// Two policies to be compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared<'n, 'e, 'a> {
    pub(crate) policy: Side<'n, 'e, 'a>,
    pub(crate) baseline: Side<'n, 'e, 'a>,
    /// Whether an order was chosen from the data for either.
    pub(crate) selected: bool,
    pub(crate) trusts: &'n Trusts,
}

/// Policy minus baseline. `uncertainty` is at each order that intervals are taken at.
pub(crate) fn compare(
    Compared { policy, baseline, selected, trusts }: Compared<'_, '_, '_>,
    uncertainty: &[DifferenceUncertainty],
    settings: &Settings,
) -> Comparison {
    let mean = |side: Side<'_, '_, '_>| side.estimators.mean.moments.reward_mean();
    let value =
        |side: Side<'_, '_, '_>, metric: Metric| read(metric, side.estimators.cdf.distribution.curve(), settings.tail);
    let difference = |metric: Metric| value(policy, metric) - value(baseline, metric);
    let interval = |estimate: f64, of: &dyn Fn(&DifferenceUncertainty) -> &Limits| {
        standing::interval(estimate, &uncertainty.iter().map(of).collect::<Vec<_>>(), selected, &trusts.cdf)
    };
    let means: Vec<&Limits> = uncertainty.iter().map(|u| &u.mean).collect();
    let cvar = |(i, &alpha): (usize, &f64)| {
        let bias = uncertainty.first().and_then(|u| u.cvar_bias.as_ref()).filter(|_| settings.debias_cvar);
        let bias = bias.map_or(0.0, |bias| bias[i]);
        TailEstimate { alpha, interval: interval(difference(Metric::Cvar(alpha)) - bias, &|u| &u.cvar[i]) }
    };
    let quantile = |i: usize, of: &dyn Fn(&DifferenceUncertainty) -> &Limits| {
        let level = settings.quantiles[i];
        QuantileEstimate { level, interval: interval(difference(Metric::Quantile(level)), of) }
    };
    let bins = &policy.estimators.cdf.distribution.bins;
    let probability = |(i, &at_least): (usize, &f64)| {
        let estimate = -difference(Metric::Probability(just_below(bins, at_least)));
        ProbabilityEstimate { at_least, interval: interval(estimate, &|u| &u.probabilities[i]) }
    };
    let quantiles = 0..settings.quantiles.len();
    Comparison {
        policy: policy.name.to_owned(),
        baseline: baseline.name.to_owned(),
        paired: true,
        mean: standing::interval(mean(policy) - mean(baseline), &means, selected, &trusts.mean),
        cvar: settings.alphas.iter().enumerate().map(cvar).collect(),
        quantiles: quantiles.clone().map(|i| quantile(i, &|u| &u.quantiles[i])).collect(),
        probabilities: settings.at_least.iter().enumerate().map(probability).collect(),
        quantile_band: quantiles.map(|i| quantile(i, &|u| &u.quantile_band[i])).collect(),
        dominance: dominance(uncertainty, z(settings)).filter(|_| trusts.cdf == Trust::Stands),
    }
}

/// One dominates if its CDF is shown to lie below the other's at every reward in the interior, at every order
/// (an intersection of tests, so that each may be made at the full level), and nowhere shown to lie above.
fn dominance(uncertainty: &[DifferenceUncertainty], z: f64) -> Option<Dominance> {
    let gaps: Vec<Gap> = uncertainty.iter().map(|u| u.gap).collect::<Option<_>>()?;
    let below = |gap: &Gap| gap.interior.is_some_and(|(_, most)| most < -z) && gap.everywhere.1 <= z;
    let above = |gap: &Gap| gap.interior.is_some_and(|(least, _)| least > z) && gap.everywhere.0 >= -z;
    Some(if gaps.iter().all(below) {
        Dominance::Policy
    } else if gaps.iter().all(above) {
        Dominance::Baseline
    } else {
        Dominance::None
    })
}

/// The segments furthest apart, for each policy: in mean, and in each CVaR.
///
/// Which two they are was found by looking: their intervals are widened so that those of all pairs of segments hold at
/// once.
pub(crate) fn disparities(
    policies: &[PolicyEvaluation],
    segments: &[SegmentEvaluation],
    settings: &Settings,
) -> Vec<Disparity> {
    let mut found = Vec::new();
    if segments.len() < 2 {
        return found;
    }
    let pairs = (segments.len() * (segments.len() - 1) / 2) as f64;
    let at_once = normal::upper_quantile((1.0 - settings.confidence) / 2.0 / pairs) / z(settings);
    for (p, policy) in policies.iter().enumerate() {
        let mut widest = |metric, alpha, of: &dyn Fn(&PolicyEvaluation) -> &Interval| {
            let with_estimate = |s: &'_ SegmentEvaluation| {
                Some((s.value.clone(), of(&s.policies[p]).clone(), of(&s.policies[p]).estimate?))
            };
            let mut values: Vec<(Segment, Interval, f64)> = segments.iter().filter_map(with_estimate).collect();
            // A segment too small for an interval may well be furthest out, and says nothing.
            let is_told =
                |(_, interval, _): &(Segment, Interval, f64)| interval.lower.is_some() && interval.upper.is_some();
            if values.iter().filter(|value| is_told(value)).count() >= 2 {
                values.retain(is_told);
            }
            let low = values.iter().min_by(|a, b| a.2.total_cmp(&b.2));
            let high = values.iter().max_by(|a, b| a.2.total_cmp(&b.2));
            if let (Some(low), Some(high)) = (low, high) {
                let interval = difference(&high.1, &low.1, at_once);
                let (low, high) = (low.0.clone(), high.0.clone());
                found.push(Disparity { policy: policy.name.clone(), metric, alpha, low, high, interval });
            }
        };
        widest("mean", None, &|p| &p.mean);
        for (i, tail) in policy.cvar.iter().enumerate() {
            widest("cvar", Some(tail.alpha), &|p| &p.cvar[i].interval);
        }
    }
    found
}

/// The difference of two independent estimates; the squares of the intervals' arms, widened, add up.
fn difference(a: &Interval, b: &Interval, wider: f64) -> Interval {
    let (Some(x), Some(y)) = (a.estimate, b.estimate) else {
        return Interval::missing(Reason::NoEstimateOfOne);
    };
    let arm = |a_end: Option<f64>, b_end: Option<f64>| Some(wider * (x - a_end?).hypot(y - b_end?));
    let (a_ends, b_ends) = (ends(a), ends(b));
    let limits = match (arm(a_ends.lower, b_ends.upper), arm(a_ends.upper, b_ends.lower)) {
        (Some(down), Some(up)) => Ok(Reach {
            bounds: Bounds { lower: Some(x - y - down), upper: Some(x - y + up) },
            se: a.se.zip(b.se).map(|(a, b)| a.hypot(b)),
        }),
        _ => {
            let reason = a.reason.clone().or_else(|| b.reason.clone());
            Err(reason.unwrap_or(Reason::NoIntervalOfOne))
        }
    };
    let trust = trust_in(a).and(&trust_in(b)).clone();
    standing::interval(x - y, &[&limits], matches!(trust, Trust::Conditional(_)), &trust)
}

/// The trust that an interval's marks tell.
fn trust_in(interval: &Interval) -> Trust {
    let why = interval.reason.clone().unwrap_or(Reason::NoIntervalOfOne);
    match &interval.refuted {
        Some(refutation) => Trust::Refuted(refutation.clone(), why),
        None if interval.conditional => Trust::Conditional(why),
        None => Trust::Stands,
    }
}

/// The ends of an interval; of a conditional one those that hold under its condition.
fn ends(interval: &Interval) -> Bounds {
    match interval.if_order_holds {
        Some(bounds) if interval.conditional => bounds,
        _ => Bounds { lower: interval.lower, upper: interval.upper },
    }
}
