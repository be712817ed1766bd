//! What stands against an interval that nothing may be claimed from.
//! See docs/methods.md, section 7.4.

use std::fmt;

use crate::result::check::CheckName;
use crate::spec::structure::Structure;

/// What stands against an interval that nothing may be claimed from. It is shown with the mark `!`.
///
/// `Display` and JSON have the name of the structure or of the check: `additive`, `propensities`.
#[derive(Debug, Clone, PartialEq)]
pub enum Refutation {
    /// The log contradicts this structure, which was asked for by name.
    Structure(Structure),
    /// This check leaves no number of the policy to be relied on ([`Diagnostics::spoiled`](crate::Diagnostics::spoiled)).
    Check(CheckName),
}

impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refutation::Structure(structure) => structure.fmt(f),
            Refutation::Check(check) => check.fmt(f),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Refutation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
