//! Which points of a CDF the JSON keeps.

use std::collections::BTreeSet;

use slateval::{Bounds, Cdf, Evaluation, Interval, PolicyEvaluation};

use crate::chart::by_arc_length;

/// Most points of a CDF in [`json`](crate::json()), unless every point is asked for.
pub const MOST_CDF_POINTS: usize = 256;

/// Points that interval ends leave to the shape of the curve.
const FOR_SHAPE: usize = 64;

/// How many points of each CDF the JSON has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CdfPoints {
    /// At most [`MOST_CDF_POINTS`]: the ends, those around every quantile and VaR that is reported, and the shape of the
    /// curve. The values at the points kept are exact.
    #[default]
    Thinned,
    /// One for each bin of rewards.
    Every,
}

/// The evaluation with thinned CDFs.
pub(crate) fn thinned(evaluation: &Evaluation) -> Evaluation {
    let mut thin = evaluation.without_cdfs();
    thin.policies = together(&evaluation.policies);
    thin.segments = evaluation.segments.iter().map(|s| s.with_policies(together(&s.policies))).collect();
    thin
}

/// Policies of one log keep the same rewards, so that their CDFs can be compared point by point. Only where there are
/// too many policies for that does each keep rewards of its own.
fn together(policies: &[PolicyEvaluation]) -> Vec<PolicyEvaluation> {
    let all: Vec<&PolicyEvaluation> = policies.iter().collect();
    let shared = all.first().is_none_or(|first| all.iter().all(|p| p.cdf.reward == first.cdf.reward));
    let points = if shared { kept(&all) } else { None };
    let thin = |policy: &PolicyEvaluation| {
        let own = || kept(&[policy]).unwrap_or_else(|| shape(&[policy], MOST_CDF_POINTS));
        policy.with_cdf(policy.cdf.at_points(&points.clone().unwrap_or_else(own)))
    };
    policies.iter().map(thin).collect()
}

/// The points to keep of CDFs at the same rewards; none if those around reported estimates are too many.
fn kept(policies: &[&PolicyEvaluation]) -> Option<Vec<usize>> {
    let count = policies.first().map_or(0, |p| p.cdf.reward.len());
    if count <= MOST_CDF_POINTS {
        return Some((0..count).collect());
    }
    let mut kept = BTreeSet::from([0, count - 1]);
    kept.extend(policies.iter().flat_map(|p| around_estimates(p)));
    if kept.len() > MOST_CDF_POINTS {
        return None;
    }
    let ends: BTreeSet<usize> = policies.iter().flat_map(|p| around_interval_ends(p)).collect();
    if kept.union(&ends).count() <= MOST_CDF_POINTS - FOR_SHAPE {
        kept.extend(ends);
    }
    kept.extend(shape(policies, MOST_CDF_POINTS - kept.len()));
    Some(kept.into_iter().collect())
}

/// Points at equal distances along the steepest of the curves. One point alone shows no shape.
fn shape(policies: &[&PolicyEvaluation], most: usize) -> Vec<usize> {
    if most < 2 {
        return Vec::new();
    }
    let curves: Vec<&[f64]> = policies.iter().map(|p| p.cdf.estimate.as_slice()).collect();
    policies.first().map_or_else(Vec::new, |first| by_arc_length(&first.cdf.reward, &curves, most))
}

/// Quantiles and VaR are rewards at which the CDF crosses a level: the points before and after the crossing. The
/// interquartile range is read off at two levels.
fn around_estimates(policy: &PolicyEvaluation) -> impl Iterator<Item = usize> + '_ {
    let cdf = &policy.cdf;
    let quartiles = [0.25, 0.75].map(|level| cdf.estimate.partition_point(|f| *f < level));
    let estimates = rewards_of(policy).filter_map(|interval| interval.estimate);
    let crossings = estimates.map(|v| first_at_or_above(cdf, v)).chain(quartiles);
    crossings.flat_map(|point| step_to(cdf, point))
}

/// The same for the ends of their intervals.
fn around_interval_ends(policy: &PolicyEvaluation) -> impl Iterator<Item = usize> + '_ {
    let cdf = &policy.cdf;
    let ends = rewards_of(policy).flat_map(|interval| {
        let narrower = interval.if_order_holds.unwrap_or(Bounds { lower: None, upper: None });
        [interval.lower, interval.upper, narrower.lower, narrower.upper]
    });
    ends.flatten().flat_map(|v| step_to(cdf, first_at_or_above(cdf, v)))
}

fn rewards_of(policy: &PolicyEvaluation) -> impl Iterator<Item = &Interval> {
    policy.quantiles.iter().map(|q| &q.interval).chain(policy.var.iter().map(|v| &v.interval))
}

fn first_at_or_above(cdf: &Cdf, v: f64) -> usize {
    cdf.reward.partition_point(|reward| *reward < v)
}

/// A point and the one before it, where they exist.
fn step_to(cdf: &Cdf, point: usize) -> impl Iterator<Item = usize> + use<> {
    let last = cdf.reward.len().saturating_sub(1);
    [point.saturating_sub(1), point].into_iter().map(move |point| point.min(last))
}
