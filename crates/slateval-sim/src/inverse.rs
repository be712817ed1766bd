//! The inverse of a symmetric positive definite matrix, in the memory of the matrix itself and of a few of its columns.
//!
//! Cholesky's `A = L L'`, then `L^-1`, then `A^-1 = L^-T L^-1`, a panel of columns at a time, so that all but small
//! blocks are products. Only the lower triangle is read and has a meaning afterwards; blocks on the diagonal are written
//! whole.
//!
//! Each step splits its products into tasks of fixed size: the number of threads does not change a bit of the result.

use rayon::prelude::*;

use crate::product::{Scalar, View, multiply};
use crate::triangle;

/// Columns of a panel.
const PANEL: usize = 256;

/// Rows or columns of a task. Divides [`PANEL`].
const TASK: usize = 128;

/// Replaces the lower triangle of `matrix`, column by column, by that of its inverse. `progress` gets the share done.
///
/// Returns false if the matrix is not positive definite, to the precision it is held in.
pub(crate) fn invert<T: Scalar>(matrix: &mut [T], n: usize, progress: &dyn Fn(f64)) -> bool {
    let mut work = Work { matrix, n, done: 0.0, progress };
    if !(0..n).step_by(PANEL).all(|start| work.factor(start)) {
        return false;
    }
    (0..n).step_by(PANEL).rev().for_each(|start| work.invert_triangle(start));
    (0..n).step_by(PANEL).for_each(|start| work.square(start));
    progress(1.0);
    true
}

struct Work<'a, T> {
    matrix: &'a mut [T],
    n: usize,
    /// Multiplications.
    done: f64,
    progress: &'a dyn Fn(f64),
}

/// Some columns of the matrix, and those to the right of them.
struct Columns<'a, T> {
    n: usize,
    width: usize,
    own: &'a mut [T],
    right: &'a mut [T],
}

impl<T: Scalar> Columns<'_, T> {
    /// A copy of their rows from `first` on, so that products can be written to where they were.
    fn copy(&self, first: usize) -> Vec<T> {
        self.own.chunks(self.n).flat_map(|column| &column[first..]).copied().collect()
    }

    /// Writes rows from `first` on. They come in tasks of rows, each column by column.
    fn write(&mut self, first: usize, tasks: &[T]) {
        for (i, task) in tasks.chunks(TASK * self.width).enumerate() {
            let height = task.len() / self.width;
            let rows = first + i * TASK..first + i * TASK + height;
            for (column, values) in self.own.chunks_mut(self.n).zip(task.chunks(height)) {
                column[rows.clone()].copy_from_slice(values);
            }
        }
    }
}

impl<T: Scalar> Work<'_, T> {
    fn columns(&mut self, start: usize) -> Columns<'_, T> {
        let (n, width) = (self.n, PANEL.min(self.n - start));
        let (left, right) = self.matrix.split_at_mut((start + width) * n);
        Columns { n, width, own: &mut left[start * n..], right }
    }

    /// Counts what a step does with the columns from `start` on; all three steps together do `n^3 / 2`.
    fn count(&mut self, start: usize) {
        let (below, width) = ((self.n - start) as f64, PANEL as f64);
        self.done += width * below * below / 2.0;
        (self.progress)((self.done / (self.n as f64).powi(3) * 2.0).min(1.0));
    }

    /// A panel of `A` becomes one of `L`, and the columns to the right of it lose their share of `L L'`.
    fn factor(&mut self, start: usize) -> bool {
        let mut columns = self.columns(start);
        let (n, width) = (columns.n, columns.width);
        let end = start + width;
        let mut diagonal: Vec<T> = columns.own.chunks(n).flat_map(|column| &column[start..end]).copied().collect();
        if !triangle::factor(&mut diagonal, width) {
            return false;
        }
        for (column, values) in columns.own.chunks_mut(n).zip(diagonal.chunks(width)) {
            column[start..end].copy_from_slice(values);
        }
        if end < n {
            columns.solve(end, &triangle::inverse(&diagonal, width));
            columns.update_right(end);
        }
        self.count(start);
        true
    }

    /// A panel of `L` becomes one of `L^-1`. Those to the right of it are done.
    fn invert_triangle(&mut self, start: usize) {
        let mut columns = self.columns(start);
        let (n, width) = (columns.n, columns.width);
        let end = start + width;
        let diagonal: Vec<T> = columns.own.chunks(n).flat_map(|column| &column[start..end]).copied().collect();
        let inverse = triangle::inverse(&diagonal, width);
        if end < n {
            // -M22 L21 L11^-1, where M22 is the inverse to the right.
            let below = columns.copy(end);
            let below = View::new(&below, n - end, n - end, width);
            let mut product = vec![T::of(0.0); (n - end) * width];
            let right = &*columns.right;
            product.par_chunks_mut(TASK * width).enumerate().for_each(|(i, rows)| {
                let (first, height) = (i * TASK, rows.len() / width);
                let last = first + height;
                let mut half = vec![T::of(0.0); rows.len()];
                let done = View::new(&right[end + first..], n, height, last);
                multiply(&mut half, height, T::of(0.0), T::of(1.0), done, below.rows(0..last));
                let (half, inverse) =
                    (View::new(&half, height, height, width), View::new(&inverse, width, width, width));
                multiply(rows, height, T::of(0.0), T::of(-1.0), half, inverse);
            });
            columns.write(end, &product);
        }
        for (column, values) in columns.own.chunks_mut(n).zip(inverse.chunks(width)) {
            column[start..end].copy_from_slice(values);
        }
        self.count(start);
    }

    /// A panel of a lower triangle `M` becomes one of `M' M`. Those to the right of it are still `M`.
    fn square(&mut self, start: usize) {
        let mut columns = self.columns(start);
        let (n, width) = (columns.n, columns.width);
        let height = n - start;
        let panel = columns.copy(start);
        let panel = View::new(&panel, height, height, width);
        let mut product = vec![T::of(0.0); height * width];
        let right = &*columns.right;
        product.par_chunks_mut(TASK * width).enumerate().for_each(|(i, rows)| {
            let (first, columns) = (i * TASK, rows.len() / width);
            // Values above the diagonal are 0, so rows before `first` add nothing.
            let below = if first < width {
                panel.rows(first..height).columns(first..first + columns)
            } else {
                View::new(&right[(first - width) * n + start + first..], n, height - first, columns)
            };
            multiply(rows, columns, T::of(0.0), T::of(1.0), below.transpose(), panel.rows(first..height));
        });
        columns.write(start, &product);
        self.count(start);
    }
}

