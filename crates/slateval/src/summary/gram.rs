//! Sums of products of columns: `sum_i x_i x_i'` over the rows of a log, a block at a time.
//! See docs/methods.md, section 3.2.

use crate::math::vector::dot;
use crate::summary::feature_map::{FeatureMap, LinearFunction};
use crate::summary::index::{Feature, GramLayout, Layout};

/// A symmetric matrix of sums, one row and column per feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gram {
    layout: GramLayout,
    size: usize,
    /// Row-major; only the upper triangle is kept.
    sums: Vec<f64>,
}

impl Gram {
    pub(crate) fn new(layout: GramLayout) -> Self {
        let size = layout.len();
        Gram { layout, size, sums: vec![0.0; size * size] }
    }

    /// Which features the sums are of.
    pub(crate) fn layout(&self) -> GramLayout {
        self.layout
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The sum of a product of two features.
    pub(crate) fn get(&self, a: Feature, b: Feature) -> f64 {
        self.sum(self.layout.place(a), self.layout.place(b))
    }

    fn sum(&self, a: usize, b: usize) -> f64 {
        self.sums[a.min(b) * self.size + a.max(b)]
    }

    fn at(&mut self, a: usize, b: usize) -> &mut f64 {
        &mut self.sums[a.min(b) * self.size + a.max(b)]
    }

    /// Adds the products of every two columns. Costs one multiplication and one addition per row and pair.
    #[inline(always)]
    pub(crate) fn add(&mut self, columns: &[Vec<f64>]) {
        for first in 0..columns.len() {
            // One column against several at a time: their sums are independent, and so added in parallel.
            for second in (first..columns.len()).step_by(4) {
                match columns.len() - second {
                    1 => self.add_products::<1>(first, second, columns),
                    2 => self.add_products::<2>(first, second, columns),
                    3 => self.add_products::<3>(first, second, columns),
                    _ => self.add_products::<4>(first, second, columns),
                }
            }
        }
    }

    #[inline(always)]
    fn add_products<const W: usize>(&mut self, first: usize, second: usize, columns: &[Vec<f64>]) {
        let rights = std::array::from_fn(|w| columns[second + w].as_slice());
        for (w, sum) in dot::<W>(&columns[first], rights).into_iter().enumerate() {
            *self.at(first, second + w) += sum;
        }
    }

    pub(crate) fn merge(&mut self, other: &Gram) {
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
        }
    }

    /// The sums of `L x` from those of `x`.
    pub(crate) fn transform(&self, map: &FeatureMap) -> Gram {
        let mut out = Gram::new(map.to);
        for (p, left) in map.rows.iter().enumerate() {
            for (q, right) in map.rows.iter().enumerate().skip(p) {
                let products = left.iter().flat_map(|&(a, x)| right.iter().map(move |&(b, y)| (a, b, x * y)));
                *out.at(p, q) = products.map(|(a, b, c)| c * self.sum(a, b)).sum();
            }
        }
        out
    }

    /// The sum of the product of two linear functions of the features.
    pub(crate) fn between(&self, x: &LinearFunction, y: &LinearFunction) -> f64 {
        let (x, y) = (x.coefficients(), y.coefficients());
        let row = |(a, &x): (usize, &f64)| x * (0..self.size).map(|b| self.sum(a, b) * y[b]).sum::<f64>();
        x.iter().enumerate().filter(|(_, x)| **x != 0.0).map(row).sum()
    }

    /// The upper triangle, row by row.
    pub(crate) fn to_packed(&self) -> Vec<f64> {
        (0..self.size).flat_map(|p| (p..self.size).map(move |q| self.sum(p, q))).collect()
    }

    /// The inverse of [`to_packed`](Gram::to_packed); `None` if there are too few or too many sums.
    pub(crate) fn from_packed(layout: GramLayout, packed: &[f64]) -> Option<Gram> {
        let mut gram = Gram::new(layout);
        let mut values = packed.iter();
        for p in 0..gram.size {
            for q in p..gram.size {
                *gram.at(p, q) = *values.next()?;
            }
        }
        values.next().is_none().then_some(gram)
    }
}

/// Sums of products of one policy's columns with another's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CrossGram {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) sums: Vec<f64>,
}

impl CrossGram {
    pub(crate) fn new(left: GramLayout, right: GramLayout) -> Self {
        let (rows, columns) = (left.len(), right.len());
        CrossGram { rows, columns, sums: vec![0.0; rows * columns] }
    }

    fn sum(&self, a: usize, b: usize) -> f64 {
        self.sums[a * self.columns + b]
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, left: &[Vec<f64>], right: &[Vec<f64>]) {
        for (a, column) in left.iter().enumerate() {
            let sums = &mut self.sums[a * self.columns..][..self.columns];
            for (sum, other) in sums.iter_mut().zip(right) {
                *sum += dot::<1>(column, [other.as_slice()])[0];
            }
        }
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
