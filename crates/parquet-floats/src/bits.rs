//! Parquet's numbers of one bit: places in a dictionary of two entries, and the levels of lists.
//!
//! They come in many short runs. The runs of a page become one row of bits first, with hardly a branch that depends on
//! a run's length; the bits then become values eight at a time.

/// Bits of a word.
const WORD: usize = 64;

/// Numbers of a page at most. A damaged page may claim any number of them.
const MOST: usize = 1 << 24;

/// The numbers of a page, and how many of them were taken.
#[derive(Debug, Default)]
pub(crate) struct Bits {
    /// Lowest bits first; behind the last number, bits are 0.
    words: Vec<u64>,
    count: usize,
    taken: usize,
}

impl Bits {
    /// Reads a page's numbers, `count` of them, in place of those before. Whatever does not make sense gives `None`.
    pub(crate) fn read(&mut self, mut bytes: &[u8], count: usize) -> Option<()> {
        if count > MOST {
            return None;
        }
        (self.count, self.taken) = (count, 0);
        self.words.clear();
        // One more than there are: a word may begin in the last and end behind it.
        self.words.resize(count / WORD + 2, 0);
        let mut at = 0;
        while at < count {
            let header = header(&mut bytes)?;
            let (length, left) = (header >> 1, count - at);
            if header & 1 == 1 {
                let rest = bytes.get(length..)?;
                self.put_packed(at, bytes, left.min(8 * length));
                (at, bytes) = (at + 8 * length, rest);
            } else {
                let (&number, rest) = bytes.split_first()?;
                self.put_repeated(at, number, left.min(length))?;
                (at, bytes) = (at + length, rest);
            }
        }
        Some(())
    }

    fn put_repeated(&mut self, mut at: usize, number: u8, mut length: usize) -> Option<()> {
        let all = match number {
            0 => return Some(()),
            1 => u64::MAX,
            _ => return None,
        };
        while length > 0 {
            let some = length.min(WORD);
            self.put(at, all, some);
            (at, length) = (at + some, length - some);
        }
        Some(())
    }

    /// Takes numbers from the beginning of some bytes, eight from each.
    fn put_packed(&mut self, at: usize, bytes: &[u8], length: usize) {
        for start in (0..length).step_by(WORD) {
            self.put(at + start, first_word(&bytes[start / 8..]), WORD.min(length - start));
        }
    }

    /// Writes the lowest `length` bits of a word, at least one and at most all, to a place where all bits are 0.
    fn put(&mut self, at: usize, bits: u64, length: usize) {
        let bits = bits & (u64::MAX >> (WORD - length));
        let (word, shift) = (at / WORD, at % WORD);
        self.words[word] |= bits << shift;
        self.words[word + 1] |= bits >> 1 >> (WORD - 1 - shift);
    }

    /// A word of bits that begins anywhere.
    fn word_at(&self, at: usize) -> u64 {
        let (word, shift) = (at / WORD, at % WORD);
        self.words[word] >> shift | self.words[word + 1] << 1 << (WORD - 1 - shift)
    }

    /// Appends one of two values for each of the next `count` numbers; `None` if there are fewer.
    pub(crate) fn choose<T: Copy>(&mut self, of: [T; 2], count: usize, out: &mut Vec<T>) -> Option<()> {
        let end = self.taken.checked_add(count).filter(|&end| end <= self.count)?;
        let start = out.len();
        out.resize(start + count, of[0]);
        self.choose_for(of, &mut out[start..]);
        self.taken = end;
        Some(())
    }

