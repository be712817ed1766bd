//! Registers of AVX2 and of AVX-512.
#![expect(unsafe_code, reason = "the instructions are wanted by name, see the parent module")]

use std::arch::x86_64::{__m128, __m256, __m256d, __m512d};

use super::two::{Half, Two};
use super::{Eight, LANES, Lanes, Numbers};
use pulp::x86::{V3, V4};
use pulp::{Simd, cast};

/// Eight doubles in a register of AVX-512.
pub(crate) type Whole = Register<V4>;

/// Eight doubles in two registers of AVX2.
pub(crate) type Halves = Two<Register<V3>>;

/// The doubles of a register.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Register<S: Simd>(S::f64s);

/// Instructions that the processor is known to have.
pub(crate) trait Known: Simd {
    fn known() -> Self;
}

// SAFETY (of both): registers are used by the functions of `wide` alone, where the processor was asked for all that V3 or V4
// means.
impl Known for V3 {
    #[inline(always)]
    fn known() -> Self {
        // SAFETY: see above.
        unsafe { V3::new_unchecked() }
    }
}

impl Known for V4 {
    #[inline(always)]
    fn known() -> Self {
        // SAFETY: see above.
        unsafe { V4::new_unchecked() }
    }
}

impl<S: Known> Numbers for Register<S> {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Register(S::known().splat_f64s(x))
    }

    #[inline(always)]
    fn load_part(from: &Lanes, part: usize) -> Self {
        Register(S::as_simd_f64s(from).0[part])
    }

    #[inline(always)]
    fn store_part(self, to: &mut Lanes, part: usize) {
        S::as_mut_simd_f64s(to).0[part] = self.0;
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Register(S::known().add_f64s(self.0, other.0))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Register(S::known().mul_f64s(self.0, other.0))
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        Register(S::known().div_f64s(self.0, other.0))
    }

    #[inline(always)]
    fn times_plus(self, by: Self, more: Self) -> Self {
        Register(S::known().mul_add_f64s(self.0, by.0, more.0))
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        Register(S::known().min_f64s(self.0, other.0))
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        Register(S::known().max_f64s(self.0, other.0))
    }

    #[inline(always)]
    fn absolute(self) -> Self {
        Register(S::known().abs_f64s(self.0))
    }

    #[inline(always)]
    fn where_below(self, limit: Self, one: Self, other: Self) -> Self {
        Register(S::known().select_f64s(S::known().less_than_f64s(self.0, limit.0), one.0, other.0))
    }

    #[inline(always)]
    fn or_outside(self, before: Self, least: f64, most: f64) -> Self {
        let simd = S::known();
        let [bits, before] = [self.0, before.0].map(|x| simd.transmute_u64s_f64s(x));
        let above = simd.sub_u64s(bits, simd.splat_u64s(least.to_bits()));
        let below = simd.sub_u64s(simd.splat_u64s(most.to_bits()), bits);
        Register(simd.transmute_f64s_u64s(simd.or_u64s(simd.or_u64s(above, below), before)))
    }
}

impl Half for Register<V3> {
    #[inline(always)]
    fn load_half_of_singles(from: &[f32; LANES], part: usize) -> Self {
        let singles: __m128 = cast(from.as_chunks::<{ LANES / 2 }>().0[part]);
        Register(cast(V3::known().avx._mm256_cvtps_pd(singles)))
    }

    #[inline(always)]
    fn transpose(four: [Self; LANES / 2]) -> [Self; LANES / 2] {
        let avx = V3::known().avx;
        let [a, b, c, d]: [__m256d; LANES / 2] = four.map(|register| cast(register.0));
        let (even, odd) = (avx._mm256_unpacklo_pd(a, b), avx._mm256_unpackhi_pd(a, b));
        let (more_even, more_odd) = (avx._mm256_unpacklo_pd(c, d), avx._mm256_unpackhi_pd(c, d));
        [
            avx._mm256_permute2f128_pd::<0x20>(even, more_even),
            avx._mm256_permute2f128_pd::<0x20>(odd, more_odd),
            avx._mm256_permute2f128_pd::<0x31>(even, more_even),
            avx._mm256_permute2f128_pd::<0x31>(odd, more_odd),
        ]
        .map(|lanes| Register(cast(lanes)))
    }
}

impl Eight for Register<V4> {
    type Part = Self;
    const PARTS: usize = 1;

    #[inline(always)]
    fn load_singles(from: &[f32; LANES]) -> Self {
        Register(cast(V4::known().avx512f._mm512_cvtps_pd(cast::<_, __m256>(*from))))
    }

    #[inline(always)]
    fn transpose(eight: [Self; LANES]) -> [Self; LANES] {
        let avx = V4::known().avx512f;
        let eight: [__m512d; LANES] = eight.map(|register| cast(register.0));
        let (mut pairs, mut quarters, mut columns) = (eight, eight, eight);
        for i in 0..LANES / 2 {
            pairs[2 * i] = avx._mm512_unpacklo_pd(eight[2 * i], eight[2 * i + 1]);
            pairs[2 * i + 1] = avx._mm512_unpackhi_pd(eight[2 * i], eight[2 * i + 1]);
        }
        // Of rows 0 to 3 and of rows 4 to 7: lanes 0 and 4, then 2 and 6, each for the even and the odd lane.
        for i in [0, 1, 4, 5] {
            quarters[i] = avx._mm512_shuffle_f64x2::<0b10_00_10_00>(pairs[i], pairs[i + 2]);
            quarters[i + 2] = avx._mm512_shuffle_f64x2::<0b11_01_11_01>(pairs[i], pairs[i + 2]);
        }
        for i in 0..LANES / 2 {
            columns[i] = avx._mm512_shuffle_f64x2::<0b10_00_10_00>(quarters[i], quarters[i + 4]);
            columns[i + 4] = avx._mm512_shuffle_f64x2::<0b11_01_11_01>(quarters[i], quarters[i + 4]);
        }
        columns.map(|lanes| Register(cast(lanes)))
    }
}
