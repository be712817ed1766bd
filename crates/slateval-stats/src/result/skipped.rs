//! Rows and files of a log that could not be used and were left out.

use crate::names::names;

/// Why a row or a file was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SkipReason {
    /// Text stands where a number should.
    NotANumber,
    /// A value is missing that every row must have.
    Missing,
    /// A value that no reward or probability can have.
    OutOfRange,
    /// A slot is there in one column and not in another.
    UnevenSlots,
    /// A slate with more slots than can be evaluated.
    TooManySlots,
    /// A line or record that is not built like the others.
    Malformed,
    /// Long format: a slate lacks a position, or has one twice.
    Positions,
    /// Long format: rows of one slate name two segments or clusters.
    TwoLabels,
    /// A file that cannot be read.
    UnreadableFile,
}

names!(SkipReason {
    NotANumber: "not-a-number",
    Missing: "missing",
    OutOfRange: "out-of-range",
    UnevenSlots: "uneven-slots",
    TooManySlots: "too-many-slots",
    Malformed: "malformed",
    Positions: "positions",
    TwoLabels: "two-labels",
    UnreadableFile: "unreadable-file",
});

impl SkipReason {
    /// The reason of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        SkipReason::ALL.into_iter().find(|reason| reason.as_str() == name)
    }
}

/// Where something was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SkippedExample {
    /// The file, or what the data are called.
    pub file: String,
    /// The row, counted from 1 without the header; none for a whole file.
    pub row: Option<u64>,
    /// The column, if one is to blame.
    pub column: Option<String>,
    /// The value found there, or what is wrong in words where there is no single value.
    pub value: Option<String>,
}

/// What was left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Skipped {
    /// Why.
    #[cfg_attr(feature = "serde", serde(serialize_with = "by_name"))]
    pub reason: SkipReason,
    /// Rows; in long format, slates. Of an unreadable file, the rows that its footer tells, if it has one.
    pub rows: u64,
    /// Whole files.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub files: u64,
    /// The first ones. All reasons together have at most 20.
    pub examples: Vec<SkippedExample>,
}

impl Skipped {
    /// So many rows left out for one reason, none of them named.
    pub fn new(reason: SkipReason, rows: u64) -> Self {
        Skipped { reason, rows, files: 0, examples: Vec::new() }
    }
}

#[cfg(feature = "serde")]
fn by_name<S: serde::Serializer>(reason: &SkipReason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(reason.as_str())
}

#[cfg(feature = "serde")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
