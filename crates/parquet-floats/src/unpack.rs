//! Numbers of few bits, packed one behind the other, become numbers of 32 bits.
//!
//! With AVX2, eight at a time: a shuffle brings the bytes of each number into a lane of its own, and a shift and a mask
//! leave its bits. Results are the same without.

/// Most bits of a number.
pub(crate) const BITS: usize = 32;

/// Bytes behind the packed numbers that are looked at, whatever they hold.
pub(crate) const BEYOND: usize = 16;

/// Unpacks numbers of so many bits, a multiple of eight of them, and returns the largest. Behind the packed numbers,
/// [`BEYOND`] more bytes must follow.
pub(crate) fn unpack(bits: usize, bytes: &[u8], out: &mut [u32]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if bits <= avx2::BITS && std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked whether it has AVX2, and that is all that is required.
        #[expect(unsafe_code, reason = "no safe call changes the target features of a function at run time")]
        return unsafe { avx2::unpack(bits, bytes, out) };
    }
    unpack_plainly(bits, bytes, out);
    out.iter().fold(0, |most, &number| most.max(number))
}

fn unpack_plainly(bits: usize, bytes: &[u8], out: &mut [u32]) {
    macro_rules! by_bits {
        ($($n:literal)*) => {
            match bits {
                $($n => unpack_of::<$n>(bytes, out),)*
                _ => out.fill(u32::MAX),
            }
        };
    }
    by_bits!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

/// Unpacks numbers of `N` bits: each is the low bits of the word at its byte, shifted by what is left. Places in a group
/// of eight are known when this is compiled.
fn unpack_of<const N: usize>(bytes: &[u8], out: &mut [u32]) {
    let mask = ((1_u64 << N) - 1) as u32;
    for (group, out) in out.chunks_exact_mut(8).enumerate() {
        let bytes = &bytes[group * N..][..N + 8];
        for (i, out) in out.iter_mut().enumerate() {
            let at = i * N / 8;
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            *out = (u64::from_le_bytes(word) >> (i * N % 8)) as u32 & mask;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_loadu_si256, _mm256_max_epu32, _mm256_set_m128i,
        _mm256_set1_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srlv_epi32, _mm256_storeu_si256,
    };

    /// Most bits of a number that is in four bytes wherever it begins.
    pub(super) const BITS: usize = 25;

    /// Where the four bytes of each number are, and the bits in them that belong to the number before. The first four
    /// numbers of a group have 16 bytes from the group's beginning on, the others 16 bytes from [`half`] on.
    struct Places {
        /// Four bytes of a shuffle's order in each lane.
        bytes: [u32; 8],
        shifts: [u32; 8],
    }

    static PLACES: [Places; BITS + 1] = {
        let mut places = [const { Places { bytes: [0; 8], shifts: [0; 8] } }; BITS + 1];
        let mut bits = 0;
        while bits <= BITS {
            places[bits] = Places::of(bits);
            bits += 1;
        }
        places
    };

    /// The byte of a group of eight numbers in which the fifth begins.
    const fn half(bits: usize) -> usize {
        bits / 2
    }

    impl Places {
        const fn of(bits: usize) -> Self {
            let mut places = Places { bytes: [0; 8], shifts: [0; 8] };
            let mut number = 0;
            while number < 8 {
                let before = if number < 4 { 0 } else { 8 * half(bits) };
                let first = number * bits - before;
                places.shifts[number] = (first % 8) as u32;
                let mut byte = 0;
                while byte < 4 {
                    places.bytes[number] |= ((first / 8 + byte) as u32) << (8 * byte);
                    byte += 1;
                }
                number += 1;
            }
            places
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn unpack(bits: usize, bytes: &[u8], out: &mut [u32]) -> u32 {
        let places = &PLACES[bits];
        let (order, shifts) = (load(&places.bytes), load(&places.shifts));
        let mask = _mm256_set1_epi32((1 << bits) - 1);
        let mut most = _mm256_setzero_si256();
        for (group, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
            let bytes = _mm256_shuffle_epi8(halves(&bytes[group * bits..], half(bits)), order);
            let numbers = _mm256_and_si256(_mm256_srlv_epi32(bytes, shifts), mask);
            most = _mm256_max_epu32(most, numbers);
            store(numbers, out);
        }
        let mut lanes = [0; 8];
        store(most, &mut lanes);
        lanes.into_iter().fold(0, u32::max)
    }

    /// 16 bytes from the beginning on, and 16 from `half` on.
    #[target_feature(enable = "avx2")]
    #[expect(unsafe_code, reason = "only pointers lead to these instructions")]
    fn halves(bytes: &[u8], half: usize) -> __m256i {
        let bytes = &bytes[..half + 16];
        let (first, second): (&[u8; 16], &[u8; 16]) = match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(second)) => (first, second),
            _ => return _mm256_setzero_si256(),
        };
        // SAFETY: the array is valid for reading all its bytes, and the instruction does not ask for alignment.
        let load = |half: &[u8; 16]| unsafe { _mm_loadu_si128(half.as_ptr().cast()) };
        _mm256_set_m128i(load(second), load(first))
    }

    #[target_feature(enable = "avx2")]
    #[expect(unsafe_code, reason = "only pointers lead to these instructions")]
    fn load(numbers: &[u32; 8]) -> __m256i {
        // SAFETY: the array is valid for reading all its bytes, and the instruction does not ask for alignment.
        unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    #[expect(unsafe_code, reason = "only pointers lead to these instructions")]
    fn store(numbers: __m256i, out: &mut [u32; 8]) {
        // SAFETY: the array is valid for writing all its bytes, and the instruction does not ask for alignment.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), numbers) }
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
                let most = unpack(bits, &bytes, &mut numbers);
                unpack_plainly(bits, &bytes, &mut plainly);
                assert_eq!((&numbers, &plainly), (&wanted, &wanted), "{bits} bits");
                assert_eq!(Some(&most), wanted.iter().max(), "{bits} bits");
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
