//! How many values the rows of a column have: one each, or as many as their lists are long.

use crate::bits::Bits;

/// The lengths of some rows.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Lengths {
    rows: usize,
    /// That of all rows, unless they differ.
    equal: usize,
    /// One for each row if they differ, else none.
    each: Vec<u32>,
}

impl Lengths {
    /// Rows of one length.
    pub(crate) fn equal(rows: usize, length: usize) -> Self {
        Lengths { rows, equal: length, each: Vec::new() }
    }

    /// Those of a page's lists, whose levels are 0 for the first item of a list and 1 for all others. `None` if the page
    /// does not begin with a list.
    pub(crate) fn of_lists(levels: &Bits, count: usize) -> Option<Self> {
        if let Some(length) = levels.length_of_all() {
            return Some(Self::equal(count / length, length));
        }
        let each = levels.list_lengths()?;
        Some(Lengths { rows: each.len(), equal: 0, each })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// That of all rows, if they have one.
    pub(crate) fn of_all(&self) -> Option<usize> {
        self.each.is_empty().then_some(self.equal)
    }

    /// One for each row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let equal = if self.each.is_empty() { self.rows } else { 0 };
        self.each.iter().map(|&length| length as usize).chain(std::iter::repeat_n(self.equal, equal))
    }

    /// Appends `count` rows of others, from one on, and returns how many values they have.
    pub(crate) fn append(&mut self, others: &Lengths, first: usize, count: usize) -> usize {
        let same = others.of_all().filter(|&length| self.rows == 0 || self.of_all() == Some(length));
        if let Some(length) = same {
            (self.rows, self.equal) = (self.rows + count, length);
            return count * length;
        }
        if self.each.is_empty() {
            self.each = vec![self.equal as u32; self.rows];
        }
        let before = self.each.len();
        match others.of_all() {
            Some(length) => self.each.resize(before + count, length as u32),
            None => self.each.extend_from_slice(&others.each[first..first + count]),
        }
        self.rows += count;
        self.each[before..].iter().map(|&length| length as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(lengths: &[u32]) -> Lengths {
        Lengths { rows: lengths.len(), equal: 0, each: lengths.to_vec() }
    }

    #[test]
    fn rows_are_appended_whatever_their_lengths() {
        let mut lengths = Lengths::default();
        assert_eq!(lengths.append(&Lengths::equal(9, 2), 3, 4), 8);
        assert_eq!((lengths.of_all(), lengths.rows()), (Some(2), 4));
        assert_eq!(lengths.append(&Lengths::equal(9, 2), 0, 1), 2);
        assert_eq!(lengths.append(&each(&[5, 1, 2, 7]), 1, 2), 3);
        assert_eq!(lengths.append(&Lengths::equal(9, 3), 0, 2), 6);
        assert_eq!((lengths.of_all(), lengths.rows()), (None, 9));
        assert_eq!(lengths.iter().collect::<Vec<_>>(), [2, 2, 2, 2, 2, 1, 2, 3, 3]);
        let mut differing = Lengths::default();
        assert_eq!(differing.append(&each(&[5, 1, 2]), 0, 3), 8);
        assert_eq!(differing, each(&[5, 1, 2]));
        assert_eq!(Lengths::equal(3, 4).iter().collect::<Vec<_>>(), [4, 4, 4]);
    }
}
