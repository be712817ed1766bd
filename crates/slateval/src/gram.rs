//! Sums of products of columns: `sum_i x_i x_i'` over the rows of a log, a block at a time.

use crate::vector::dot;

/// A symmetric matrix of sums, one row and column per feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gram {
    size: usize,
    /// Row-major; only the upper triangle is kept.
    sums: Vec<f64>,
}

impl Gram {
    pub(crate) fn new(size: usize) -> Self {
        Gram { size, sums: vec![0.0; size * size] }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn get(&self, a: usize, b: usize) -> f64 {
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

    /// The sums of `L x` from those of `x`: row `p` of `L` lists the features that make up feature `p` of the result.
    pub(crate) fn transform(&self, rows: &[Vec<(usize, f64)>]) -> Gram {
        let mut out = Gram::new(rows.len());
        for (p, left) in rows.iter().enumerate() {
            for (q, right) in rows.iter().enumerate().skip(p) {
                let products = left.iter().flat_map(|&(a, x)| right.iter().map(move |&(b, y)| (a, b, x * y)));
                *out.at(p, q) = products.map(|(a, b, c)| c * self.get(a, b)).sum();
            }
        }
        out
    }

    /// The upper triangle, row by row.
    pub(crate) fn to_packed(&self) -> Vec<f64> {
        (0..self.size).flat_map(|p| (p..self.size).map(move |q| self.get(p, q))).collect()
    }

    /// The inverse of [`to_packed`](Gram::to_packed); `None` if there are too few or too many sums.
    pub(crate) fn from_packed(size: usize, packed: &[f64]) -> Option<Gram> {
        let mut gram = Gram::new(size);
        let mut values = packed.iter();
        for p in 0..size {
            for q in p..size {
                *gram.at(p, q) = *values.next()?;
            }
        }
        values.next().is_none().then_some(gram)
    }
}
