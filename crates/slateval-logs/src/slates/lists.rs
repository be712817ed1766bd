//! Where each row's items lie among the items of all rows.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_schema::DataType;

/// The items of row `i` are `start(i)..start(i + 1)`.
#[derive(Debug)]
pub(crate) enum Lists {
    /// Lists of one length, as NumPy's arrays come: nothing is kept for each row.
    Equal { rows: usize, length: usize },
    /// Where each row starts, and the end.
    Each(Vec<usize>),
}

impl Lists {
    /// The lists of a column, and their items alone: a slice of a batch shares the items of all its rows.
    pub(crate) fn new(array: &ArrayRef) -> (Self, ArrayRef) {
        match array.data_type() {
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                Self::between(list.value_offsets(), list.values())
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                Self::between(list.value_offsets(), list.values())
            }
            _ => {
                let list = array.as_fixed_size_list();
                let length = list.value_length() as usize;
                (Lists::Equal { rows: list.len(), length }, list.values().clone())
            }
        }
    }

    /// The lists between these offsets.
    fn between<O: OffsetSizeTrait>(offsets: &[O], values: &ArrayRef) -> (Self, ArrayRef) {
        let (first, last) = match offsets {
            [] => (0, 0),
            [first, ..] => (first.as_usize(), offsets[offsets.len() - 1].as_usize()),
        };
        let lists = match equal_length(offsets) {
            Some(length) => Lists::Equal { rows: offsets.len() - 1, length },
            None => Lists::Each(offsets.iter().map(|offset| offset.as_usize() - first).collect()),
        };
        (lists, values.slice(first, last - first))
    }

    /// The length of all lists, if they have one.
    pub(crate) fn equal(&self) -> Option<usize> {
        match self {
            Lists::Equal { length, .. } => Some(*length),
            Lists::Each(_) => None,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        match self {
            Lists::Equal { rows, .. } => *rows,
            Lists::Each(starts) => starts.len().saturating_sub(1),
        }
    }

    pub(crate) fn start(&self, row: usize) -> usize {
        match self {
            Lists::Equal { length, .. } => row * length,
            Lists::Each(starts) => starts[row],
        }
    }

    pub(crate) fn length(&self, row: usize) -> usize {
        match self {
            Lists::Equal { length, .. } => *length,
            Lists::Each(starts) => starts[row + 1] - starts[row],
        }
    }

    /// The lengths of some rows; of equal ones, the first stands for all.
    fn lengths(&self, rows: Range<usize>) -> impl Iterator<Item = usize> {
        let end = if self.equal().is_some() { rows.end.min(rows.start + 1) } else { rows.end };
        (rows.start..end).map(|row| self.length(row))
    }

    /// The first row whose list is longer than this.
    pub(crate) fn first_longer(&self, most: usize) -> Option<usize> {
        self.lengths(0..self.rows()).position(|length| length > most)
    }

    /// The longest list of some rows.
    pub(crate) fn longest(&self, rows: Range<usize>) -> usize {
        self.lengths(rows).max().unwrap_or(0)
    }

    /// The shortest list of some rows.
    pub(crate) fn shortest(&self, rows: Range<usize>) -> usize {
        self.lengths(rows).min().unwrap_or(0)
    }

    /// Whether the lists of some rows all have this length.
    pub(crate) fn all(&self, rows: Range<usize>, wanted: usize) -> bool {
        self.lengths(rows).all(|length| length == wanted)
    }

    /// The first row in which two columns' lists have different lengths.
    pub(crate) fn first_difference(&self, other: &Lists) -> Option<usize> {
        match (self, other) {
            (Lists::Equal { length: a, .. }, Lists::Equal { length: b, .. }) if a == b => None,
            (Lists::Each(a), Lists::Each(b)) if a == b => None,
            _ => (0..self.rows()).find(|&row| self.length(row) != other.length(row)),
        }
    }
}

/// The length that all lists have; none if there are no lists. The loop looks at all of them, and has no branch.
fn equal_length<O: OffsetSizeTrait>(offsets: &[O]) -> Option<usize> {
    let [first, second, ..] = offsets else { return None };
    let length = *second - *first;
    let differ = offsets.iter().zip(&offsets[1..]).fold(false, |differ, (&a, &b)| differ | (b - a != length));
    (!differ).then(|| length.as_usize())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Float32Type;
    use arrow_array::{LargeListArray, ListArray};

    use super::*;

    fn rows(lengths: &[usize]) -> Vec<Option<Vec<Option<f32>>>> {
        lengths.iter().map(|&n| Some(vec![Some(0.5); n])).collect()
    }

    #[test]
    fn lists_of_one_length_are_told_from_others() {
        for (lengths, equal) in
            [(&[2, 2, 2][..], true), (&[2, 3, 1], false), (&[0, 0], true), (&[3], true), (&[], false)]
        {
            let list = ListArray::from_iter_primitive::<Float32Type, _, _>(rows(lengths));
            let large = LargeListArray::from_iter_primitive::<Float32Type, _, _>(rows(lengths));
            for array in [Arc::new(list) as ArrayRef, Arc::new(large)] {
                let (lists, values) = Lists::new(&array);
                assert_eq!(matches!(lists, Lists::Equal { .. }), equal, "{lengths:?}");
                assert_eq!((lists.rows(), values.len()), (lengths.len(), lengths.iter().sum()));
                let found: Vec<usize> = (0..lists.rows()).map(|row| lists.length(row)).collect();
                assert_eq!(found, lengths);
            }
        }
    }

    #[test]
    fn a_slice_has_its_own_items() {
        let list = ListArray::from_iter_primitive::<Float32Type, _, _>(rows(&[1, 2, 2, 4]));
        let slice: ArrayRef = Arc::new(list.slice(1, 2));
        let (lists, values) = Lists::new(&slice);
        assert!(matches!(lists, Lists::Equal { rows: 2, length: 2 }) && values.len() == 4);
        assert_eq!((lists.first_longer(1), lists.first_longer(2)), (Some(0), None));
    }
}
