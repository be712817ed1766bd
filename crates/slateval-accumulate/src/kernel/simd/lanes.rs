//! Eight numbers at once, with the processor's vector instructions or without.
//!
//! Left to itself the compiler shuffles lanes where sums are kept in several parts: twice the instructions. So the few loops
//! that matter are written in terms of [`Eight`], and compiled for registers of eight doubles (AVX-512), for pairs of
//! registers of four (AVX2), and for any machine. The results are the same to the last bit: all do the same operations in the
//! same order, and where a product and a sum are fused they are so in all.

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the instructions are wanted by name, for the reason above")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the instructions are wanted by name, for the reason above")]
pub(crate) mod avx512;
mod plain;

/// Parts that a sum over rows is kept in. As many doubles as a cache line has.
pub(crate) const LANES: usize = 8;

/// Eight numbers in memory.
pub(crate) type Lanes = [f64; LANES];

/// As many of eight numbers as one register holds. Loops that keep a dozen sums go through all rows once for each part of
/// the lanes: their sums then stay in registers.
pub(crate) trait Part: Copy {
    fn splat(x: f64) -> Self;
    fn load(from: &Lanes, part: usize) -> Self;
    fn store(self, to: &mut Lanes, part: usize);
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// `self * by + more`, rounded once.
    fn times_plus(self, by: Self, more: Self) -> Self;
    /// The smaller number of each lane; the other's where they are equal.
    fn least(self, other: Self) -> Self;
    /// The larger number of each lane; the other's where they are equal.
    fn most(self, other: Self) -> Self;
    fn absolute(self) -> Self;
    /// 1 in lanes that are below the other's, 0 elsewhere.
    fn is_below(self, other: Self) -> Self;
}

/// All eight numbers, where one register holds them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllLanes<F>(F);

impl<F: Eight> Part for AllLanes<F> {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        AllLanes(F::splat(x))
    }

    #[inline(always)]
    fn load(from: &Lanes, _part: usize) -> Self {
        AllLanes(F::load(from))
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes, _part: usize) {
        self.0.store(to);
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        AllLanes(self.0.plus(other.0))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        AllLanes(self.0.times(other.0))
    }

    #[inline(always)]
    fn times_plus(self, by: Self, more: Self) -> Self {
        AllLanes(self.0.times_plus(by.0, more.0))
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        AllLanes(self.0.least(other.0))
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        AllLanes(self.0.most(other.0))
    }

    #[inline(always)]
    fn absolute(self) -> Self {
        AllLanes(self.0.absolute())
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Self {
        AllLanes(self.0.is_below(other.0))
    }
}

/// Eight numbers in registers.
pub(crate) trait Eight: Copy {
    /// What one register holds, and how many of them hold all lanes.
    type Part: Part;
    const PARTS: usize;

    /// Which lanes are meant.
    type Mask: Copy;

    /// The same number eight times.
    fn splat(x: f64) -> Self;
    fn load(from: &Lanes) -> Self;
    /// Eight single-precision numbers, each as the double that it is.
    fn load_singles(from: &[f32; LANES]) -> Self;
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
    /// The lanes that lie between two others or are one of them. No number lies beside NaN.
    fn is_within(self, least: Self, most: Self) -> Self::Mask;
    fn both(one: Self::Mask, other: Self::Mask) -> Self::Mask;
    fn every_lane() -> Self::Mask;
    fn is_every_lane(mask: Self::Mask) -> bool;
    /// Lanes whose sign is set where a number of this lies outside two that are not below 0, or was set before. One step
    /// cheaper than [`is_within`](Eight::is_within): positive doubles are ordered as their bits are, so that both
    /// differences to the ends are positive within, and one of them is negative for everything else, NaN and `-0.0` included.
    fn or_outside(self, before: Self, least: f64, most: f64) -> Self;
    fn has_a_sign(self) -> bool;
    /// The third and the fourth lane of the other, all others of this one.
    fn with_third_and_fourth_of(self, other: Self) -> Self;
    /// Another number in a lane.
    fn with_lane(self, lane: usize, x: f64) -> Self;
    /// The first lanes of all, then the second lanes of all, and so on.
    fn transpose(eight: [Self; LANES]) -> [Self; LANES];

    #[inline(always)]
    fn lanes(self) -> Lanes {
        let mut lanes = [0.0; LANES];
        self.store(&mut lanes);
        lanes
    }

    /// The lanes, added up.
    #[inline(always)]
    fn total(self) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.lanes();
        ((a + e) + (b + f)) + ((c + g) + (d + h))
    }
}

