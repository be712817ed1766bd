//! Powers for many draws at once, written out in operations that vectorise: every machine gives the same bits.

use crate::math::lanes::{Eight, wide};
use crate::math::normals::{SIDE, Side};

/// `offset + factor * base ^ exponent` of each of some draws.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Powers {
    offsets: Side,
    factors: Side,
    bases: Side,
    exponents: Side,
}

/// One of them. The base lies between 0 and 1, and the exponent is above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Power {
    pub(crate) offset: f64,
    pub(crate) factor: f64,
    pub(crate) base: f64,
    pub(crate) exponent: f64,
}

impl Power {
    /// A number without a power.
    pub(crate) fn constant(offset: f64) -> Self {
        Power { offset, factor: 0.0, base: 1.0, exponent: 1.0 }
    }

    pub(crate) fn value(self) -> f64 {
        self.offset + self.factor * self.base.powf(self.exponent)
    }

    /// `more + times` its value.
    pub(crate) fn scaled(self, times: f64, more: f64) -> Self {
        Power { offset: more + times * self.offset, factor: times * self.factor, ..self }
    }
}

impl Powers {
    pub(crate) fn set(&mut self, draw: usize, Power { offset, factor, base, exponent }: Power) {
        self.offsets.as_flattened_mut()[draw] = offset;
        self.factors.as_flattened_mut()[draw] = factor;
        self.bases.as_flattened_mut()[draw] = base;
        self.exponents.as_flattened_mut()[draw] = exponent;
    }

    pub(crate) fn values(&self) -> Side {
        let mut values = self.offsets;
        add_powers(&self.factors, &self.bases, &self.exponents, &mut values);
        values
    }
}

wide! {
    fn add_powers(factors: &Side, bases: &Side, exponents: &Side, sums: &mut Side) = add_each_power
}

#[inline(always)]
fn add_each_power<F: Eight>(factors: &Side, bases: &Side, exponents: &Side, sums: &mut Side) {
    let (factors, bases, exponents) = (factors.as_flattened(), bases.as_flattened(), exponents.as_flattened());
    let sums = sums.as_flattened_mut();
    for draw in 0..SIDE {
        sums[draw] += factors[draw] * power(bases[draw], exponents[draw]);
    }
}

/// `base ^ exponent` to some twelve digits.
#[inline(always)]
fn power(base: f64, exponent: f64) -> f64 {
    let found = exponential((exponent * logarithm(base)).max(-700.0));
    if base < f64::MIN_POSITIVE { 0.0 } else { found }
}

const BIAS: u64 = 1023 << 52;

/// `ln x` of a positive number.
#[inline(always)]
fn logarithm(x: f64) -> f64 {
    const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const TWO_TO_52: u64 = 0x4330_0000_0000_0000;
    // x = m 2^e, with m between the roots of 1/2 and of 2.
    let biased = x.to_bits().wrapping_add(BIAS - ROOT_OF_HALF) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_add(BIAS).wrapping_sub(biased << 52));
    let e = f64::from_bits(TWO_TO_52 | biased) - (f64::from_bits(TWO_TO_52) + 1023.0);
    // ln m = 2 (s + s^3/3 + s^5/5 + ...), s at most .172: what is left out is below 1e-13.
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut series = 1.0 / 15.0;
    for odd in [13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        series = series * z + 1.0 / odd;
    }
    std::f64::consts::LN_2 * e + 2.0 * s * series
}

/// `e^x` for `x` from -700 to 0.
#[inline(always)]
fn exponential(x: f64) -> f64 {
    // A sum with this number is rounded to a whole one, which stands in its last bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let whole = x * std::f64::consts::LOG2_E + ROUND;
    let r = x - (whole - ROUND) * std::f64::consts::LN_2;
    // r is at most .35: what is left out of the series is below 1e-14.
    let mut series = 1.0 / 12.0;
    for below in [11.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
        series = (1.0 + r * series) * (1.0 / below);
    }
    (1.0 + r * series) * f64::from_bits((whole.to_bits() << 52).wrapping_add(BIAS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_library() {
        let bases = [0.0, 1e-300, 1e-16, 0.003, 0.25, 0.5, 0.71, 0.99, 1.0 - 1e-15, 1.0];
        for base in bases {
            for exponent in [1e-9, 0.01, 0.3, 1.0, 1.7, 9.0, 1e4] {
                let one = Power { offset: 0.5, factor: 2.0, base, exponent };
                let mut powers = Powers::default();
                (0..SIDE).for_each(|draw| powers.set(draw, one));
                for found in powers.values().as_flattened() {
                    assert!((found - one.value()).abs() < 1e-11, "{base}^{exponent}: {found}, {}", one.value());
                    assert_eq!(*found, 0.5 + 2.0 * power(base, exponent), "the same bits on every machine");
                }
            }
        }
    }
}
