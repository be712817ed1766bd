//! What was checked, and how it went.

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Check {
    /// What was checked, in one word.
    pub name: &'static str,
    /// How it went.
    pub status: Status,
    /// The number it was judged by.
    pub value: Option<f64>,
    /// What it means and what to do.
    pub message: String,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Status {
    /// As it should be.
    Ok,
    /// Look at it.
    Warn,
    /// Do not rely on the numbers before it is mended.
    Fail,
}

impl Check {
    pub(crate) fn new(name: &'static str, status: Status, value: Option<f64>, message: impl Into<String>) -> Self {
        let value = value.filter(|value| value.is_finite());
        Check { name, status, value, message: message.into() }
    }
}

impl Status {
    /// Warns above one limit and fails above another.
    pub(crate) fn above(value: f64, warn: f64, fail: f64) -> Self {
        if value > fail {
            Status::Fail
        } else if value > warn {
            Status::Warn
        } else {
            Status::Ok
        }
    }
}
