//! What makes a row unusable: other rows can be used without it.

use slateval::{Field, SkipReason, SkippedExample};

use super::words::{item_text, number_advice};
use super::{Error, beginning, brief, name_of};

/// Why a row cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// A value that must be there.
    #[error("`{}`{} is null: {rule}", brief(.column), item_text(.item))]
    NullValue {
        /// The column.
        column: Box<str>,
        /// The item of a list, from 1.
        item: Option<usize>,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// A slot that is there in one column and not in another.
    #[error(
        "`{}`{} is null but `{}`{} is not; a slot that the slate does not have is null in both",
        brief(.column), item_text(.item), brief(.other), item_text(.other_item)
    )]
    HalfSlot {
        /// The column without a value.
        column: Box<str>,
        /// The item of a list, from 1.
        item: Option<usize>,
        /// The column with a value.
        other: Box<str>,
        /// The item of a list, from 1.
        other_item: Option<usize>,
    },
    /// Lists of different lengths in one row.
    #[error(
        "list `{}` has {first_length} items and list `{}` has {second_length}; both need one item for each slot",
        brief(.first), brief(.second)
    )]
    Lengths {
        /// A list column.
        first: Box<str>,
        /// Its length in this row.
        first_length: usize,
        /// Another list column.
        second: Box<str>,
        /// Its length in this row.
        second_length: usize,
    },
    /// Slates that are longer than any slate.
    #[error(
        "this slate has {slots} slots, more than the {limit} that can be evaluated; does `{}` hold all candidates instead \
         of the shown ones?", brief(.column)
    )]
    TooManySlots {
        /// The column.
        column: Box<str>,
        /// The slots found.
        slots: usize,
        /// The most that are possible.
        limit: usize,
    },
    /// Text where a number should be.
    #[error(
        "`{}` is `{}`, which is not a number; {}", brief(.column), brief(.value), number_advice(*.of, .value)
    )]
    NotANumber {
        /// The column.
        column: Box<str>,
        /// The text found.
        value: Box<str>,
        /// What the number would stand for, where it is known.
        of: Option<Field>,
    },
    /// A JSON line that does not fit the lines before it.
    #[error("{}; every line must hold one JSON object of the same shape", brief(.0))]
    BadLine(
        /// What the reader said.
        Box<str>,
    ),
    /// A record of a CSV file that is not built like the others.
    #[error("{}; every row of a CSV file has the cells of its header: is the file truncated or damaged?", brief(.0))]
    BadRecord(
        /// What is wrong.
        Box<str>,
    ),
    /// A value that no reward or probability can have.
    #[error("`{}`{} is {value}: {}", brief(.column), item_text(.item), .field.rule())]
    BadValue {
        /// The column.
        column: Box<str>,
        /// The item of a list, from 1.
        item: Option<usize>,
        /// The value found.
        value: f64,
        /// What the value stands for.
        field: Field,
    },
    /// Long format: a slate whose positions are not 1, 2, … or 0, 1, ….
    #[error(
        "positions {} where {} were expected; the rows of one slate must stand next to each other, each position once: \
         sort the log by `{}, {}`", brief(.positions), brief(.wanted), brief(.slate_column), brief(.position_column)
    )]
    Positions {
        /// Whether the slate has its first position.
        has_first: bool,
        /// The slate.
        slate: Box<str>,
        /// The positions found.
        positions: Box<str>,
        /// The positions that this number of rows should have.
        wanted: Box<str>,
        /// The column of slates.
        slate_column: Box<str>,
        /// The column of positions.
        position_column: Box<str>,
    },
    /// Long format: a slate in two segments or clusters.
    #[error(
        "slate {} has `{}` = {} here and {} in its first row; a slate belongs to one {noun}",
        brief(.slate), brief(.column), brief(.second), brief(.first)
    )]
    TwoLabels {
        /// The slate.
        slate: Box<str>,
        /// The column.
        column: Box<str>,
        /// The value in the first row.
        first: Box<str>,
        /// The value in this row.
        second: Box<str>,
        /// `segment` or `cluster`.
        noun: &'static str,
    },
}

impl RowFault {
    /// The row, in words.
    pub(super) fn place(&self, row: u64) -> String {
        match self {
            RowFault::Positions { slate, .. } => format!("slate {} (row {row})", brief(slate)),
            _ => format!("row {row}"),
        }
    }

    fn reason(&self) -> Option<SkipReason> {
        Some(match self {
            RowFault::NotANumber { .. } => SkipReason::NotANumber,
            RowFault::NullValue { .. } => SkipReason::Missing,
            RowFault::BadValue { .. } => SkipReason::OutOfRange,
            RowFault::HalfSlot { .. } | RowFault::Lengths { .. } => SkipReason::UnevenSlots,
            RowFault::TooManySlots { .. } => SkipReason::TooManySlots,
            RowFault::BadLine(_) | RowFault::BadRecord(_) => SkipReason::Malformed,
            RowFault::TwoLabels { .. } => SkipReason::TwoLabels,
            // Rows of a slate that lacks its first position may have been taken for a slate of their own.
            RowFault::Positions { has_first, .. } => return has_first.then_some(SkipReason::Positions),
        })
    }

    /// The column at fault, if it is one, and what stands there.
    fn example(&self) -> (Option<String>, String) {
        let with_item = |column: &str, item: &Option<usize>| Some(format!("{column}{}", item_text(item)));
        match self {
            RowFault::NotANumber { column, value, .. } => (Some(column.to_string()), value.to_string()),
            RowFault::NullValue { column, item, .. } => (with_item(column, item), "null".into()),
            RowFault::BadValue { column, item, value, .. } => (with_item(column, item), value.to_string()),
            RowFault::HalfSlot { column, item, .. } => (with_item(column, item), "null".into()),
            RowFault::Lengths { first, first_length, second, second_length } => {
                (Some(second.to_string()), format!("{second_length} items, and `{first}` has {first_length}"))
            }
            RowFault::TooManySlots { column, slots, .. } => (Some(column.to_string()), format!("{slots} slots")),
            RowFault::BadLine(reason) | RowFault::BadRecord(reason) => (None, reason.to_string()),
            RowFault::TwoLabels { column, second, .. } => (Some(column.to_string()), second.to_string()),
            RowFault::Positions { position_column, positions, .. } => {
                (Some(position_column.to_string()), positions.to_string())
            }
        }
    }
}

impl Error {
    /// Why the row of this error cannot be used; `None` if the error is not about one row.
    pub(crate) fn bad_row(&self) -> Option<SkipReason> {
        match self {
            Error::Row { fault, .. } => fault.reason(),
            _ => None,
        }
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
        match self {
            Error::Row { row, .. } => Some(*row),
            _ => None,
        }
    }

    /// Counts rows from another one on.
    pub(crate) fn move_row(&mut self, by: u64) {
        if let Error::Row { row, .. } = self {
            *row += by;
        }
    }

    /// Where the bad row is, and what stands there.
    pub(crate) fn example(&self) -> SkippedExample {
        let Error::Row { file, row, fault } = self else {
            return SkippedExample { file: String::new(), row: None, column: None, value: Some(self.to_string()) };
        };
        let (column, value) = fault.example();
        let column = column.map(|name| beginning(&name));
        SkippedExample { file: name_of(file), row: Some(*row), column, value: Some(beginning(&value)) }
    }
}
