//! CDFs on [0, 1] that are known in closed form.

/// A CDF on [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Curve {
    /// A slice of the logistic function: `[s(lo + (hi - lo) v) - s(lo)] / [s(hi) - s(lo)]`.
    Slice {
        /// Where the slice begins.
        lo: f64,
        /// Where it ends.
        hi: f64,
    },
    /// `v^theta`.
    Power {
        /// Positive.
        theta: f64,
    },
}

/// Slices shorter than this are straight lines to twelve digits, where the closed forms have none left.
const STRAIGHT: f64 = 1e-4;

impl Curve {
    /// The CDF.
    pub fn cdf(&self, v: f64) -> f64 {
        let v = v.clamp(0.0, 1.0);
        match *self {
            // s(b) - s(a) = s(b) (1 - s(a)) (1 - exp(a - b)), without cancellation.
            Curve::Slice { lo, hi } if hi - lo > STRAIGHT => {
                let x = lo + (hi - lo) * v;
                logistic(x) * (lo - x).exp_m1() / (logistic(hi) * (lo - hi).exp_m1())
            }
            Curve::Slice { .. } => v,
            Curve::Power { theta } => v.powf(theta),
        }
    }

    /// The reward at which the CDF is `u`.
    #[inline]
    pub fn quantile(&self, u: f64) -> f64 {
        match *self {
            Curve::Slice { lo, hi } if hi - lo > STRAIGHT => {
                let (a, b) = (logistic(lo), logistic(hi));
                let p = a + u * (b - a);
                (((p / (1.0 - p)).ln() - lo) / (hi - lo)).clamp(0.0, 1.0)
            }
            Curve::Slice { .. } => u,
            Curve::Power { theta } => u.powf(1.0 / theta),
        }
    }

    /// The integral of the CDF over `[0, v]`.
    pub fn integral(&self, v: f64) -> f64 {
        match *self {
            Curve::Slice { lo, hi } if hi - lo > STRAIGHT => {
                let width = hi - lo;
                let (start, end) = (logistic(lo), logistic(hi));
                ((softplus(lo + width * v) - softplus(lo)) / width - start * v) / (end - start)
            }
            Curve::Slice { .. } => v * v / 2.0,
            Curve::Power { theta } => v.powf(theta + 1.0) / (theta + 1.0),
        }
    }

    /// `E[R^2] = 1 - 2 times the integral of v F(v)`; by Simpson's rule for a slice, whose integral is a dilogarithm.
    pub fn second_moment(&self) -> f64 {
        match *self {
            Curve::Slice { .. } => {
                // At most 12 wide and 512 steps: the error, h^4/180 times the fourth derivative, is below 1e-9.
                const STEPS: usize = 512;
                let h = 1.0 / STEPS as f64;
                let weight = |i: usize| match i {
                    0 | STEPS => 1.0,
                    _ if i % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                let value = |i: usize| h * i as f64 * self.cdf(h * i as f64);
                1.0 - 2.0 * (0..=STEPS).map(|i| weight(i) * value(i)).sum::<f64>() * h / 3.0
            }
            Curve::Power { theta } => theta / (theta + 2.0),
        }
    }
}

/// `1 / (1 + exp(-x))`.
#[inline]
pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVES: [Curve; 5] = [
        Curve::Slice { lo: -6.0, hi: 6.0 },
        Curve::Slice { lo: 1.0, hi: 1.3 },
        Curve::Slice { lo: 2.0, hi: 2.0 + 1e-5 },
        Curve::Power { theta: 0.2 },
        Curve::Power { theta: 5.0 },
    ];

    #[test]
    fn curves_are_cdfs_and_quantiles_invert_them() {
        for curve in CURVES {
            assert!(curve.cdf(0.0).abs() < 1e-12 && (curve.cdf(1.0) - 1.0).abs() < 1e-12, "{curve:?}");
            for i in 1..100 {
                let u = f64::from(i) / 100.0;
                assert!((curve.cdf(curve.quantile(u)) - u).abs() < 1e-10, "{curve:?} at {u}");
            }
        }
    }

    #[test]
    fn integrals_are_those_of_the_quantile_function() {
        // The mean and second moment, by the midpoint rule over u.
        for curve in CURVES {
            let n = 200_000;
            let at = |i: i32| curve.quantile((f64::from(i) + 0.5) / f64::from(n));
            let mean: f64 = (0..n).map(at).sum::<f64>() / f64::from(n);
            let second: f64 = (0..n).map(|i| at(i).powi(2)).sum::<f64>() / f64::from(n);
            assert!((1.0 - curve.integral(1.0) - mean).abs() < 1e-5, "{curve:?}: {mean}");
            assert!((curve.second_moment() - second).abs() < 1e-5, "{curve:?}: {second}");
        }
    }
}
