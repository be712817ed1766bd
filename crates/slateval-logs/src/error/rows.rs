//! Errors that are about one row: other rows can be used without it.

use slateval::{SkipReason, SkippedExample};

use super::{Error, beginning, name_of};

impl Error {
    /// Why the row of this error cannot be used; `None` if the error is not about one row.
    pub(crate) fn bad_row(&self) -> Option<SkipReason> {
        Some(match self {
            Error::NotANumber { .. } => SkipReason::NotANumber,
            Error::NullValue { .. } => SkipReason::Missing,
            Error::BadValue { .. } => SkipReason::OutOfRange,
            Error::HalfSlot { .. } | Error::Lengths { .. } => SkipReason::UnevenSlots,
            Error::TooManySlots { .. } => SkipReason::TooManySlots,
            Error::BadLine { .. } | Error::BadRecord { .. } => SkipReason::Malformed,
            Error::TwoLabels { .. } => SkipReason::TwoLabels,
            // Rows of a slate that lacks its first position may have been taken for a slate of their own.
            Error::Positions { has_first: true, .. } => SkipReason::Positions,
            _ => return None,
        })
    }

    /// Whether a file is to blame as a whole, and other files can be used without it.
    pub(crate) fn is_bad_file(&self) -> bool {
        matches!(
            self,
            Error::Unreadable { .. }
                | Error::Damaged { .. }
                | Error::Changed { .. }
                | Error::UnknownFormat { .. }
                | Error::JsonArray { .. }
                | Error::Unended { .. }
                | Error::UnendedStream { .. }
                | Error::LongLine { .. }
                | Error::TooManyColumns { .. }
        )
    }

    /// The same for an error that comes before any row is read: a file is to blame as well if no line at its beginning tells
    /// its columns.
    pub(crate) fn prevents_opening(&self) -> bool {
        self.is_bad_file() || self.bad_row().is_some()
    }

    /// The row that the error is about.
    pub(crate) fn row(&self) -> Option<u64> {
        self.clone().row_mut().copied()
    }

    /// Counts rows from another one on.
    pub(crate) fn move_row(&mut self, by: u64) {
        self.row_mut().into_iter().for_each(|row| *row += by);
    }

    fn row_mut(&mut self) -> Option<&mut u64> {
        match self {
            Error::NotANumber { row, .. }
            | Error::NullValue { row, .. }
            | Error::BadValue { row, .. }
            | Error::HalfSlot { row, .. }
            | Error::Lengths { row, .. }
            | Error::TooManySlots { row, .. }
            | Error::BadLine { row, .. }
            | Error::BadRecord { row, .. }
            | Error::TwoLabels { row, .. }
            | Error::Positions { row, .. } => Some(row),
            _ => None,
        }
    }

    /// Where the bad row is, and what stands there.
    pub(crate) fn example(&self) -> SkippedExample {
        let items = |item: &Option<usize>| item.map_or(String::new(), |i| format!(" item {i}"));
        let (file, column, value) = match self {
            Error::NotANumber { file, column, value, .. } => (file, Some(column.clone()), value.clone()),
            Error::NullValue { file, column, item, .. } => (file, Some(column.clone() + &items(item)), "null".into()),
            Error::BadValue { file, column, item, value, .. } => {
                (file, Some(column.clone() + &items(item)), value.to_string())
            }
            Error::HalfSlot { file, column, item, .. } => (file, Some(column.clone() + &items(item)), "null".into()),
            Error::Lengths { file, first, second, first_length, second_length, .. } => {
                (file, Some(second.clone()), format!("{second_length} items, and `{first}` has {first_length}"))
            }
            Error::TooManySlots { file, column, slots, .. } => (file, Some(column.clone()), format!("{slots} slots")),
            Error::BadLine { file, reason, .. } | Error::BadRecord { file, reason, .. } => (file, None, reason.clone()),
            Error::TwoLabels { file, column, second, .. } => (file, Some(column.to_string()), second.to_string()),
            Error::Positions { file, position_column, positions, .. } => {
                (file, Some(position_column.to_string()), positions.to_string())
            }
            other => {
                return SkippedExample { file: String::new(), row: None, column: None, value: Some(other.to_string()) };
            }
        };
        SkippedExample {
            file: name_of(file),
            row: self.row(),
            column: column.map(|name| beginning(&name)),
            value: Some(beginning(&value)),
        }
    }
}
