//! The standard normal distribution.

/// `P(Z > z)`.
pub(crate) fn upper_tail(z: f64) -> f64 {
    libm::erfc(z / std::f64::consts::SQRT_2) / 2.0
}

/// The `z` with `P(Z > z) = p`, for `p` in (0, 1/2]: a formula that is right to three digits (Abramowitz and Stegun,
/// 26.2.23), then Halley's steps, each of which triples the digits.
pub(crate) fn upper_quantile(p: f64) -> f64 {
    let p = p.max(f64::MIN_POSITIVE);
    let t = (-2.0 * p.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = t - above / below;
    for _ in 0..3 {
        let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let step = (upper_tail(z) - p) / density;
        z += step / (1.0 - z * step / 2.0);
    }
    z.max(0.0)
}

/// The `z` with `P(Z <= z) = p`, for `p` in (0, 1).
pub(crate) fn quantile(p: f64) -> f64 {
    if p < 0.5 { -upper_quantile(p) } else { upper_quantile(1.0 - p) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // Abramowitz and Stegun, table 26.1 and following.
        for (z, p) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457),
            (1.7, 0.044_565_462_758_543),
            (3.0, 1.349_898_031_630e-3),
            (5.0, 2.866_515_719e-7),
        ] {
            assert!((upper_tail(z) / p - 1.0).abs() < 1e-9, "{z}");
        }
        for (p, z) in [(0.025, 1.959_963_984_540_054), (0.05, 1.644_853_626_951_472), (0.5, 0.0)] {
            assert!((upper_quantile(p) - z).abs() < 1e-12, "{p}");
        }
        for p in [0.499_999, 0.4, 0.1, 1e-3, 1e-6, 1e-12, 1e-50, 1e-300] {
            assert!((upper_tail(upper_quantile(p)) / p - 1.0).abs() < 1e-11, "{p}");
        }
    }
}
