//! Single-precision numbers as doubles.

use crate::kernel::simd::lanes::{Eight, LANES, wide};

wide! {
    /// Writes each number as the double that it is. Says the smallest and the largest one, if all are finite and none has a
    /// sign.
    pub(crate) fn widen(from: &[f32], to: &mut [f64]) -> Option<(f64, f64)> = widen_in_lanes
}

#[inline(always)]
fn widen_in_lanes<F: Eight>(from: &[f32], to: &mut [f64]) -> Option<(f64, f64)> {
    let (eights, rest) = from.as_chunks::<LANES>();
    let (wide, last) = to.as_chunks_mut::<LANES>();
    for (from, to) in eights.iter().zip(wide) {
        F::load_singles(from).store(to);
    }
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = f64::from(*from));
    // Numbers without a sign are ordered as their bits are; those with a sign, and what is no number, are above them all.
    let least = from.iter().fold(u32::MAX, |least, number| least.min(number.to_bits()));
    let most = from.iter().fold(0, |most, number| most.max(number.to_bits()));
    let is_plain = least <= most && most < f32::INFINITY.to_bits();
    is_plain.then(|| (f64::from(f32::from_bits(least)), f64::from(f32::from_bits(most))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_known_where_numbers_are_plain() {
        for rows in [1, 7, 8, 9, 31] {
            let numbers: Vec<f32> = (0..rows).map(|row| 0.5 + (row * 5 % 7) as f32).collect();
            let mut wide = vec![0.0; rows];
            let (least, most) = numbers.iter().fold((f32::MAX, 0f32), |(a, b), &x| (a.min(x), b.max(x)));
            assert_eq!(widen(&numbers, &mut wide), Some((f64::from(least), f64::from(most))));
            assert!(wide.iter().zip(&numbers).all(|(wide, number)| *wide == f64::from(*number)));
            for odd in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, -1.0] {
                for place in 0..rows {
                    let mut numbers = numbers.clone();
                    numbers[place] = odd;
                    assert_eq!(widen(&numbers, &mut wide), None, "{odd} at {place} of {rows}");
                }
            }
        }
        assert_eq!(widen(&[], &mut []), None);
    }
}
