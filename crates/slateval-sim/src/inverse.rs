//! The inverse of a symmetric positive definite matrix, in the memory of the matrix itself and of a few of its columns.
//!
//! The method of Gauss and Jordan, a panel `K` of columns at a time. With `D = A_KK`, and `i` and `j` outside of `K`:
//!
//! `A_ij -= A_iK D^-1 A_Kj`, `A_iK = A_iK D^-1`, `A_KK = -D^-1`.
//!
//! After all panels, `A` is `-A^-1`. Only the lower triangle is read and has a meaning afterwards. Panels split their
//! products into tasks of fixed size: the number of threads does not change a bit of the result.

use std::ops::{AddAssign, Neg};

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::DenseSolveCore;
use faer::traits::RealField;
use faer::traits::math_utils::{one, zero};
use faer::{Accum, Mat, MatMut, Par, Side};
use rayon::prelude::*;

/// A number that matrices are made of: `f32` or `f64`.
pub(crate) trait Scalar: RealField + Copy + Into<f64> + AddAssign + Neg<Output = Self> {}

impl<T: RealField + Copy + Into<f64> + AddAssign + Neg<Output = Self>> Scalar for T {}

/// Columns of a panel.
const PANEL: usize = 256;

/// Columns of a task.
const TASK: usize = 128;

/// Replaces the lower triangle of `matrix`, column by column, by that of its inverse. `progress` gets the share done.
///
/// Returns false if the matrix is not positive definite, to the precision it is held in.
pub(crate) fn invert<T: Scalar>(matrix: &mut [T], n: usize, progress: &dyn Fn(f64)) -> bool {
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        if !sweep(matrix, n, start, end) {
            return false;
        }
        progress(end as f64 / n as f64);
    }
    matrix.par_iter_mut().for_each(|x| *x = -*x);
    true
}

/// The step above, for the panel of columns `start..end`.
fn sweep<T: Scalar>(matrix: &mut [T], n: usize, start: usize, end: usize) -> bool {
    let width = end - start;
    let lower = |i: usize, j: usize| i.min(j) * n + i.max(j);
    let Ok(root) = Mat::from_fn(width, width, |i, j| matrix[lower(start + i, start + j)]).llt(Side::Lower) else {
        return false;
    };
    let inverse = root.inverse();
    let is_own = |i: usize| start <= i && i < end;
    let panel = Mat::from_fn(n, width, |i, j| if is_own(i) { zero() } else { matrix[lower(i, start + j)] });
    let scaled = &panel * &inverse;
    matrix.par_chunks_mut(TASK * n).enumerate().for_each(|(task, columns)| {
        let (first, count) = (task * TASK, columns.len() / n);
        let below = MatMut::from_column_major_slice_mut(columns, n, count).subrows_mut(first, n - first);
        let own = panel.subrows(first, count).transpose();
        matmul(below, Accum::Add, scaled.subrows(first, n - first), own, -one::<T>(), Par::Seq);
    });
    for (j, i) in (0..width).flat_map(|j| (0..n).map(move |i| (j, i))) {
        matrix[lower(i, start + j)] = if is_own(i) { -inverse[(i - start, j)] } else { scaled[(i, j)] };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::MatRef;

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
            let [whole, inverse] = [&whole, &inverse].map(|m| MatRef::from_column_major_slice(m, n, n));
            let product = whole * inverse;
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let wanted = if i == j { 1.0 } else { 0.0 };
                assert!((product[(i, j)] - wanted).abs() < 1e-12, "{} at {i}, {j} of {n}", product[(i, j)]);
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
