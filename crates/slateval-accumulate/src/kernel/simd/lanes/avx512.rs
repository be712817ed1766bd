//! Eight doubles in one register of AVX-512.

use std::arch::x86_64::{__m256, __m512d, __mmask8, _CMP_GE_OQ, _CMP_LE_OQ, _CMP_LT_OQ};

use super::{AllLanes, Eight, LANES, Lanes};
use pulp::cast;
use pulp::x86::V4;

/// The instructions.
#[inline(always)]
fn v4() -> V4 {
    // SAFETY: the type of this file is used by the functions of `wide` alone, where `V4::is_available` was asked.
    unsafe { V4::new_unchecked() }
}

/// Eight doubles in a register.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whole(__m512d);

impl Eight for Whole {
    type Part = AllLanes<Self>;
    const PARTS: usize = 1;
    type Mask = __mmask8;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Whole(v4().avx512f._mm512_set1_pd(x))
    }

    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        Whole(cast(*from))
    }

    #[inline(always)]
    fn load_singles(from: &[f32; LANES]) -> Self {
        let singles: __m256 = cast(*from);
        Whole(v4().avx512f._mm512_cvtps_pd(singles))
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        *to = cast(self.0);
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Whole(v4().avx512f._mm512_add_pd(self.0, other.0))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Whole(v4().avx512f._mm512_mul_pd(self.0, other.0))
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        Whole(v4().avx512f._mm512_div_pd(self.0, other.0))
    }

    #[inline(always)]
    fn times_plus(self, by: Self, more: Self) -> Self {
        Whole(v4().avx512f._mm512_fmadd_pd(self.0, by.0, more.0))
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        Whole(v4().avx512f._mm512_min_pd(self.0, other.0))
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        Whole(v4().avx512f._mm512_max_pd(self.0, other.0))
    }

    #[inline(always)]
    fn absolute(self) -> Self {
        Whole(v4().avx512f._mm512_abs_pd(self.0))
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Self {
        let mask = v4().avx512f._mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, other.0);
        Whole(v4().avx512f._mm512_maskz_mov_pd(mask, v4().avx512f._mm512_set1_pd(1.0)))
    }

    #[inline(always)]
    fn is_within(self, least: Self, most: Self) -> Self::Mask {
        let above = v4().avx512f._mm512_cmp_pd_mask::<_CMP_GE_OQ>(self.0, least.0);
        v4().avx512f._mm512_mask_cmp_pd_mask::<_CMP_LE_OQ>(above, self.0, most.0)
    }

    #[inline(always)]
    fn both(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        one & other
    }

    #[inline(always)]
    fn every_lane() -> Self::Mask {
        __mmask8::MAX
    }

    #[inline(always)]
    fn is_every_lane(mask: Self::Mask) -> bool {
        mask == __mmask8::MAX
    }

    #[inline(always)]
    fn or_outside(self, before: Self, least: f64, most: f64) -> Self {
        let (bits, before) = (v4().avx512f._mm512_castpd_si512(self.0), v4().avx512f._mm512_castpd_si512(before.0));
        let above = v4().avx512f._mm512_sub_epi64(bits, v4().avx512f._mm512_set1_epi64(least.to_bits() as i64));
        let below = v4().avx512f._mm512_sub_epi64(v4().avx512f._mm512_set1_epi64(most.to_bits() as i64), bits);
        // The bits that any of the three has.
        Whole(
            v4().avx512f
                ._mm512_castsi512_pd(v4().avx512f._mm512_ternarylogic_epi64::<0b1111_1110>(above, below, before)),
        )
    }

    #[inline(always)]
    fn has_a_sign(self) -> bool {
        v4().avx512f
            ._mm512_cmplt_epi64_mask(v4().avx512f._mm512_castpd_si512(self.0), v4().avx512f._mm512_set1_epi64(0))
            != 0
    }

    #[inline(always)]
    fn with_third_and_fourth_of(self, other: Self) -> Self {
        Whole(v4().avx512f._mm512_mask_blend_pd(0b0000_1100, self.0, other.0))
    }

    #[inline(always)]
    fn with_lane(self, lane: usize, x: f64) -> Self {
        Whole(v4().avx512f._mm512_mask_mov_pd(self.0, 1 << lane, v4().avx512f._mm512_set1_pd(x)))
    }

    #[inline(always)]
    fn transpose(eight: [Self; LANES]) -> [Self; LANES] {
        let mut pairs = [eight[0]; LANES];
        let mut quarters = [eight[0]; LANES];
        let mut columns = [eight[0]; LANES];
        {
            for i in 0..LANES / 2 {
                let (a, b) = (eight[2 * i].0, eight[2 * i + 1].0);
                pairs[2 * i] = Whole(v4().avx512f._mm512_unpacklo_pd(a, b));
                pairs[2 * i + 1] = Whole(v4().avx512f._mm512_unpackhi_pd(a, b));
            }
            // Of rows 0 to 3 and of rows 4 to 7: lanes 0 and 4, then 2 and 6, each for the even and the odd lane.
            for half in [0, 4] {
                for odd in 0..2 {
                    let (a, b) = (pairs[half + odd].0, pairs[half + 2 + odd].0);
                    quarters[half + odd] = Whole(v4().avx512f._mm512_shuffle_f64x2::<0b10_00_10_00>(a, b));
                    quarters[half + 2 + odd] = Whole(v4().avx512f._mm512_shuffle_f64x2::<0b11_01_11_01>(a, b));
                }
            }
            for lane in 0..LANES / 2 {
                let (a, b) = (quarters[lane].0, quarters[4 + lane].0);
                columns[lane] = Whole(v4().avx512f._mm512_shuffle_f64x2::<0b10_00_10_00>(a, b));
                columns[4 + lane] = Whole(v4().avx512f._mm512_shuffle_f64x2::<0b11_01_11_01>(a, b));
            }
        }
        columns
    }
}
