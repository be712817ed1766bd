//! How weights are to be corrected. The corrections themselves are in `estimate/correction.rs`.
//! See docs/methods.md, section 4.6.

use std::fmt;
use std::str::FromStr;

use crate::names::setting;
use crate::spec::error::{Error, Result};
use crate::spec::structure::Structure;

/// How weights are corrected to lower the variance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Correction {
    /// `w = G / n`, as in the paper.
    None,
    /// `w = G / sum G`.
    SelfNormalized,
    /// Regression on the slot ratios, whose expectation 1 is known, and on `G - 1`, whose expectation is 0, unless the
    /// weight is a linear function of the ratios. A given weight has no ratios: there it is `G - 1` alone.
    ControlVariate,
    /// Regression on the slot ratios, with their expectation under the target, known from `chi`.
    Calibrated,
}

/// The correction asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "String", try_from = "String"))]
pub enum CorrectionChoice {
    /// Calibrated for a target whose chi is there and passes its check, control variates otherwise.
    #[default]
    Auto,
    /// This one.
    Fixed(Correction),
}

impl From<Correction> for CorrectionChoice {
    fn from(correction: Correction) -> Self {
        CorrectionChoice::Fixed(correction)
    }
}

impl CorrectionChoice {
    /// Refuses a correction that the structure cannot have. `calibrated` without a chi is refused later, when a target
    /// is evaluated.
    pub(crate) fn check(self, structure: &Structure) -> Result<()> {
        let bad = |correction: Correction, why: &str| {
            Err(Error::BadSetting { setting: "correction", value: correction.to_string(), why: why.into() })
        };
        match (structure, self) {
            (Structure::PaperOrder(_), CorrectionChoice::Fixed(c)) if c != Correction::None => {
                bad(c, "paper-order reproduces the paper, which corrects nothing: use none or auto")
            }
            (Structure::Given, CorrectionChoice::Fixed(c @ Correction::Calibrated)) => {
                bad(c, "a given weight comes without slots: use none, self-normalized or control-variate")
            }
            _ => Ok(()),
        }
    }
}

setting!(Correction, "correction", "must be auto, none, self-normalized, control-variate or calibrated", {
    None: "none",
    SelfNormalized: "self-normalized",
    ControlVariate: "control-variate",
    Calibrated: "calibrated",
});

impl fmt::Display for CorrectionChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CorrectionChoice::Auto => f.write_str("auto"),
            CorrectionChoice::Fixed(correction) => correction.fmt(f),
        }
    }
}

impl FromStr for CorrectionChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(CorrectionChoice::Auto),
            _ => text.parse().map(CorrectionChoice::Fixed),
        }
    }
}

impl From<CorrectionChoice> for String {
    fn from(choice: CorrectionChoice) -> String {
        choice.to_string()
    }
}

impl TryFrom<String> for CorrectionChoice {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}
