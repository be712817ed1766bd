//! The sums of a bin for two weights: a left one, times each feature of a right one.

use std::ops::{Index, IndexMut};

use crate::summary::cell::Cell;
use crate::summary::feature_map::Coefficients;
use crate::summary::index::{FactorLayout, Feature, Layout, Product, Shape};

/// A weight that can be made of a policy's basis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PolicyWeight<'a> {
    pub(crate) policy: usize,
    pub(crate) coefficients: &'a Coefficients,
}

/// Sums over the rows of a bin of a left weight times each feature `(1, G, Z_k)` of a right one, and with chi
/// `(chi_k, G Z_k)`: the features that adjustments are linear functions of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Factors {
    layout: FactorLayout,
    sums: Vec<f64>,
}

impl Factors {
    fn zero(slots: usize, chi: bool) -> Self {
        let layout = FactorLayout { shape: Shape { slots, basis: 1, chi } };
        Factors { layout, sums: vec![0.0; layout.len()] }
    }
}

impl Index<Feature> for Factors {
    type Output = f64;

    fn index(&self, feature: Feature) -> &f64 {
        &self.sums[self.layout.place(feature)]
    }
}

impl IndexMut<Feature> for Factors {
    fn index_mut(&mut self, feature: Feature) -> &mut f64 {
        &mut self.sums[self.layout.place(feature)]
    }
}

/// The factors of a bin, given its row in the table.
pub(crate) fn bin_factors(cell: &Cell, left: PolicyWeight<'_>, right: PolicyWeight<'_>, row: u32) -> Factors {
    let (row, products) = (cell.table.row(row), cell.layout.products(left.policy, right.policy));
    let (slots, has_chi) = (cell.slots, cell.kept.chi[right.policy]);
    let Coefficients { constant, weights } = right.coefficients;
    let mut factors = Factors::zero(slots, has_chi);
    for (left, c) in left.coefficients.terms().filter(|&(_, c)| c != 0.0) {
        let sum = |right: Feature| row[products.place(Product(left, right))];
        let of_one = sum(Feature::One);
        factors[Feature::One] += c * of_one;
        factors[Feature::G] += c * constant * of_one;
        for (j, by) in weights.iter().enumerate() {
            factors[Feature::G] += c * by * sum(Feature::Weight(j));
        }
        for k in 0..slots {
            let z = sum(Feature::Ratio(k));
            factors[Feature::Ratio(k)] += c * z;
            if has_chi {
                factors[Feature::Chi(k)] += c * sum(Feature::Chi(k));
                let weighted = weights.iter().enumerate().map(|(j, by)| by * sum(Feature::WeightedRatio(j, k)));
                factors[Feature::gz(k)] += c * (constant * z + weighted.sum::<f64>());
            }
        }
    }
    factors
}
