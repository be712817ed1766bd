//! Where the products of features stand: in the Gram matrix, and in each bin.
//! See docs/methods.md, section 3.2.

use std::ops::Range;

use crate::summary::index::{Feature, Layout, Product, Shape};

/// The features whose products the Gram matrix sums: one row and one column each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GramLayout {
    pub(crate) shape: Shape,
}

impl GramLayout {
    /// The places of `Z_k`.
    #[inline(always)]
    pub(crate) fn ratios(self) -> Range<usize> {
        self.place(Feature::Ratio(0))..self.place(Feature::Ratio(self.shape.slots))
    }

    /// The places of `W_j`.
    #[inline(always)]
    pub(crate) fn weights(self) -> Range<usize> {
        self.place(Feature::Weight(0))..self.place(Feature::Weight(self.shape.basis))
    }

    /// The places of `chi_k`; only with chi.
    #[inline(always)]
    pub(crate) fn chi(self) -> Range<usize> {
        self.place(Feature::Chi(0))..self.place(Feature::Chi(self.shape.slots))
    }
}

impl Layout for GramLayout {
    type Key = Feature;

    fn keys(&self) -> Vec<Feature> {
        let Shape { slots, basis, .. } = self.shape;
        let mut features = vec![Feature::One];
        features.extend((0..slots).map(Feature::Ratio));
        features.extend((0..basis).map(Feature::Weight));
        features.extend([Feature::Reward, Feature::SquaredReward]);
        features.extend((0..basis).map(Feature::WeightedReward));
        features.extend((0..basis).map(Feature::WeightedSquaredReward));
        features.extend(self.shape.chi_features());
        features
    }

    #[inline(always)]
    fn place(&self, feature: Feature) -> usize {
        let Shape { slots, basis, .. } = self.shape;
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
            Feature::Chi(k) => chi + k,
            Feature::WeightedRatio(j, k) => chi + (1 + j) * slots + k,
        }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.place(Feature::Chi(0)) + (1 + self.shape.basis) * self.shape.chi_slots()
    }
}

/// The right features of a bin: `W_j` and `Z_k`, and with chi `chi_k` and `W_j Z_k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RightLayout {
    pub(crate) shape: Shape,
}

impl RightLayout {
    /// The places of `W_j`.
    #[inline(always)]
    pub(crate) fn weights(self) -> Range<usize> {
        self.place(Feature::Weight(0))..self.place(Feature::Weight(self.shape.basis))
    }

    /// How many features come before the `W_j Z_k`.
    #[inline(always)]
    fn before_weighted_ratios(self) -> usize {
        self.shape.basis + self.shape.slots + self.shape.chi_slots()
    }
}

impl Layout for RightLayout {
    type Key = Feature;

    fn keys(&self) -> Vec<Feature> {
        let Shape { slots, basis, .. } = self.shape;
        let plain = (0..basis).map(Feature::Weight).chain((0..slots).map(Feature::Ratio));
        plain.chain(self.shape.chi_features()).collect()
    }

    #[inline(always)]
    fn place(&self, feature: Feature) -> usize {
        let Shape { slots, basis, .. } = self.shape;
        match feature {
            Feature::Weight(j) => j,
            Feature::Ratio(k) => basis + k,
            Feature::Chi(k) => basis + slots + k,
            Feature::WeightedRatio(j, k) => basis + (2 + j) * slots + k,
            other => unreachable!("{other:?} is no right feature of a bin"),
        }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.before_weighted_ratios() + self.shape.basis * self.shape.chi_slots()
    }
}

/// The right features of a bin for a single weight, with 1 in front of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FactorLayout {
    pub(crate) shape: Shape,
}

impl Layout for FactorLayout {
    type Key = Feature;

    fn keys(&self) -> Vec<Feature> {
        [Feature::One].into_iter().chain(RightLayout { shape: self.shape }.keys()).collect()
    }

    #[inline(always)]
    fn place(&self, feature: Feature) -> usize {
        match feature {
            Feature::One => 0,
            right => 1 + RightLayout { shape: self.shape }.place(right),
        }
    }

    fn len(&self) -> usize {
        1 + RightLayout { shape: self.shape }.len()
    }
}

