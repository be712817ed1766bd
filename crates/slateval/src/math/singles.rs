//! Single-precision numbers as doubles.

use crate::math::lanes::{Eight, LANES, wide};

wide! {
    /// Writes each number as the double that it is.
    pub(crate) fn widen(from: &[f32], to: &mut [f64]) = widen_in_lanes
}

#[inline(always)]
fn widen_in_lanes<F: Eight>(from: &[f32], to: &mut [f64]) {
    let (eights, rest) = from.as_chunks::<LANES>();
    let (wide, last) = to.as_chunks_mut::<LANES>();
    for (from, to) in eights.iter().zip(wide) {
        F::load_singles(from).store(to);
    }
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = f64::from(*from));
}
