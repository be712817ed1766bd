//! Numbers of a row, and linear functions' coordinates.
//! See docs/methods.md, section 3.2.

use std::ops::Range;

use crate::sums::index::{Layout, Shape};

/// A number of a row. Slots `k` and basis functions `j` count from 0; `R` is the reward minus the cell's origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// `1`.
    One,
    /// `Z_k`.
    Ratio(usize),
    /// `W_j`; the weight `G` itself where features belong to one weight.
    Weight(usize),
    /// `R`.
    Reward,
    /// `R^2`.
    SquaredReward,
    /// `W_j R`.
    WeightedReward(usize),
    /// `W_j R^2`.
    WeightedSquaredReward(usize),
    /// `chi_k`.
    Chi(usize),
    /// `W_j Z_k`.
    WeightedRatio(usize, usize),
    /// `D_k = G Z_k - chi_k`, where features belong to one weight.
    ChiError(usize),
}

impl Feature {
    /// The weight `G` of features that belong to a single weight.
    pub const G: Feature = Feature::Weight(0);
    /// `G R`.
    pub const GR: Feature = Feature::WeightedReward(0);
    /// `G R^2`.
    pub const GR2: Feature = Feature::WeightedSquaredReward(0);
}

/// Which features come with chi.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chi {
    None,
    /// `chi_k` and `W_j Z_k`: what is kept before a weight is chosen.
    Parts,
    /// `D_k` of the chosen weight.
    Errors,
}

/// The features of a policy: those that clusters and baselines keep, or those of one weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureLayout {
    /// Slots of the longest slate.
    pub slots: usize,
    /// How many `W_j` there are.
    pub basis: usize,
    /// Which features of chi there are.
    pub chi: Chi,
}

impl FeatureLayout {
    /// Those of the basis.
    pub fn kept(shape: Shape) -> Self {
        let chi = if shape.chi { Chi::Parts } else { Chi::None };
        FeatureLayout { slots: shape.slots, basis: shape.basis.count(), chi }
    }

    /// Those of one weight.
    pub fn of_one_weight(shape: Shape) -> Self {
        let chi = if shape.chi { Chi::Errors } else { Chi::None };
        FeatureLayout { slots: shape.slots, basis: 1, chi }
    }

    /// The places of `W_j`.
    pub fn weights(self) -> Range<usize> {
        self.place(Feature::Weight(0))..self.place(Feature::Weight(self.basis))
    }

    fn chi_features(self) -> Vec<Feature> {
        let slots = 0..self.slots;
        match self.chi {
            Chi::None => Vec::new(),
            Chi::Errors => slots.map(Feature::ChiError).collect(),
            Chi::Parts => {
                let products = |j: usize| (0..self.slots).map(move |k| Feature::WeightedRatio(j, k));
                slots.map(Feature::Chi).chain((0..self.basis).flat_map(products)).collect()
            }
        }
    }
}

impl Layout for FeatureLayout {
    type Key = Feature;

    fn keys(&self) -> Vec<Feature> {
        let mut features = vec![Feature::One];
        features.extend((0..self.slots).map(Feature::Ratio));
        features.extend((0..self.basis).map(Feature::Weight));
        features.extend([Feature::Reward, Feature::SquaredReward]);
        features.extend((0..self.basis).map(Feature::WeightedReward));
        features.extend((0..self.basis).map(Feature::WeightedSquaredReward));
        features.extend(self.chi_features());
        features
    }

    #[inline(always)]
    fn place(&self, feature: Feature) -> usize {
        let FeatureLayout { slots, basis, .. } = *self;
        let reward = 1 + slots + basis;
        let chi = reward + 2 + 2 * basis;
        match feature {
            Feature::One => 0,
            Feature::Ratio(k) => 1 + k,
            Feature::Weight(j) => 1 + slots + j,
            Feature::Reward => reward,
            Feature::SquaredReward => reward + 1,
            Feature::WeightedReward(j) => reward + 2 + j,
            Feature::WeightedSquaredReward(j) => reward + 2 + basis + j,
            Feature::Chi(k) | Feature::ChiError(k) => chi + k,
            Feature::WeightedRatio(j, k) => chi + (1 + j) * slots + k,
        }
    }

    #[inline(always)]
    fn width(&self) -> usize {
        let chi = match self.chi {
            Chi::None => 0,
            Chi::Errors => self.slots,
            Chi::Parts => (1 + self.basis) * self.slots,
        };
        self.place(Feature::Chi(0)) + chi
    }
}
