//! Products of many features together: for any rows, the matrix of all their products is positive semi-definite. Cauchy's
//! and Schwarz's inequality is the same of two; it allows corrections, which combine all features, to take any value.

use crate::sums::cell::Cell;
use crate::sums::check::policy::PolicyView;
use crate::sums::check::rewards::RewardView;
use crate::sums::check::{Fault, Section, Sound};
use crate::sums::feature_map::Weight;
use crate::sums::index::Feature;
use crate::sums::products::product;
use crate::sums::totals::Totals;

/// A feature beside a weight, and the root of the sum of squares that its products are rounded to.
struct Sized {
    of: (Weight, Feature),
    size: f64,
}

pub(super) fn check(cell: &Cell, view: &PolicyView<'_>, rewards: &RewardView<'_>) -> Sound {
    let totals = Totals::new(cell, view.policy);
    let weights: Vec<Weight> = (0..view.weights.len()).map(|m| cell.kept.weight(m)).collect();
    let sized = |weight: Weight, feature: Feature| {
        let square = match feature {
            Feature::ChiError(k) => view.chi_error_limit(weight.place(), k, rewards),
            Feature::Ratio(k) => view.n + view.squared_ratio(k),
            Feature::Weight(_) => view.rounded_to[1],
            Feature::WeightedReward(_) => view.rounded_to[1] * rewards.size.powi(2),
            Feature::WeightedSquaredReward(_) => view.rounded_to[1] * rewards.size.powi(4),
            Feature::Reward => view.n * rewards.size.powi(2),
            _ => view.n,
        };
        Sized { of: (weight, feature), size: square.max(0.0).sqrt() }
    };
    let slots = || 0..view.shape.slots;
    let with_ratios = |weight: Weight, features: &[Feature]| {
        let all = features.iter().copied().chain(slots().map(Feature::Ratio));
        all.map(|feature| sized(weight, feature)).collect::<Vec<Sized>>()
    };
    for &weight in &weights {
        let (g, gr, grr) = (Feature::Weight(0), Feature::WeightedReward(0), Feature::WeightedSquaredReward(0));
        check_matrix(&totals, rewards, &with_ratios(weight, &[Feature::One, Feature::Reward, g, gr]))?;
        check_matrix(&totals, rewards, &with_ratios(weight, &[Feature::One, g, gr, grr]))?;
        if view.shape.chi {
            let errors = [Feature::One, g, gr, grr].into_iter().chain(slots().map(Feature::ChiError));
            check_matrix(&totals, rewards, &errors.map(|feature| sized(weight, feature)).collect::<Vec<_>>())?;
        }
    }
    let mut together = with_ratios(Weight::One, &[Feature::One]);
    together.extend(weights.iter().map(|&weight| sized(weight, Feature::Weight(0))));
    check_matrix(&totals, rewards, &together)
}

/// Refuses products of features that no rows have. An allowance for rounding is added to the diagonal.
fn check_matrix(totals: &Totals<'_>, rewards: &RewardView<'_>, features: &[Sized]) -> Sound {
    // Sums that overflow allow everything.
    let features: Vec<&Sized> = features.iter().filter(|f| f.size > 0.0 && f.size.is_finite()).collect();
    let slack = rewards.rounding.of_sum(2.0 * features.len() as f64);
    let entry = |i: usize, j: usize| {
        let sum = product(totals, features[i].of, features[j].of).unwrap_or(0.0) / features[i].size / features[j].size;
        if i == j { sum + slack } else { sum }
    };
    let rows = (0..features.len()).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect();
    if is_positive(rows) {
        return Ok(());
    }
    Err(Fault::new(Section::Moments, "the products of rewards, weights and ratios are those of no rows"))
}

/// Whether a symmetric matrix is positive definite, by its root (Cholesky). `rows` are its lower triangle.
fn is_positive(mut rows: Vec<Vec<f64>>) -> bool {
    for i in 0..rows.len() {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| rows[i][k] * rows[j][k]).sum();
            let rest = rows[i][j] - known;
            if i == j && rest <= 0.0 {
                return false;
            }
            rows[i][j] = if i == j { rest.sqrt() } else { rest / rows[j][j] };
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_correlations_can_contradict_each_other_though_no_two_do() {
        let of = |a: f64, b: f64, c: f64| is_positive(vec![vec![1.0], vec![a, 1.0], vec![b, c, 1.0]]);
        assert!(of(0.8, 0.8, 0.8) && of(0.8, -0.8, -0.8) && of(0.0, 0.0, 0.999));
        assert!(!of(0.8, 0.8, -0.8) && !of(0.0, 0.0, 1.001));
    }
}
