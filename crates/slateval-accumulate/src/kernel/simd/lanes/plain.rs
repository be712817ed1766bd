//! Eight numbers without vector instructions, or with those that every machine of its kind has.

use super::{AllLanes, Eight, LANES, Lanes};

/// The operations, each with the same attribute.
macro_rules! plain_lanes {
    (#[$inline:meta]) => {
        impl Eight for Lanes {
            type Part = AllLanes<Self>;
            const PARTS: usize = 1;
            type Mask = [bool; LANES];

            #[$inline]
            fn splat(x: f64) -> Self {
                [x; LANES]
            }

            #[$inline]
            fn load(from: &Lanes) -> Self {
                *from
            }

            #[$inline]
            fn load_singles(from: &[f32; LANES]) -> Self {
                from.map(f64::from)
            }

            #[$inline]
            fn store(self, to: &mut Lanes) {
                *to = self;
            }

            #[$inline]
            fn plus(self, other: Self) -> Self {
                each(self, other, |a, b| a + b)
            }

            #[$inline]
            fn times(self, other: Self) -> Self {
                each(self, other, |a, b| a * b)
            }

            #[$inline]
            fn over(self, other: Self) -> Self {
                each(self, other, |a, b| a / b)
            }

            #[$inline]
            fn times_plus(self, by: Self, more: Self) -> Self {
                let mut sums = more;
                for lane in 0..LANES {
                    sums[lane] = self[lane].mul_add(by[lane], more[lane]);
                }
                sums
            }

            #[$inline]
            fn least(self, other: Self) -> Self {
                each(self, other, |a, b| if a < b { a } else { b })
            }

            #[$inline]
            fn most(self, other: Self) -> Self {
                each(self, other, |a, b| if a > b { a } else { b })
            }

            #[$inline]
            fn absolute(self) -> Self {
                self.map(f64::abs)
            }

            #[$inline]
            fn is_below(self, other: Self) -> Self {
                each(self, other, |a, b| f64::from(u8::from(a < b)))
            }

            #[$inline]
            fn is_within(self, least: Self, most: Self) -> Self::Mask {
                std::array::from_fn(|lane| (self[lane] >= least[lane]) & (self[lane] <= most[lane]))
            }

            #[$inline]
            fn both(one: Self::Mask, other: Self::Mask) -> Self::Mask {
                std::array::from_fn(|lane| one[lane] & other[lane])
            }

            #[$inline]
            fn every_lane() -> Self::Mask {
                [true; LANES]
            }

            #[$inline]
            fn is_every_lane(mask: Self::Mask) -> bool {
                mask == Self::every_lane()
            }

            #[$inline]
            fn or_outside(self, before: Self, least: f64, most: f64) -> Self {
                let (least, most) = (least.to_bits(), most.to_bits());
                each(self, before, |x, before| {
                    let bits = x.to_bits();
                    f64::from_bits(bits.wrapping_sub(least) | most.wrapping_sub(bits) | before.to_bits())
                })
            }

            #[$inline]
            fn has_a_sign(self) -> bool {
                self.iter().any(|x| x.is_sign_negative())
            }

            #[$inline]
            fn with_third_and_fourth_of(mut self, other: Self) -> Self {
                self[2..4].copy_from_slice(&other[2..4]);
                self
            }

            #[$inline]
            fn with_lane(mut self, lane: usize, x: f64) -> Self {
                self[lane] = x;
                self
            }

            #[$inline]
            fn transpose(eight: [Self; LANES]) -> [Self; LANES] {
                std::array::from_fn(|lane| eight.map(|row| row[lane]))
            }
        }
    };
}

// For processors of before AVX2. Each operation is a call: copies of them all in every loop took five seconds to compile.
#[cfg(target_arch = "x86_64")]
plain_lanes!(#[inline(never)]);

#[cfg(not(target_arch = "x86_64"))]
plain_lanes!(#[inline(always)]);

#[inline(always)]
fn each(a: Lanes, b: Lanes, of: impl Fn(f64, f64) -> f64) -> Lanes {
    std::array::from_fn(|lane| of(a[lane], b[lane]))
}