/// The lanes of each, added up, eight at a time: as many numbers as lanes are turned, and then added lane by lane in the order
/// of [`Eight::total`].
#[inline(always)]
pub(crate) fn totals<F: Eight, const N: usize>(sums: [F; N]) -> [f64; N] {
    let mut totals = [0.0; N];
    let mut from = 0;
    while from < N {
        let mut eight = [F::splat(0.0); LANES];
        for lane in 0..LANES {
            if from + lane < N {
                eight[lane] = sums[from + lane];
            }
        }
        let [a, b, c, d, e, f, g, h] = F::transpose(eight);
        let found = a.plus(e).plus(b.plus(f)).plus(c.plus(g).plus(d.plus(h))).lanes();
        for lane in 0..LANES {
            if from + lane < N {
                totals[from + lane] = found[lane];
            }
        }
        from += LANES;
    }
    totals
}

/// Stores a part of some numbers.
#[inline(always)]
pub(crate) fn store_all<P: Part, const N: usize>(parts: [P; N], to: &mut [Lanes; N], part: usize) {
    for i in 0..N {
        parts[i].store(&mut to[i], part);
    }
}

/// The lanes of each, added up, of numbers in memory.
#[inline(always)]
pub(crate) fn totals_of<F: Eight, const N: usize>(sums: &[Lanes; N]) -> [f64; N] {
    let mut loaded = [F::splat(0.0); N];
    for i in 0..N {
        loaded[i] = F::load(&sums[i]);
    }
    totals(loaded)
}

/// Whether the processor has all that V4 means. It is asked once: a loop over a block takes little longer than asking.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn has_avx512() -> bool {
    static HAS: LazyLock<bool> = LazyLock::new(pulp::x86::V4::is_available);
    *HAS
}

/// Whether the processor has all that V3 means.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn has_avx2() -> bool {
    static HAS: LazyLock<bool> = LazyLock::new(pulp::x86::V3::is_available);
    *HAS
}

