//! Linear functions of a row's features, and linear maps from features to features.
//! See docs/methods.md, sections 3.2 and 3.4.

use std::ops::{Index, IndexMut};

use crate::math::linear::dot;
use crate::sums::index::{Chi, Feature, FeatureLayout, Layout};

/// A weight that can be made of a policy's basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The weight 1 of the logging policy.
    One,
    /// The only one of its basis.
    Single,
    /// The weight of an order, `1 + W_1 + ... + W_order`.
    Order(usize),
}

impl Weight {
    /// The constant that the weight begins with.
    pub(crate) fn constant(self) -> f64 {
        if self == Weight::Single { 0.0 } else { 1.0 }
    }

    /// The `W_j` that it is the sum of, beside the constant.
    pub(crate) fn terms(self) -> std::ops::Range<usize> {
        match self {
            Weight::One => 0..0,
            Weight::Single => 0..1,
            Weight::Order(order) => 0..order,
        }
    }

    /// Its place among the weights that are tallied, and whose errors of chi are kept; that of the first for the weight 1,
    /// which has none.
    pub(crate) fn place(self) -> usize {
        self.terms().len().saturating_sub(1)
    }
}

/// A linear function of a row's features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LinearFunction {
    layout: FeatureLayout,
    coefficients: Vec<f64>,
}

impl LinearFunction {
    /// The sum of some features, each times its coefficient.
    pub(crate) fn new(layout: FeatureLayout, terms: &[(Feature, f64)]) -> Self {
        let mut function = LinearFunction { layout, coefficients: vec![0.0; layout.width()] };
        terms.iter().for_each(|&(feature, c)| function[feature] += c);
        function
    }

    /// A single feature.
    pub(crate) fn of(layout: FeatureLayout, feature: Feature) -> Self {
        Self::new(layout, &[(feature, 1.0)])
    }

    /// The features that it is a sum of, with their coefficients.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (Feature, f64)> {
        self.layout.keys().into_iter().zip(self.coefficients.iter().copied()).filter(|&(_, c)| c != 0.0)
    }

    /// In the order of the features' places.
    pub(crate) fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The value for given features, in the order of their places.
    pub(crate) fn apply(&self, features: &[f64]) -> f64 {
        dot(&self.coefficients, features)
    }
}

impl Index<Feature> for LinearFunction {
    type Output = f64;

    fn index(&self, feature: Feature) -> &f64 {
        &self.coefficients[self.layout.place(feature)]
    }
}

impl IndexMut<Feature> for LinearFunction {
    fn index_mut(&mut self, feature: Feature) -> &mut f64 {
        &mut self.coefficients[self.layout.place(feature)]
    }
}

/// A linear map from the features of one layout to those of another.
#[derive(Debug, Clone)]
pub(crate) struct FeatureMap {
    pub(crate) from: FeatureLayout,
    pub(crate) to: FeatureLayout,
    /// For each feature of the result: the places of the features that it is a sum of, with their coefficients.
    pub(crate) rows: Vec<Vec<(usize, f64)>>,
}

impl FeatureMap {
    /// Given each new feature as a sum of old ones.
    fn new(from: FeatureLayout, to: FeatureLayout, row: impl Fn(Feature) -> Vec<(Feature, f64)>) -> Self {
        let places = |feature| row(feature).into_iter().map(|(old, c)| (from.place(old), c)).collect();
        FeatureMap { from, to, rows: to.keys().into_iter().map(places).collect() }
    }

    /// To the features of longer slates: those of the further slots are 0.
    pub(crate) fn widened(from: FeatureLayout, slots: usize) -> Self {
        let to = FeatureLayout { slots, ..from };
        let mut rows = vec![Vec::new(); to.width()];
        from.places_in(&to).into_iter().for_each(|(old, new)| rows[new] = vec![(old, 1.0)]);
        FeatureMap { from, to, rows }
    }

    /// To the features of one weight.
    pub(crate) fn of_weight(from: FeatureLayout, weight: Weight) -> Self {
        let chi = if from.chi == Chi::None { Chi::None } else { Chi::Errors };
        let to = FeatureLayout { basis: 1, chi, ..from };
        let combine = |plain: Feature, weighted: &dyn Fn(usize) -> Feature| {
            let constant = Some((plain, weight.constant())).filter(|&(_, c)| c != 0.0);
            constant.into_iter().chain(weight.terms().map(|j| (weighted(j), 1.0))).collect::<Vec<_>>()
        };
        FeatureMap::new(from, to, |feature| match feature {
            Feature::Weight(_) => combine(Feature::One, &Feature::Weight),
            Feature::WeightedReward(_) => combine(Feature::Reward, &Feature::WeightedReward),
            Feature::WeightedSquaredReward(_) => combine(Feature::SquaredReward, &Feature::WeightedSquaredReward),
            Feature::ChiError(k) => {
                let mut terms = combine(Feature::Ratio(k), &|j| Feature::WeightedRatio(j, k));
                terms.push((Feature::Chi(k), -1.0));
                terms
            }
            plain => vec![(plain, 1.0)],
        })
    }

    /// To the features of rewards `R + by` in place of `R`.
    pub(crate) fn shifted(layout: FeatureLayout, by: f64) -> Self {
        FeatureMap::new(layout, layout, |feature| {
            let mut terms = vec![(feature, 1.0)];
            match feature {
                Feature::Reward => terms.push((Feature::One, by)),
                Feature::SquaredReward => terms.extend([(Feature::Reward, 2.0 * by), (Feature::One, by * by)]),
                Feature::WeightedReward(j) => terms.push((Feature::Weight(j), by)),
                Feature::WeightedSquaredReward(j) => {
                    terms.extend([(Feature::WeightedReward(j), 2.0 * by), (Feature::Weight(j), by * by)]);
                }
                _ => {}
            }
            terms
        })
    }

    /// The new features from the old, each in the order of their places.
    pub(crate) fn apply<'a>(&'a self, features: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.rows.iter().map(|row| row.iter().map(|&(place, c)| c * features[place]).sum::<f64>())
    }

    /// A linear function of the new features as one of the old.
    pub(crate) fn pull_back(&self, function: &LinearFunction) -> LinearFunction {
        let mut out = LinearFunction::new(self.from, &[]);
        for (row, x) in self.rows.iter().zip(function.coefficients()) {
            row.iter().for_each(|&(place, c)| out.coefficients[place] += c * x);
        }
        out
    }
}
