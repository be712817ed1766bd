//! A hash of one multiplication.

/// Mixes a word into a state. Nobody gains from making words collide: there are few, or they only tell files apart.
#[inline(always)]
pub fn fold(state: u64, word: u64) -> u64 {
    let wide = u128::from(state ^ word) * 0x9E37_79B9_7F4A_7C15;
    (wide >> 64) as u64 ^ wide as u64
}
