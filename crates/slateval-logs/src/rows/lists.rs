//! Where each row's items lie among the items of all rows.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
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
        let each = |starts: Vec<usize>, values: &ArrayRef| {
            let (first, last) = (starts.first().copied().unwrap_or(0), starts.last().copied().unwrap_or(0));
            (Lists::Each(starts.into_iter().map(|start| start - first).collect()), values.slice(first, last - first))
        };
        match array.data_type() {
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                each(list.value_offsets().iter().map(|&o| o as usize).collect(), list.values())
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                each(list.value_offsets().iter().map(|&o| o as usize).collect(), list.values())
            }
            _ => {
                let list = array.as_fixed_size_list();
                let length = list.value_length() as usize;
                (Lists::Equal { rows: list.len(), length }, list.values().clone())
            }
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

    /// The longest list of some rows.
    pub(crate) fn longest(&self, rows: Range<usize>) -> usize {
        match self {
            Lists::Equal { length, .. } => *length,
            Lists::Each(starts) => starts[rows.start..=rows.end].windows(2).map(|o| o[1] - o[0]).max().unwrap_or(0),
        }
    }

    /// Whether the lists of some rows all have this length.
    pub(crate) fn all(&self, rows: Range<usize>, wanted: usize) -> bool {
        match self {
            Lists::Equal { length, .. } => *length == wanted,
            Lists::Each(starts) => starts[rows.start..=rows.end].windows(2).all(|o| o[1] - o[0] == wanted),
        }
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
