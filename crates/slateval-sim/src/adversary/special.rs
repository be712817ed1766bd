//! The incomplete gamma function and the normal CDF.

use std::f64::consts::{PI, SQRT_2};

/// Coefficients of Lanczos' approximation with `g = 7`, right to fifteen digits.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// Terms after which series and fractions stop at the latest; they converge in far fewer.
const TERMS: usize = 500;

/// The logarithm of the gamma function, for `x > 0`.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum: f64 = LANCZOS[0] + LANCZOS[1..].iter().zip(1..).map(|(c, i)| c / (x + f64::from(i))).sum::<f64>();
    let t = x + 7.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The regularised incomplete gamma functions `P(a, x)` and `Q(a, x) = 1 - P(a, x)`, each without cancellation.
pub(crate) fn gamma_pq(a: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
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
    let (p, q) = gamma_pq(0.5, z * z / 2.0);
    if z < 0.0 { 0.5 * q } else { 0.5 + 0.5 * p }
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
        for (x, y) in [(1.0, 0.0), (0.5, PI.sqrt().ln()), (5.0, 24f64.ln()), (0.1, 2.252_712_651_734_206)] {
            assert!((ln_gamma(x) - y).abs() < 1e-12, "{x}: {} {y}", ln_gamma(x));
        }
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
