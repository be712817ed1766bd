//! Four numbers at once, with the processor's vector instructions or without.
//!
//! Left to itself the compiler shuffles lanes where sums are kept in several parts: twice the instructions. So the few loops
//! that matter are written in terms of [`Four`], and compiled once for registers of four doubles and once for any machine.
//! The results are the same to the last bit: both do the same operations in the same order, and where a product and a sum
//! are fused they are so in both.

/// Parts that a sum over rows is kept in.
pub(crate) const LANES: usize = 4;

/// Doubles of a cache line.
pub(crate) const LINE: usize = 8;

/// Four numbers in memory.
pub(crate) type Lanes = [f64; LANES];

/// Four numbers in registers.
pub(crate) trait Four: Copy {
    /// The same number four times.
    fn splat(x: f64) -> Self;
    fn load(from: &Lanes) -> Self;
    fn store(self, to: &mut Lanes);
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    /// `self * by + more`, rounded once.
    fn times_plus(self, by: Self, more: Self) -> Self;
    /// The smaller number of each lane; the other's where they are equal.
    fn least(self, other: Self) -> Self;
    /// The larger number of each lane; the other's where they are equal.
    fn most(self, other: Self) -> Self;
    fn absolute(self) -> Self;
    /// 1 in lanes that are below the other's, 0 elsewhere.
    fn is_below(self, other: Self) -> Self;
    /// All bits in lanes that lie between two others or are one of them, none elsewhere. No number lies beside NaN.
    fn is_within(self, least: Self, most: Self) -> Self;
    /// The bits that both have.
    fn and(self, other: Self) -> Self;
    /// The first half of one, the second half of the other.
    fn then_half_of(self, other: Self) -> Self;
    /// The first lanes of all, then the second lanes of all, and so on.
    fn transpose(four: [Self; LANES]) -> [Self; LANES];

    /// Asks for the first cache lines of some numbers to be brought nearer, for they will be needed soon.
    fn fetch(_numbers: &[f64], _lines: usize) {}

    fn lanes(self) -> Lanes {
        let mut lanes = [0.0; LANES];
        self.store(&mut lanes);
        lanes
    }

    /// Every bit.
    fn all_bits() -> Self {
        Self::splat(f64::from_bits(u64::MAX))
    }

    /// Whether every bit of every lane is set.
    fn has_all_bits(self) -> bool {
        self.lanes().iter().all(|lane| lane.to_bits() == u64::MAX)
    }

    /// The lanes, added up.
    fn total(self) -> f64 {
        let [a, b, c, d] = self.lanes();
        (a + b) + (c + d)
    }
}

