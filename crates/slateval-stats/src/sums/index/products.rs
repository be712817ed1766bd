//! Where the products of features stand in each bin.
//! See docs/methods.md, section 3.2.

use std::ops::Range;

use crate::sums::index::{Basis, Feature, Layout, Shape};
use crate::sums::table::LANES;

/// The left factor of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// `1`.
    One,
    /// `W_j`.
    Weight(usize),
}

impl Left {
    /// 1, then `W_j`.
    #[inline(always)]
    fn number(self) -> usize {
        match self {
            Left::One => 0,
            Left::Weight(j) => 1 + j,
        }
    }
}

/// The right factor of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// `Z_k`.
    Ratio(usize),
    /// `W_j`; not the first of several orders, which is the sum of the ratios.
    Weight(usize),
}

/// A sum over the rows of a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinSum {
    /// A left factor times a right one.
    Product(Left, Right),
    /// `chi_k`.
    Chi(usize),
    /// `G_m D_mk`: the `m`-th weight times its error of chi.
    ChiError {
        /// The weight, counted from 0.
        m: usize,
        /// The slot, counted from 0.
        k: usize,
    },
}

/// The sums of one policy in a bin: each left factor times all right ones, and with chi `chi_k` and each weight times its
/// errors. Each of these runs begins at a multiple of [`LANES`], and what fills it up is never read; nor are products of two
/// weights that stand elsewhere too, or follow from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinLayout {
    /// What the policy's sums are of.
    pub shape: Shape,
}

impl BinLayout {
    /// The right factors: the ratios, then those `W_j` that are no sums of them.
    pub fn rights(self) -> impl Iterator<Item = Right> {
        (0..self.shape.slots).map(Right::Ratio).chain(self.right_weights().map(Right::Weight))
    }

    /// The `W_j` among the right factors.
    #[inline(always)]
    pub fn right_weights(self) -> Range<usize> {
        self.first_weight()..self.shape.basis.count()
    }

    #[inline(always)]
    fn first_weight(self) -> usize {
        match self.shape.basis {
            Basis::Orders(_) => 1,
            Basis::Single => 0,
        }
    }

    /// How many lanes wide a run of products is.
    #[inline(always)]
    pub fn product_run(self) -> usize {
        (self.shape.slots + self.shape.basis.count() - self.first_weight()).next_multiple_of(LANES)
    }

    /// How many lanes wide a run with a number for each slot is.
    #[inline(always)]
    pub fn slot_run(self) -> usize {
        self.shape.slots.next_multiple_of(LANES)
    }

    /// Where the sums of `chi_k` begin, behind all products.
    #[inline(always)]
    pub fn chi_start(self) -> usize {
        (1 + self.shape.basis.count()) * self.product_run()
    }

    /// The sum of a left factor times `W_j`, also where that is a sum over slots.
    pub fn weight_product(self, row: &[f64], left: Left, j: usize) -> f64 {
        row[self.weight_places(left, j)].iter().sum()
    }

    /// The places whose sum is that of a left factor times `W_j`.
    pub fn weight_places(self, left: Left, j: usize) -> Range<usize> {
        let (left, j) = match left {
            // Of two that were added, the earlier one's is read; one that was not is the sum of the ratios.
            Left::Weight(i) if i < self.first_weight() || (i > j && j >= self.first_weight()) => (Left::Weight(j), i),
            left => (left, j),
        };
        let (right, count) = match self.shape.basis {
            Basis::Orders(_) if j == 0 => (Right::Ratio(0), self.shape.slots),
            _ => (Right::Weight(j), 1),
        };
        let start = self.place(BinSum::Product(left, right));
        start..start + count
    }

    /// Whether a product is read: of those that come twice, one is.
    fn is_read(self, left: Left, right: Right) -> bool {
        match (left, right) {
            (Left::Weight(i), Right::Weight(j)) => i >= self.first_weight() && i <= j,
            _ => true,
        }
    }

    /// The sum of a left factor times `Z_k`.
    pub fn ratio_product(self, row: &[f64], left: Left, k: usize) -> f64 {
        row[self.place(BinSum::Product(left, Right::Ratio(k)))]
    }
}

impl Layout for BinLayout {
    type Key = BinSum;

    fn keys(&self) -> Vec<BinSum> {
        let lefts = || std::iter::once(Left::One).chain((0..self.shape.basis.count()).map(Left::Weight));
        let mut keys: Vec<BinSum> = lefts()
            .flat_map(|left| {
                self.rights()
                    .filter(move |&right| self.is_read(left, right))
                    .map(move |right| BinSum::Product(left, right))
            })
            .collect();
        if self.shape.chi {
            let slots = self.shape.slots;
            keys.extend((0..slots).map(BinSum::Chi));
            keys.extend((0..self.shape.basis.count()).flat_map(|m| (0..slots).map(move |k| BinSum::ChiError { m, k })));
        }
        keys
    }

