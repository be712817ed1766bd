//! Which tail of the rewards VaR and CVaR look at.
//! See docs/methods.md, section 5.4.

use crate::names::setting;

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

setting!(Tail, "tail", "must be lower or upper", { Lower: "lower", Upper: "upper" });
