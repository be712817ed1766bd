//! Where the logging propensities come from.

use std::fmt;
use std::str::FromStr;

use crate::spec::error::{Error, Result};

/// Where the logging propensities come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum PropensitySource {
    /// The logging policy wrote them down.
    #[default]
    Known,
    /// They were estimated from the log itself. All numbers take them as known, and a check says so.
    Estimated,
}

impl PropensitySource {
    /// Whether the logging policy wrote them down. What is written only where it is not so asks this.
    pub fn is_known(&self) -> bool {
        *self == PropensitySource::Known
    }
}

impl fmt::Display for PropensitySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PropensitySource::Known => "known",
            PropensitySource::Estimated => "estimated",
        })
    }
}

impl FromStr for PropensitySource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "known" => Ok(PropensitySource::Known),
            "estimated" => Ok(PropensitySource::Estimated),
            _ => Err(Error::BadSetting {
                setting: "propensities",
                value: text.into(),
                why: "must be known or estimated".into(),
            }),
        }
    }
}
