//! Numbers of few bits, packed one behind the other, become numbers of 32 bits.

/// Most bits of a number.
pub(crate) const BITS: usize = 32;

/// Bytes behind the packed numbers that are looked at, whatever they hold.
pub(crate) const BEYOND: usize = 32;

/// Unpacks numbers of a given width, a multiple of eight of them, and returns the largest. Behind the packed numbers,
/// [`BEYOND`] more bytes must follow.
pub(crate) fn unpack(bits: usize, bytes: &[u8], out: &mut [u32]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(avx2::Unpack { simd, bits, bytes, out });
    }
    unpack_plainly(bits, bytes, out)
}

/// Each number is the low bits of the word at its byte, shifted by what is before it.
fn unpack_plainly(bits: usize, bytes: &[u8], out: &mut [u32]) -> u32 {
    let mask = (1_u64 << bits) - 1;
    for (i, out) in out.iter_mut().enumerate() {
        let at = i * bits / 8;
        let word = bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        *out = (word >> (i * bits % 8) & mask) as u32;
    }
    out.iter().fold(0, |most, &number| most.max(number))
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::array::from_fn;

    use pulp::x86::V3;
    use pulp::{NullaryFnOnce, cast};

    /// [`unpack`](super::unpack), eight numbers at a time: each gets the word in which it begins and the word behind it.
    pub(super) struct Unpack<'a> {
        pub(super) simd: V3,
        pub(super) bits: usize,
        pub(super) bytes: &'a [u8],
        pub(super) out: &'a mut [u32],
    }

    impl NullaryFnOnce for Unpack<'_> {
        type Output = u32;

        #[inline(always)]
        fn call(self) -> u32 {
            let Unpack { simd, bits, bytes, out } = self;
            let (avx, avx2) = (simd.avx, simd.avx2);
            let lanes = |lane: fn(u32) -> u32| cast(from_fn::<_, 8, _>(|i| lane((i * bits) as u32)));
            let (first, second) = (lanes(|bit| bit / 32), lanes(|bit| bit / 32 + 1));
            let (right, left) = (lanes(|bit| bit % 32), lanes(|bit| 32 - bit % 32));
            let mask = avx._mm256_set1_epi32(((1_u64 << bits) - 1) as i32);
            let mut most = avx._mm256_setzero_si256();
            for (group, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                let Some(words) = bytes[group * bits..].first_chunk::<32>() else { break };
                let low = avx2._mm256_permutevar8x32_epi32(cast(*words), first);
                let high = avx2._mm256_permutevar8x32_epi32(cast(*words), second);
                let low = avx2._mm256_srlv_epi32(low, right);
                let high = avx2._mm256_sllv_epi32(high, left);
                let numbers = avx2._mm256_and_si256(avx2._mm256_or_si256(low, high), mask);
                most = avx2._mm256_max_epu32(most, numbers);
                *out = cast(numbers);
            }
            let most: [u32; 8] = cast(most);
            most.into_iter().fold(0, u32::max)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit.
    fn unpack_slowly(bits: usize, bytes: &[u8], count: usize) -> Vec<u32> {
        let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
        let number = |i: usize| (0..bits).fold(0, |number, k| number | bit(i * bits + k) << k);
        (0..count).map(number).collect()
    }

    #[test]
    fn all_widths_are_unpacked_with_and_without_vector_instructions() {
        for bits in 0..=BITS {
            for groups in [1, 2, 7, 16] {
                let bytes: Vec<u8> = (0..groups * bits + BEYOND).map(|i| (i * 167 + i / 3 + bits) as u8).collect();
                let wanted = unpack_slowly(bits, &bytes, groups * 8);
                let (mut numbers, mut plainly) = (vec![7; groups * 8], vec![7; groups * 8]);
                let most = [unpack(bits, &bytes, &mut numbers), unpack_plainly(bits, &bytes, &mut plainly)];
                assert_eq!((&numbers, &plainly), (&wanted, &wanted), "{bits} bits");
                assert_eq!(most.map(Some), [wanted.iter().max().copied(); 2], "{bits} bits");
            }
        }
    }

    #[test]
    fn the_largest_number_is_found_in_every_lane() {
        for (bits, place) in (1..=BITS).flat_map(|bits| (0..16).map(move |place| (bits, place))) {
            let mut bytes = vec![0; 2 * bits + BEYOND];
            let at = place * bits + bits - 1;
            bytes[at / 8] |= 1 << (at % 8);
            assert_eq!(unpack(bits, &bytes, &mut [0; 16]), 1 << (bits - 1), "{bits} bits, place {place}");
        }
    }
}