impl<T: Scalar> Columns<'_, T> {
    /// `L21 = A21 L11^-T`, rows from `end` on.
    fn solve(&mut self, end: usize, inverse: &[T]) {
        let (n, width) = (self.n, self.width);
        let below = self.copy(end);
        let below = View::new(&below, n - end, n - end, width);
        let inverse = View::new(inverse, width, width, width).transpose();
        self.own.par_chunks_mut(TASK * n).enumerate().for_each(|(i, columns)| {
            let own = i * TASK..i * TASK + columns.len() / n;
            multiply(&mut columns[end..], n, T::of(0.0), T::of(1.0), below, inverse.columns(own));
        });
    }

    /// `A22 -= L21 L21'`, of which only what is on and below the diagonal is needed.
    fn update_right(&mut self, end: usize) {
        let (n, width) = (self.n, self.width);
        let below = self.copy(end);
        let below = View::new(&below, n - end, n - end, width);
        self.right.par_chunks_mut(TASK * n).enumerate().for_each(|(i, columns)| {
            let first = i * TASK;
            let own = below.rows(first..first + columns.len() / n).transpose();
            multiply(&mut columns[end + first..], n, T::of(1.0), T::of(-1.0), below.rows(first..n - end), own);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Diagonally dominant, so that it is positive definite.
    fn matrix(n: usize) -> Vec<f64> {
        let value = |i: usize, j: usize| if i == j { n as f64 } else { ((i * j + i + j) % 7) as f64 / 7.0 };
        (0..n * n).map(|at| value(at % n, at / n)).collect()
    }

    /// Sizes of one panel, of two, of two and a bit, with and without a whole last task.
    #[test]
    fn the_inverse_times_the_matrix_is_one() {
        for n in [1, 2, 128, 256, 257, 300, 400, 513] {
            let (whole, mut inverse) = (matrix(n), matrix(n));
            assert!(invert(&mut inverse, n, &|_| {}));
            for column in 0..n {
                for row in 0..column {
                    inverse[column * n + row] = inverse[row * n + column];
                }
            }
            let mut product = vec![0.0; n * n];
            multiply(&mut product, n, 0.0, 1.0, View::new(&whole, n, n, n), View::new(&inverse, n, n, n));
            for (at, value) in product.iter().enumerate() {
                let wanted = if at % n == at / n { 1.0 } else { 0.0 };
                assert!((value - wanted).abs() < 1e-12, "{value} at {at} of {n}");
            }
        }
    }

    #[test]
    fn progress_ends_at_one() {
        let last = std::cell::Cell::new(0.0);
        assert!(invert(&mut matrix(600), 600, &|share| {
            assert!(share >= last.get());
            last.set(share);
        }));
        assert_eq!(last.get(), 1.0);
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(!invert(&mut [1.0, 2.0, 2.0, 1.0], 2, &|_| {}));
        let mut late = matrix(400);
        late[399 * 400 + 399] = -1.0;
        assert!(!invert(&mut late, 400, &|_| {}));
    }
}
