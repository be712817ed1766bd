//! Linear functions of a row's features, and linear maps from features to features.
//! See docs/methods.md, sections 3.2 and 3.4.

use std::ops::{Index, IndexMut};

use crate::math::linear::dot;
use crate::summary::index::{Feature, GramLayout, Layout, Shape};

/// The coefficients of a weight `G = c_0 + sum_j c_j W_j`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Coefficients {
    /// `c_0`.
    pub(crate) constant: f64,
    /// `c_j`.
    pub(crate) weights: Vec<f64>,
}

impl Coefficients {
    /// The weight that is the only one of its basis.
    pub(crate) fn single() -> Self {
        Coefficients { constant: 0.0, weights: vec![1.0] }
    }

    /// The weight 1.
    pub(crate) fn one(basis: usize) -> Self {
        Coefficients { constant: 1.0, weights: vec![0.0; basis] }
    }

    /// The weight of an order, `1 + W_1 + ... + W_order`.
    pub(crate) fn of_order(order: usize, basis: usize) -> Self {
        let used = |j: usize| f64::from(u8::from(j < order));
        Coefficients { constant: 1.0, weights: (0..basis).map(used).collect() }
    }

    /// The features that the weight is a sum of, with their coefficients: 1, then `W_j`.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (Feature, f64)> {
        let weights = self.weights.iter().enumerate().map(|(j, &c)| (Feature::Weight(j), c));
        std::iter::once((Feature::One, self.constant)).chain(weights)
    }
}

/// A linear function of a row's features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LinearFunction {
    layout: GramLayout,
    coefficients: Vec<f64>,
}

impl LinearFunction {
    /// The sum of some features, each times its coefficient.
    pub(crate) fn new(layout: GramLayout, terms: &[(Feature, f64)]) -> Self {
        let mut function = LinearFunction { layout, coefficients: vec![0.0; layout.len()] };
        terms.iter().for_each(|&(feature, c)| function[feature] += c);
        function
    }

    /// A single feature.
    pub(crate) fn of(layout: GramLayout, feature: Feature) -> Self {
        Self::new(layout, &[(feature, 1.0)])
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
    pub(crate) from: GramLayout,
    pub(crate) to: GramLayout,
    /// For each feature of the result: the places of the features that it is a sum of, with their coefficients.
    pub(crate) rows: Vec<Vec<(usize, f64)>>,
}

impl FeatureMap {
    /// Given each new feature as a sum of old ones.
    fn new(from: GramLayout, to: GramLayout, row: impl Fn(Feature) -> Vec<(Feature, f64)>) -> Self {
        let places = |feature| row(feature).into_iter().map(|(old, c)| (from.place(old), c)).collect();
        FeatureMap { from, to, rows: to.keys().into_iter().map(places).collect() }
    }

    /// To the features of longer slates: those of the further slots are 0.
    pub(crate) fn widened(from: GramLayout, slots: usize) -> Self {
        let to = GramLayout { shape: Shape { slots, ..from.shape } };
        let mut rows = vec![Vec::new(); to.len()];
        from.places_in(&to).into_iter().for_each(|(old, new)| rows[new] = vec![(old, 1.0)]);
        FeatureMap { from, to, rows }
    }

    /// To the features of the single weight that some coefficients make.
    pub(crate) fn combined(from: GramLayout, coefficients: &Coefficients) -> Self {
        let to = GramLayout { shape: Shape { basis: 1, ..from.shape } };
        let combine = |plain: Feature, weighted: &dyn Fn(usize) -> Feature| {
            let weights = coefficients.weights.iter().enumerate().map(|(j, &c)| (weighted(j), c));
            let terms = [(plain, coefficients.constant)].into_iter().chain(weights);
            terms.filter(|&(_, c)| c != 0.0).collect()
        };
        FeatureMap::new(from, to, |feature| match feature {
            Feature::Weight(_) => combine(Feature::One, &Feature::Weight),
            Feature::WeightedReward(_) => combine(Feature::Reward, &Feature::WeightedReward),
            Feature::WeightedSquaredReward(_) => combine(Feature::SquaredReward, &Feature::WeightedSquaredReward),
            Feature::WeightedRatio(_, k) => combine(Feature::Ratio(k), &|j| Feature::WeightedRatio(j, k)),
            plain => vec![(plain, 1.0)],
        })
    }

    /// To the features of rewards `R + by` in place of `R`.
    pub(crate) fn shifted(layout: GramLayout, by: f64) -> Self {
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
