//! How rewards are binned once there are too many distinct ones to keep.
//! See docs/methods.md, section 3.1.

use std::fmt;
use std::str::FromStr;

use crate::spec::error::{Error, Result};

/// How rewards are binned once there are too many distinct ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Binning {
    /// Most bins, and most rewards kept exactly.
    pub capacity: usize,
    /// Where the edges lie.
    pub scale: Scale,
}

/// Where the edges of bins lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Scale {
    /// At multiples of a power of two: bins of equal width.
    Linear,
    /// At floats with a shortened mantissa: bins of equal relative width, for heavy tails.
    Log,
}

impl Default for Binning {
    fn default() -> Self {
        Binning { capacity: 4096, scale: Scale::Linear }
    }
}

impl Binning {
    const MOST: usize = 1 << 20;

    pub(crate) fn check(&self) -> Result<()> {
        if (2..=Self::MOST).contains(&self.capacity) {
            return Ok(());
        }
        Err(Error::BadSetting {
            setting: "bins",
            value: self.capacity.to_string(),
            why: format!("must be a number from 2 to {}, or log", Self::MOST),
        })
    }
}

impl fmt::Display for Binning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scale {
            Scale::Linear => write!(f, "{}", self.capacity),
            Scale::Log if self.capacity == Binning::default().capacity => write!(f, "log"),
            Scale::Log => write!(f, "log, at most {}", self.capacity),
        }
    }
}

impl FromStr for Binning {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let binning = match text {
            "log" => Some(Binning { scale: Scale::Log, ..Binning::default() }),
            _ => text.parse().ok().map(|capacity| Binning { capacity, scale: Scale::Linear }),
        };
        let why = format!("must be a number from 2 to {}, or log", Binning::MOST);
        let binning = binning.ok_or(Error::BadSetting { setting: "bins", value: text.into(), why })?;
        binning.check()?;
        Ok(binning)
    }
}
