//! The one index of a summary: which numbers of a row are summed, and where each sum stands.
//! See docs/methods.md, section 3.2.
//!
//! A weight is a sum of *basis* functions: structures auto and additive have `G_m = 1 + W_1 + ... + W_m` with
//! `W_j = e_j(Z)`, so that the order `m` stays open until the log has been read; any other structure has one `W_1 = G`, its
//! own weight. With chi, `D_mk = G_m Z_k - chi_k` is what calibration corrects for.
//!
//! Only sums that are read are kept:
//!
//! | sums | of | layout |
//! |---|---|---|
//! | `Z_k`, `W_j`, `W_i Z_k`, `W_i W_j`; with chi `chi_k`, `G_m D_mk` | each bin of rewards | [`BinLayout`] |
//! | `R^q`, `G_m R^q`, `G_m^2 R^q`, `Z_k R^q`, `G_m Z_k R^q`; `Z_j Z_k`; with chi `chi_k R^q`, `G_m D_mk R^q`, `D_mj D_mk` | the whole log | [`MomentLayout`] |
//! | rows and rewards | each bin, all policies together | [`Shared`] |
//! | products of one policy's `W_i` with another's right features | each bin, each policy and its baseline | [`CrossLayout`] |
//! | `Z_j Z_k` and its square | each bin, each policy, with interactions | [`PairLayout`] |
//! | each witness and its square | each bin, each policy | [`WitnessLayout`] |
//! | rows and `W_j` | each bin and group of clusters | [`GroupLayout`] |
//! | every [`Feature`] | each group of clusters, and products of two with a baseline | [`FeatureLayout`] |
//!
//! What the whole log sums of products without `R` are the sums over its bins.
//!
//! A [`Layout`] maps what is summed to places. The file format writes sums in the order of their keys.

mod features;
mod moments;
mod others;
mod products;

pub(crate) use features::Chi;
pub use features::{Feature, FeatureLayout};
pub(crate) use moments::FEW_POWERS;
pub use moments::{MomentLayout, MomentSum, POWERS, place_among};
pub use others::{GroupLayout, GroupSum, Pair, PairLayout, Power, Shared, WitnessLayout};
pub use products::{BinLayout, BinSum, CrossLayout, CrossProduct, Left, Right, RightLayout};

/// Maps what is summed to places.
pub trait Layout {
    /// Names a sum.
    type Key: Copy;

    /// Every sum, in the order of the places.
    fn keys(&self) -> Vec<Self::Key>;

    /// Where a sum stands.
    fn place(&self, key: Self::Key) -> usize;

    /// How many places there are. Some may be empty, so that what is added together stands aligned.
    fn width(&self) -> usize;

    /// `(place here, place there)` of every sum, given a layout that has all sums of this one: that of longer slates.
    fn places_in(&self, wide: &Self) -> Vec<(usize, usize)> {
        self.keys().into_iter().map(|key| (self.place(key), wide.place(key))).collect()
    }
}

/// What weights are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// `W_j = e_j(Z)` for this many orders. The first is the sum of the ratios, so that products with it are sums of
    /// products with them.
    Orders(usize),
    /// One weight of its own.
    Single,
}

impl Basis {
    /// Number of functions `W_j`.
    #[inline(always)]
    pub fn count(self) -> usize {
        match self {
            Basis::Orders(orders) => orders,
            Basis::Single => 1,
        }
    }
}

/// What a policy's sums are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Slots of the longest slate.
    pub slots: usize,
    /// What weights are made of.
    pub basis: Basis,
    /// Whether chi is known.
    pub chi: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::witness::Witness;

    fn ascend(layout: &impl Layout) {
        let places: Vec<usize> = layout.keys().into_iter().map(|key| layout.place(key)).collect();
        assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
        assert!(places.last().is_none_or(|&last| last < layout.width()), "{places:?}");
    }

    #[test]
    fn the_keys_of_a_layout_ascend() {
        for (slots, basis, chi) in [
            (0, Basis::Single, false),
            (3, Basis::Single, true),
            (5, Basis::Orders(4), false),
            (5, Basis::Orders(4), true),
            (9, Basis::Orders(1), true),
        ] {
            let shape = Shape { slots, basis, chi };
            ascend(&BinLayout { shape });
            ascend(&MomentLayout { shape });
            ascend(&RightLayout { shape });
            ascend(&FeatureLayout::kept(shape));
            ascend(&FeatureLayout::of_one_weight(shape));
            let baseline = RightLayout { shape: Shape { chi: !chi, ..shape } };
            ascend(&CrossLayout { policy: RightLayout { shape }, baseline });
            ascend(&PairLayout { slots });
            ascend(&WitnessLayout { list: vec![Witness::Order(3), Witness::Beyond(slots)] });
        }
        assert_eq!(Shared::ALL.map(Shared::place), [0, 1, 2, 3]);
    }
}
