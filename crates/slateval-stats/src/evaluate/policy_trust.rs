//! How far a policy's intervals can be trusted, by its structure and by its checks: the one decision which intervals are
//! given with a mark, for evaluations, profiles and combinations.
//! See docs/methods.md, section 7.4.

use crate::result::check::{Check, CheckName};
use crate::result::finding::Finding;
use crate::result::reason::Reason;
use crate::result::refutation::Refutation;
use crate::result::trust::Trusts;
use crate::spec::structure::Structure;

/// What speaks against a policy's intervals.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PolicyTrust {
    /// The trust in its structure.
    pub(crate) structure: Trusts,
    /// The checks of these rows that leave no number to be relied on.
    spoiling: Vec<Check>,
    /// The same of the whole log, if these rows are one of its segments.
    spoiling_whole: Vec<Check>,
}

impl PolicyTrust {
    /// The trust in each interval. The first check that spoils the policy speaks for all of them, one of these rows before
    /// one of the whole log.
    pub(crate) fn in_intervals(&self, policy: &str, structure: Option<&Structure>) -> Trusts {
        let (check, in_whole_log) = match (self.spoiling.first(), self.spoiling_whole.first()) {
            (Some(own), _) => (own, false),
            (None, Some(whole)) => (whole, true),
            (None, None) => return self.structure.clone(),
        };
        let (refutation, reason) = match (&check.finding, structure) {
            (Finding::StructureRefuted { why, .. }, Some(structure)) => {
                (Refutation::Structure(structure.clone()), why.clone())
            }
            _ => {
                let (check, policy) = (check.name(), policy.to_owned());
                (Refutation::Check(check), Reason::CheckNotPassed { check, policy, in_whole_log })
            }
        };
        self.structure.refuted_by(&refutation, &reason)
    }

    /// The checks that spoil the policy, each name once: those of these rows, and those of the whole log.
    pub(crate) fn spoiling(&self) -> impl Iterator<Item = &Check> {
        let is_own = |name: CheckName| self.spoiling.iter().any(|own| own.name() == name);
        self.spoiling.iter().chain(self.spoiling_whole.iter().filter(move |check| !is_own(check.name())))
    }
}

/// Which rows of a log are evaluated, and what is known beside them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'w> {
    /// All of them; the check of what was left out.
    Whole { skipped: Option<&'w Check> },
    /// A segment; the trust in each policy over the whole log, logging first. What the whole log contradicts, no segment
    /// can vouch for, and it may be too small to show what fails there.
    Segment { whole: &'w [PolicyTrust] },
}

impl Part<'_> {
    pub(crate) fn is_segment(self) -> bool {
        matches!(self, Part::Segment { .. })
    }

    /// The trust in a policy's structure. The policy is counted from logging, which is 0.
    pub(crate) fn structure(self, policy: usize, own: &Trusts) -> Trusts {
        match self {
            Part::Whole { .. } => own.clone(),
            Part::Segment { whole } => own.within(&whole[policy].structure),
        }
    }

    /// The trust in a policy with these checks.
    pub(crate) fn trust(self, policy: usize, structure: Trusts, checks: &[Check]) -> PolicyTrust {
        let own = checks.iter().filter(|check| check.spoils()).cloned();
        match self {
            Part::Whole { skipped } => {
                let skipped = skipped.filter(|check| check.spoils()).cloned();
                PolicyTrust { structure, spoiling: own.chain(skipped).collect(), spoiling_whole: Vec::new() }
            }
            Part::Segment { whole } => {
                let spoiling_whole = whole[policy].spoiling.clone();
                PolicyTrust { structure, spoiling: own.collect(), spoiling_whole }
            }
        }
    }

    /// The trust in the logging policy.
    pub(crate) fn trust_in_logging(self) -> PolicyTrust {
        self.trust(0, Trusts::STAND, &[])
    }
}
