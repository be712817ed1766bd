//! Eight numbers without vector instructions, or with those that every machine of its kind has.

use std::array::from_fn;

use super::{Eight, LANES, Lanes, Numbers};

// On x86-64 this is for processors of before AVX2, and nothing has to be inlined.
impl Numbers for Lanes {
    fn splat(x: f64) -> Self {
        [x; LANES]
    }

    fn load_part(from: &Lanes, _all: usize) -> Self {
        *from
    }

    fn store_part(self, to: &mut Lanes, _all: usize) {
        *to = self;
    }

    fn plus(self, other: Self) -> Self {
        from_fn(|lane| self[lane] + other[lane])
    }

    fn times(self, other: Self) -> Self {
        from_fn(|lane| self[lane] * other[lane])
    }

    fn over(self, other: Self) -> Self {
        from_fn(|lane| self[lane] / other[lane])
    }

    fn times_plus(self, by: Self, more: Self) -> Self {
        from_fn(|lane| self[lane].mul_add(by[lane], more[lane]))
    }

    fn least(self, other: Self) -> Self {
        from_fn(|lane| if self[lane] < other[lane] { self[lane] } else { other[lane] })
    }

    fn most(self, other: Self) -> Self {
        from_fn(|lane| if self[lane] > other[lane] { self[lane] } else { other[lane] })
    }

    fn absolute(self) -> Self {
        self.map(f64::abs)
    }

    fn where_below(self, limit: Self, one: Self, other: Self) -> Self {
        from_fn(|lane| if self[lane] < limit[lane] { one[lane] } else { other[lane] })
    }

    fn or_outside(self, before: Self, least: f64, most: f64) -> Self {
        let (least, most) = (least.to_bits(), most.to_bits());
        from_fn(|lane| {
            let bits = self[lane].to_bits();
            f64::from_bits(bits.wrapping_sub(least) | most.wrapping_sub(bits) | before[lane].to_bits())
        })
    }
}

impl Eight for Lanes {
    type Part = Self;
    const PARTS: usize = 1;

    fn load_singles(from: &[f32; LANES]) -> Self {
        from.map(f64::from)
    }

    fn transpose(eight: [Self; LANES]) -> [Self; LANES] {
        from_fn(|lane| eight.map(|row| row[lane]))
    }
}
