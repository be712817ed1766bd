//! Sums of products of one policy's features with another's, over the rows of a log.
//! See docs/methods.md, section 3.2.

use crate::sums::feature_map::{FeatureMap, LinearFunction};
use crate::sums::index::{FeatureLayout, Layout};

/// Sums of products of one policy's columns with another's.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossGram {
    /// How many features the policy has.
    pub rows: usize,
    /// How many features the baseline has.
    pub columns: usize,
    /// Their products, feature by feature of the policy.
    pub sums: Vec<f64>,
}

impl CrossGram {
    pub(crate) fn new(left: FeatureLayout, right: FeatureLayout) -> Self {
        let (rows, columns) = (left.width(), right.width());
        CrossGram { rows, columns, sums: vec![0.0; rows * columns] }
    }

    fn sum(&self, a: usize, b: usize) -> f64 {
        self.sums[a * self.columns + b]
    }

    pub(crate) fn merge(&mut self, other: &CrossGram) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(a, b)| *a += b);
    }

    /// The sums of `L x` times `M y` from those of `x` times `y`.
    pub(crate) fn transform(&self, left: &FeatureMap, right: &FeatureMap) -> CrossGram {
        let mut out = CrossGram::new(left.to, right.to);
        for (p, row) in left.rows.iter().enumerate() {
            for (q, column) in right.rows.iter().enumerate() {
                let products = row.iter().flat_map(|&(a, x)| column.iter().map(move |&(b, y)| (a, b, x * y)));
                out.sums[p * out.columns + q] = products.map(|(a, b, c)| c * self.sum(a, b)).sum();
            }
        }
        out
    }

    /// The sum of the product of a linear function of one policy's features with one of the other's.
    pub(crate) fn between(&self, x: &LinearFunction, y: &LinearFunction) -> f64 {
        let (x, y) = (x.coefficients(), y.coefficients());
        let row = |(a, &x): (usize, &f64)| x * (0..self.columns).map(|b| self.sum(a, b) * y[b]).sum::<f64>();
        x.iter().enumerate().filter(|(_, x)| **x != 0.0).map(row).sum()
    }
}
