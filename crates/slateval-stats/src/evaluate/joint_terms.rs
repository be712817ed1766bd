//! Which terms of a linear combination can be judged together.
//! See docs/methods.md, section 6.15.

use crate::interval::curve_errors::CurveTerm;
use crate::spec::combination::Metric;

/// A policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Logging,
    Target(usize),
}

/// A term whose policy has been found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PolicyTerm {
    pub(crate) coefficient: f64,
    pub(crate) metric: Metric,
    pub(crate) who: Who,
}

/// A policy as it takes part in a group: logging is seen beside some target's ratios.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
    Logging { beside: usize },
    Target(usize),
}

/// How a group's interval is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Moments,
    Curves,
}

/// Parts that can be judged together.
#[derive(Debug)]
pub(crate) struct JointTerms {
    pub(crate) kind: Kind,
    pub(crate) parts: Vec<PolicyTerm>,
    /// Every policy of the parts. A target alone is accompanied by logging, so that its draws are those of its evaluation.
    pub(crate) members: Vec<Member>,
}

impl JointTerms {
    /// Everything in one group, whether or not it can be drawn together.
    pub(crate) fn of_all(parts: &[PolicyTerm]) -> Self {
        let curves = parts.iter().any(|part| kind(part.metric) == Some(Kind::Curves));
        let (targets, logging) = policies(parts);
        let kind = if curves { Kind::Curves } else { Kind::Moments };
        JointTerms { kind, parts: parts.to_vec(), members: members(&targets, logging) }
    }

    /// As few groups as can be judged together, given the pairs of targets whose products were kept. Logging goes with
    /// any target.
    pub(crate) fn split(parts: &[PolicyTerm], compared: &[(usize, usize)]) -> Vec<Self> {
        let mut groups = Vec::new();
        for of in [Kind::Moments, Kind::Curves] {
            let own: Vec<PolicyTerm> = parts.iter().copied().filter(|part| kind(part.metric) == Some(of)).collect();
            let (mut targets, mut logging) = policies(&own);
            while logging || !targets.is_empty() {
                let pair = compared.iter().find(|(p, b)| targets.contains(p) && targets.contains(b));
                let together = pair.map_or(targets.iter().take(1).copied().collect(), |&(p, b)| vec![p, b]);
                let is_in = |part: &&PolicyTerm| match part.who {
                    Who::Logging => logging,
                    Who::Target(policy) => together.contains(&policy),
                };
                let (parts, members) = (own.iter().filter(is_in).copied().collect(), members(&together, logging));
                groups.push(JointTerms { kind: of, parts, members });
                targets.retain(|t| !together.contains(t));
                logging = false;
            }
        }
        groups
    }

    pub(crate) fn place(&self, who: Who) -> Option<usize> {
        self.members.iter().position(|member| match who {
            Who::Logging => matches!(member, Member::Logging { .. }),
            Who::Target(policy) => *member == Member::Target(policy),
        })
    }

    /// The parts, with their policies as places among the members.
    pub(crate) fn curve_terms(&self) -> Option<Vec<CurveTerm>> {
        let term = |part: &PolicyTerm| {
            Some(CurveTerm { coefficient: part.coefficient, metric: part.metric, member: self.place(part.who)? })
        };
        self.parts.iter().map(term).collect()
    }

    /// Whether the parts are of several policies.
    pub(crate) fn compares(&self) -> bool {
        self.parts.iter().any(|part| part.who != self.parts[0].who)
    }
}

/// How a metric's interval is made; none for what is known without error.
pub(crate) fn kind(metric: Metric) -> Option<Kind> {
    match metric {
        Metric::Mean | Metric::Variance | Metric::Std => Some(Kind::Moments),
        Metric::Quantile(_) | Metric::Cvar(_) | Metric::Probability(_) => Some(Kind::Curves),
        Metric::Ess => None,
    }
}

/// The targets of some parts, and whether logging is among them.
fn policies(parts: &[PolicyTerm]) -> (Vec<usize>, bool) {
    let mut targets = Vec::new();
    for part in parts {
        if let Who::Target(policy) = part.who
            && !targets.contains(&policy)
        {
            targets.push(policy);
        }
    }
    (targets, parts.iter().any(|part| part.who == Who::Logging))
}

/// As [`evaluate`](crate::Sums::evaluate) draws them.
fn members(targets: &[usize], logging: bool) -> Vec<Member> {
    match targets {
        [] => vec![Member::Logging { beside: 0 }],
        [one] => vec![Member::Target(*one), Member::Logging { beside: *one }],
        [first, ..] => {
            let logging = logging.then_some(Member::Logging { beside: *first });
            targets.iter().map(|&t| Member::Target(t)).chain(logging).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(metric: Metric, who: Who) -> PolicyTerm {
        PolicyTerm { coefficient: 1.0, metric, who }
    }

    #[test]
    fn what_was_not_recorded_together_is_split() {
        let (a, b, c) = (Who::Target(0), Who::Target(1), Who::Target(2));
        let members = |parts: &[PolicyTerm], compared: &[(usize, usize)]| -> Vec<Vec<Member>> {
            JointTerms::split(parts, compared).into_iter().map(|group| group.members).collect()
        };
        let means: Vec<PolicyTerm> = [a, b, Who::Logging].map(|who| part(Metric::Mean, who)).into();
        let (t, beside) = (Member::Target, |beside: usize| Member::Logging { beside });
        assert_eq!(members(&means, &[]), [vec![t(0), beside(0)], vec![t(1), beside(1)]]);
        // The policy stands before the baseline, as where they are compared.
        assert_eq!(members(&means, &[(1, 0)]), [vec![t(1), t(0), beside(1)]]);
        let three: Vec<PolicyTerm> = [a, b, c].map(|who| part(Metric::Cvar(0.1), who)).into();
        assert_eq!(members(&three, &[(0, 2), (1, 2)]), [vec![t(0), t(2)], vec![t(1), beside(1)]]);
        let mixed = [part(Metric::Mean, a), part(Metric::Quantile(0.5), a)];
        assert_eq!(members(&mixed, &[]).len(), 2);
        assert_eq!(members(&[part(Metric::Std, Who::Logging)], &[]), [vec![beside(0)]]);
    }
}
