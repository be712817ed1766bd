//! The sums of a bin for two weights: a left one, times each feature of a right one.
//! See docs/methods.md, section 6.6.

use std::ops::{Index, IndexMut};

use crate::summary::cell::Cell;
use crate::summary::feature_map::Coefficients;
use crate::summary::index::{FactorLayout, Feature, Layout, Product, RightLayout, Shape};
use crate::summary::layout::Products;

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
    /// No rows, for right features of this shape.
    fn zero(rights: Shape) -> Self {
        let layout = FactorLayout { shape: Shape { basis: 1, ..rights } };
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

/// The factors of some bins, given their rows in the table.
pub(crate) fn bin_factors(
    cell: &Cell,
    left: PolicyWeight<'_>,
    right: PolicyWeight<'_>,
    occupied: &[u32],
) -> Vec<Factors> {
    let products = cell.layout.products(left.policy, right.policy);
    let used = left.coefficients.terms().filter(|&(_, c)| c != 0.0);
    let lefts: Vec<LeftTerm> = used.map(|(feature, c)| LeftTerm::new(feature, c, &products)).collect();
    let of_bin = |&row: &u32| {
        let mut factors = Factors::zero(products.rights().shape);
        lefts.iter().for_each(|left| left.add(cell.table.row(row), right.coefficients, &mut factors));
        factors
    };
    occupied.iter().map(of_bin).collect()
}

/// One of the features that the left weight is a sum of, with the places of its products: found once for all bins.
struct LeftTerm {
    coefficient: f64,
    /// Where the product with 1 stands.
    one: usize,
    rights: RightLayout,
    /// Where the product with each right feature stands.
    places: Vec<usize>,
}

impl LeftTerm {
    fn new(left: Feature, coefficient: f64, products: &Products<'_>) -> Self {
        let place = |right: Feature| products.place(Product(left, right));
        let rights = products.rights();
        LeftTerm {
            coefficient,
            one: place(Feature::One),
            rights,
            places: rights.keys().into_iter().map(place).collect(),
        }
    }

    /// Adds the products of a bin, given its row of sums and the coefficients of the right weight.
    fn add(&self, row: &[f64], Coefficients { constant, weights }: &Coefficients, factors: &mut Factors) {
        let (c, of_one) = (self.coefficient, row[self.one]);
        let sum = |right: Feature| row[self.places[self.rights.place(right)]];
        factors[Feature::One] += c * of_one;
        factors[Feature::G] += c * constant * of_one;
        for (j, by) in weights.iter().enumerate() {
            factors[Feature::G] += c * by * sum(Feature::Weight(j));
        }
        for k in 0..self.rights.shape.slots {
            let z = sum(Feature::Ratio(k));
            factors[Feature::Ratio(k)] += c * z;
            if self.rights.shape.chi {
                factors[Feature::Chi(k)] += c * sum(Feature::Chi(k));
                let weighted = weights.iter().enumerate().map(|(j, by)| by * sum(Feature::WeightedRatio(j, k)));
                factors[Feature::gz(k)] += c * (constant * z + weighted.sum::<f64>());
            }
        }
    }
}