    fn choose_for<T: Copy>(&self, of: [T; 2], out: &mut [T]) {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            #[target_feature(enable = "avx2")]
            fn with_avx2<T: Copy>(bits: &Bits, of: [T; 2], out: &mut [T]) {
                bits.choose_plainly(of, out);
            }
            // SAFETY: the processor was just asked whether it has AVX2, and that is all that is required.
            #[expect(unsafe_code, reason = "no safe call changes the target features of a function at run time")]
            return unsafe { with_avx2(self, of, out) };
        }
        self.choose_plainly(of, out);
    }

    /// The inner loop is a whole word long and has no branch, so that the compiler vectorises it.
    #[inline(always)]
    fn choose_plainly<T: Copy>(&self, [zero, one]: [T; 2], out: &mut [T]) {
        let value = |word: u64, bit: usize| if word >> bit & 1 == 0 { zero } else { one };
        let (words, rest) = out.as_chunks_mut::<WORD>();
        let last = self.taken + words.len() * WORD;
        for (i, out) in words.iter_mut().enumerate() {
            let word = self.word_at(self.taken + i * WORD);
            out.iter_mut().enumerate().for_each(|(bit, out)| *out = value(word, bit));
        }
        if !rest.is_empty() {
            let word = self.word_at(last);
            rest.iter_mut().enumerate().for_each(|(bit, out)| *out = value(word, bit));
        }
    }

    /// The length that all lists have, whose first items are marked by a 0 and whose others by a 1.
    pub(crate) fn length_of_all(&self) -> Option<usize> {
        let bit = |at: usize| self.words[at / WORD] >> (at % WORD) & 1;
        if self.count == 0 || bit(0) == 1 {
            return None;
        }
        let length = (1..self.count).find(|&at| bit(at) == 0).unwrap_or(self.count);
        // If the first list repeats, so do all.
        let rest = self.count - length;
        let mut words = (0..rest).step_by(WORD).map(|at| {
            let used = u64::MAX >> (WORD - WORD.min(rest - at));
            (self.word_at(at) ^ self.word_at(at + length)) & used
        });
        (self.count.is_multiple_of(length) && words.all(|difference| difference == 0)).then_some(length)
    }

    /// The length of each list, whose first items are marked by a 0 and whose others by a 1.
    pub(crate) fn list_lengths(&self) -> Option<Vec<u32>> {
        if self.count == 0 || self.words[0] & 1 == 1 {
            return None;
        }
        let (mut lengths, mut start) = (Vec::new(), 0);
        for (word, &bits) in self.words.iter().enumerate() {
            let mut firsts = !bits;
            while firsts != 0 {
                let at = word * WORD + firsts.trailing_zeros() as usize;
                if at >= self.count {
                    break;
                }
                if at > 0 {
                    // A page has far fewer numbers than that.
                    lengths.push((at - start) as u32);
                    start = at;
                }
                firsts &= firsts - 1;
            }
        }
        lengths.push((self.count - start) as u32);
        Some(lengths)
    }
}

