//! Sums over all rows of products of features, for weights that a summary can make.
//! See docs/methods.md, section 3.2.

use crate::math::linear::dot;
use crate::sums::feature_map::{LinearFunction, Weight};
use crate::sums::index::{Feature, FeatureLayout, Layout, Shape};
use crate::sums::totals::Totals;

/// A feature without the reward, and the power of the reward beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factor {
    One,
    Weight,
    Ratio(usize),
    ChiError(usize),
}

impl Factor {
    fn of(feature: Feature) -> (Self, usize) {
        match feature {
            Feature::One => (Factor::One, 0),
            Feature::Reward => (Factor::One, 1),
            Feature::SquaredReward => (Factor::One, 2),
            Feature::Weight(_) => (Factor::Weight, 0),
            Feature::WeightedReward(_) => (Factor::Weight, 1),
            Feature::WeightedSquaredReward(_) => (Factor::Weight, 2),
            Feature::Ratio(k) => (Factor::Ratio(k), 0),
            Feature::ChiError(k) => (Factor::ChiError(k), 0),
            Feature::Chi(_) | Feature::WeightedRatio(..) => unreachable!("{feature:?} is not of one weight"),
        }
    }
}

/// The sum of the product of a feature of one weight with a feature of another, both of one policy. Errors of chi are
/// kept for each weight by itself: those of two different ones have no sum.
pub(crate) fn product(totals: &Totals<'_>, left: (Weight, Feature), right: (Weight, Feature)) -> Option<f64> {
    let ((x, p), (y, q)) = (Factor::of(left.1), Factor::of(right.1));
    let power = p + q;
    let alike = left.0 == right.0;
    let weight = |of: Weight| weight_sum(totals, of, power);
    let error = |of: Weight, k: usize| ratio_sum(totals, of, k, power) - totals.chi(k, power);
    match (x, y) {
        (Factor::One, Factor::One) => Some(totals.rewards(power)),
        (Factor::One, Factor::Weight) => Some(weight(right.0)),
        (Factor::Weight, Factor::One) => Some(weight(left.0)),
        (Factor::Weight, Factor::Weight) => Some(weights_sum(totals, left.0, right.0, power)),
        (Factor::One, Factor::Ratio(k)) | (Factor::Ratio(k), Factor::One) => Some(totals.ratio(k, power)),
        (Factor::Weight, Factor::Ratio(k)) => Some(ratio_sum(totals, left.0, k, power)),
        (Factor::Ratio(k), Factor::Weight) => Some(ratio_sum(totals, right.0, k, power)),
        (Factor::Ratio(i), Factor::Ratio(k)) => Some(totals.ratios(i, k)),
        (Factor::One, Factor::ChiError(k)) => Some(error(right.0, k)),
        (Factor::ChiError(k), Factor::One) => Some(error(left.0, k)),
        (Factor::Weight, Factor::ChiError(k)) if left.0 == Weight::One => Some(error(right.0, k)),
        (Factor::ChiError(k), Factor::Weight) if right.0 == Weight::One => Some(error(left.0, k)),
        (Factor::Weight, Factor::ChiError(k)) | (Factor::ChiError(k), Factor::Weight) if alike => {
            Some(totals.chi_error(left.0.place(), k, power))
        }
        (Factor::ChiError(i), Factor::ChiError(k)) if alike => Some(totals.chi_errors(left.0.place(), i, k)),
        _ => None,
    }
}

/// `G R^q`.
fn weight_sum(totals: &Totals<'_>, weight: Weight, power: usize) -> f64 {
    match (weight, power) {
        (Weight::One, power) => totals.rewards(power),
        (weight, 0..=2) => totals.weight(weight.place(), power),
        (weight, power) => totals.in_bins(power, weight, Weight::One),
    }
}

/// `G Z_k R^q`.
fn ratio_sum(totals: &Totals<'_>, weight: Weight, k: usize, power: usize) -> f64 {
    match weight {
        Weight::One => totals.ratio(k, power),
        weight => totals.weighted_ratio(weight.place(), k, power),
    }
}

/// `G G' R^q`.
fn weights_sum(totals: &Totals<'_>, left: Weight, right: Weight, power: usize) -> f64 {
    match (left, right) {
        (Weight::One, weight) | (weight, Weight::One) => weight_sum(totals, weight, power),
        (left, right) if left == right => totals.squared_weight(left.place(), power),
        (left, right) => totals.in_bins(power, left, right),
    }
}

/// The sums of the products of every two features of one weight: a symmetric matrix. What is never multiplied is left out: a
/// ratio with an error of chi, and the rewards that a weight leaves as they are with those that it weighs.
#[derive(Debug, Clone)]
pub(crate) struct Gram {
    layout: FeatureLayout,
    /// Row by row.
    sums: Vec<f64>,
}

impl Gram {
    pub(crate) fn new(totals: &Totals<'_>, shape: Shape, weight: Weight) -> Self {
        let layout = FeatureLayout::of_one_weight(shape);
        let features = layout.keys();
        let count = features.len();
        let mut sums = vec![0.0; count * count];
        for (i, &a) in features.iter().enumerate() {
            for (j, &b) in features.iter().enumerate().take(i + 1).filter(|&(_, &b)| is_read(weight, a, b)) {
                let sum = product(totals, (weight, a), (weight, b)).unwrap_or(0.0);
                (sums[i * count + j], sums[j * count + i]) = (sum, sum);
            }
        }
        Gram { layout, sums }
    }

    /// Which features the sums are of.
    pub(crate) fn layout(&self) -> FeatureLayout {
        self.layout
    }

    /// The sum of a product of two features.
    pub(crate) fn get(&self, a: Feature, b: Feature) -> f64 {
        self.sums[self.layout.place(a) * self.layout.width() + self.layout.place(b)]
    }

    /// The sum of the product of two linear functions of the features.
    pub(crate) fn between(&self, x: &LinearFunction, y: &LinearFunction) -> f64 {
        let row = |(x, sums): (&f64, &[f64])| x * dot(sums, y.coefficients());
        let rows = x.coefficients().iter().zip(self.sums.chunks_exact(self.layout.width()));
        rows.filter(|(x, _)| **x != 0.0).map(row).sum()
    }
}

/// Whether a product of two features of one weight is read. Influence functions are of weighted rewards alone; only the
/// weight 1 makes them rewards as they are.
fn is_read(weight: Weight, a: Feature, b: Feature) -> bool {
    let ((x, p), (y, q)) = (Factor::of(a), Factor::of(b));
    let is_mixed = matches!((x, y), (Factor::One, Factor::Weight) | (Factor::Weight, Factor::One));
    weight == Weight::One || !is_mixed || p + q <= 2
}

/// The sum of the product of a linear function of the features of one weight with one of another's, both of one policy.
pub(crate) fn between_weights(
    totals: &Totals<'_>,
    (left, x): (Weight, &LinearFunction),
    (right, y): (Weight, &LinearFunction),
) -> Option<f64> {
    let mut sum = 0.0;
    for (a, c) in x.terms() {
        for (b, d) in y.terms() {
            sum += c * d * product(totals, (left, a), (right, b))?;
        }
    }
    Some(sum)
}
