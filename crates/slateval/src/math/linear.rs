//! Small symmetric systems, solved even when they are singular.

use crate::math::tridiagonal;

/// Rows of a matrix for which rotations would take too long: all of them are turned many times.
const LARGE: usize = 100;

/// The eigenvalues and eigenvectors of a symmetric matrix, by cyclic Jacobi rotations: slower than a tridiagonal
/// method, but accurate to the last digits for the small matrices of most logs. Large ones are made tridiagonal.
#[derive(Debug, Clone)]
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    /// `vectors[j]` belongs to `values[j]`.
    pub(crate) vectors: Vec<Vec<f64>>,
}

impl Eigen {
    pub(crate) fn new(matrix: &[Vec<f64>]) -> Self {
        if matrix.len() > LARGE { tridiagonal::eigen(matrix) } else { Self::by_rotations(matrix) }
    }

    fn by_rotations(matrix: &[Vec<f64>]) -> Self {
        let n = matrix.len();
        let mut a = matrix.to_vec();
        let mut vectors: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        for _sweep in 0..60 {
            let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
            let all: f64 = a.iter().flatten().map(|x| x * x).sum();
            if off <= 1e-32 * all {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    rotate(&mut a, &mut vectors, p, q);
                }
            }
        }
        Eigen { values: (0..n).map(|i| a[i][i]).collect(), vectors }
    }
}

/// Makes `a[p][q]` zero by a rotation of axes `p` and `q`.
fn rotate(a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    let turn = |x: f64, y: f64| (c * x - s * y, s * x + c * y);
    for row in a.iter_mut() {
        (row[p], row[q]) = turn(row[p], row[q]);
    }
    turn_rows(a, p, q, turn);
    turn_rows(vectors, p, q, turn);
}

fn turn_rows(matrix: &mut [Vec<f64>], p: usize, q: usize, turn: impl Fn(f64, f64) -> (f64, f64)) {
    let (upper, lower) = matrix.split_at_mut(q);
    for (x, y) in upper[p].iter_mut().zip(&mut lower[0]) {
        (*x, *y) = turn(*x, *y);
    }
}

/// The columns of a lower triangular `L` with `L L' = matrix`, for a symmetric matrix that is positive semi-definite but
/// for rounding (Cholesky). `scale` is the size of what the diagonal was computed from. A pivot that is tiny beside it is
/// rounding error, and its square root would be far larger than rounding error: its column is set to zero.
pub(crate) fn square_root(matrix: &[Vec<f64>], scale: &[f64]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut rest = matrix.to_vec();
    let mut columns = vec![vec![0.0; n]; n];
    for j in 0..n {
        if rest[j][j] <= 1e-12 * scale[j] {
            continue;
        }
        let diagonal = rest[j][j].sqrt();
        for i in j..n {
            columns[j][i] = rest[i][j] / diagonal;
        }
        for a in j..n {
            for b in j..n {
                rest[a][b] -= columns[j][a] * columns[j][b];
            }
        }
    }
    columns
}

/// The pseudo-inverse of a covariance or moment matrix, with variables scaled to a unit diagonal so that none is judged
/// by its units.
#[derive(Debug, Clone)]
pub(crate) struct PseudoInverse {
    scale: Vec<f64>,
    parts: Parts,
    rank: usize,
}

/// What a scaled matrix is made of.
#[derive(Debug, Clone)]
enum Parts {
    /// The columns of its lower triangular root, where it is far from singular: many times faster.
    Root(Vec<Vec<f64>>),
    Eigen(Eigen),
}

/// Directions with less than this share of the largest eigenvalue are taken for rounding.
const NEGLIGIBLE: f64 = 1e-10;

/// A matrix with a unit diagonal and a larger determinant is far from singular: its smallest eigenvalue is at least the
/// determinant by `e`, for the others have a product of at most `(n / (n-1))^(n-1)`.
const FAR_FROM_SINGULAR: f64 = 1e-3;

