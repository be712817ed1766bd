//! Eight doubles in two registers of AVX2.

use std::arch::x86_64::{__m128, __m256d, __m256i, _CMP_GE_OQ, _CMP_LE_OQ, _CMP_LT_OQ};

use super::{Eight, LANES, Lanes, Part};
use pulp::cast;
use pulp::x86::V3;

/// The instructions.
#[inline(always)]
fn v3() -> V3 {
    // SAFETY: the types of this file are used by the functions of `wide` alone, where the processor was asked for AVX2 and
    // FMA. Every processor that has these has what V3 means.
    unsafe { V3::new_unchecked() }
}

/// Eight doubles in two registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Halves(__m256d, __m256d);

/// Lanes of a half.
const HALF: usize = LANES / 2;

impl Eight for Halves {
    type Part = Half;
    const PARTS: usize = 2;
    type Mask = Halves;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        let x = v3().avx._mm256_set1_pd(x);
        Halves(x, x)
    }

    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        Halves(cast(*half(from, 0)), cast(*half(from, 1)))
    }

    #[inline(always)]
    fn load_singles(from: &[f32; LANES]) -> Self {
        let singles = |part: usize| -> __m128 { cast(from.as_chunks::<HALF>().0[part]) };
        Halves(v3().avx._mm256_cvtps_pd(singles(0)), v3().avx._mm256_cvtps_pd(singles(1)))
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        let to = to.as_chunks_mut::<HALF>().0;
        (to[0], to[1]) = (cast(self.0), cast(self.1));
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Halves(v3().avx._mm256_add_pd(self.0, other.0), v3().avx._mm256_add_pd(self.1, other.1))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Halves(v3().avx._mm256_mul_pd(self.0, other.0), v3().avx._mm256_mul_pd(self.1, other.1))
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        Halves(v3().avx._mm256_div_pd(self.0, other.0), v3().avx._mm256_div_pd(self.1, other.1))
    }

    #[inline(always)]
    fn times_plus(self, by: Self, more: Self) -> Self {
        Halves(v3().fma._mm256_fmadd_pd(self.0, by.0, more.0), v3().fma._mm256_fmadd_pd(self.1, by.1, more.1))
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        Halves(v3().avx._mm256_min_pd(self.0, other.0), v3().avx._mm256_min_pd(self.1, other.1))
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        Halves(v3().avx._mm256_max_pd(self.0, other.0), v3().avx._mm256_max_pd(self.1, other.1))
    }

    #[inline(always)]
    fn absolute(self) -> Self {
        let sign = v3().avx._mm256_set1_pd(-0.0);
        Halves(v3().avx._mm256_andnot_pd(sign, self.0), v3().avx._mm256_andnot_pd(sign, self.1))
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Self {
        let one = v3().avx._mm256_set1_pd(1.0);
        Halves(
            v3().avx._mm256_and_pd(v3().avx._mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0), one),
            v3().avx._mm256_and_pd(v3().avx._mm256_cmp_pd::<_CMP_LT_OQ>(self.1, other.1), one),
        )
    }

    #[inline(always)]
    fn is_within(self, least: Self, most: Self) -> Self::Mask {
        let above = Halves(
            v3().avx._mm256_cmp_pd::<_CMP_GE_OQ>(self.0, least.0),
            v3().avx._mm256_cmp_pd::<_CMP_GE_OQ>(self.1, least.1),
        );
        let below = Halves(
            v3().avx._mm256_cmp_pd::<_CMP_LE_OQ>(self.0, most.0),
            v3().avx._mm256_cmp_pd::<_CMP_LE_OQ>(self.1, most.1),
        );
        Self::both(above, below)
    }

    #[inline(always)]
    fn both(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        Halves(v3().avx._mm256_and_pd(one.0, other.0), v3().avx._mm256_and_pd(one.1, other.1))
    }

    #[inline(always)]
    fn every_lane() -> Self::Mask {
        Self::splat(f64::from_bits(u64::MAX))
    }

    #[inline(always)]
    fn is_every_lane(mask: Self::Mask) -> bool {
        v3().avx._mm256_movemask_pd(v3().avx._mm256_and_pd(mask.0, mask.1)) == (1 << HALF) - 1
    }

    #[inline(always)]
    fn or_outside(self, before: Self, least: f64, most: f64) -> Self {
        let least = v3().avx._mm256_set1_epi64x(least.to_bits() as i64);
        let most = v3().avx._mm256_set1_epi64x(most.to_bits() as i64);
        Halves(outside(self.0, before.0, least, most), outside(self.1, before.1, least, most))
    }

    #[inline(always)]
    fn has_a_sign(self) -> bool {
        v3().avx._mm256_movemask_pd(v3().avx._mm256_or_pd(self.0, self.1)) != 0
    }

    #[inline(always)]
    fn with_third_and_fourth_of(self, other: Self) -> Self {
        Halves(v3().avx._mm256_blend_pd::<0b1100>(self.0, other.0), self.1)
    }

    #[inline(always)]
    fn with_lane(self, lane: usize, x: f64) -> Self {
        match lane.checked_sub(HALF) {
            None => Halves(with_lane_of_half(self.0, lane, x), self.1),
            Some(lane) => Halves(self.0, with_lane_of_half(self.1, lane, x)),
        }
    }

    #[inline(always)]
    fn transpose([a, b, c, d, e, f, g, h]: [Self; LANES]) -> [Self; LANES] {
        let upper_left = quarter([a.0, b.0, c.0, d.0]);
        let upper_right = quarter([a.1, b.1, c.1, d.1]);
        let lower_left = quarter([e.0, f.0, g.0, h.0]);
        let lower_right = quarter([e.1, f.1, g.1, h.1]);
        std::array::from_fn(|lane| match lane.checked_sub(HALF) {
            None => Halves(upper_left[lane], lower_left[lane]),
            Some(lane) => Halves(upper_right[lane], lower_right[lane]),
        })
    }
}