/// Defines a function that is compiled three times: with registers of eight doubles, with pairs of registers of four and
/// fused products, each used where the processor has them, and without. `inner` does the work; it is generic over
/// [`Eight`], and must be inlined all the way down.
///
/// Each such function is a loop or two over the rows of a block, and small: one large function, with everything inlined, is
/// slowed down by the code that has to be fetched.
macro_rules! wide {
    ($(#[$about:meta])* $vis:vis fn $name:ident $([$(const $size:ident),+])? ($($arg:ident: $type:ty),* $(,)?) $(-> $done:ty)? = $inner:ident) => {
        $(#[$about])*
        $vis fn $name $(<$(const $size: usize),+>)? ($($arg: $type),*) $(-> $done)? {
            #[cfg(target_arch = "x86_64")]
            if crate::kernel::simd::lanes::has_avx512() {
                #[target_feature(enable = "avx512f")]
                fn with_avx512 $(<$(const $size: usize),+>)? ($($arg: $type),*) $(-> $done)? {
                    $inner::<crate::kernel::simd::lanes::avx512::Whole, $($($size),+)?>($($arg),*)
                }
                // SAFETY: the processor was just asked for AVX-512 with all that V4 means, and that is all that is required.
                #[expect(unsafe_code, reason = "no safe call changes the target features of a function at run time")]
                return unsafe { with_avx512 $(::<$($size),+>)? ($($arg),*) };
            }
            #[cfg(target_arch = "x86_64")]
            if crate::kernel::simd::lanes::has_avx2() {
                #[target_feature(enable = "avx2,fma")]
                fn with_avx2 $(<$(const $size: usize),+>)? ($($arg: $type),*) $(-> $done)? {
                    $inner::<crate::kernel::simd::lanes::avx2::Halves, $($($size),+)?>($($arg),*)
                }
                // SAFETY: the processor was just asked for AVX2, FMA and all else that V3 means, and that is all that is required.
                #[expect(unsafe_code, reason = "no safe call changes the target features of a function at run time")]
                return unsafe { with_avx2 $(::<$($size),+>)? ($($arg),*) };
            }
            $inner::<crate::kernel::simd::lanes::Lanes, $($($size),+)?>($($arg),*)
        }
    };
}
pub(crate) use wide;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use slateval_testing::Random;

    use super::*;

    /// Every operation, on some numbers, as bits.
    #[inline(always)]
    fn everything<F: Eight>(numbers: &[Lanes; LANES]) -> Vec<[u64; LANES]> {
        let eight = numbers.map(|lanes| F::load(&lanes));
        let [a, b, c, d, ..] = eight;
        let mut found = vec![
            a.plus(b),
            a.times(b),
            a.over(b),
            a.times_plus(b, c),
            a.least(b),
            a.most(b),
            a.absolute(),
            a.is_below(b),
            a.with_third_and_fourth_of(b),
            a.with_lane(0, 7.0).with_lane(3, 8.0).with_lane(4, 9.0).with_lane(6, 1.5),
            F::splat(a.total()),
            F::splat(f64::from(u8::from(F::is_every_lane(a.is_within(b, c))))),
            F::splat(f64::from(u8::from(F::is_every_lane(F::both(a.is_within(b, c), d.is_within(b, c)))))),
            F::splat(f64::from(u8::from(F::is_every_lane(F::both(F::every_lane(), a.is_within(a, a)))))),
            F::load_singles(&numbers[0].map(|x| x as f32)),
            F::splat(f64::from(u8::from(a.or_outside(b, 0.0, 3.0).has_a_sign()))),
            F::splat(f64::from(u8::from(a.absolute().or_outside(F::splat(0.0), 0.0, f64::INFINITY).has_a_sign()))),
        ];
        found.extend(F::transpose(eight));
        let [first, second] = totals([a, b]);
        found.extend([F::splat(first), F::splat(second), F::splat(totals(eight)[7])]);
        found.extend([F::splat(a.total()), F::splat(b.total()), F::splat(eight[7].total())]);
        found.into_iter().map(|lanes| lanes.lanes().map(f64::to_bits)).collect()
    }

    wide! {
        fn on_this_machine(numbers: &[Lanes; LANES]) -> Vec<[u64; LANES]> = everything
    }

    /// What the registers of four find, where the processor has them: `wide` prefers those of eight.
    fn in_halves(numbers: &[Lanes; LANES]) -> Option<Vec<[u64; LANES]>> {
        #[target_feature(enable = "avx2,fma")]
        fn found(numbers: &[Lanes; LANES]) -> Vec<[u64; LANES]> {
            everything::<avx2::Halves>(numbers)
        }
        let has = pulp::x86::V3::is_available();
        // SAFETY: the processor was just asked.
        #[expect(unsafe_code, reason = "no safe call changes the target features of a function at run time")]
        has.then(|| unsafe { found(numbers) })
    }

    #[test]
    fn every_machine_gives_the_same_bits() {
        let odd = [0.0, -0.0, 1.0, -1.5, 1e300, -1e-300, f64::INFINITY, f64::NEG_INFINITY, 0.1, 3.0, -0.3];
        let mut random = Random::new(1);
        for turn in 0..2000 {
            let mut numbers: [Lanes; LANES] = std::array::from_fn(|_| {
                std::array::from_fn(|_| {
                    let state = random.bits();
                    let place = (state >> 33) as usize;
                    if place.is_multiple_of(3) { odd[place / 3 % odd.len()] } else { (state >> 11) as f64 / 1e15 - 4.0 }
                })
            });
            if turn % 2 == 0 {
                // Between the others in every lane, which chance hardly ever brings about.
                numbers[1].fill(f64::NEG_INFINITY);
                numbers[2].fill(f64::INFINITY);
            }
            let expected = everything::<Lanes>(&numbers);
            same(&on_this_machine(&numbers), &expected);
            in_halves(&numbers).iter().for_each(|found| same(found, &expected));
        }
    }

    #[test]
    fn what_lies_outside_has_a_sign() {
        let ends = [(0.0, 1.0), (f64::from_bits(1), 1.0 + 1e-6), (0.25, 0.25), (0.0, f64::INFINITY)];
        let numbers = [0.0, f64::from_bits(1), 0.1, 0.25, 1.0, 1.0 + 1e-6, 1.1, 1e300, f64::INFINITY];
        for (least, most) in ends {
            for number in numbers.iter().flat_map(|&x| [x, -x]).chain([f64::NAN, -f64::NAN]) {
                let mut lanes = [least; LANES];
                lanes[5] = number;
                let is_within = number >= least && number <= most && number.is_sign_positive();
                assert_eq!(lanes.or_outside([0.0; LANES], least, most).has_a_sign(), !is_within, "{number}");
            }
        }
    }

    /// What is no number may differ in its payload.
    fn same(found: &[[u64; LANES]], expected: &[[u64; LANES]]) {
        let is_number = |bits: &u64| !f64::from_bits(*bits).is_nan();
        assert_eq!(found.len(), expected.len());
        for (place, (found, expected)) in found.iter().flatten().zip(expected.iter().flatten()).enumerate() {
            assert!(found == expected || !(is_number(found) || is_number(expected)), "{place}");
        }
    }
}
