//! Parquet's numbers of few bits: runs of one number, and runs of packed numbers, in turns.
//!
//! Levels and places in a dictionary are stored like this. Whatever does not make sense gives `None`: another reader
//! will say what is wrong.

use crate::unpack::{BEYOND, BITS, unpack};

/// Numbers unpacked at once at most, a multiple of eight. Runs of packed numbers are some five hundred long as a rule.
const LOT: usize = 128;

/// The part of a page's bytes that holds such numbers, read from its beginning.
#[derive(Debug)]
pub(crate) struct Numbers {
    at: usize,
    end: usize,
    bits: usize,
    run: Run,
    lot: Lot,
}

/// What is left of a run.
#[derive(Debug, Clone, Copy)]
enum Run {
    Repeated { number: u32, left: usize },
    Packed { left: usize },
}

/// Numbers that were unpacked together.
#[derive(Debug)]
struct Lot {
    numbers: [u32; LOT],
    taken: usize,
    end: usize,
    /// The largest of them.
    most: u32,
}

/// Numbers that come next.
pub(crate) enum Next<'a> {
    Repeated {
        number: u32,
        count: usize,
    },
    /// None of them is larger than `most`.
    Unpacked {
        numbers: &'a [u32],
        most: u32,
    },
}

impl Numbers {
    /// Numbers of `bits` bits each in some bytes of a page.
    pub(crate) fn new(at: usize, end: usize, bits: usize) -> Option<Self> {
        let lot = Lot { numbers: [0; LOT], taken: 0, end: 0, most: 0 };
        (bits <= BITS && at <= end).then_some(Numbers { at, end, bits, run: Run::Packed { left: 0 }, lot })
    }

    /// The next numbers: one at least, and `most` at most.
    pub(crate) fn next(&mut self, bytes: &[u8], most: usize) -> Option<Next<'_>> {
        if self.lot.taken == self.lot.end {
            let bytes = bytes.get(..self.end)?;
            while let Run::Repeated { left: 0, .. } | Run::Packed { left: 0 } = self.run {
                self.run = self.next_run(bytes)?;
            }
            match &mut self.run {
                Run::Repeated { number, left } => {
                    let count = most.min(*left);
                    *left -= count;
                    return Some(Next::Repeated { number: *number, count });
                }
                Run::Packed { left } => {
                    let count = LOT.min(*left);
                    *left -= count;
                    let length = count / 8 * self.bits;
                    self.lot.unpack(self.bits, bytes.get(self.at..)?, length, count)?;
                    self.at += length;
                }
            }
        }
        let numbers = &self.lot.numbers[self.lot.taken..self.lot.end];
        let numbers = &numbers[..most.min(numbers.len())];
        self.lot.taken += numbers.len();
        Some(Next::Unpacked { numbers, most: self.lot.most })
    }

    /// Whether the next `count` numbers are all this one.
    pub(crate) fn are_all(&mut self, bytes: &[u8], number: u32, mut count: usize) -> Option<bool> {
        while count > 0 {
            let (same, read) = match self.next(bytes, count)? {
                Next::Repeated { number: found, count } => (found == number, count),
                Next::Unpacked { numbers, .. } => (numbers.iter().all(|&found| found == number), numbers.len()),
            };
            if !same {
                return Some(false);
            }
            count -= read;
        }
        Some(true)
    }

    /// Appends the entries of a dictionary that the next `count` numbers stand for.
    pub(crate) fn look_up<T: Copy>(
        &mut self,
        bytes: &[u8],
        dictionary: &[T],
        count: usize,
        out: &mut Vec<T>,
    ) -> Option<()> {
        let end = out.len() + count;
        while out.len() < end {
            match self.next(bytes, end - out.len())? {
                Next::Repeated { number, count } => {
                    let value = *dictionary.get(number as usize)?;
                    out.resize(out.len() + count, value);
                }
                Next::Unpacked { most, .. } if most as usize >= dictionary.len() => return None,
                // Checking each of them takes half of the time again.
                #[expect(unsafe_code, reason = "one check for all numbers of a run")]
                Next::Unpacked { numbers, .. } => out.extend(numbers.iter().map(|&number| {
                    // SAFETY: no number of the run is larger than `most`, which the arm above found inside the dictionary.
                    unsafe { *dictionary.get_unchecked(number as usize) }
                })),
            }
        }
        Some(())
    }

    fn next_run(&mut self, bytes: &[u8]) -> Option<Run> {
        let header = self.header(bytes)?;
        let length = header >> 1;
        if header & 1 == 1 {
            return Some(Run::Packed { left: length.checked_mul(8)? });
        }
        let width = self.bits.div_ceil(8);
        let stored = bytes.get(self.at..self.at + width)?;
        self.at += width;
        let number = stored.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
        Some(Run::Repeated { number, left: length })
    }

    /// A number in bytes of seven bits, the lowest first; the highest bit says that more follow.
    fn header(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut header = 0;
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
}

