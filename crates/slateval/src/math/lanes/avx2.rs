//! Eight doubles in two registers of AVX2.

// Every block below relies on this: only the macro `wide` names the type, in functions that are called where the
// processor has AVX2 and FMA.

use std::arch::x86_64::{
    __m256d, __m256i, _CMP_GE_OQ, _CMP_LE_OQ, _CMP_LT_OQ, _mm_loadu_ps, _mm256_add_pd, _mm256_and_pd, _mm256_andnot_pd,
    _mm256_blend_pd, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_cmp_pd, _mm256_cvtps_pd, _mm256_div_pd,
    _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_max_pd, _mm256_min_pd, _mm256_movemask_pd, _mm256_mul_pd, _mm256_or_pd,
    _mm256_or_si256, _mm256_permute2f128_pd, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_storeu_pd, _mm256_sub_epi64,
    _mm256_unpackhi_pd, _mm256_unpacklo_pd,
};

use super::{Eight, LANES, Lanes, Part};

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
        // SAFETY: the processor has AVX2 and FMA.
        let x = unsafe { _mm256_set1_pd(x) };
        Halves(x, x)
    }

    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        let (first, second) = from.split_at(HALF);
        // SAFETY: the processor has AVX2 and FMA; the numbers are valid for reading, and may lie unaligned.
        unsafe { Halves(_mm256_loadu_pd(first.as_ptr()), _mm256_loadu_pd(second.as_ptr())) }
    }

    #[inline(always)]
    fn load_singles(from: &[f32; LANES]) -> Self {
        let (first, second) = from.split_at(HALF);
        // SAFETY: the processor has AVX2 and FMA; the numbers are valid for reading, and may lie unaligned.
        unsafe { Halves(_mm256_cvtps_pd(_mm_loadu_ps(first.as_ptr())), _mm256_cvtps_pd(_mm_loadu_ps(second.as_ptr()))) }
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        let (first, second) = to.split_at_mut(HALF);
        // SAFETY: the processor has AVX2 and FMA; the numbers are valid for writing, and may lie unaligned.
        unsafe {
            _mm256_storeu_pd(first.as_mut_ptr(), self.0);
            _mm256_storeu_pd(second.as_mut_ptr(), self.1);
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { Halves(_mm256_add_pd(self.0, other.0), _mm256_add_pd(self.1, other.1)) }
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { Halves(_mm256_mul_pd(self.0, other.0), _mm256_mul_pd(self.1, other.1)) }
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { Halves(_mm256_div_pd(self.0, other.0), _mm256_div_pd(self.1, other.1)) }
    }

    #[inline(always)]
    fn times_plus(self, by: Self, more: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { Halves(_mm256_fmadd_pd(self.0, by.0, more.0), _mm256_fmadd_pd(self.1, by.1, more.1)) }
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { Halves(_mm256_min_pd(self.0, other.0), _mm256_min_pd(self.1, other.1)) }
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { Halves(_mm256_max_pd(self.0, other.0), _mm256_max_pd(self.1, other.1)) }
    }

    #[inline(always)]
    fn absolute(self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe {
            let sign = _mm256_set1_pd(-0.0);
            Halves(_mm256_andnot_pd(sign, self.0), _mm256_andnot_pd(sign, self.1))
        }
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe {
            let one = _mm256_set1_pd(1.0);
            Halves(
                _mm256_and_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0), one),
                _mm256_and_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self.1, other.1), one),
            )
        }
    }

    #[inline(always)]
    fn is_within(self, least: Self, most: Self) -> Self::Mask {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe {
            let above =
                Halves(_mm256_cmp_pd::<_CMP_GE_OQ>(self.0, least.0), _mm256_cmp_pd::<_CMP_GE_OQ>(self.1, least.1));
            let below =
                Halves(_mm256_cmp_pd::<_CMP_LE_OQ>(self.0, most.0), _mm256_cmp_pd::<_CMP_LE_OQ>(self.1, most.1));
            Self::both(above, below)
        }
    }

    #[inline(always)]
    fn both(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { Halves(_mm256_and_pd(one.0, other.0), _mm256_and_pd(one.1, other.1)) }
    }

    #[inline(always)]
    fn every_lane() -> Self::Mask {
        Self::splat(f64::from_bits(u64::MAX))
    }

    #[inline(always)]
    fn is_every_lane(mask: Self::Mask) -> bool {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { _mm256_movemask_pd(_mm256_and_pd(mask.0, mask.1)) == (1 << HALF) - 1 }
    }

    #[inline(always)]
    fn or_outside(self, before: Self, least: f64, most: f64) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe {
            let least = _mm256_set1_epi64x(least.to_bits() as i64);
            let most = _mm256_set1_epi64x(most.to_bits() as i64);
            Halves(outside(self.0, before.0, least, most), outside(self.1, before.1, least, most))
        }
    }

    #[inline(always)]
    fn has_a_sign(self) -> bool {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { _mm256_movemask_pd(_mm256_or_pd(self.0, self.1)) != 0 }
    }

    #[inline(always)]
    fn with_third_and_fourth_of(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        Halves(unsafe { _mm256_blend_pd::<0b1100>(self.0, other.0) }, self.1)
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
        // SAFETY: the processor has AVX2 and FMA.
        Half(unsafe { _mm256_set1_pd(x) })
    }

    #[inline(always)]
    fn load(from: &Lanes, part: usize) -> Self {
        // SAFETY: the processor has AVX2 and FMA; the numbers are valid for reading, and may lie unaligned.
        Half(unsafe { _mm256_loadu_pd(half(from, part).as_ptr()) })
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes, part: usize) {
        // SAFETY: the processor has AVX2 and FMA; the numbers are valid for writing, and may lie unaligned.
        unsafe { _mm256_storeu_pd(to.as_chunks_mut::<HALF>().0[part].as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        Half(unsafe { _mm256_add_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        Half(unsafe { _mm256_mul_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn times_plus(self, by: Self, more: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        Half(unsafe { _mm256_fmadd_pd(self.0, by.0, more.0) })
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        Half(unsafe { _mm256_min_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        Half(unsafe { _mm256_max_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn absolute(self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        Half(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA.
        Half(unsafe { _mm256_and_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0), _mm256_set1_pd(1.0)) })
    }
}

/// A half of [`Eight::with_lane`].
#[inline(always)]
fn with_lane_of_half(half: __m256d, lane: usize, x: f64) -> __m256d {
    // SAFETY: the processor has AVX2 and FMA.
    unsafe {
        let x = _mm256_set1_pd(x);
        match lane {
            0 => _mm256_blend_pd::<0b0001>(half, x),
            1 => _mm256_blend_pd::<0b0010>(half, x),
            2 => _mm256_blend_pd::<0b0100>(half, x),
            _ => _mm256_blend_pd::<0b1000>(half, x),
        }
    }
}

/// A half of [`Eight::or_outside`].
#[inline(always)]
fn outside(x: __m256d, before: __m256d, least: __m256i, most: __m256i) -> __m256d {
    // SAFETY: the processor has AVX2 and FMA.
    unsafe {
        let bits = _mm256_castpd_si256(x);
        let (above, below) = (_mm256_sub_epi64(bits, least), _mm256_sub_epi64(most, bits));
        _mm256_or_pd(_mm256_castsi256_pd(_mm256_or_si256(above, below)), before)
    }
}

/// Transposes four rows of four.
#[inline(always)]
fn quarter([a, b, c, d]: [__m256d; HALF]) -> [__m256d; HALF] {
    // SAFETY: the processor has AVX2 and FMA.
    unsafe {
        let (even, odd) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (more_even, more_odd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        [
            _mm256_permute2f128_pd::<0x20>(even, more_even),
            _mm256_permute2f128_pd::<0x20>(odd, more_odd),
            _mm256_permute2f128_pd::<0x31>(even, more_even),
            _mm256_permute2f128_pd::<0x31>(odd, more_odd),
        ]
    }
}