/// Without vector instructions, or with those that every machine of its kind has.
impl Four for Lanes {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        [x; LANES]
    }

    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        *from
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        *to = self;
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        each(self, other, |a, b| a + b)
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        each(self, other, |a, b| a * b)
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        each(self, other, |a, b| a / b)
    }

    #[inline(always)]
    fn times_plus(self, by: Self, more: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h], [i, j, k, l]) = (self, by, more);
        [a.mul_add(e, i), b.mul_add(f, j), c.mul_add(g, k), d.mul_add(h, l)]
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        each(self, other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        each(self, other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn absolute(self) -> Self {
        each(self, self, |a, _| a.abs())
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Self {
        each(self, other, |a, b| f64::from(u8::from(a < b)))
    }

    #[inline(always)]
    fn is_within(self, least: Self, most: Self) -> Self {
        let bits = |is_true: bool| f64::from_bits(if is_true { u64::MAX } else { 0 });
        each(each(self, least, |a, b| bits(a >= b)), each(self, most, |a, b| bits(a <= b)), and)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        each(self, other, and)
    }

    #[inline(always)]
    fn then_half_of(self, other: Self) -> Self {
        [self[0], self[1], other[2], other[3]]
    }

    #[inline(always)]
    fn transpose([a, b, c, d]: [Self; LANES]) -> [Self; LANES] {
        std::array::from_fn(|lane| [a[lane], b[lane], c[lane], d[lane]])
    }
}

#[inline(always)]
fn and(a: f64, b: f64) -> f64 {
    f64::from_bits(a.to_bits() & b.to_bits())
}

#[inline(always)]
fn each([a, b, c, d]: Lanes, [e, f, g, h]: Lanes, of: impl Fn(f64, f64) -> f64) -> Lanes {
    [of(a, e), of(b, f), of(c, g), of(d, h)]
}

/// Defines a function that is compiled twice: with registers of four doubles and fused products, used where the processor has
/// them, and without. `inner` does the work; it is generic over [`Four`], and must be inlined all the way down.
///
/// Each such function is a loop or two over the rows of a block, and small: one large function, with everything inlined, is
/// slowed down by the code that has to be fetched.
macro_rules! wide {
    ($(#[$about:meta])* $vis:vis fn $name:ident $([$(const $size:ident),+])? ($($arg:ident: $type:ty),* $(,)?) $(-> $done:ty)? = $inner:ident) => {
        $(#[$about])*
        $vis fn $name $(<$(const $size: usize),+>)? ($($arg: $type),*) $(-> $done)? {
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
                #[target_feature(enable = "avx2,fma")]
                fn with_avx2 $(<$(const $size: usize),+>)? ($($arg: $type),*) $(-> $done)? {
                    $inner::<crate::math::lanes::avx2::Wide, $($($size),+)?>($($arg),*)
                }
                // SAFETY: the processor was just asked whether it has AVX2 and FMA, and that is all that is required.
                #[expect(unsafe_code, reason = "no safe call changes the target features of a function at run time")]
                return unsafe { with_avx2 $(::<$($size),+>)? ($($arg),*) };
            }
            $inner::<crate::math::lanes::Lanes, $($($size),+)?>($($arg),*)
        }
    };
}
pub(crate) use wide;

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the instructions are wanted by name: see docs/performance.md for what they bring")]
pub(crate) mod avx2 {
    // SAFETY of every block below: the type is named only by the macro `wide`, in functions that are called where the
    // processor has AVX2 and FMA. References to four doubles are valid for reading and writing 32 bytes, and the
    // instructions do not ask for alignment.

    use std::arch::x86_64::{
        __m256d, _CMP_GE_OQ, _CMP_LE_OQ, _CMP_LT_OQ, _MM_HINT_T0, _mm_prefetch, _mm256_add_pd, _mm256_and_pd,
        _mm256_andnot_pd, _mm256_blend_pd, _mm256_cmp_pd, _mm256_div_pd, _mm256_fmadd_pd, _mm256_loadu_pd,
        _mm256_max_pd, _mm256_min_pd, _mm256_mul_pd, _mm256_permute2f128_pd, _mm256_set1_pd, _mm256_storeu_pd,
        _mm256_unpackhi_pd, _mm256_unpacklo_pd,
    };

    use super::{Four, LANES, LINE, Lanes};

    /// Four doubles in a register.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Wide(__m256d);

    impl Four for Wide {
        #[inline(always)]
        fn fetch(numbers: &[f64], lines: usize) {
            for line in 0..lines {
                // Asking for memory is allowed wherever it lies.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(numbers.as_ptr().wrapping_add(line * LINE).cast()) };
            }
        }

        #[inline(always)]
        fn splat(x: f64) -> Self {
            Wide(unsafe { _mm256_set1_pd(x) })
        }

        #[inline(always)]
        fn load(from: &Lanes) -> Self {
            Wide(unsafe { _mm256_loadu_pd(from.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut Lanes) {
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            Wide(unsafe { _mm256_add_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            Wide(unsafe { _mm256_mul_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn over(self, other: Self) -> Self {
            Wide(unsafe { _mm256_div_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn times_plus(self, by: Self, more: Self) -> Self {
            Wide(unsafe { _mm256_fmadd_pd(self.0, by.0, more.0) })
        }

        #[inline(always)]
        fn least(self, other: Self) -> Self {
            Wide(unsafe { _mm256_min_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn most(self, other: Self) -> Self {
            Wide(unsafe { _mm256_max_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn absolute(self) -> Self {
            Wide(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
        }

        #[inline(always)]
        fn is_below(self, other: Self) -> Self {
            let mask = unsafe { _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0) };
            Wide(unsafe { _mm256_and_pd(mask, _mm256_set1_pd(1.0)) })
        }

        #[inline(always)]
        fn is_within(self, least: Self, most: Self) -> Self {
            let above = unsafe { _mm256_cmp_pd::<_CMP_GE_OQ>(self.0, least.0) };
            let below = unsafe { _mm256_cmp_pd::<_CMP_LE_OQ>(self.0, most.0) };
            Wide(unsafe { _mm256_and_pd(above, below) })
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            Wide(unsafe { _mm256_and_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn then_half_of(self, other: Self) -> Self {
            Wide(unsafe { _mm256_blend_pd::<0b1100>(self.0, other.0) })
        }

        #[inline(always)]
        fn transpose([a, b, c, d]: [Self; LANES]) -> [Self; LANES] {
            unsafe {
                let (even, odd) = (_mm256_unpacklo_pd(a.0, b.0), _mm256_unpackhi_pd(a.0, b.0));
                let (more_even, more_odd) = (_mm256_unpacklo_pd(c.0, d.0), _mm256_unpackhi_pd(c.0, d.0));
                [
                    Wide(_mm256_permute2f128_pd::<0x20>(even, more_even)),
                    Wide(_mm256_permute2f128_pd::<0x20>(odd, more_odd)),
                    Wide(_mm256_permute2f128_pd::<0x31>(even, more_even)),
                    Wide(_mm256_permute2f128_pd::<0x31>(odd, more_odd)),
                ]
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Every operation, on some numbers, as bits.
    #[inline(always)]
    fn everything<F: Four>(numbers: &[Lanes; 4]) -> Vec<[u64; LANES]> {
        let [a, b, c, d] = numbers.map(|lanes| F::load(&lanes));
        let mut found = vec![
            a.plus(b),
            a.times(b),
            a.over(b),
            a.times_plus(b, c),
            a.least(b),
            a.most(b),
            a.absolute(),
            a.is_below(b),
            a.is_within(b, c),
            a.is_within(b, c).and(d),
            a.then_half_of(b),
            F::splat(a.total()),
        ];
        found.extend(F::transpose([a, b, c, d]));
        found.into_iter().map(|lanes| lanes.lanes().map(f64::to_bits)).collect()
    }

    wide! {
        fn on_this_machine(numbers: &[Lanes; 4]) -> Vec<[u64; LANES]> = everything
    }

    #[test]
    fn every_machine_gives_the_same_bits() {
        let odd = [0.0, -0.0, 1.0, -1.5, 1e300, -1e-300, f64::INFINITY, f64::NEG_INFINITY, 0.1, 3.0, -0.3];
        let mut state = 1u64;
        for _ in 0..2000 {
            let numbers = std::array::from_fn(|_| {
                std::array::from_fn(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let place = (state >> 33) as usize;
                    if place.is_multiple_of(3) { odd[place / 3 % odd.len()] } else { (state >> 11) as f64 / 1e15 - 4.0 }
                })
            });
            // What is no number may differ in its payload.
            let is_number = |bits: &u64| !f64::from_bits(*bits).is_nan();
            for (found, expected) in on_this_machine(&numbers).iter().zip(everything::<Lanes>(&numbers)) {
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(found == expected || !(is_number(found) || is_number(expected)), "{numbers:?}");
                }
            }
        }
    }
}
