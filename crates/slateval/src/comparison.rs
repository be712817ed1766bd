//! Differences: between policies, and between segments under one policy.

use crate::evaluation::{Comparison, Disparity, Interval, PolicyEvaluation, SegmentEvaluation};

/// Each target against the logging policy, which comes first.
pub(crate) fn compare(policies: &[PolicyEvaluation]) -> Vec<Comparison> {
    let Some((logging, targets)) = policies.split_first() else { return Vec::new() };
    let against = |target: &PolicyEvaluation| Comparison {
        policy: target.name.clone(),
        baseline: logging.name.clone(),
        paired: true,
        mean: target.mean.minus(&logging.mean),
        cvar: target.cvar.iter().zip(&logging.cvar).map(|(t, l)| t.minus(l)).collect(),
        quantiles: target.quantiles.iter().zip(&logging.quantiles).map(|(t, l)| t.minus(l)).collect(),
        dominance: None,
    };
    targets.iter().map(against).collect()
}

/// The segments furthest apart, for each policy: in mean, and in each CVaR.
pub(crate) fn disparities(policies: &[PolicyEvaluation], segments: &[SegmentEvaluation]) -> Vec<Disparity> {
    let mut found = Vec::new();
    for (p, policy) in policies.iter().enumerate() {
        let mut widest = |metric, alpha, of: &dyn Fn(&PolicyEvaluation) -> Option<f64>| {
            let values = segments.iter().filter_map(|s| Some((&s.value, of(&s.policies[p])?)));
            let low = values.clone().min_by(|a, b| a.1.total_cmp(&b.1));
            let high = values.max_by(|a, b| a.1.total_cmp(&b.1));
            if let (Some((low, least)), Some((high, most))) = (low, high) {
                let (low, high) = (low.clone(), high.clone());
                let interval = Interval::point(most - least);
                found.push(Disparity { policy: policy.name.clone(), metric, alpha, low, high, interval });
            }
        };
        widest("mean", None, &|p| p.mean.estimate);
        for (i, tail) in policy.cvar.iter().enumerate() {
            widest("cvar", Some(tail.alpha), &|p| p.cvar[i].interval.estimate);
        }
    }
    found
}