impl Lot {
    /// Unpacks `count` numbers, a multiple of eight, from the first `length` bytes in place of those before.
    fn unpack(&mut self, bits: usize, bytes: &[u8], length: usize, count: usize) -> Option<()> {
        let numbers = &mut self.numbers[..count];
        (self.taken, self.end) = (0, count);
        self.most = if bytes.len() >= length + BEYOND {
            unpack(bits, bytes, numbers)
        } else {
            let mut padded = [0; LOT / 8 * BITS + BEYOND];
            padded[..length].copy_from_slice(bytes.get(..length)?);
            unpack(bits, &padded, numbers)
        };
        Some(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], bits: usize, dictionary: &[u32], counts: &[usize]) -> Option<Vec<u32>> {
        let mut packed = Numbers::new(0, bytes.len(), bits)?;
        let mut out = Vec::new();
        for &count in counts {
            packed.look_up(bytes, dictionary, count, &mut out)?;
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
        for bits in 0..=BITS {
            let most = (1_u64 << bits).min(1000) as u32;
            let numbers: Vec<u32> = (0..488_u32).map(|i| (i * 7919 + 13) % most).collect();
            let bytes = [vec![61 << 1 | 1], packed(&numbers, bits)].concat();
            let dictionary: Vec<u32> = (0..most).collect();
            for counts in [&[488][..], &[1, 30, 2, 455], &[33, 50], &[127, 1, 128, 129], &[129, 255]] {
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
        let are_all = |number, count| Numbers::new(0, bytes.len(), 2)?.are_all(&bytes, number, count);
        assert_eq!((are_all(2, 3), are_all(2, 4), are_all(1, 3)), (Some(true), Some(false), Some(false)));
        assert_eq!(are_all(2, 0), Some(true));
    }

    #[test]
    fn damaged_bytes_give_nothing() {
        let bytes = [vec![3], packed(&[0, 1, 2, 3, 3, 2, 1, 0], 2)].concat();
        assert_eq!(read(&bytes, 2, &[5, 6, 7], &[8]), None, "a place that the dictionary lacks");
        assert_eq!(read(&bytes, 2, &[5, 6, 7, 8], &[9]), None, "more than there is");
        assert_eq!(read(&bytes[..2], 2, &[5, 6, 7, 8], &[8]), None, "bytes that are missing");
        assert_eq!(read(&[0x80; 9], 2, &[5], &[1]), None, "a header without end");
        assert_eq!(read(&[0, 0, 0], 2, &[5], &[1]), None, "a run of nothing");
        assert!(Numbers::new(0, 9, 33).is_none());
    }

    #[test]
    fn every_number_is_inside_the_dictionary_or_nothing_is_looked_up() {
        // Eight numbers of four bits: 0, 1, …, 7.
        let bytes = [3, 0x10, 0x32, 0x54, 0x76];
        let dictionary: Vec<u32> = (100..108).collect();
        let (mut packed, mut out) = (Numbers::new(0, 5, 4).unwrap(), Vec::new());
        assert_eq!(packed.look_up(&bytes, &dictionary, 5, &mut out), Some(()));
        assert_eq!(packed.look_up(&bytes, &dictionary[..7], 1, &mut out), None, "the numbers that are left count too");
        assert_eq!(packed.look_up(&bytes, &[0; 0], 1, &mut out), None);
        assert_eq!(out, dictionary[..5]);
    }

    #[test]
    fn the_end_of_the_bytes_may_be_near() {
        for (bits, groups) in (0..=BITS).flat_map(|bits| (1..=LOT / 8).map(move |groups| (bits, groups))) {
            let long: Vec<u8> = (0..groups * bits + BEYOND).map(|i| (i * 37 + bits) as u8).collect();
            let long = [vec![(groups as u8) << 1 | 1], long].concat();
            let read = |beyond: usize| {
                let bytes = &long[..1 + groups * bits + beyond];
                let mut packed = Numbers::new(0, bytes.len(), bits).unwrap();
                match packed.next(bytes, LOT).unwrap() {
                    Next::Unpacked { numbers, most } => (numbers.to_vec(), most),
                    Next::Repeated { .. } => unreachable!("it is packed"),
                }
            };
            for beyond in [0, 1, BEYOND - 1] {
                assert_eq!(read(beyond), read(BEYOND), "{bits} bits, {groups} groups");
            }
        }
    }
}
