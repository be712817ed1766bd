//! Values of the column that rows are segmented by.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value of the column that rows are segmented by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Segment {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Anything else, as text.
    Text(String),
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Null => write!(f, "(null)"),
            Segment::Bool(b) => write!(f, "{b}"),
            Segment::Int(i) => write!(f, "{i}"),
            Segment::Text(s) => write!(f, "{s}"),
        }
    }
}