/// The first eight bytes; those that are missing are 0.
fn first_word(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// The header of a run: bytes of seven bits, the lowest first; the highest bit says that more follow.
fn header(bytes: &mut &[u8]) -> Option<usize> {
    let mut header = 0;
    for shift in [0, 7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        header |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            // A run without a number in it would be read for ever.
            return (header > 1).then_some(header);
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    /// Runs of some lengths: how often one number repeats, or bytes of packed numbers.
    fn runs(seed: usize) -> (Vec<u8>, usize) {
        let (mut bytes, mut count) = (Vec::new(), 0);
        for i in 0..60 {
            let random = (i + 1) * (seed + 7) * 2_654_435_761 % 1_000_003;
            let length = 1 + random % [9, 80, 300][random % 3];
            let header = if random.is_multiple_of(2) { length << 1 } else { (length / 8 + 1) << 1 | 1 };
            if header >> 7 > 0 {
                bytes.push((header & 0x7f | 0x80) as u8);
                bytes.push((header >> 7) as u8);
            } else {
                bytes.push(header as u8);
            }
            if header & 1 == 0 {
                bytes.push((random / 2 % 2) as u8);
                count += length;
            } else {
                bytes.extend((0..length / 8 + 1).map(|k| (random * (k + 3) % 251) as u8));
                count += (length / 8 + 1) * 8;
            }
        }
        (bytes, count)
    }

    #[test]
    fn runs_of_all_lengths_give_what_the_general_reader_gives() {
        for seed in 0..40 {
            let (bytes, all) = runs(seed);
            for count in [all, all - 1, all - 7, all / 2, 1] {
                let mut wanted: Vec<f32> = Vec::new();
                let mut packed = Numbers::new(0, bytes.len(), 1).unwrap();
                packed.look_up(&bytes, &[0.25, 0.5], count, &mut wanted).unwrap();
                let mut bits = Bits::default();
                bits.read(&bytes, count).unwrap();
                let mut plainly = vec![0.0; count];
                bits.choose_plainly([0.25, 0.5], &mut plainly);
                let mut found = Vec::new();
                let mut portions = [1, 8, 63, 64, 65, 1000].into_iter().cycle();
                while found.len() < count {
                    let portion = portions.next().unwrap().min(count - found.len());
                    bits.choose([0.25, 0.5], portion, &mut found).unwrap();
                }
                assert!(found == wanted && plainly == wanted, "seed {seed}, {count} of {all}");
                assert_eq!(bits.choose([0.25, 0.5], 1, &mut found), None, "there are no more");
            }
        }
    }

    #[test]
    fn damaged_bytes_give_nothing() {
        let mut bits = Bits::default();
        assert_eq!(bits.read(&[3, 0b1010_0110], 8), Some(()));
        assert_eq!(bits.read(&[3, 0b1010_0110], 9), None, "more than there is");
        assert_eq!(bits.read(&[5, 0b1010_0110], 9), None, "bytes that are missing");
        assert_eq!(bits.read(&[6 << 1, 2], 3), None, "a number of two bits");
        assert_eq!(bits.read(&[6 << 1], 3), None, "a number that is missing");
        assert_eq!(bits.read(&[0x80; 9], 1), None, "a header without end");
        assert_eq!(bits.read(&[0, 0, 0], 1), None, "a run of nothing");
        assert_eq!(bits.read(&[1, 0, 0], 1), None, "packed numbers, none of them");
        assert_eq!(bits.read(&[0xff, 0xff, 0xff, 0xff, 0x0f], 1), None, "a run longer than the page");
        assert_eq!(bits.read(&[0xfe, 0xff, 0xff, 0xff, 0x0f, 1], MOST + 1), None, "too many numbers");
        assert_eq!(bits.read(&[0xfe, 0xff, 0xff, 0xff, 0x0f, 1], 100), Some(()), "a run may claim more than is needed");
        assert_eq!(bits.choose(['a', 'b'], 101, &mut Vec::new()), None);
    }

    #[test]
    fn lists_have_one_length_or_none() {
        let length = |levels: &[u8]| {
            let mut bytes = Vec::new();
            levels.iter().for_each(|&level| bytes.extend([1 << 1, level]));
            let mut bits = Bits::default();
            bits.read(&bytes, levels.len()).unwrap();
            let each = bits.list_lengths();
            let firsts: Vec<usize> = (0..levels.len()).filter(|&at| levels[at] == 0).chain([levels.len()]).collect();
            let wanted = firsts.windows(2).map(|ends| (ends[1] - ends[0]) as u32).collect();
            assert_eq!(each, (levels.first() == Some(&0)).then_some(wanted), "{levels:?}");
            bits.length_of_all()
        };
        assert_eq!(length(&[0, 1, 1, 0, 1, 1]), Some(3));
        assert_eq!(length(&[0, 0, 0]), Some(1));
        assert_eq!(length(&[0, 1]), Some(2));
        assert_eq!(length(&[0, 1, 1, 0, 1]), None);
        assert_eq!(length(&[0, 1, 0, 1, 1, 0]), None);
        assert_eq!(length(&[1, 0, 1]), None);
        assert_eq!(length(&[]), None);
        for items in [1, 2, 5, 63, 64, 65, 200] {
            let mut levels = vec![1; 7 * items];
            levels.iter_mut().step_by(items).for_each(|level| *level = 0);
            assert_eq!(length(&levels), Some(items));
            levels[6 * items] ^= 1;
            assert_eq!(length(&levels), None, "lists of {items}, and one of {}", 2 * items);
        }
    }
}
