//! Loops that the compiler turns into vector instructions.

/// Parts that a sum over rows is kept in: one register of four doubles, or two of two.
pub(crate) const LANES: usize = 4;

/// Runs `work` compiled for registers of four doubles where the processor has them. The work must be inlined all the
/// way down for this to have an effect. Measured with `examples/throughput.rs`; see docs/performance.md.
///
/// The results are the same to the last bit: wider registers change neither the operations nor their order, and no two
/// operations are fused.
#[inline(always)]
pub(crate) fn wide<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor was just asked whether it has AVX2, and that is all that `with_avx2` requires.
            #[expect(unsafe_code, reason = "no safe call changes the target features of a function at run time")]
            return unsafe { with_avx2(work) };
        }
    }
    work()
}

/// The smaller of two numbers: one instruction, for `f64::min` also looks for NaN.
#[inline(always)]
pub(crate) fn min(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// The larger of two numbers.
#[inline(always)]
pub(crate) fn max(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// The smallest and the largest of a column.
#[inline(always)]
pub(crate) fn range(column: &[f64]) -> Option<(f64, f64)> {
    let (whole, rest) = column.as_chunks::<LANES>();
    let (mut least, mut most) = ([*column.first()?; LANES], [*column.first()?; LANES]);
    for chunk in whole {
        for lane in 0..LANES {
            least[lane] = min(least[lane], chunk[lane]);
            most[lane] = max(most[lane], chunk[lane]);
        }
    }
    let least = least.into_iter().chain(rest.iter().copied()).fold(column[0], min);
    let most = most.into_iter().chain(rest.iter().copied()).fold(column[0], max);
    Some((least, most))
}

/// The sum of a column.
#[inline(always)]
pub(crate) fn sum(column: &[f64]) -> f64 {
    let (whole, rest) = column.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in whole {
        for lane in 0..LANES {
            sums[lane] += chunk[lane];
        }
    }
    total(sums) + rest.iter().sum::<f64>()
}

/// The sums of a column's third and fourth powers.
#[inline(always)]
pub(crate) fn higher_powers(column: &[f64]) -> (f64, f64) {
    let (whole, rest) = column.as_chunks::<LANES>();
    let (mut cubes, mut fourths) = ([0.0; LANES], [0.0; LANES]);
    for chunk in whole {
        for lane in 0..LANES {
            let (x, square) = (chunk[lane], chunk[lane] * chunk[lane]);
            cubes[lane] += x * square;
            fourths[lane] += square * square;
        }
    }
    let of_rest = |power: i32| rest.iter().map(|x| x.powi(power)).sum::<f64>();
    (total(cubes) + of_rest(3), total(fourths) + of_rest(4))
}

/// The lanes of a sum, added up.
#[inline(always)]
pub(crate) fn total(sums: [f64; LANES]) -> f64 {
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The products of one column with several, summed.
#[inline(always)]
pub(crate) fn dot<const W: usize>(left: &[f64], rights: [&[f64]; W]) -> [f64; W] {
    let (left, left_rest) = left.as_chunks::<LANES>();
    let rights = rights.map(|right| right.as_chunks::<LANES>());
    let sums = dot_chunks(left, rights.map(|(whole, _)| &whole[..left.len()]));
    std::array::from_fn(|w| {
        let rest: f64 = left_rest.iter().zip(rights[w].1).map(|(l, r)| l * r).sum();
        total(sums[w]) + rest
    })
}

#[inline(always)]
fn dot_chunks<const W: usize>(left: &[[f64; LANES]], rights: [&[[f64; LANES]]; W]) -> [[f64; LANES]; W] {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked whether it has AVX2, and that is all that the function requires.
        #[expect(unsafe_code, reason = "left to itself the compiler shuffles lanes: 85 instructions a row, not 66")]
        return unsafe { avx2::dot_chunks(left, rights) };
    }
    let mut sums = [[0.0; LANES]; W];
    for (i, l) in left.iter().enumerate() {
        for w in 0..W {
            for lane in 0..LANES {
                sums[w][lane] += l[lane] * rights[w][i][lane];
            }
        }
    }
    sums
}

/// The same loop with its registers spelled out.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256d, _mm_cvtsd_f64, _mm_unpackhi_pd, _mm256_add_pd, _mm256_castpd256_pd128, _mm256_extractf128_pd,
        _mm256_mul_pd, _mm256_setr_pd, _mm256_setzero_pd,
    };

    use super::LANES;

    #[target_feature(enable = "avx2")]
    pub(super) fn dot_chunks<const W: usize>(left: &[[f64; LANES]], rights: [&[[f64; LANES]]; W]) -> [[f64; LANES]; W] {
        let mut sums = [_mm256_setzero_pd(); W];
        for (i, l) in left.iter().enumerate() {
            let l = load(l);
            for w in 0..W {
                sums[w] = _mm256_add_pd(sums[w], _mm256_mul_pd(l, load(&rights[w][i])));
            }
        }
        sums.map(|sum| store(sum))
    }

    #[target_feature(enable = "avx2")]
    fn load(lanes: &[f64; LANES]) -> __m256d {
        _mm256_setr_pd(lanes[0], lanes[1], lanes[2], lanes[3])
    }

    #[target_feature(enable = "avx2")]
    fn store(register: __m256d) -> [f64; LANES] {
        let (low, high) = (_mm256_castpd256_pd128(register), _mm256_extractf128_pd::<1>(register));
        let pair = |half| [_mm_cvtsd_f64(half), _mm_cvtsd_f64(_mm_unpackhi_pd(half, half))];
        let ([a, b], [c, d]) = (pair(low), pair(high));
        [a, b, c, d]
    }
}