/// The sums of one policy in a bin: the products of 1 with the right features, then those of each `W_i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BinLayout {
    pub(crate) shape: Shape,
}

impl BinLayout {
    #[inline(always)]
    pub(crate) fn rights(self) -> RightLayout {
        RightLayout { shape: self.shape }
    }

    /// The places of the products of 1. Those of each `W_i` follow, each as wide as the right features.
    #[inline(always)]
    pub(crate) fn of_one(self) -> Range<usize> {
        0..self.rights().before_weighted_ratios()
    }
}

impl Layout for BinLayout {
    type Key = Product;

    fn keys(&self) -> Vec<Product> {
        let rights = self.rights().keys();
        let of_one = rights.iter().filter(|right| !matches!(right, Feature::WeightedRatio(..)));
        let of_one = of_one.map(|&right| Product(Feature::One, right));
        of_one.chain(products_of_weights(self.shape.basis, &rights)).collect()
    }

    #[inline(always)]
    fn place(&self, Product(left, right): Product) -> usize {
        let rights = self.rights();
        let of_weight = |i: usize| self.of_one().end + i * rights.len();
        match (left, right) {
            (Feature::Weight(i), Feature::One) => rights.place(Feature::Weight(i)),
            (Feature::One, Feature::WeightedRatio(j, k)) => of_weight(j) + rights.place(Feature::Ratio(k)),
            (Feature::One, right) => rights.place(right),
            (Feature::Weight(i), right) => of_weight(i) + rights.place(right),
            (other, _) => unreachable!("{other:?} is no left feature of a bin"),
        }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.of_one().end + self.shape.basis * self.rights().len()
    }
}

/// The products of each `W_i` with some right features, `W_i` by `W_i`.
fn products_of_weights(basis: usize, rights: &[Feature]) -> impl Iterator<Item = Product> {
    let lefts = (0..basis).map(Feature::Weight);
    lefts.flat_map(move |left| rights.iter().map(move |&right| Product(left, right)))
}

/// The sums of two policies in a bin: the products of each `W_i` of a policy with the right features of the baseline, then
/// the other way round. The products of 1 stand with each policy's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CrossLayout {
    pub(crate) policy: RightLayout,
    pub(crate) baseline: RightLayout,
}

/// A product of a `W_i` of one policy with a right feature of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CrossProduct {
    /// The policy's `W_i` is the left feature.
    OfPolicy(Product),
    /// The baseline's `W_i` is the left feature.
    OfBaseline(Product),
}

impl CrossLayout {
    /// The places of the products of the policy's `W_i`, each as wide as the baseline's right features.
    #[inline(always)]
    pub(crate) fn of_policy(self) -> Range<usize> {
        0..self.policy.shape.basis * self.baseline.len()
    }

    /// The places of the products of the baseline's `W_i`, each as wide as the policy's right features.
    #[inline(always)]
    pub(crate) fn of_baseline(self) -> Range<usize> {
        let start = self.of_policy().end;
        start..start + self.baseline.shape.basis * self.policy.len()
    }
}

impl Layout for CrossLayout {
    type Key = CrossProduct;

    fn keys(&self) -> Vec<CrossProduct> {
        let (policy, baseline) = (self.policy.keys(), self.baseline.keys());
        let of_policy = products_of_weights(self.policy.shape.basis, &baseline).map(CrossProduct::OfPolicy);
        let of_baseline = products_of_weights(self.baseline.shape.basis, &policy).map(CrossProduct::OfBaseline);
        of_policy.chain(of_baseline).collect()
    }

    fn place(&self, key: CrossProduct) -> usize {
        let (first, rights, product) = match key {
            CrossProduct::OfPolicy(product) => (self.of_policy().start, self.baseline, product),
            CrossProduct::OfBaseline(product) => (self.of_baseline().start, self.policy, product),
        };
        match product {
            Product(Feature::Weight(i), right) => first + i * rights.len() + rights.place(right),
            Product(other, _) => unreachable!("{other:?} is no left feature of two policies"),
        }
    }

    fn len(&self) -> usize {
        self.of_baseline().end
    }
}
