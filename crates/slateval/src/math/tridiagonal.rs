//! Eigenvalues of large symmetric matrices: reflections make a matrix tridiagonal, and the QL method makes it diagonal
//! (Golub and Van Loan, Matrix Computations, sections 8.3.1 and 8.3.3). It takes about `9 n^3` operations.

use crate::math::linear::{Eigen, dot};

/// An element beside the diagonal is small enough after a few rounds.
const ROUNDS: usize = 60;

pub(crate) fn eigen(matrix: &[Vec<f64>]) -> Eigen {
    let Tridiagonal { mut diagonal, mut beside, mut vectors } = Tridiagonal::new(matrix.to_vec());
    let size = diagonal.iter().chain(&beside).map(|x| x.abs()).sum::<f64>();
    // Nothing can be done about numbers that are none.
    let rows = if size.is_finite() { diagonal.len() } else { 0 };
    let largest = diagonal.iter().zip(&beside).map(|(d, e)| d.abs() + e.abs()).fold(0.0, f64::max);
    for first in 0..rows {
        for _ in 0..ROUNDS {
            let last = end_of_block(&beside, f64::EPSILON * largest, first);
            if last == first {
                break;
            }
            turn(&mut diagonal, &mut beside, &mut vectors, first..last);
        }
    }
    Eigen { values: diagonal, vectors }
}

/// `matrix = Q T Q'` with a tridiagonal `T`.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// `T[i][i + 1]`; a zero at the end.
    beside: Vec<f64>,
    /// The columns of `Q`.
    vectors: Vec<Vec<f64>>,
}

impl Tridiagonal {
    fn new(mut a: Vec<Vec<f64>>) -> Self {
        let n = a.len();
        let mut vectors: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let mut beside = vec![0.0; n];
        for k in 0..n.saturating_sub(1) {
            let below: Vec<f64> = a[k][k + 1..].to_vec();
            let (reflector, length) = reflector(below);
            beside[k] = length;
            reflect_both_sides(&mut a[k + 1..], k + 1, &reflector);
            reflect(&mut vectors[k + 1..], &reflector);
        }
        Tridiagonal { diagonal: (0..n).map(|i| a[i][i]).collect(), beside, vectors }
    }
}

/// A vector `v` with `v'v = 2` (or 0), so that `(1 - v v') x` has zeros below its first element, and that element.
fn reflector(mut x: Vec<f64>) -> (Vec<f64>, f64) {
    let largest = x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if x[1..].iter().all(|&x| x == 0.0) {
        let first = x[0];
        x.fill(0.0);
        return (x, first);
    }
    x.iter_mut().for_each(|x| *x /= largest);
    let length = -dot(&x, &x).sqrt().copysign(x[0]);
    x[0] -= length;
    let scale = (2.0 / dot(&x, &x)).sqrt();
    x.iter_mut().for_each(|x| *x *= scale);
    (x, length * largest)
}

/// `(1 - v v') A (1 - v v')` of the lower right part of a symmetric matrix, given by its rows from column `from` on.
fn reflect_both_sides(rows: &mut [Vec<f64>], from: usize, v: &[f64]) {
    let product: Vec<f64> = rows.iter().map(|row| dot(&row[from..], v)).collect();
    let half = dot(&product, v) / 2.0;
    let w: Vec<f64> = product.iter().zip(v).map(|(p, v)| p - half * v).collect();
    for ((row, &own_v), &own_w) in rows.iter_mut().zip(v).zip(&w) {
        for ((a, v), w) in row[from..].iter_mut().zip(v).zip(&w) {
            *a -= own_v * w + own_w * v;
        }
    }
}

/// `(1 - v v') A`.
fn reflect(rows: &mut [Vec<f64>], v: &[f64]) {
    let mut along = vec![0.0; rows.first().map_or(0, Vec::len)];
    for (row, v) in rows.iter().zip(v).filter(|(_, v)| **v != 0.0) {
        along.iter_mut().zip(row).for_each(|(sum, x)| *sum += v * x);
    }
    for (row, v) in rows.iter_mut().zip(v) {
        row.iter_mut().zip(&along).for_each(|(x, along)| *x -= v * along);
    }
}

/// Where the block ends that begins in a row: at the first element beside the diagonal that is rounding error.
fn end_of_block(beside: &[f64], negligible: f64, first: usize) -> usize {
    let last = beside.len() - 1;
    (first..last).find(|&i| beside[i].abs() <= negligible).unwrap_or(last)
}

/// One round of the implicit QL method, with Wilkinson's shift, on rows `first..=last`.
fn turn(d: &mut [f64], e: &mut [f64], vectors: &mut [Vec<f64>], rows: std::ops::Range<usize>) {
    let (first, last) = (rows.start, rows.end);
    let g = (d[first + 1] - d[first]) / (2.0 * e[first]);
    let mut g = d[last] - d[first] + e[first] / (g + g.hypot(1.0).copysign(g));
    let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
    for i in rows.rev() {
        let (f, b) = (s * e[i], c * e[i]);
        let r = f.hypot(g);
        e[i + 1] = r;
        if r == 0.0 {
            // The block falls apart here.
            d[i + 1] -= p;
            e[last] = 0.0;
            return;
        }
        (s, c) = (f / r, g / r);
        g = d[i + 1] - p;
        let r = (d[i] - g) * s + 2.0 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        turn_rows(vectors, i, s, c);
    }
    d[first] -= p;
    e[first] = g;
    e[last] = 0.0;
}

fn turn_rows(vectors: &mut [Vec<f64>], i: usize, s: f64, c: f64) {
    let (upper, lower) = vectors.split_at_mut(i + 1);
    for (x, y) in upper[i].iter_mut().zip(&mut lower[0]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A covariance of so many variables, of the rank asked for.
    fn covariance(n: usize, rank: usize) -> Vec<Vec<f64>> {
        let value = |i: usize, k: usize| ((i * 31 + k * 17 + i * k) % 23) as f64 / 23.0 - 0.5;
        let rows: Vec<Vec<f64>> = (0..n).map(|i| (0..rank).map(|k| value(i, k)).collect()).collect();
        (0..n).map(|i| (0..n).map(|j| dot(&rows[i], &rows[j])).collect()).collect()
    }

    #[test]
    fn vectors_and_values_make_the_matrix() {
        for (n, rank) in [(1, 1), (2, 2), (5, 5), (40, 60), (150, 30), (101, 1), (3, 0)] {
            let matrix = covariance(n, rank);
            let Eigen { values, vectors } = eigen(&matrix);
            let largest = values.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            for i in 0..n {
                for j in 0..n {
                    let sum: f64 = (0..n).map(|k| values[k] * vectors[k][i] * vectors[k][j]).sum();
                    assert!((sum - matrix[i][j]).abs() <= 1e-13 * largest * (n as f64), "{n}, {rank}: {i}, {j}");
                    let product = dot(&vectors[i], &vectors[j]);
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{n}, {rank}: {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_number_ends_too() {
        let mut matrix = covariance(120, 10);
        matrix[3][4] = f64::NAN;
        matrix[4][3] = f64::NAN;
        assert_eq!(eigen(&matrix).values.len(), 120);
    }
}
