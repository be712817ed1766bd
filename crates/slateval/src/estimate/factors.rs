//! The sums of a bin for two weights: a left one, times each feature of a right one.
//! See docs/methods.md, section 6.6.

use std::ops::Index;

use crate::summary::cell::Cell;
use crate::summary::feature_map::Weight;
use crate::summary::index::{BinSum, CrossProduct, Feature, Layout, Left, Shape, Shared};
use crate::summary::layout::CrossSection;

/// A weight of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PolicyWeight {
    pub(crate) policy: usize,
    pub(crate) weight: Weight,
}

/// Sums over the rows of a bin of a left weight times each feature `(1, G, Z_k)` of a right one, and with chi
/// `D_k = G Z_k - chi_k`: the features that adjustments are linear functions of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Factors {
    slots: usize,
    sums: Vec<f64>,
}

impl Index<Feature> for Factors {
    type Output = f64;

    fn index(&self, feature: Feature) -> &f64 {
        match feature {
            Feature::One => &self.sums[0],
            Feature::Weight(0) => &self.sums[1],
            Feature::Ratio(k) => &self.sums[2 + k],
            Feature::ChiError(k) => &self.sums[2 + self.slots + k],
            other => unreachable!("adjustments are no functions of {other:?}"),
        }
    }
}

/// The factors of some bins, given their rows in the table. The two are weights of one policy, or of two that are compared.
pub(crate) fn bin_factors(cell: &Cell, left: PolicyWeight, right: PolicyWeight, occupied: &[u32]) -> Vec<Factors> {
    let shape = cell.kept.shape(right.policy, cell.slots);
    let of_bin = |&row: &u32| BinProducts { cell, left, right, row: cell.table.row(row) }.factors(shape);
    occupied.iter().map(of_bin).collect()
}

/// The products of two weights' features in one bin.
struct BinProducts<'a> {
    cell: &'a Cell,
    left: PolicyWeight,
    right: PolicyWeight,
    row: &'a [f64],
}

impl BinProducts<'_> {
    fn factors(&self, shape: Shape) -> Factors {
        let slots = shape.slots;
        let mut sums = Vec::with_capacity(2 + if shape.chi { 2 * slots } else { slots });
        let one = self.weight_sum();
        sums.push(one);
        sums.push(self.of_right(one, |left, j| self.weight_product(left, j)));
        sums.extend((0..slots).map(|k| self.ratio_product(k)));
        // Nothing is adjusted for with the weight 1.
        if shape.chi && self.right.weight != Weight::One {
            sums.extend((0..slots).map(|k| self.chi_error(k)));
        }
        Factors { slots, sums }
    }

    /// The sum of the left weight.
    fn weight_sum(&self) -> f64 {
        let own = &self.cell.layout.own[self.left.policy];
        let of_one = |j: usize| own.layout.weight_product(&self.row[own.start..], Left::One, j);
        let constant = self.left.weight.constant() * self.row[Shared::Rows.place()];
        constant + self.left.weight.terms().map(of_one).sum::<f64>()
    }

    /// The sum of the left weight times what the right weight's terms give, and a constant for its constant.
    fn of_right(&self, constant: f64, term: impl Fn(Left, usize) -> f64) -> f64 {
        let of_left = |left: Left| self.right.weight.terms().map(|j| term(left, j)).sum::<f64>();
        self.right.weight.constant() * constant + self.sum_of_lefts(of_left)
    }

    /// The sum over the left weight's constant and terms.
    fn sum_of_lefts(&self, of: impl Fn(Left) -> f64) -> f64 {
        let constant = if self.left.weight.constant() == 0.0 { 0.0 } else { of(Left::One) };
        constant + self.left.weight.terms().map(|j| of(Left::Weight(j))).sum::<f64>()
    }

    /// A left factor of one policy times a feature of the other, and where it stands among the sums of both.
    fn cross(&self, section: &CrossSection, is_policy: bool, i: usize, right: Feature) -> f64 {
        let key = if is_policy { CrossProduct::OfPolicy(i, right) } else { CrossProduct::OfBaseline(i, right) };
        self.row[section.sums.place(key)]
    }

    /// A left factor times a feature of the right policy that is kept for all weights alike.
    fn kept(&self, left: Left, right: Feature) -> f64 {
        let own = &self.cell.layout.own[self.right.policy];
        let row = &self.row[own.start..];
        let crossed = self.cell.layout.cross(self.left.policy, self.right.policy);
        match (left, right, crossed) {
            (Left::Weight(i), right, Some((section, is_policy))) if self.left.policy != self.right.policy => {
                self.cross(section, is_policy, i, right)
            }
            (left, Feature::Ratio(k), _) => own.layout.ratio_product(row, left, k),
            (left, Feature::Weight(j), _) => own.layout.weight_product(row, left, j),
            (Left::One, Feature::Chi(k), _) => row[own.layout.place(BinSum::Chi(k))],
            (Left::One, Feature::WeightedRatio(j, k), _) => own.layout.ratio_product(row, Left::Weight(j), k),
            (left, right, _) => unreachable!("{left:?} times {right:?} is not kept"),
        }
    }

    fn weight_product(&self, left: Left, j: usize) -> f64 {
        self.kept(left, Feature::Weight(j))
    }

    /// `Z_k`.
    fn ratio_product(&self, k: usize) -> f64 {
        self.sum_of_lefts(|left| self.kept(left, Feature::Ratio(k)))
    }

    /// `D_k`: kept for a weight with its own, and the sum of its parts beside other weights.
    fn chi_error(&self, k: usize) -> f64 {
        if self.left == self.right && self.left.weight != Weight::One {
            let own = &self.cell.layout.own[self.right.policy];
            let key = BinSum::ChiError { m: self.right.weight.place(), k };
            return self.row[own.start + own.layout.place(key)];
        }
        let chi = self.sum_of_lefts(|left| self.kept(left, Feature::Chi(k)));
        self.of_right(self.ratio_product(k), |left, j| self.kept(left, Feature::WeightedRatio(j, k))) - chi
    }
}
