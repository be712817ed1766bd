//! Sums of products of influence functions: standard errors, and how much more clusters make estimates vary.

use crate::estimate::estimator::Estimator;
use crate::estimate::weight_sums::WeightSums;
use crate::math::linear::dot;
use crate::summary::cell::Cell;
use crate::summary::features::Features;

/// `sum_i (x' features_i)(y' features_i)` of two estimators' features.
pub(crate) fn between(cell: &Cell, (left, x): (&Estimator<'_>, &[f64]), (right, y): (&Estimator<'_>, &[f64])) -> f64 {
    let (a, b) = (&left.sums, &right.sums);
    if a.policy == b.policy && a.coefficients == b.coefficients {
        return a.gram().between(x, y);
    }
    let (x, y) = (in_basis(cell, a, x), in_basis(cell, b, y));
    if a.policy == b.policy {
        return cell.policies[a.policy].gram.between(&x, &y);
    }
    let position = |p: usize, b: usize| cell.kept.compared().position(|pair| pair == (p, b));
    match (position(a.policy, b.policy), position(b.policy, a.policy)) {
        (Some(i), _) => cell.cross[i].between(&x, &y),
        (_, Some(i)) => cell.cross[i].between(&y, &x),
        _ => 0.0,
    }
}

/// A linear function of a weight's features as one of the features that its policy keeps, those of the basis.
fn in_basis(cell: &Cell, sums: &WeightSums<'_>, x: &[f64]) -> Vec<f64> {
    let features = cell.policies[sums.policy].features;
    let mut out = vec![0.0; features.len()];
    for (row, x) in features.combined(&sums.coefficients).iter().zip(x) {
        row.iter().for_each(|&(f, c)| out[f] += c * x);
    }
    out
}

/// The sum of a linear function of a weight's features over each group of clusters.
pub(crate) fn group_sums(cell: &Cell, sums: &WeightSums<'_>, x: &[f64]) -> Option<Vec<f64>> {
    let groups = cell.clusters.as_ref()?;
    let x = in_basis(cell, sums, x);
    Some(groups.features[sums.policy].chunks_exact(x.len()).map(|group| dot(&x, group)).collect())
}

/// The standard error of an estimate, or of the difference of two, from their influence functions.
pub(crate) fn standard_error(cell: &Cell, parts: &[(&Estimator<'_>, Vec<f64>, f64)]) -> f64 {
    let n = cell.rows as f64;
    let by_group: Option<Vec<Vec<f64>>> = parts.iter().map(|(e, x, _)| group_sums(cell, &e.sums, x)).collect();
    let square: f64 = match by_group {
        Some(sums) => {
            let groups = sums.first().map_or(0, Vec::len);
            let total = |g: usize| sums.iter().zip(parts).map(|(s, (e, _, by))| by * e.inflation() * s[g]).sum::<f64>();
            (0..groups).map(|g| total(g).powi(2)).sum()
        }
        None => {
            let product = |(l, x, a): &(&Estimator<'_>, Vec<f64>, f64)| {
                let by = |r: &Estimator<'_>, b: &f64| a * b * l.inflation() * r.inflation();
                parts.iter().map(|(r, y, b)| by(r, b) * between(cell, (l, x), (r, y))).sum::<f64>()
            };
            parts.iter().map(product).sum()
        }
    };
    square.max(0.0).sqrt() / n
}

/// How many times more the mean weight varies than if rows were independent.
pub(crate) fn weight_design_effect(cell: &Cell, sums: &WeightSums<'_>) -> f64 {
    let mut weight = vec![0.0; sums.features().len()];
    weight[sums.features().w(0)] = 1.0;
    design_effect(cell, sums, &weight)
}

/// How many times more the mean of a linear function of the features varies than if rows were independent, at least 1.
pub(crate) fn design_effect(cell: &Cell, sums: &WeightSums<'_>, x: &[f64]) -> f64 {
    let Some(groups) = group_sums(cell, sums, x) else { return 1.0 };
    let mut one = vec![0.0; x.len()];
    one[Features::ONE] = 1.0;
    let rows = group_sums(cell, sums, &one).unwrap_or_default();
    let mean = sums.gram().between(x, &one) / sums.n;
    let by_row = sums.gram().between(x, x) - sums.n * mean * mean;
    let by_group: f64 = groups.iter().zip(&rows).map(|(sum, rows)| (sum - rows * mean).powi(2)).sum();
    if by_row > 0.0 { (by_group / by_row).max(1.0) } else { 1.0 }
}
