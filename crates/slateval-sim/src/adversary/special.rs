//! The incomplete gamma function and the normal CDF.

use std::f64::consts::{PI, SQRT_2};

/// Terms after which series and fractions stop at the latest; they converge in far fewer.
const TERMS: usize = 500;

/// The regularised incomplete gamma functions `P(a, x)` and `Q(a, x) = 1 - P(a, x)`, each without cancellation.
pub(crate) fn gamma_pq(a: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    let front = (a * x.ln() - x - libm::lgamma(a)).exp();
    if x < a + 1.0 {
        let p = front * series(a, x);
        (p, 1.0 - p)
    } else {
        let q = front * fraction(a, x);
        (1.0 - q, q)
    }
}

/// `sum_n x^n / (a (a + 1) ... (a + n))`.
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for n in 1..TERMS {
        term *= x / (a + n as f64);
        sum += term;
        if term < sum * 1e-16 {
            break;
        }
    }
    sum
}

/// `1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...))`, by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (f64::INFINITY, 1.0 / b);
    let mut value = d;
    for n in 1..TERMS {
        let n = n as f64;
        let numerator = n * (a - n);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// `P(Z <= z)` of a standard normal `Z`.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// The density of a standard normal.
pub(crate) fn normal_density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / (SQRT_2 * PI.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // Abramowitz and Stegun, table 26.1.
        for (z, p) in
            [(0.0, 0.5), (1.0, 0.841_344_746_068_543), (-1.7, 0.044_565_462_758_543), (-5.0, 2.866_515_719e-7)]
        {
            assert!((normal_cdf(z) / p - 1.0).abs() < 1e-9, "{z}");
        }
    }

    #[test]
    fn whole_shapes_have_a_closed_form() {
        // P(n, x) = 1 - exp(-x) sum_{j < n} x^j / j!
        for n in 1..6 {
            for x in [0.01_f64, 0.5, 1.9, 4.0, 11.0, 30.0] {
                let mut term = (-x).exp();
                let mut q = term;
                for j in 1..n {
                    term *= x / f64::from(j);
                    q += term;
                }
                let (p, found) = gamma_pq(f64::from(n), x);
                assert!((found / q - 1.0).abs() < 1e-9 && (p + found - 1.0).abs() < 1e-12, "{n} {x}");
            }
        }
    }
}
