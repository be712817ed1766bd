//! Parquet's numbers of few bits: runs of one number, and runs of packed numbers, in turns.
//!
//! Levels and places in a dictionary are stored like this. Whatever does not make sense gives `None`: another reader
//! will say what is wrong.

/// Numbers unpacked at once: a whole number of bytes, whatever the bits of each.
const LOT: usize = 32;

/// Bytes that [`unpack`] looks at for a lot: those of the lot, and the end of a word that begins in them.
const fn lot_bytes(bits: usize) -> usize {
    LOT / 8 * bits + 8
}

/// Most bits of a number.
const BITS: usize = 32;

/// The part of a page's bytes that holds such numbers, read from its beginning.
#[derive(Debug)]
pub(crate) struct Hybrid {
    at: usize,
    end: usize,
    bits: usize,
    run: Run,
    /// Unpacked numbers that nobody has taken, up to the end of the lot.
    lot: [u32; LOT],
    taken: usize,
    unpacked: usize,
}

#[derive(Debug, Clone, Copy)]
enum Run {
    Repeated { number: u32, left: usize },
    Packed { left: usize },
}

impl Hybrid {
    /// Numbers of so many bits in some bytes of a page.
    pub(crate) fn new(at: usize, end: usize, bits: usize) -> Option<Self> {
        let run = Run::Packed { left: 0 };
        (bits <= BITS && at <= end).then_some(Hybrid { at, end, bits, run, lot: [0; LOT], taken: 0, unpacked: 0 })
    }

    /// Whether the next `count` numbers are all this one. They count as read only if they are.
    pub(crate) fn skip_repeated(&mut self, bytes: &[u8], number: u32, count: usize) -> Option<bool> {
        if self.is_at_end_of_run() {
            self.next_run(bytes)?;
        }
        match &mut self.run {
            Run::Repeated { number: found, left } if *found == number && *left >= count => {
                *left -= count;
                Some(true)
            }
            _ => Some(false),
        }
    }

    /// Appends the entries of a dictionary that the next `count` numbers stand for.
    pub(crate) fn look_up<T: Copy>(
        &mut self,
        bytes: &[u8],
        dictionary: &[T],
        mut count: usize,
        out: &mut Vec<T>,
    ) -> Option<()> {
        while count > 0 {
            let wanted = self.lot.get(self.taken..self.unpacked)?;
            if !wanted.is_empty() {
                let wanted = &wanted[..wanted.len().min(count)];
                take(wanted, self.bits, dictionary, out)?;
                self.taken += wanted.len();
                count -= wanted.len();
                continue;
            }
            match &mut self.run {
                Run::Repeated { number, left } if *left > 0 => {
                    let length = count.min(*left);
                    let value = *dictionary.get(*number as usize)?;
                    *left -= length;
                    count -= length;
                    out.resize(out.len() + length, value);
                }
                Run::Packed { left } if *left > 0 => {
                    let length = LOT.min(*left);
                    *left -= length;
                    self.unpack_lot(bytes, length)?;
                }
                _ => self.next_run(bytes)?,
            }
        }
        Some(())
    }

    fn is_at_end_of_run(&self) -> bool {
        let (Run::Repeated { left, .. } | Run::Packed { left }) = self.run;
        left == 0 && self.taken == self.unpacked
    }

    fn next_run(&mut self, bytes: &[u8]) -> Option<()> {
        let header = self.header(bytes)?;
        let length = header >> 1;
        if header & 1 == 1 {
            self.run = Run::Packed { left: length.checked_mul(8)? };
            return Some(());
        }
        let width = self.bits.div_ceil(8);
        let stored = bytes.get(..self.end)?.get(self.at..self.at + width)?;
        let number = stored.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
        self.at += width;
        self.run = Run::Repeated { number, left: length };
        Some(())
    }

    /// A number in bytes of seven bits, the lowest first; the highest bit says that more follow.
    fn header(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut header = 0;
        let bytes = bytes.get(..self.end)?;
        for shift in [0, 7, 14, 21, 28] {
            let byte = *bytes.get(self.at)?;
            self.at += 1;
            header |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                // A run without a number in it would be read for ever.
                return (header > 1).then_some(header);
            }
        }
        None
    }

    /// Unpacks the next `length` numbers, a multiple of eight. The last bytes of a page may lack a few.
    fn unpack_lot(&mut self, bytes: &[u8], length: usize) -> Option<()> {
        let packed = bytes.get(self.at..)?;
        if packed.len() >= lot_bytes(self.bits) {
            unpack_bits(self.bits, packed, &mut self.lot[..length]);
        } else {
            let mut padded = [0; lot_bytes(BITS)];
            padded[..packed.len()].copy_from_slice(packed);
            unpack_bits(self.bits, &padded, &mut self.lot[..length]);
        }
        self.at += length / 8 * self.bits;
        (self.taken, self.unpacked) = (0, length);
        (self.at <= self.end).then_some(())
    }
}

