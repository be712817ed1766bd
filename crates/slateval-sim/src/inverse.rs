//! The inverse of a symmetric positive definite matrix, in the memory of the matrix itself.
//!
//! Cholesky's `A = L L'`, then `L^-1`, then `A^-1 = L^-T L^-1`, each by halves: all but small blocks are products and
//! triangular solves of `faer`, and no second matrix is ever made. Only the lower triangle is read and written.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::{triangular_inverse, triangular_solve};
use faer::prelude::ReborrowMut;
use faer::traits::RealField;
use faer::{Accum, Mat, MatMut, Par, Scale};

use BlockStructure::{Rectangular, TriangularLower, TriangularUpper};

/// A number that matrices are made of.
pub(crate) trait Scalar: RealField + Copy + Into<f64> + Send + Sync {
    fn of(x: f64) -> Self;
}

impl Scalar for f32 {
    fn of(x: f64) -> f32 {
        x as f32
    }
}

impl Scalar for f64 {
    fn of(x: f64) -> f64 {
        x
    }
}

/// Blocks of this size are not halved any more.
const BLOCK: usize = 256;

/// Replaces the lower triangle of `matrix`, column by column, by that of its inverse. `progress` gets the share done.
///
/// Returns false if the matrix is not positive definite, to the precision it is held in.
pub(crate) fn invert<T: Scalar>(matrix: &mut [T], n: usize, par: Par, progress: &dyn Fn(f64)) -> bool {
    let mut work = Work { par, done: 0.0, total: (n as f64).powi(3) / 2.0, progress };
    let mut a = MatMut::from_column_major_slice_mut(matrix, n, n);
    if !work.factor(a.rb_mut()) {
        return false;
    }
    work.invert_triangle(a.rb_mut());
    work.square(a);
    (work.progress)(1.0);
    true
}

struct Work<'a> {
    par: Par,
    done: f64,
    total: f64,
    progress: &'a dyn Fn(f64),
}

impl Work<'_> {
    /// Counts multiplications.
    fn count(&mut self, operations: f64) {
        self.done += operations;
        (self.progress)((self.done / self.total).min(1.0));
    }

    /// `A = L L'`.
    fn factor<T: Scalar>(&mut self, a: MatMut<'_, T>) -> bool {
        let n = a.nrows();
        if n <= BLOCK {
            let mut memory = MemBuffer::new(factor::cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default()));
            let stack = MemStack::new(&mut memory);
            return factor::cholesky_in_place(a, Default::default(), Par::Seq, stack, Default::default()).is_ok();
        }
        let (mut a11, _, mut a21, mut a22) = a.split_at_mut(n / 2, n / 2);
        if !self.factor(a11.rb_mut()) {
            return false;
        }
        // L21 = A21 L11^-T, by L11 L21' = A21'.
        triangular_solve::solve_lower_triangular_in_place(a11.as_ref(), a21.rb_mut().transpose_mut(), self.par);
        let minus = T::of(-1.0);
        triangular::matmul(
            a22.rb_mut(),
            TriangularLower,
            Accum::Add,
            a21.as_ref(),
            Rectangular,
            a21.as_ref().transpose(),
            Rectangular,
            minus,
            self.par,
        );
        let half = n as f64 / 2.0;
        self.count(half.powi(3));
        self.factor(a22)
    }

    /// `L -> L^-1`.
    fn invert_triangle<T: Scalar>(&mut self, a: MatMut<'_, T>) {
        let n = a.nrows();
        if n <= BLOCK {
            let mut a = a;
            let mut inverse = Mat::<T>::zeros(n, n);
            triangular_inverse::invert_lower_triangular(inverse.as_mut(), a.as_ref(), Par::Seq);
            a.copy_from_triangular_lower(inverse.as_ref());
            return;
        }
        let (a11, _, mut a21, a22) = a.split_at_mut(n / 2, n / 2);
        // -L22^-1 L21 L11^-1
        triangular_solve::solve_lower_triangular_in_place(a22.as_ref(), a21.rb_mut(), self.par);
        let transposed = a21.rb_mut().transpose_mut();
        triangular_solve::solve_upper_triangular_in_place(a11.as_ref().transpose(), transposed, self.par);
        a21 *= Scale(T::of(-1.0));
        self.count((n as f64 / 2.0).powi(3));
        self.invert_triangle(a11);
        self.invert_triangle(a22);
    }

    /// `M -> M' M` for a lower triangle `M`.
    fn square<T: Scalar>(&mut self, a: MatMut<'_, T>) {
        let n = a.nrows();
        let one = T::of(1.0);
        if n <= BLOCK {
            let mut a = a;
            let mut square = Mat::<T>::zeros(n, n);
            let m = a.as_ref();
            let (upper, lower) = (TriangularUpper, TriangularLower);
            triangular::matmul(square.as_mut(), lower, Accum::Replace, m.transpose(), upper, m, lower, one, Par::Seq);
            a.copy_from_triangular_lower(square.as_ref());
            return;
        }
        let (mut a11, _, mut a21, a22) = a.split_at_mut(n / 2, n / 2);
        self.square(a11.rb_mut());
        triangular::matmul(
            a11,
            TriangularLower,
            Accum::Add,
            a21.as_ref().transpose(),
            Rectangular,
            a21.as_ref(),
            Rectangular,
            one,
            self.par,
        );
        self.multiply_left(a22.as_ref(), a21.rb_mut());
        self.count((n as f64 / 2.0).powi(3));
        self.square(a22);
    }

    /// `B -> M' B`, some columns at a time.
    fn multiply_left<T: Scalar>(&self, m: faer::MatRef<'_, T>, mut b: MatMut<'_, T>) {
        let (rows, columns) = (b.nrows(), b.ncols());
        let mut product = Mat::<T>::zeros(rows, BLOCK.min(columns));
        for start in (0..columns).step_by(BLOCK) {
            let width = BLOCK.min(columns - start);
            let mut panel = b.rb_mut().subcols_mut(start, width);
            let mut product = product.as_mut().subcols_mut(0, width);
            triangular::matmul(
                product.rb_mut(),
                Rectangular,
                Accum::Replace,
                m.transpose(),
                TriangularUpper,
                panel.as_ref(),
                Rectangular,
                T::of(1.0),
                self.par,
            );
            panel.copy_from(product.as_ref());
        }
    }
}