impl PseudoInverse {
    /// `matrix` is symmetric and positive semi-definite. A variable whose diagonal is at most `floor` counts as absent.
    pub(crate) fn new(matrix: &[Vec<f64>], floor: &[f64]) -> Self {
        let n = matrix.len();
        let scale: Vec<f64> =
            (0..n).map(|i| if matrix[i][i] > floor[i] { matrix[i][i].sqrt().recip() } else { 0.0 }).collect();
        let scaled: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| matrix[i][j] * scale[i] * scale[j]).collect()).collect();
        let root = square_root(&scaled, &vec![1.0; n]);
        let determinant: f64 = root.iter().enumerate().map(|(j, column)| column[j] * column[j]).product();
        if determinant > FAR_FROM_SINGULAR {
            return PseudoInverse { scale, parts: Parts::Root(root), rank: n };
        }
        let eigen = Eigen::new(&scaled);
        let largest = eigen.values.iter().copied().fold(0.0, f64::max);
        let rank = eigen.values.iter().filter(|&&value| value > NEGLIGIBLE * largest).count();
        PseudoInverse { scale, parts: Parts::Eigen(eigen), rank }
    }

    /// Whether something was left out.
    pub(crate) fn is_singular(&self) -> bool {
        self.rank < self.scale.len()
    }

    /// Variables left out because they do not vary.
    pub(crate) fn absent(&self) -> impl Iterator<Item = usize> {
        self.scale.iter().enumerate().filter(|(_, scale)| **scale == 0.0).map(|(i, _)| i)
    }

    /// Whether some of the variables that do vary are linear combinations of the others.
    pub(crate) fn is_dependent(&self) -> bool {
        self.rank + self.absent().count() < self.scale.len()
    }

    /// A column of the pseudo-inverse.
    pub(crate) fn column(&self, j: usize) -> Vec<f64> {
        let unit: Vec<f64> = (0..self.scale.len()).map(|i| f64::from(u8::from(i == j))).collect();
        self.solve(&unit)
    }

    /// The solution of `matrix x = b` of least (scaled) norm.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = b.iter().zip(&self.scale).map(|(b, s)| b * s).collect();
        let mut x = match &self.parts {
            Parts::Root(columns) => solve_root(columns, scaled),
            Parts::Eigen(eigen) => eigen.solve(&scaled),
        };
        x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
        x
    }
}

impl Eigen {
    /// The solution of least norm of a system with this matrix.
    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let largest = self.values.iter().copied().fold(0.0, f64::max);
        let mut x = vec![0.0; b.len()];
        for (value, vector) in self.values.iter().zip(&self.vectors) {
            if *value > NEGLIGIBLE * largest {
                let along = dot(vector, b) / value;
                x.iter_mut().zip(vector).for_each(|(x, v)| *x += along * v);
            }
        }
        x
    }
}

/// The solution of `L L' x = b`, given the columns of a lower triangular `L`.
fn solve_root(columns: &[Vec<f64>], mut x: Vec<f64>) -> Vec<f64> {
    for (j, column) in columns.iter().enumerate() {
        x[j] /= column[j];
        let known = x[j];
        x[j + 1..].iter_mut().zip(&column[j + 1..]).for_each(|(x, l)| *x -= l * known);
    }
    for (j, column) in columns.iter().enumerate().rev() {
        x[j] = (x[j] - dot(&column[j + 1..], &x[j + 1..])) / column[j];
    }
    x
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_system_is_solved_and_a_singular_one_by_the_least_norm() {
        let regular = vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, 0.25], vec![0.5, 0.25, 1e-6 + 0.1]];
        let inverse = PseudoInverse::new(&regular, &[0.0; 3]);
        let x = inverse.solve(&[1.0, 2.0, 3.0]);
        for (row, b) in regular.iter().zip([1.0, 2.0, 3.0]) {
            assert!((dot(row, &x) - b).abs() < 1e-12);
        }
        assert!(!inverse.is_singular());

        let singular = vec![vec![1.0, 1.0, 0.0], vec![1.0, 1.0, 0.0], vec![0.0, 0.0, 0.0]];
        let inverse = PseudoInverse::new(&singular, &[0.0; 3]);
        assert!(inverse.is_singular());
        assert_eq!(inverse.absent().collect::<Vec<_>>(), [2]);
        let x = inverse.solve(&[2.0, 2.0, 0.0]);
        assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 1.0).abs() < 1e-12 && x[2] == 0.0);
    }

    #[test]
    fn units_do_not_matter() {
        let matrix = vec![vec![4e12, 1e3], vec![1e3, 3e-6]];
        let x = PseudoInverse::new(&matrix, &[0.0; 2]).solve(&[1.0, 2.0]);
        let determinant = 4e12 * 3e-6 - 1e6;
        for (x, exact) in x.iter().zip([(3e-6 - 2e3) / determinant, (8e12 - 1e3) / determinant]) {
            assert!((x / exact - 1.0).abs() < 1e-12);
        }
    }
}
