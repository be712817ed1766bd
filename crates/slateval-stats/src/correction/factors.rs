//! The sums of each bin for two weights: a left one, times each feature of a right one.
//! See docs/methods.md, section 6.6.

use std::ops::{Deref, Range};
use std::rc::Rc;

use crate::sums::cell::Cell;
use crate::sums::feature_map::Weight;
use crate::sums::index::{BinSum, CrossProduct, Feature, Left, Right, Shape, Shared};

/// A weight of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PolicyWeight {
    pub(crate) policy: usize,
    pub(crate) weight: Weight,
}

/// Sums over the rows of each bin of a left weight times each feature `(1, G, Z_k)` of a right one, and with chi
/// `D_k = G Z_k - chi_k`: the features that adjustments are linear functions of. Beside the weight 1 nothing is adjusted,
/// and only 1 and `G` are there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Factors {
    slots: usize,
    bins: usize,
    /// Feature by feature.
    sums: Vec<f64>,
}

impl Factors {
    /// The sums of some bins, given their rows in the table. The two are weights of one policy, or of two that are compared.
    pub(crate) fn new(cell: &Cell, left: PolicyWeight, right: PolicyWeight, occupied: &[u32]) -> Self {
        let shape = cell.kept.shape(right.policy, cell.slots);
        let bins = occupied.len();
        if bins == 0 {
            return Factors { slots: shape.slots, bins, sums: Vec::new() };
        }
        let features = Products { cell, left, right }.features(shape);
        let mut sums = vec![0.0; features.len() * bins];
        // Each sum is a linear function of the bin's row: which one, is found out once for all bins.
        for (b, &row) in occupied.iter().enumerate() {
            let row = cell.table.row(row);
            for (f, function) in features.iter().enumerate() {
                sums[f * bins + b] = function.terms.iter().map(|&(place, c)| c * row[place]).sum();
            }
        }
        Factors { slots: shape.slots, bins, sums }
    }

    /// The sums of a feature, bin by bin.
    pub(crate) fn column(&self, feature: Feature) -> &[f64] {
        let place = match feature {
            Feature::One => 0,
            Feature::Weight(0) => 1,
            Feature::Ratio(k) => 2 + k,
            Feature::ChiError(k) => 2 + self.slots + k,
            other => unreachable!("adjustments are no functions of {other:?}"),
        };
        if self.bins == 0 { &[] } else { &self.sums[place * self.bins..][..self.bins] }
    }

    /// The sums of a linear function of the features, bin by bin.
    fn combined(&self, function: &[(Feature, f64)]) -> Vec<f64> {
        let mut sums = vec![0.0; self.bins];
        for &(feature, c) in function {
            sums.iter_mut().zip(self.column(feature)).for_each(|(sum, x)| *sum += c * x);
        }
        sums
    }
}

/// Sums of a feature, or of a linear function of features, bin by bin.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    Kept(Rc<Factors>, Feature),
    Made(Rc<[f64]>),
}

impl Column {
    /// Nothing is added up, and nothing copied, where the function is a feature.
    pub(crate) fn new(factors: &Rc<Factors>, function: &[(Feature, f64)]) -> Self {
        match *function {
            [(feature, 1.0)] => Column::Kept(Rc::clone(factors), feature),
            _ => Column::Made(factors.combined(function).into()),
        }
    }
}

impl Deref for Column {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Column::Kept(factors, feature) => factors.column(*feature),
            Column::Made(sums) => sums,
        }
    }
}

/// A linear function of a bin's row: places, and what their sums are multiplied by.
#[derive(Debug, Clone, Default)]
struct RowFunction {
    terms: Vec<(usize, f64)>,
}

impl RowFunction {
    fn add(&mut self, place: usize, times: f64) {
        self.terms.push((place, times));
    }

    fn add_all(&mut self, other: &RowFunction, times: f64) {
        self.terms.extend(other.terms.iter().map(|&(place, c)| (place, times * c)));
    }

    /// Each place once.
    fn tidy(mut self) -> Self {
        self.terms.sort_unstable_by_key(|&(place, _)| place);
        self.terms.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        self.terms.retain(|&(_, c)| c != 0.0);
        self
    }
}

/// The products of two weights' features, as functions of a bin's row.
struct Products<'a> {
    cell: &'a Cell,
    left: PolicyWeight,
    right: PolicyWeight,
}

