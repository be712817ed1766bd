//! Standard normals from a counter.
//!
//! Each number follows from its key and its place alone: the order of the calls and the number of threads do not matter.
//! The generator is splitmix64, whose state is a counter, and pairs of normals are made of its numbers by the method of Box
//! and Muller. Logarithm, sine and cosine are written out as sums and products, so that every machine gives the same bits.

/// The first normals of a key.
pub(crate) fn normals(key: u64, count: usize) -> Vec<f64> {
    let pairs = (1..=count.div_ceil(2) as u64).flat_map(|i| two_normals(mixed(key.wrapping_add(i.wrapping_mul(STEP)))));
    let mut normals: Vec<f64> = pairs.collect();
    normals.truncate(count);
    normals
}

/// The key of a number: far from every other's, for it is a hash.
pub(crate) fn key(seed: u64, stream: u64, draw: u64) -> u64 {
    [stream, draw].iter().fold(mixed(seed.wrapping_add(STEP)), |key, part| mixed(key.wrapping_add(part + 1)))
}

/// What the counter of splitmix64 moves by: the golden ratio of 2^64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output of splitmix64 for a counter.
fn mixed(counter: u64) -> u64 {
    let x = (counter ^ (counter >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Two independent normals of 64 random bits: 32 for the distance from the origin, which is at most 6.8, and 32 for the
/// direction, of which 30 tell the angle to one of the four half-axes.
fn two_normals(bits: u64) -> [f64; 2] {
    let distance = minus_twice_log(bits >> 32).sqrt();
    let (sine, cosine) = sine_and_cosine(bits & ((1 << 30) - 1));
    let cosine = f64::from_bits(cosine.to_bits() ^ ((bits << 32) & (1 << 63)));
    let swap = ((bits >> 30) & 1).wrapping_neg() & (sine.to_bits() ^ cosine.to_bits());
    [distance * f64::from_bits(cosine.to_bits() ^ swap), distance * f64::from_bits(sine.to_bits() ^ swap)]
}

/// A whole number below 2^52 as a double.
fn double(whole: u64) -> f64 {
    const TWO_TO_52: u64 = 0x4330_0000_0000_0000;
    f64::from_bits(TWO_TO_52 | whole) - f64::from_bits(TWO_TO_52)
}

/// `-2 ln((x + 1/2) / 2^32)` for `x` below 2^32, never 0.
fn minus_twice_log(x: u64) -> f64 {
    const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    // 2 x + 1 = m 2^e, with m between the roots of 1/2 and of 2.
    let bits = double(2 * x + 1).to_bits();
    let exponent = (bits - ROOT_OF_HALF) >> 52;
    let m = f64::from_bits(bits - (exponent << 52));
    // ln m = 2 (s + s^3/3 + s^5/5 + ...), s at most .172: what is left out is below 1e-13.
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut series = 1.0 / 15.0;
    for odd in [13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        series = series * z + 1.0 / odd;
    }
    2.0 * std::f64::consts::LN_2 * double(33 - exponent) - 4.0 * s * series
}

/// Of the odd numbers from 1 to 15.
const FACTORIALS: [f64; 8] = [1.0, 6.0, 120.0, 5040.0, 362_880.0, 39_916_800.0, 6_227_020_800.0, 1_307_674_368_000.0];

/// Of an angle between -45 and 45 degrees: `x` below 2^30 is taken for `(x + 1/2) / 2^30` of the way.
fn sine_and_cosine(x: u64) -> (f64, f64) {
    const TWO_TO_30: f64 = (1_u64 << 30) as f64;
    let angle = (double(x) + 0.5 - TWO_TO_30 / 2.0) * (std::f64::consts::FRAC_PI_2 / TWO_TO_30);
    let square = angle * angle;
    // Taylor's series; what is left out is below 1e-13.
    let (mut sine, mut cosine) = (1.0 / FACTORIALS[6], -15.0 / FACTORIALS[7]);
    for n in [5, 4, 3, 2, 1, 0] {
        let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
        sine = sine * square + sign / FACTORIALS[n];
    }
    for n in [6, 5, 4, 3, 2, 1, 0] {
        let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
        cosine = cosine * square + sign * (2 * n + 1) as f64 / FACTORIALS[n];
    }
    (angle * sine, cosine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::normal::upper_tail;

    /// The first numbers of splitmix64 from the state 0, as Vigna's program prints them.
    #[test]
    fn the_generator_is_splitmix() {
        assert_eq!([mixed(STEP), mixed(STEP.wrapping_mul(2))], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn logarithms_and_angles_are_those_of_the_library() {
        for x in [0, 1, 2, 3, 1000, 1 << 16, (1 << 31) - 1, 1 << 31, 3_037_000_499, (1 << 32) - 2, (1 << 32) - 1] {
            let exact = -2.0 * ((2 * x + 1) as f64 / 2_f64.powi(33)).ln();
            let found = minus_twice_log(x);
            assert!(found > 0.0 && (found / exact - 1.0).abs() < 1e-9 && (found - exact).abs() < 1e-12, "{x}");
        }
        for x in [0, 1, 77, 1 << 15, 1 << 28, 1 << 29, (1 << 30) - 1] {
            let angle = ((x as f64 + 0.5) / 2_f64.powi(30) - 0.5) * std::f64::consts::FRAC_PI_2;
            let (sine, cosine) = sine_and_cosine(x);
            assert!((sine - angle.sin()).abs() < 1e-13 && (cosine - angle.cos()).abs() < 1e-13, "{x}");
        }
    }

    /// Moments and tails against theory, and products of neighbours, next draws and next streams against 0: all within five
    /// standard errors.
    #[test]
    fn they_are_normal_and_independent() {
        const PLACES: usize = 250;
        const DRAWS: u64 = 4000;
        let normals = |stream: u64, draw: u64| normals(key(1, stream, draw), PLACES);
        let mut sums = [0.0; 12];
        let mut count = 0.0;
        for draw in 0..DRAWS {
            let (own, next, other) = (normals(0, draw), normals(0, draw + DRAWS), normals(1, draw));
            for i in 0..PLACES {
                let (z, below) = (own[i], own[(i + 1) % PLACES]);
                let beyond = |limit: f64| f64::from(u8::from(z > limit)) - upper_tail(limit);
                let found = [
                    z,
                    z * z - 1.0,
                    z.powi(3),
                    z.powi(4) - 3.0,
                    z * below,
                    z * next[i],
                    z * other[i],
                    (z * z - 1.0) * (below * below - 1.0),
                    beyond(1.0),
                    beyond(1.96),
                    beyond(3.0),
                    beyond(-2.5),
                ];
                sums.iter_mut().zip(found).for_each(|(sum, x)| *sum += x);
                count += 1.0;
            }
        }
        let share = |limit: f64| upper_tail(limit) * (1.0 - upper_tail(limit));
        let variances = [1.0, 2.0, 15.0, 96.0, 1.0, 1.0, 1.0, 4.0, share(1.0), share(1.96), share(3.0), share(-2.5)];
        for (i, (sum, variance)) in sums.into_iter().zip(variances).enumerate() {
            let error: f64 = (variance * count).sqrt();
            assert!((sum / error).abs() < 5.0, "statistic {i}: {} standard errors", sum / error);
        }
    }

    #[test]
    fn the_furthest_is_as_far_as_32_bits_go() {
        assert!((minus_twice_log(0).sqrt() - 6.76).abs() < 0.01);
        assert!(minus_twice_log(u64::from(u32::MAX)) > 0.0);
    }
}
