//! The rows of rewards in bins of equal width.
//! See docs/methods.md, section 3.1.

use slateval_stats::sums::Ring;

use crate::kernel::simd::lanes::{Eight, wide};

/// [`Ring::rows`], several rewards at a time. Counted from the first key, keys are small enough for 32 bits, which processors
/// convert four at a time.
pub(crate) fn ring_rows(ring: Ring, rewards: &[f64], rows: &mut [u32]) {
    fill(rewards, ring.scale, ring.first, ring.mask, rows);
}

wide! {
    /// The row `key & mask` of each reward.
    fn fill(rewards: &[f64], scale: f64, first: i64, mask: i64, rows: &mut [u32]) = fill_rows
}

#[inline(always)]
fn fill_rows<F: Eight>(rewards: &[f64], scale: f64, first: i64, mask: i64, rows: &mut [u32]) {
    let base = first as f64;
    let (start, mask) = ((first & mask) as u32, mask as u32);
    for (row, reward) in rows.iter_mut().zip(rewards) {
        let key = (reward * scale).ceil() - base;
        // The low bits of a whole number between 2^52 and 2^53 are those of what it is above 2^52.
        let low_bits = (key + TWO_TO_52).to_bits() as u32;
        *row = start.wrapping_add(low_bits) & mask;
    }
}

const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
