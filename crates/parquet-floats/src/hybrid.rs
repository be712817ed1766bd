//! Parquet's numbers of few bits: runs of one number, and runs of packed numbers, in turns.
//!
//! Levels and places in a dictionary are stored like this. Whatever does not make sense gives `None`: another reader
//! will say what is wrong.

use crate::lot::{LOT, Lot};
use crate::unpack::BITS;

/// The part of a page's bytes that holds such numbers, read from its beginning.
#[derive(Debug)]
pub(crate) struct Hybrid {
    at: usize,
    end: usize,
    bits: usize,
    run: Run,
    lot: Lot,
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
        (bits <= BITS && at <= end).then_some(Hybrid { at, end, bits, run, lot: Lot::EMPTY })
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
            if !self.lot.is_empty() {
                count -= self.lot.look_up(dictionary, count, out)?;
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
        left == 0 && self.lot.is_empty()
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

    /// Unpacks the next `length` numbers, a multiple of eight. Bytes behind the last number belong to others.
    fn unpack_lot(&mut self, bytes: &[u8], length: usize) -> Option<()> {
        let at = self.at;
        self.at += length / 8 * self.bits;
        if self.at > self.end {
            return None;
        }
        self.lot.unpack(self.bits, bytes.get(at..)?, length);
        Some(())
    }
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
