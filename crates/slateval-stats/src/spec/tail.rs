//! Which tail of the rewards VaR and CVaR look at.
//! See docs/methods.md, section 5.4.

use std::fmt;
use std::str::FromStr;

use crate::spec::error::{Error, Result};

/// Which tail VaR and CVaR look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Tail {
    /// The smallest rewards.
    #[default]
    Lower,
    /// The largest rewards.
    Upper,
}

impl Tail {
    /// The level at which the tail of probability `alpha` begins.
    pub(crate) fn level(self, alpha: f64) -> f64 {
        match self {
            Tail::Lower => alpha,
            Tail::Upper => 1.0 - alpha,
        }
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tail::Lower => "lower",
            Tail::Upper => "upper",
        })
    }
}

impl FromStr for Tail {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "lower" => Ok(Tail::Lower),
            "upper" => Ok(Tail::Upper),
            _ => Err(Error::BadSetting { setting: "tail", value: text.into(), why: "must be lower or upper".into() }),
        }
    }
}