/// Appends the entries at these places, numbers of so many bits, if there are any.
fn take<T: Copy>(places: &[u32], bits: usize, dictionary: &[T], out: &mut Vec<T>) -> Option<()> {
    // Of two entries, all numbers of one bit are places.
    if dictionary.len() >> bits == 0 {
        let last = places.iter().fold(0, |last, &place| last.max(place)) as usize;
        if last >= dictionary.len() {
            return None;
        }
    }
    out.extend(places.iter().map(|&place| dictionary[place as usize]));
    Some(())
}

/// Unpacks numbers of `N` bits: each is the low bits of the word at its byte, shifted by what is left. Places in a group
/// of eight are known when this is compiled.
fn unpack<const N: usize>(bytes: &[u8], out: &mut [u32]) {
    let bytes = &bytes[..lot_bytes(N)];
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

fn unpack_bits(bits: usize, bytes: &[u8], out: &mut [u32]) {
    macro_rules! by_bits {
        ($($n:literal)*) => {
            match bits {
                $($n => unpack::<$n>(bytes, out),)*
                _ => out.fill(u32::MAX),
            }
        };
    }
    by_bits!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], bits: usize, dictionary: &[u32], counts: &[usize]) -> Option<Vec<u32>> {
        let mut hybrid = Hybrid::new(0, bytes.len(), bits)?;
        let mut out = Vec::new();
        for &count in counts {
            hybrid.look_up(bytes, dictionary, count, &mut out)?;
        }
        Some(out)
    }

    /// Packs numbers, lowest bits first.
    fn packed(numbers: &[u32], bits: usize) -> Vec<u8> {
        let mut bytes = vec![0; (numbers.len() * bits).div_ceil(8)];
        for (i, number) in numbers.iter().enumerate() {
            for bit in (0..bits).filter(|bit| number >> bit & 1 == 1) {
                bytes[(i * bits + bit) / 8] |= 1 << ((i * bits + bit) % 8);
            }
        }
        bytes
    }

    #[test]
    fn packed_numbers_of_any_width_are_read_in_any_portions() {
        for bits in 1..=20 {
            let most = (1_u32 << bits).min(1000);
            let numbers: Vec<u32> = (0..88_u32).map(|i| (i * 7919 + 13) % most).collect();
            let bytes = [vec![(88 / 8) << 1 | 1], packed(&numbers, bits)].concat();
            let dictionary: Vec<u32> = (0..most).collect();
            for counts in [&[88][..], &[1, 30, 2, 55], &[33, 50]] {
                let length = counts.iter().sum::<usize>();
                assert_eq!(read(&bytes, bits, &dictionary, counts).unwrap(), numbers[..length], "{bits} bits");
            }
        }
    }

    #[test]
    fn runs_follow_each_other() {
        // Three times 2, then eight packed numbers, then 200 times 1.
        let bytes = [vec![3 << 1, 2, 3], packed(&[0, 1, 2, 3, 3, 2, 1, 0], 2), vec![0x90, 0x03, 1]].concat();
        let wanted = [vec![7; 3], vec![5, 6, 7, 8, 8, 7, 6, 5], vec![6; 200]].concat();
        assert_eq!(read(&bytes, 2, &[5, 6, 7, 8], &[2, 9, 200]).unwrap(), wanted);
        let mut hybrid = Hybrid::new(0, bytes.len(), 2).unwrap();
        assert_eq!(hybrid.skip_repeated(&bytes, 2, 4), Some(false));
        assert_eq!(hybrid.skip_repeated(&bytes, 2, 3), Some(true));
    }

    #[test]
    fn damaged_bytes_give_nothing() {
        let bytes = [vec![3], packed(&[0, 1, 2, 3, 3, 2, 1, 0], 2)].concat();
        assert_eq!(read(&bytes, 2, &[5, 6, 7], &[8]), None, "a place that the dictionary lacks");
        assert_eq!(read(&bytes, 2, &[5, 6, 7, 8], &[9]), None, "more than there is");
        assert_eq!(read(&bytes[..2], 2, &[5, 6, 7, 8], &[8]), None, "bytes that are missing");
        assert_eq!(read(&[0x80; 9], 2, &[5], &[1]), None, "a header without end");
        assert_eq!(read(&[0, 0, 0], 2, &[5], &[1]), None, "a run of nothing");
        assert!(Hybrid::new(0, 9, 33).is_none());
    }
}
