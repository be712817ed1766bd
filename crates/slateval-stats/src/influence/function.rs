//! Sums of products of influence functions: standard errors, and how much more clusters make estimates vary.
//! See docs/methods.md, sections 6.1 and 6.12.

use crate::correction::weight_sums::WeightSums;
use crate::distribution::estimator::Estimator;
use crate::sums::cell::Cell;
use crate::sums::feature_map::{FeatureMap, LinearFunction};
use crate::sums::index::Feature;
use crate::sums::products::between_weights;

/// A linear function of the features of an estimator's weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FunctionOf<'a> {
    pub(crate) sums: &'a WeightSums<'a>,
    pub(crate) function: &'a LinearFunction,
}

/// The sum over all rows of the product of two functions. That of errors of chi of two different weights is not kept.
fn known_between(cell: &Cell, left: FunctionOf<'_>, right: FunctionOf<'_>) -> Option<f64> {
    let (FunctionOf { sums: a, function: x }, FunctionOf { sums: b, function: y }) = (left, right);
    if a.policy == b.policy && a.weight == b.weight {
        return Some(a.gram().between(x, y));
    }
    if a.policy == b.policy {
        return between_weights(&a.totals, (a.weight, x), (b.weight, y));
    }
    let (x, y) = (in_basis(cell, left), in_basis(cell, right));
    let position = |p: usize, b: usize| cell.kept.compared().position(|pair| pair == (p, b));
    Some(match (position(a.policy, b.policy), position(b.policy, a.policy)) {
        (Some(i), _) => cell.cross[i].between(&x, &y),
        (_, Some(i)) => cell.cross[i].between(&y, &x),
        _ => 0.0,
    })
}

/// The sum over all rows of the product of two functions.
///
/// # Panics
/// If they are functions of errors of chi of two different weights of one policy.
pub(crate) fn between(cell: &Cell, left: FunctionOf<'_>, right: FunctionOf<'_>) -> f64 {
    known_between(cell, left, right).unwrap_or_else(|| unreachable!("{left:?} and {right:?} are never drawn together"))
}

/// The same function as one of the features that the policy keeps, those of the basis.
fn in_basis(cell: &Cell, FunctionOf { sums, function }: FunctionOf<'_>) -> LinearFunction {
    FeatureMap::of_weight(cell.kept.features(sums.policy, cell.slots), sums.weight).pull_back(function)
}

/// The sum of a function over each group of clusters.
pub(crate) fn group_sums(cell: &Cell, of: FunctionOf<'_>) -> Option<Vec<f64>> {
    Some(cell.clusters.as_ref()?.sums_of(of.sums.policy, &in_basis(cell, of)))
}

/// An estimator's influence function, and the number that its estimate is multiplied by.
#[derive(Debug)]
pub(crate) struct InfluencePart<'e, 'a> {
    pub(crate) estimator: &'e Estimator<'a>,
    pub(crate) influence: LinearFunction,
    pub(crate) by: f64,
}

impl InfluencePart<'_, '_> {
    fn function(&self) -> FunctionOf<'_> {
        FunctionOf { sums: &self.estimator.sums, function: &self.influence }
    }

    /// The sum of the square of the influence function.
    fn square(&self) -> f64 {
        self.estimator.sums.gram().between(&self.influence, &self.influence).max(0.0)
    }
}

/// How far sums of the same products may lie apart by rounding.
const ROUNDING: f64 = 1e-12;

/// The standard error of an estimate, or of the difference of two, from their influence functions.
pub(crate) fn standard_error(cell: &Cell, parts: &[InfluencePart<'_, '_>]) -> f64 {
    let n = cell.rows as f64;
    let by_group: Option<Vec<Vec<f64>>> = parts.iter().map(|part| group_sums(cell, part.function())).collect();
    let square: f64 = match by_group {
        Some(sums) => {
            let groups = sums.first().map_or(0, Vec::len);
            let total = |g: usize| {
                let of_part =
                    |(s, part): (&Vec<f64>, &InfluencePart<'_, '_>)| part.by * part.estimator.inflation() * s[g];
                sums.iter().zip(parts).map(of_part).sum::<f64>()
            };
            (0..groups).map(|g| total(g).powi(2)).sum()
        }
        None => {
            let product = |l: &InfluencePart<'_, '_>, r: &InfluencePart<'_, '_>| {
                let by = l.by * r.by * l.estimator.inflation() * r.estimator.inflation();
                match known_between(cell, l.function(), r.function()) {
                    Some(sum) => by * sum,
                    // They are taken to go together as closely as they can (Cauchy and Schwarz).
                    None => by.abs() * (l.square() * r.square()).sqrt(),
                }
            };
            let square: f64 = parts.iter().map(|l| parts.iter().map(|r| product(l, r)).sum::<f64>()).sum();
            let apart: f64 = parts.iter().map(|part| product(part, part)).sum();
            // Two estimates that are one and the same differ by rounding errors, whose square root would be none.
            if square > ROUNDING * apart { square } else { 0.0 }
        }
    };
    square.max(0.0).sqrt() / n
}

/// How many times more the mean weight varies than if rows were independent.
pub(crate) fn weight_design_effect(cell: &Cell, sums: &WeightSums<'_>) -> f64 {
    design_effect(cell, sums, Feature::G)
}

/// How many times more the mean of a feature varies than if rows were independent, at least 1.
pub(crate) fn design_effect(cell: &Cell, sums: &WeightSums<'_>, feature: Feature) -> f64 {
    let of = |feature: Feature| LinearFunction::of(sums.features(), feature);
    let by_group = |function: &LinearFunction| group_sums(cell, FunctionOf { sums, function });
    let (x, one) = (of(feature), of(Feature::One));
    let Some(groups) = by_group(&x) else { return 1.0 };
    let rows = by_group(&one).unwrap_or_default();
    let mean = sums.gram().between(&x, &one) / sums.n;
    let by_row = sums.gram().between(&x, &x) - sums.n * mean * mean;
    let by_group: f64 = groups.iter().zip(&rows).map(|(sum, rows)| (sum - rows * mean).powi(2)).sum();
    if by_row > 0.0 { (by_group / by_row).max(1.0) } else { 1.0 }
}
