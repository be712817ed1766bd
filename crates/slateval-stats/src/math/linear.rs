//! Small symmetric systems, solved even when they are singular.

/// Eigenvectors of a symmetric positive semi-definite matrix, each times its eigenvalue, by Jacobi's rotations from one side
/// (Hestenes). Columns of `A` are turned in pairs until all are orthogonal. They are `A V` then, so that `V` are eigenvectors
/// of `A A`, and of `A` itself. A round takes `5 n^3` operations; six to a dozen rounds are enough.
fn scaled_eigenvectors(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut columns = matrix.to_vec();
    let size: f64 = columns.iter().map(|column| dot(column, column)).sum();
    for _round in 0..60 {
        let mut turned = false;
        for q in 1..columns.len() {
            let (before, own) = columns.split_at_mut(q);
            before.iter_mut().for_each(|p| turned |= turn(p, &mut own[0], size));
        }
        if !turned {
            break;
        }
    }
    columns
}

/// Turns two columns of a matrix of this size until they are orthogonal. Returns false if they were so but for rounding.
fn turn(p: &mut [f64], q: &mut [f64], size: f64) -> bool {
    let (pp, qq, pq) = (dot(p, p), dot(q, q), dot(p, q));
    let is_rounding = pq * pq <= 1e-29 * pp * qq || pp.min(qq) <= 1e-28 * size;
    // Nothing can be done about what is not a number.
    if is_rounding || !pq.is_finite() {
        return false;
    }
    let theta = (qq - pp) / (2.0 * pq);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for (x, y) in p.iter_mut().zip(q) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
    true
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
    /// The eigenvalues of the scaled matrix that are not rounding, and the eigenvectors times these.
    eigen: Vec<(f64, Vec<f64>)>,
}

/// Directions with less than this share of the largest eigenvalue are taken for rounding.
const NEGLIGIBLE: f64 = 1e-10;

impl PseudoInverse {
    /// `matrix` is symmetric and positive semi-definite. A variable whose diagonal is at most `floor` counts as absent.
    pub(crate) fn new(matrix: &[Vec<f64>], floor: &[f64]) -> Self {
        let n = matrix.len();
        let scale: Vec<f64> =
            (0..n).map(|i| if matrix[i][i] > floor[i] { matrix[i][i].sqrt().recip() } else { 0.0 }).collect();
        let scaled: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| matrix[i][j] * scale[i] * scale[j]).collect()).collect();
        let mut eigen: Vec<(f64, Vec<f64>)> =
            scaled_eigenvectors(&scaled).into_iter().map(|column| (dot(&column, &column).sqrt(), column)).collect();
        let largest = eigen.iter().map(|(value, _)| *value).fold(0.0, f64::max);
        eigen.retain(|(value, _)| *value > NEGLIGIBLE * largest);
        PseudoInverse { scale, eigen }
    }

    /// Whether something was left out.
    pub(crate) fn is_singular(&self) -> bool {
        self.eigen.len() < self.scale.len()
    }

    /// Variables left out because they do not vary.
    pub(crate) fn absent(&self) -> impl Iterator<Item = usize> {
        self.scale.iter().enumerate().filter(|(_, scale)| **scale == 0.0).map(|(i, _)| i)
    }

    /// Whether some of the variables that do vary are linear combinations of the others.
    pub(crate) fn is_dependent(&self) -> bool {
        self.eigen.len() + self.absent().count() < self.scale.len()
    }

    /// A column of the pseudo-inverse.
    pub(crate) fn column(&self, j: usize) -> Vec<f64> {
        let unit: Vec<f64> = (0..self.scale.len()).map(|i| f64::from(u8::from(i == j))).collect();
        self.solve(&unit)
    }

    /// The solution of `matrix x = b` of least (scaled) norm.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = b.iter().zip(&self.scale).map(|(b, s)| b * s).collect();
        let mut x = vec![0.0; b.len()];
        for (value, column) in &self.eigen {
            let along = dot(column, &scaled) / value.powi(3);
            x.iter_mut().zip(column).for_each(|(x, v)| *x += along * v);
        }
        x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
        x
    }
}

/// A sum in eight parts, which the compiler turns into vector instructions.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|i| sums[i] += a[i] * b[i]);
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
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

    /// A covariance of so many variables, of the rank asked for.
    fn covariance(n: usize, rank: usize) -> Vec<Vec<f64>> {
        let value = |i: usize, k: usize| ((i * 31 + k * 17 + i * k) % 23) as f64 / 23.0 - 0.5;
        let rows: Vec<Vec<f64>> = (0..n).map(|i| (0..rank).map(|k| value(i, k)).collect()).collect();
        (0..n).map(|i| (0..n).map(|j| dot(&rows[i], &rows[j])).collect()).collect()
    }

    #[test]
    fn eigenvectors_and_values_make_the_matrix() {
        for (n, rank) in [(1, 1), (2, 2), (5, 5), (40, 60), (150, 30), (101, 1), (3, 0)] {
            let matrix = covariance(n, rank);
            let columns = scaled_eigenvectors(&matrix);
            let values: Vec<f64> = columns.iter().map(|column| dot(column, column).sqrt()).collect();
            let largest = values.iter().copied().fold(0.0, f64::max);
            let kept: Vec<usize> = (0..n).filter(|&k| values[k] > 1e-10 * largest).collect();
            assert!(kept.len() <= rank.min(n), "{n}, {rank}: {}", kept.len());
            for i in 0..n {
                for j in 0..n {
                    let sum: f64 = kept.iter().map(|&k| columns[k][i] * columns[k][j] / values[k]).sum();
                    assert!((sum - matrix[i][j]).abs() <= 1e-13 * largest * (n as f64), "{n}, {rank}: {i}, {j}");
                }
            }
            for (&k, &l) in kept.iter().flat_map(|k| kept.iter().map(move |l| (k, l))) {
                let product = dot(&columns[k], &columns[l]) / values[k] / values[l];
                assert!((product - f64::from(u8::from(k == l))).abs() < 1e-12, "{n}, {rank}: {k}, {l}");
            }
        }
    }

    #[test]
    fn what_is_no_number_ends_too() {
        let mut matrix = covariance(120, 10);
        matrix[3][4] = f64::NAN;
        matrix[4][3] = f64::NAN;
        assert_eq!(scaled_eigenvectors(&matrix).len(), 120);
    }
}
