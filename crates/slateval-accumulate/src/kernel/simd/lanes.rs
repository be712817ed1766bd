//! Eight numbers at once, with the processor's vector instructions or without.
//!
//! Left to itself the compiler shuffles lanes where sums are kept in several parts: twice the instructions. So the few loops
//! that matter are written in terms of [`Eight`], and compiled for registers of eight doubles (AVX-512), for pairs of
//! registers of four (AVX2), and for any machine. The results are the same to the last bit: all do the same operations in the
//! same order, and where a product and a sum are fused they are so in all.

mod plain;
#[cfg(target_arch = "x86_64")]
pub(crate) mod registers;
mod two;

/// Parts that a sum over rows is kept in. As many doubles as a cache line has.
pub(crate) const LANES: usize = 8;

/// Eight numbers in memory.
pub(crate) type Lanes = [f64; LANES];

/// Some numbers: all eight, or as many as one register holds. Loops that keep a dozen sums go through all rows once for each
/// part of the lanes: their sums then stay in registers.
pub(crate) trait Numbers: Copy {
    /// The same number in each lane.
    fn splat(x: f64) -> Self;
    fn load_part(from: &Lanes, part: usize) -> Self;
    fn store_part(self, to: &mut Lanes, part: usize);
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
    /// One in lanes that are below a limit, the other elsewhere.
    fn where_below(self, limit: Self, one: Self, other: Self) -> Self;
    /// Lanes whose sign is set where a number of this lies outside two that are not below 0, or was set before. Positive
    /// doubles are ordered as their bits are, so that both differences to the ends are positive within, and one of them is
    /// negative for everything else, NaN and `-0.0` included.
    fn or_outside(self, before: Self, least: f64, most: f64) -> Self;

    /// 1 in lanes that are below the other's, 0 elsewhere.
    #[inline(always)]
    fn is_below(self, other: Self) -> Self {
        self.where_below(other, Self::splat(1.0), Self::splat(0.0))
    }
}

/// Eight numbers in registers.
pub(crate) trait Eight: Numbers {
    /// What one register holds, and how many of them hold all lanes.
    type Part: Numbers;
    const PARTS: usize;

    /// Eight single-precision numbers, each as the double that it is.
    fn load_singles(from: &[f32; LANES]) -> Self;
    /// The first lanes of all, then the second lanes of all, and so on.
    fn transpose(eight: [Self; LANES]) -> [Self; LANES];

    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        Self::load_part(from, 0)
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        self.store_part(to, 0);
    }

    #[inline(always)]
    fn lanes(self) -> Lanes {
        let mut lanes = [0.0; LANES];
        self.store(&mut lanes);
        lanes
    }

    #[inline(always)]
    fn has_a_sign(self) -> bool {
        self.lanes().iter().any(|x| x.is_sign_negative())
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
pub(crate) fn store_all<P: Numbers, const N: usize>(parts: [P; N], to: &mut [Lanes; N], part: usize) {
    for i in 0..N {
        parts[i].store_part(&mut to[i], part);
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

/// The instructions that functions of [`wide`] are compiled for.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Instructions {
    Any,
    Avx2,
    Avx512,
}

/// What the processor has. It is asked once: a loop over a block takes little longer than asking.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn instructions() -> Instructions {
    static HAS: std::sync::LazyLock<Instructions> =
        std::sync::LazyLock::new(|| match (pulp::x86::V4::is_available(), pulp::x86::V3::is_available()) {
            (true, _) => Instructions::Avx512,
            (false, true) => Instructions::Avx2,
            (false, false) => Instructions::Any,
        });
    #[cfg(test)]
    return MOST.get().min(*HAS);
    #[cfg(not(test))]
    *HAS
}

#[cfg(all(test, target_arch = "x86_64"))]
thread_local! {
    /// What a thread uses at most, to compare what it finds.
    pub(crate) static MOST: std::cell::Cell<Instructions> = const { std::cell::Cell::new(Instructions::Avx512) };
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
            {
                use crate::kernel::simd::lanes::{Instructions, instructions, registers};
                #[target_feature(enable = "avx512f,avx512dq")]
                fn with_avx512 $(<$(const $size: usize),+>)? ($($arg: $type),*) $(-> $done)? {
                    $inner::<registers::Whole, $($($size),+)?>($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn with_avx2 $(<$(const $size: usize),+>)? ($($arg: $type),*) $(-> $done)? {
                    $inner::<registers::Halves, $($($size),+)?>($($arg),*)
                }
                if instructions() == Instructions::Avx512 {
                    // SAFETY: the processor was just asked for all that V4 means, and that is more than is required.
                    #[expect(unsafe_code, reason = "no safe call changes the target features of a function at run time")]
                    return unsafe { with_avx512 $(::<$($size),+>)? ($($arg),*) };
                }
                if instructions() == Instructions::Avx2 {
                    // SAFETY: the processor was just asked for all that V3 means, and that is more than is required.
                    #[expect(unsafe_code, reason = "no safe call changes the target features of a function at run time")]
                    return unsafe { with_avx2 $(::<$($size),+>)? ($($arg),*) };
                }
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
    fn every_operation<F: Eight>(numbers: &[Lanes; LANES]) -> Vec<[u64; LANES]> {
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
            a.where_below(b, c, d),
            F::splat(a.total()),
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
        fn everything(numbers: &[Lanes; LANES]) -> Vec<[u64; LANES]> = every_operation
    }

    #[test]
    fn every_machine_gives_the_same_bits() {
        let odd = [0.0, -0.0, 1.0, -1.5, 1e300, -1e-300, f64::INFINITY, f64::NEG_INFINITY, 0.1, 3.0, -0.3];
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let numbers: [Lanes; LANES] = std::array::from_fn(|_| {
                std::array::from_fn(|_| {
                    let state = random.bits();
                    let place = (state >> 33) as usize;
                    if place.is_multiple_of(3) { odd[place / 3 % odd.len()] } else { (state >> 11) as f64 / 1e15 - 4.0 }
                })
            });
            let expected = every_operation::<Lanes>(&numbers);
            for most in [Instructions::Any, Instructions::Avx2, Instructions::Avx512] {
                MOST.set(most);
                same(&everything(&numbers), &expected);
            }
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