    #[inline(always)]
    fn place(&self, key: BinSum) -> usize {
        match key {
            BinSum::Product(left, right) => {
                let place = match right {
                    Right::Ratio(k) => k,
                    Right::Weight(j) => self.shape.slots + j - self.first_weight(),
                };
                left.number() * self.product_run() + place
            }
            BinSum::Chi(k) => self.chi_start() + k,
            BinSum::ChiError { m, k } => self.chi_start() + (1 + m) * self.slot_run() + k,
        }
    }

    #[inline(always)]
    fn width(&self) -> usize {
        let chi = if self.shape.chi { (1 + self.shape.basis.count()) * self.slot_run() } else { 0 };
        self.chi_start() + chi
    }
}

/// The features of a policy that another policy's `W_i` are multiplied with: `W_j` and `Z_k`, and with chi `chi_k` and
/// `W_j Z_k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RightLayout {
    /// What the policy's sums are of.
    pub shape: Shape,
}

impl RightLayout {
    fn basis(self) -> usize {
        self.shape.basis.count()
    }

    /// How many slots have a chi.
    fn chi_slots(self) -> usize {
        if self.shape.chi { self.shape.slots } else { 0 }
    }

    /// The places of `W_j`.
    pub fn weights(self) -> Range<usize> {
        self.place(Feature::Weight(0))..self.place(Feature::Weight(self.basis()))
    }
}

impl Layout for RightLayout {
    type Key = Feature;

    fn keys(&self) -> Vec<Feature> {
        let mut features: Vec<Feature> = (0..self.basis()).map(Feature::Weight).collect();
        features.extend((0..self.shape.slots).map(Feature::Ratio));
        features.extend((0..self.chi_slots()).map(Feature::Chi));
        let products = |j: usize| (0..self.chi_slots()).map(move |k| Feature::WeightedRatio(j, k));
        features.extend((0..self.basis()).flat_map(products));
        features
    }

    #[inline(always)]
    fn place(&self, feature: Feature) -> usize {
        let (slots, basis) = (self.shape.slots, self.basis());
        match feature {
            Feature::Weight(j) => j,
            Feature::Ratio(k) => basis + k,
            Feature::Chi(k) => basis + slots + k,
            Feature::WeightedRatio(j, k) => basis + (2 + j) * slots + k,
            other => unreachable!("{other:?} is no right feature of a bin"),
        }
    }

    #[inline(always)]
    fn width(&self) -> usize {
        self.basis() + self.shape.slots + (1 + self.basis()) * self.chi_slots()
    }
}

/// The sums of two policies in a bin: the products of each `W_i` of a policy with the right features of the baseline, then
/// the other way round. The products of 1 stand with each policy's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossLayout {
    /// The policy's right features.
    pub policy: RightLayout,
    /// The baseline's.
    pub baseline: RightLayout,
}

/// A product of a `W_i` of one policy with a right feature of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrossProduct {
    /// The policy's `W_i`, and a feature of the baseline.
    OfPolicy(usize, Feature),
    /// The baseline's `W_i`, and a feature of the policy.
    OfBaseline(usize, Feature),
}

impl CrossLayout {
    /// The places of the products of the policy's `W_i`, each as wide as the baseline's right features.
    pub fn of_policy(self) -> Range<usize> {
        0..self.policy.basis() * self.baseline.width()
    }

    /// The places of the products of the baseline's `W_i`, each as wide as the policy's right features.
    pub fn of_baseline(self) -> Range<usize> {
        let start = self.of_policy().end;
        start..start + self.baseline.basis() * self.policy.width()
    }
}

impl Layout for CrossLayout {
    type Key = CrossProduct;

    fn keys(&self) -> Vec<CrossProduct> {
        let (policy, baseline) = (self.policy.keys(), self.baseline.keys());
        let products = |lefts: usize, rights: Vec<Feature>| {
            (0..lefts).flat_map(move |i| rights.clone().into_iter().map(move |right| (i, right)))
        };
        let of_policy = products(self.policy.basis(), baseline).map(|(i, right)| CrossProduct::OfPolicy(i, right));
        let of_baseline = products(self.baseline.basis(), policy).map(|(i, right)| CrossProduct::OfBaseline(i, right));
        of_policy.chain(of_baseline).collect()
    }

    fn place(&self, key: CrossProduct) -> usize {
        match key {
            CrossProduct::OfPolicy(i, right) => i * self.baseline.width() + self.baseline.place(right),
            CrossProduct::OfBaseline(i, right) => {
                self.of_baseline().start + i * self.policy.width() + self.policy.place(right)
            }
        }
    }

    fn width(&self) -> usize {
        self.of_baseline().end
    }
}
