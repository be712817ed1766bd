//! Whether an interval stands, given what the log says about the structure that it rests on and what the checks found.
//! See docs/methods.md, section 7.4.

use crate::result::reason::Reason;
use crate::result::refutation::Refutation;

/// What may be said of intervals that rest on one structure.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Trust {
    /// They stand.
    #[default]
    Stands,
    /// They hold if the structure does, and the log is too thin to tell; why.
    Conditional(Reason),
    /// The log contradicts the structure, which the user asked for by name, or a check leaves nothing to be relied on: they
    /// are given with a mark; what stands against them, and why.
    Refuted(Refutation, Reason),
    /// The log contradicts every order that it can carry: there are none; why.
    Withheld(Reason),
}

impl Trust {
    /// What stands against the intervals.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Trust::Stands => None,
            Trust::Conditional(why) | Trust::Refuted(_, why) | Trust::Withheld(why) => Some(why),
        }
    }

    fn severity(&self) -> u8 {
        match self {
            Trust::Stands => 0,
            Trust::Conditional(_) => 1,
            Trust::Refuted(..) => 2,
            Trust::Withheld(_) => 3,
        }
    }

    /// The trust in what rests on both: the lesser of the two.
    pub(crate) fn and<'t>(&'t self, other: &'t Trust) -> &'t Trust {
        if other.severity() > self.severity() { other } else { self }
    }
}

/// The trust in a policy's answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trusts {
    /// In what is read off its CDF.
    pub cdf: Trust,
    /// In its mean.
    pub mean: Trust,
    /// In its variance and standard deviation.
    pub variance: Trust,
}

impl Trusts {
    /// Nothing speaks against any.
    pub(crate) const STAND: Self = Trusts { cdf: Trust::Stands, mean: Trust::Stands, variance: Trust::Stands };

    /// The variance is the second moment less the squared mean: it deserves no more trust than either.
    pub(crate) fn new(cdf: Trust, mean: Trust, second_moment: Trust) -> Self {
        let variance = second_moment.and(&mean).clone();
        Trusts { cdf, mean, variance }
    }

    /// The trust in a part of a log, given that in the whole: what the whole log contradicts, no part of it can vouch for.
    pub(crate) fn within(&self, whole: &Trusts) -> Self {
        let lesser = |own: &Trust, whole: &Trust| match whole {
            Trust::Refuted(..) | Trust::Withheld(_) => own.and(whole).clone(),
            Trust::Stands | Trust::Conditional(_) => own.clone(),
        };
        Trusts {
            cdf: lesser(&self.cdf, &whole.cdf),
            mean: lesser(&self.mean, &whole.mean),
            variance: lesser(&self.variance, &whole.variance),
        }
    }

    /// The trust where a check leaves nothing to be relied on. What is withheld stays withheld; where the check is of the
    /// structure, each answer keeps its own evidence against it.
    pub(crate) fn refuted_by(&self, refutation: &Refutation, reason: &Reason) -> Self {
        let lesser = |own: &Trust| match (own, refutation) {
            (Trust::Withheld(_), _) | (Trust::Refuted(..), Refutation::Structure(_)) => own.clone(),
            _ => Trust::Refuted(refutation.clone(), reason.clone()),
        };
        Trusts { cdf: lesser(&self.cdf), mean: lesser(&self.mean), variance: lesser(&self.variance) }
    }

    /// The worst of the three.
    pub(crate) fn worst(&self) -> &Trust {
        self.cdf.and(&self.mean).and(&self.variance)
    }
}
