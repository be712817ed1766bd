//! Some places in a dictionary, unpacked at once and looked up as they are asked for.

use crate::unpack::{BEYOND, BITS, unpack};

/// Places unpacked at once at most, a multiple of eight. Runs of packed numbers are some five hundred long as a rule.
pub(crate) const LOT: usize = 128;

/// Bytes of a lot at most, with those behind it that are looked at.
const BYTES: usize = LOT / 8 * BITS + BEYOND;

/// Places that nobody has asked for yet.
#[derive(Debug)]
pub(crate) struct Lot {
    places: [u32; LOT],
    taken: usize,
    end: usize,
    /// No place up to `end` is larger.
    most: u32,
}

impl Lot {
    pub(crate) const EMPTY: Lot = Lot { places: [0; LOT], taken: 0, end: 0, most: 0 };

    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.end
    }

    /// Unpacks the first `count` numbers of some bytes, a multiple of eight and at most a lot, in place of what was left.
    /// Bytes that are missing count as zeros.
    pub(crate) fn unpack(&mut self, bits: usize, bytes: &[u8], count: usize) {
        let places = &mut self.places[..count];
        (self.taken, self.end) = (0, count);
        self.most = if bytes.len() >= count / 8 * bits + BEYOND {
            unpack(bits, bytes, places)
        } else {
            let mut padded = [0; BYTES];
            padded[..bytes.len()].copy_from_slice(bytes);
            unpack(bits, &padded, places)
        };
    }

    /// Appends the entries at the next places, `count` or as many as there are, and returns their number; `None` if the
    /// lot has a place that the dictionary has not.
    pub(crate) fn look_up<T: Copy>(&mut self, dictionary: &[T], count: usize, out: &mut Vec<T>) -> Option<usize> {
        let places = &self.places[self.taken..self.end];
        let places = &places[..places.len().min(count)];
        if self.most as usize >= dictionary.len() {
            return None;
        }
        // SAFETY: all these places were unpacked together, `most` is the largest of them, and is inside the dictionary.
        // Checking each of them takes half of the time again.
        #[expect(unsafe_code, reason = "one check for a whole lot")]
        out.extend(places.iter().map(|&place| unsafe { *dictionary.get_unchecked(place as usize) }));
        self.taken += places.len();
        Some(places.len())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_inside_the_dictionary_or_nothing_is_looked_up() {
        // Eight places of four bits: 0, 1, …, 7.
        let bytes = [0x10, 0x32, 0x54, 0x76];
        let dictionary: Vec<u32> = (100..108).collect();
        let (mut lot, mut out) = (Lot::EMPTY, Vec::new());
        lot.unpack(4, &bytes, 8);
        assert_eq!(lot.look_up(&dictionary[..7], 1, &mut out), None);
        assert_eq!(lot.look_up(&[0_u32; 0], 1, &mut out), None);
        assert_eq!(lot.look_up(&dictionary, 5, &mut out), Some(5));
        assert_eq!(lot.look_up(&dictionary[..7], 1, &mut out), None, "the places that are left count too");
        assert_eq!(lot.look_up(&dictionary, 5, &mut out), Some(3));
        assert_eq!(out, dictionary);
        assert!(lot.is_empty() && lot.look_up(&dictionary, 5, &mut out) == Some(0));
    }

    #[test]
    fn the_end_of_the_bytes_may_be_near() {
        for (bits, groups) in (0..=BITS).flat_map(|bits| (1..=LOT / 8).map(move |groups| (bits, groups))) {
            let long: Vec<u8> = (0..groups * bits + BEYOND).map(|i| (i * 37 + bits) as u8).collect();
            let (mut wanted, mut found) = (Lot::EMPTY, Lot::EMPTY);
            wanted.unpack(bits, &long, groups * 8);
            for beyond in [0, 1, BEYOND - 1] {
                found.unpack(bits, &long[..groups * bits + beyond], groups * 8);
                assert_eq!((found.places, found.most), (wanted.places, wanted.most), "{bits} bits, {groups} groups");
            }
        }
    }
}