impl Products<'_> {
    /// In the order of [`Factors::column`].
    fn features(&self, shape: Shape) -> Vec<RowFunction> {
        let mut features = vec![self.weight_sum(), self.weight_product()];
        if self.right.weight != Weight::One {
            features.extend((0..shape.slots).map(|k| self.ratio_product(k)));
            let chi_slots = if shape.chi { shape.slots } else { 0 };
            features.extend((0..chi_slots).map(|k| self.chi_error(k)));
        }
        features.into_iter().map(RowFunction::tidy).collect()
    }

    /// The sum of the left weight.
    fn weight_sum(&self) -> RowFunction {
        let mut sum = RowFunction::default();
        sum.add(Shared::Rows.place(), self.left.weight.constant());
        let own = &self.cell.layout.own[self.left.policy];
        for j in self.left.weight.terms() {
            own.layout.weight_places(Left::One, j).for_each(|place| sum.add(own.start + place, 1.0));
        }
        sum
    }

    /// The left weight times the right one.
    fn weight_product(&self) -> RowFunction {
        self.of_right(&self.weight_sum(), Feature::Weight)
    }

    /// `Z_k`.
    fn ratio_product(&self, k: usize) -> RowFunction {
        let mut sum = RowFunction::default();
        self.add_lefts(&mut sum, Feature::Ratio(k), 1.0);
        sum
    }

    /// `D_k`: kept for a weight with its own, and the sum of its parts beside other weights.
    fn chi_error(&self, k: usize) -> RowFunction {
        if self.left == self.right {
            let own = &self.cell.layout.own[self.right.policy];
            let mut kept = RowFunction::default();
            kept.add(own.place(BinSum::ChiError { m: self.right.weight.place(), k }), 1.0);
            return kept;
        }
        let mut sum = self.of_right(&self.ratio_product(k), |j| Feature::WeightedRatio(j, k));
        self.add_lefts(&mut sum, Feature::Chi(k), -1.0);
        sum
    }

    /// The left weight times what the right weight's terms give, and `constant` for its constant.
    fn of_right(&self, constant: &RowFunction, term: impl Fn(usize) -> Feature) -> RowFunction {
        let mut sum = RowFunction::default();
        sum.add_all(constant, self.right.weight.constant());
        for j in self.right.weight.terms() {
            self.add_lefts(&mut sum, term(j), 1.0);
        }
        sum
    }

    /// Adds the product of the left weight with a feature of the right policy.
    fn add_lefts(&self, sum: &mut RowFunction, right: Feature, times: f64) {
        let constant = Some(Left::One).filter(|_| self.left.weight.constant() != 0.0);
        for left in constant.into_iter().chain(self.left.weight.terms().map(Left::Weight)) {
            self.kept(left, right).for_each(|place| sum.add(place, times));
        }
    }

    /// Where a left factor times a feature of the right policy is kept: the sum of some places.
    fn kept(&self, left: Left, right: Feature) -> Range<usize> {
        let one = |place: usize| place..place + 1;
        if let (Left::Weight(i), true) = (left, self.left.policy != self.right.policy) {
            return one(self.crossed(i, right));
        }
        let own = &self.cell.layout.own[self.right.policy];
        let product = |left: Left, k: usize| one(own.place(BinSum::Product(left, Right::Ratio(k))));
        match (left, right) {
            (left, Feature::Ratio(k)) => product(left, k),
            (left, Feature::Weight(j)) => {
                let places = own.layout.weight_places(left, j);
                own.start + places.start..own.start + places.end
            }
            (Left::One, Feature::Chi(k)) => one(own.place(BinSum::Chi(k))),
            (Left::One, Feature::WeightedRatio(j, k)) => product(Left::Weight(j), k),
            (left, right) => unreachable!("{left:?} times {right:?} is not kept"),
        }
    }

    /// Where a `W_i` of the left policy times a feature of the right one is kept.
    fn crossed(&self, i: usize, right: Feature) -> usize {
        match self.cell.layout.cross(self.left.policy, self.right.policy) {
            Some((section, true)) => section.sums.place(CrossProduct::OfPolicy(i, right)),
            Some((section, false)) => section.sums.place(CrossProduct::OfBaseline(i, right)),
            None => unreachable!("policies that are not compared are never drawn together"),
        }
    }
}
