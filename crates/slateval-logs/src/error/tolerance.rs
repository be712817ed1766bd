//! What is done about the bad parts of a log.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The words that stand for the variants of a type.
macro_rules! words {
    ($kind:ident { $($variant:ident: $word:literal),+ }, $advice:literal) => {
        impl $kind {
            /// Its name.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($kind::$variant => $word),+
                }
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $kind {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok($kind::$variant),)+
                    _ => Err(format!("`{text}`: {}", $advice)),
                }
            }
        }
    };
}

/// What is done about a row or a file that cannot be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnBad {
    /// The log is refused.
    #[default]
    Fail,
    /// It is left out, counted, and the first ones are named. What is left out may bias the rest.
    Skip,
}

words!(OnBad { Fail: "fail", Skip: "skip" }, "write fail or skip");

/// What is done about files of a directory that are no logs, by their names and by their first bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnUnknown {
    /// They are left out and counted, and front ends name the first ones.
    #[default]
    Warn,
    /// The log is refused.
    Fail,
    /// They are left out and counted.
    Skip,
}

words!(OnUnknown { Warn: "warn", Fail: "fail", Skip: "skip" }, "write warn, fail or skip");

/// What is done about the parts of a log that cannot be used. The default refuses bad parts, and leaves out files of
/// directories that are no logs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tolerance {
    /// Rows with a value that cannot be; in long format, slates with such a row.
    pub bad_rows: OnBad,
    /// Files that cannot be read to their end. A file is left out as a whole.
    pub bad_files: OnBad,
    /// Files of directories that are no logs. This changes no number.
    pub unknown_files: OnUnknown,
    /// Whether a plain text file may lack the line feed of its last line, and an Arrow stream its end mark.
    pub unended: bool,
}
