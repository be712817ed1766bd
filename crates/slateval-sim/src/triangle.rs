//! Cholesky's factor and the inverse of a triangle, for matrices small enough to stay in cache. Column by column.

use crate::product::Scalar;

/// Replaces a matrix by its lower factor, with zeros above. Returns false if the matrix is not positive definite.
pub(crate) fn factor<T: Scalar>(matrix: &mut [T], n: usize) -> bool {
    for j in 0..n {
        let (done, rest) = matrix.split_at_mut(j * n);
        let column = &mut rest[..n];
        for before in done.chunks(n) {
            subtract(&mut column[j..], before[j], &before[j..]);
        }
        let pivot: f64 = column[j].into();
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let root = T::of(pivot.sqrt());
        column[..j].fill(T::of(0.0));
        column[j..].iter_mut().for_each(|value| *value = *value / root);
    }
    true
}

/// The inverse of a lower triangle, with zeros above.
pub(crate) fn inverse<T: Scalar>(triangle: &[T], n: usize) -> Vec<T> {
    let mut inverse = vec![T::of(0.0); n * n];
    for (j, solution) in inverse.chunks_mut(n).enumerate() {
        solution[j] = T::of(1.0);
        for (k, column) in triangle.chunks(n).enumerate().skip(j) {
            let value = solution[k] / column[k];
            solution[k] = value;
            subtract(&mut solution[k + 1..], value, &column[k + 1..]);
        }
    }
    inverse
}

fn subtract<T: Scalar>(from: &mut [T], factor: T, column: &[T]) {
    from.iter_mut().zip(column).for_each(|(value, x)| *value -= factor * *x);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_by_hand() {
        // L = [[2, 0, 0], [1, 3, 0], [-1, 2, 4]].
        let mut matrix = [4.0f64, 2.0, -2.0, 2.0, 10.0, 5.0, -2.0, 5.0, 21.0];
        assert!(factor(&mut matrix, 3));
        assert_eq!(matrix, [2.0, 1.0, -1.0, 0.0, 3.0, 2.0, 0.0, 0.0, 4.0]);
        let expected = [0.5, -1.0 / 6.0, (0.5 + 1.0 / 3.0) / 4.0, 0.0, 1.0 / 3.0, -1.0 / 6.0, 0.0, 0.0, 0.25];
        for (found, wanted) in inverse(&matrix, 3).iter().zip(expected) {
            assert!((found - wanted).abs() < 1e-15);
        }
    }
}
