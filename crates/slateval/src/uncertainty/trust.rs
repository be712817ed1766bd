//! Whether an interval stands, given what the log says about the structure that it rests on.

use crate::answer::interval::{Bounds, Interval};
use crate::uncertainty::limits::Limits;

/// What may be said of intervals that rest on one structure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trust {
    /// They stand.
    Stands,
    /// They hold if the structure does, and the log is too thin to tell; why.
    Conditional(String),
    /// The log contradicts the structure, which the user asked for by name: they are given with a mark; why.
    Refuted(String),
    /// The log contradicts every order that it can carry: there are none; why.
    Withheld(String),
}

impl Trust {
    fn severity(&self) -> u8 {
        match self {
            Trust::Stands => 0,
            Trust::Conditional(_) => 1,
            Trust::Refuted(_) => 2,
            Trust::Withheld(_) => 3,
        }
    }

    /// The trust in what rests on both: the lesser of the two.
    pub(crate) fn and<'t>(&'t self, other: &'t Trust) -> &'t Trust {
        if other.severity() > self.severity() { other } else { self }
    }
}

/// The trust in a policy's answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trusts {
    /// In what is read off its CDF.
    pub(crate) cdf: Trust,
    /// In its mean.
    pub(crate) mean: Trust,
    /// In its variance and standard deviation.
    pub(crate) variance: Trust,
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
            Trust::Refuted(_) | Trust::Withheld(_) => own.and(whole).clone(),
            Trust::Stands | Trust::Conditional(_) => own.clone(),
        };
        Trusts {
            cdf: lesser(&self.cdf, &whole.cdf),
            mean: lesser(&self.mean, &whole.mean),
            variance: lesser(&self.variance, &whole.variance),
        }
    }

    /// The worst of the three.
    pub(crate) fn worst(&self) -> &Trust {
        self.cdf.and(&self.mean).and(&self.variance)
    }
}

impl Interval {
    /// An estimate with its limits at each order they are taken at, that of the estimate first. The interval is that of the
    /// last, as far as it is to be trusted, and holds the estimate; where an order was chosen from the data, the first is
    /// given beside it.
    pub(crate) fn new(estimate: f64, levels: &[&Limits], selected: bool, trust: &Trust) -> Self {
        let include =
            |b: &Bounds| Bounds { lower: b.lower.map(|x| x.min(estimate)), upper: b.upper.map(|x| x.max(estimate)) };
        let none = || Err(String::new());
        let last = levels.last().map_or_else(none, |limits| limits.as_ref().map(include).map_err(Clone::clone));
        let first = levels.first().map_or_else(none, |limits| limits.as_ref().map(include).map_err(Clone::clone));
        let if_order_holds = first.as_ref().ok().copied().filter(|_| selected);
        let mut interval = Interval { estimate: Some(estimate), if_order_holds, ..Interval::default() };
        match (trust, last) {
            (Trust::Withheld(why), _) => interval.reason = Some(why.clone()),
            (Trust::Conditional(why), _) => match first {
                Ok(_) => (interval.conditional, interval.reason) = (true, Some(why.clone())),
                Err(reason) => interval.reason = Some(reason),
            },
            (_, Err(reason)) => interval.reason = Some(reason),
            (Trust::Stands | Trust::Refuted(_), Ok(b)) => {
                (interval.lower, interval.upper) = (b.lower, b.upper);
                if b.lower.is_none() || b.upper.is_none() {
                    interval.reason = Some("the band does not reach the level on one side or both".to_owned());
                }
                if let Trust::Refuted(why) = trust {
                    (interval.refuted, interval.reason) = (true, Some(why.clone()));
                }
            }
        }
        interval
    }
}