/// The first or the last four of eight doubles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Half(__m256d);

/// Four of eight numbers in memory.
#[inline(always)]
fn half(lanes: &Lanes, part: usize) -> &[f64; HALF] {
    &lanes.as_chunks().0[part]
}

impl Part for Half {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Half(v3().avx._mm256_set1_pd(x))
    }

    #[inline(always)]
    fn load(from: &Lanes, part: usize) -> Self {
        Half(cast(*half(from, part)))
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes, part: usize) {
        to.as_chunks_mut::<HALF>().0[part] = cast(self.0);
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Half(v3().avx._mm256_add_pd(self.0, other.0))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Half(v3().avx._mm256_mul_pd(self.0, other.0))
    }

    #[inline(always)]
    fn times_plus(self, by: Self, more: Self) -> Self {
        Half(v3().fma._mm256_fmadd_pd(self.0, by.0, more.0))
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        Half(v3().avx._mm256_min_pd(self.0, other.0))
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        Half(v3().avx._mm256_max_pd(self.0, other.0))
    }

    #[inline(always)]
    fn absolute(self) -> Self {
        Half(v3().avx._mm256_andnot_pd(v3().avx._mm256_set1_pd(-0.0), self.0))
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Self {
        Half(
            v3().avx._mm256_and_pd(v3().avx._mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0), v3().avx._mm256_set1_pd(1.0)),
        )
    }
}

/// A half of [`Eight::with_lane`].
#[inline(always)]
fn with_lane_of_half(half: __m256d, lane: usize, x: f64) -> __m256d {
    let x = v3().avx._mm256_set1_pd(x);
    match lane {
        0 => v3().avx._mm256_blend_pd::<0b0001>(half, x),
        1 => v3().avx._mm256_blend_pd::<0b0010>(half, x),
        2 => v3().avx._mm256_blend_pd::<0b0100>(half, x),
        _ => v3().avx._mm256_blend_pd::<0b1000>(half, x),
    }
}

/// A half of [`Eight::or_outside`].
#[inline(always)]
fn outside(x: __m256d, before: __m256d, least: __m256i, most: __m256i) -> __m256d {
    let bits = v3().avx._mm256_castpd_si256(x);
    let (above, below) = (v3().avx2._mm256_sub_epi64(bits, least), v3().avx2._mm256_sub_epi64(most, bits));
    v3().avx._mm256_or_pd(v3().avx._mm256_castsi256_pd(v3().avx2._mm256_or_si256(above, below)), before)
}

/// Transposes four rows of four.
#[inline(always)]
fn quarter([a, b, c, d]: [__m256d; HALF]) -> [__m256d; HALF] {
    let (even, odd) = (v3().avx._mm256_unpacklo_pd(a, b), v3().avx._mm256_unpackhi_pd(a, b));
    let (more_even, more_odd) = (v3().avx._mm256_unpacklo_pd(c, d), v3().avx._mm256_unpackhi_pd(c, d));
    [
        v3().avx._mm256_permute2f128_pd::<0x20>(even, more_even),
        v3().avx._mm256_permute2f128_pd::<0x20>(odd, more_odd),
        v3().avx._mm256_permute2f128_pd::<0x31>(even, more_even),
        v3().avx._mm256_permute2f128_pd::<0x31>(odd, more_odd),
    ]
}
