//! The one index of a summary: which numbers of a row are summed, and where each sum stands.
//! See docs/methods.md, section 3.2.
//!
//! A [`Feature`] is a number of a row. A summary sums products of two features: of every two over the whole log (the Gram
//! matrix), and of a *left* with a *right* feature in each bin of rewards.
//!
//! | feature | symbol | Gram matrix | bin, left | bin, right |
//! |---|---|---|---|---|
//! | [`One`](Feature::One) | `1` | yes | yes | with `W_j`: as `1` times `W_j`; with `1`: as the bin's rows |
//! | [`Ratio`](Feature::Ratio) | `Z_k = Y_k - 1` | yes | | yes |
//! | [`Weight`](Feature::Weight) | `W_j` | yes | yes | yes |
//! | [`Reward`](Feature::Reward) | `R` | yes | | |
//! | [`SquaredReward`](Feature::SquaredReward) | `R^2` | yes | | |
//! | [`WeightedReward`](Feature::WeightedReward) | `W_j R` | yes | | |
//! | [`WeightedSquaredReward`](Feature::WeightedSquaredReward) | `W_j R^2` | yes | | |
//! | [`Chi`](Feature::Chi) | `chi_k` | with chi | | with chi |
//! | [`WeightedRatio`](Feature::WeightedRatio) | `W_j Z_k` | with chi | | with chi; with `1`: as `W_j` times `Z_k` |
//!
//! A bin keeps a few more numbers:
//!
//! | numbers | of | layout |
//! |---|---|---|
//! | rows, sum, least and greatest of the rewards | all policies together | [`Shared`] |
//! | products of one policy's `W_i` with another's right features | each policy and its baseline | [`CrossLayout`] |
//! | `Z_j Z_k` and its square | each policy, with interactions | [`PairLayout`] |
//! | each witness and its square | each policy | [`WitnessLayout`] |
//! | rows and `W_j` | each group of clusters | [`GroupLayout`] |
//!
//! A weight is a sum of *basis* functions, `G = c_0 + sum_j c_j W_j`. A fixed structure has one `W_j`, its own weight;
//! structure auto has `W_j = e_j(Z)`. Sums of the basis rather than of `G` leave the choice of the `c_j` open until the
//! log has been read.
//!
//! A [`Layout`] maps what is summed to places. The file format writes sums in the order of their places.

mod others;
mod products;

pub(crate) use others::{GroupLayout, GroupSum, Pair, PairLayout, Power, Shared, WitnessLayout};
pub(crate) use products::{BinLayout, CrossLayout, CrossProduct, FactorLayout, GramLayout, RightLayout};

/// A number of a row. Slots `k` and basis functions `j` count from 0; `R` is the reward minus the cell's origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    /// `1`.
    One,
    /// `Z_k`.
    Ratio(usize),
    /// `W_j`.
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
}

impl Feature {
    /// The weight `G` of features that belong to a single weight.
    pub(crate) const G: Feature = Feature::Weight(0);
    /// `G R`.
    pub(crate) const GR: Feature = Feature::WeightedReward(0);
    /// `G R^2`.
    pub(crate) const GR2: Feature = Feature::WeightedSquaredReward(0);

    /// `G Z_k`.
    pub(crate) fn gz(k: usize) -> Feature {
        Feature::WeightedRatio(0, k)
    }
}

/// A left feature times a right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Product(pub(crate) Feature, pub(crate) Feature);

/// Maps what is summed to places.
pub(crate) trait Layout {
    /// Names a sum.
    type Key: Copy;

    /// Every sum, in the order of the places.
    fn keys(&self) -> Vec<Self::Key>;

    /// Where a sum stands.
    fn place(&self, key: Self::Key) -> usize;

    /// How many sums there are.
    fn len(&self) -> usize;

    /// `(place here, place there)` of every sum, given a layout that has all sums of this one: that of longer slates.
    fn places_in(&self, wide: &Self) -> Vec<(usize, usize)> {
        self.keys().into_iter().map(|key| (self.place(key), wide.place(key))).collect()
    }
}

/// How many features of each kind a policy has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) slots: usize,
    pub(crate) basis: usize,
    pub(crate) chi: bool,
}

impl Shape {
    /// How many slots have a chi.
    #[inline(always)]
    fn chi_slots(self) -> usize {
        if self.chi { self.slots } else { 0 }
    }

    /// `chi_k`, then `W_j Z_k`; none without chi.
    fn chi_features(self) -> impl Iterator<Item = Feature> {
        let slots = self.chi_slots();
        let products = move |j: usize| (0..slots).map(move |k| Feature::WeightedRatio(j, k));
        (0..slots).map(Feature::Chi).chain((0..self.basis).flat_map(products))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::witness::Witness;

    fn count_up(layout: &impl Layout) {
        let places: Vec<usize> = layout.keys().into_iter().map(|key| layout.place(key)).collect();
        assert_eq!(places, (0..layout.len()).collect::<Vec<_>>());
    }

    #[test]
    fn the_keys_of_a_layout_stand_one_behind_the_other() {
        for (slots, basis, chi) in [(0, 1, false), (3, 1, true), (5, 4, false), (5, 4, true)] {
            let shape = Shape { slots, basis, chi };
            count_up(&GramLayout { shape });
            count_up(&RightLayout { shape });
            count_up(&BinLayout { shape });
            count_up(&FactorLayout { shape });
            let baseline = RightLayout { shape: Shape { chi: !chi, ..shape } };
            count_up(&CrossLayout { policy: RightLayout { shape }, baseline });
            count_up(&PairLayout { slots });
            count_up(&WitnessLayout { list: vec![Witness::Order(3), Witness::Beyond(slots)] });
        }
        assert_eq!(Shared::ALL.map(Shared::place), [0, 1, 2, 3]);
    }

    #[test]
    fn a_product_stands_once_whichever_way_it_is_written() {
        let layout = BinLayout { shape: Shape { slots: 3, basis: 2, chi: true } };
        let place = |left, right| layout.place(Product(left, right));
        let (one, w, z) = (Feature::One, Feature::Weight(1), Feature::Ratio(2));
        assert_eq!(place(w, one), place(one, w));
        assert_eq!(place(one, Feature::WeightedRatio(1, 2)), place(w, z));
    }
}
