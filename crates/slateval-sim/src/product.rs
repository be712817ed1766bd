//! Products of blocks of matrices, which `matrixmultiply` computes with the vector instructions of the machine.

use std::ops::{AddAssign, Div, Mul, Range, SubAssign};

/// A number that matrices are made of.
pub(crate) trait Scalar:
    Copy + Into<f64> + PartialOrd + Send + Sync + AddAssign + SubAssign + Mul<Output = Self> + Div<Output = Self>
{
    fn of(x: f64) -> Self;

    /// `matrixmultiply::sgemm` or `dgemm`.
    const MULTIPLY: Multiply<Self>;
}

/// `C = beta C + alpha A B`: rows and columns of `A`, columns of `B`, `alpha`; then each matrix with the steps between
/// its rows and between its columns, and `beta` before `C`.
type Multiply<T> =
    unsafe fn(usize, usize, usize, T, *const T, isize, isize, *const T, isize, isize, T, *mut T, isize, isize);

impl Scalar for f32 {
    fn of(x: f64) -> f32 {
        x as f32
    }

    const MULTIPLY: Multiply<f32> = matrixmultiply::sgemm;
}

impl Scalar for f64 {
    fn of(x: f64) -> f64 {
        x
    }

    const MULTIPLY: Multiply<f64> = matrixmultiply::dgemm;
}

/// A block of a matrix that is stored column by column, or the transpose of such a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a, T> {
    /// From the block's first value on.
    values: &'a [T],
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

impl<'a, T> View<'a, T> {
    /// The block whose first value is the first of `values`; columns are `stride` apart.
    pub(crate) fn new(values: &'a [T], stride: usize, rows: usize, columns: usize) -> Self {
        View { values, rows, columns, row_step: 1, column_step: stride }
    }

    pub(crate) fn transpose(self) -> Self {
        let View { values, rows, columns, row_step, column_step } = self;
        View { values, rows: columns, columns: rows, row_step: column_step, column_step: row_step }
    }

    /// Some of its rows.
    pub(crate) fn rows(self, range: Range<usize>) -> Self {
        View { values: &self.values[range.start * self.row_step..], rows: range.len(), ..self }
    }

    /// Some of its columns.
    pub(crate) fn columns(self, range: Range<usize>) -> Self {
        self.transpose().rows(range).transpose()
    }

    /// Whether every value of the block is there. A block without values has no last one.
    fn fits(self) -> bool {
        match (self.rows, self.columns) {
            (0, _) | (_, 0) => false,
            (rows, columns) => (rows - 1) * self.row_step + (columns - 1) * self.column_step < self.values.len(),
        }
    }
}

/// `C = beta C + alpha A B`, where `C` begins with the first value of `c` and its columns are `stride` apart.
///
/// # Panics
/// If the sizes do not fit each other or the slices, or a block is empty.
#[expect(unsafe_code, reason = "matrixmultiply takes pointers")]
pub(crate) fn multiply<T: Scalar>(c: &mut [T], stride: usize, beta: T, alpha: T, a: View<'_, T>, b: View<'_, T>) {
    assert!(a.columns == b.rows && a.fits() && b.fits(), "blocks of other sizes");
    let (rows, columns) = (a.rows, b.columns);
    assert!(rows <= stride && (columns - 1) * stride + rows <= c.len(), "the product has no room");
    let step = |step: usize| step as isize;
    // SAFETY: `fits` has shown that the last value of `a` and of `b` lies in its slice, and so do all others, for steps
    // are not negative. The last value of `c` lies in its slice by the assertion above; as columns are at least `rows`
    // apart, no two values of `c` are the same. `c` is borrowed mutably, so neither `a` nor `b` overlaps it.
    unsafe {
        T::MULTIPLY(
            rows,
            a.columns,
            columns,
            alpha,
            a.values.as_ptr(),
            step(a.row_step),
            step(a.column_step),
            b.values.as_ptr(),
            step(b.row_step),
            step(b.column_step),
            beta,
            c.as_mut_ptr(),
            1,
            step(stride),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_transposes_are_multiplied() {
        // Columns of four values; the block of rows 1 and 2 is [[1, 5, 9], [2, 6, 10]].
        let matrix: Vec<f64> = (0..12).map(f64::from).collect();
        let block = View::new(&matrix, 4, 4, 3).rows(1..3);
        let mut square = vec![100.0; 4];
        multiply(&mut square, 2, 0.0, 1.0, block, block.transpose());
        assert_eq!(square, [107.0, 122.0, 122.0, 140.0]);
        let last = block.columns(2..3);
        multiply(&mut square[..2], 2, 1.0, -2.0, last, View::new(&[0.5], 1, 1, 1));
        assert_eq!(square, [98.0, 112.0, 122.0, 140.0]);
    }

    #[test]
    #[should_panic(expected = "no room")]
    fn products_stay_in_their_place() {
        let ones = [1.0f32; 4];
        let block = View::new(&ones, 2, 2, 2);
        multiply(&mut [0.0; 3], 2, 0.0, 1.0, block, block);
    }

    #[test]
    #[should_panic(expected = "other sizes")]
    fn blocks_stay_in_their_slices() {
        let ones = [1.0f32; 3];
        let block = View::new(&ones, 2, 2, 2);
        multiply(&mut [0.0; 4], 2, 0.0, 1.0, block, block);
    }
}
