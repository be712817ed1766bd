//! Which intervals are given, and what is said of them, by how far what they rest on can be trusted.
//! See docs/methods.md, sections 6.19 and 7.4.

use std::result;

use crate::distribution::curve::Distribution;
use crate::interval::bands::CurveBand;
use crate::interval::limits::{Limits, Reach};
use crate::result::interval::{Bounds, Cdf, CdfBand, Interval};
use crate::result::reason::Reason;
use crate::result::refutation::Refutation;
use crate::result::trust::Trust;

/// The ends that are given, and what is said of them.
#[derive(Debug)]
struct Standing<T> {
    ends: Option<T>,
    conditional: bool,
    refuted: Option<Refutation>,
    reason: Option<Reason>,
}

impl<T> Standing<T> {
    /// `at_chosen` are the ends at the order of the estimate, `at_guard` those at the order that intervals are taken at.
    fn new(at_chosen: &result::Result<T, Reason>, at_guard: result::Result<T, Reason>, trust: &Trust) -> Self {
        let none = Standing { ends: None, conditional: false, refuted: None, reason: None };
        match (trust, at_chosen, at_guard) {
            (Trust::Withheld(why), ..) => Standing { reason: Some(why.clone()), ..none },
            (Trust::Conditional(why), Ok(_), _) => Standing { conditional: true, reason: Some(why.clone()), ..none },
            (Trust::Conditional(_), Err(reason), _) => Standing { reason: Some(reason.clone()), ..none },
            (_, _, Err(reason)) => Standing { reason: Some(reason), ..none },
            (Trust::Stands, _, Ok(ends)) => Standing { ends: Some(ends), ..none },
            (Trust::Refuted(by, why), _, Ok(ends)) => {
                Standing { ends: Some(ends), refuted: Some(by.clone()), reason: Some(why.clone()), ..none }
            }
        }
    }
}

/// The interval of an estimate. `levels` are its limits at the chosen order, and then at the guard, if the guard is
/// another order.
///
/// The ends are the limits of the last level, extended to hold the estimate; `trust` decides whether they are given. If
/// the order was chosen from the data (`selected`), the limits of the first level are given beside them.
pub(crate) fn interval(estimate: f64, levels: &[&Limits], selected: bool, trust: &Trust) -> Interval {
    let holding = |limits: Option<&&Limits>| match limits {
        None => Err(Reason::NotEvaluated),
        Some(Err(reason)) => Err(reason.clone()),
        Some(Ok(Reach { bounds: Bounds { lower, upper }, se })) => {
            let bounds = Bounds { lower: lower.map(|x| x.min(estimate)), upper: upper.map(|x| x.max(estimate)) };
            Ok(Reach { bounds, se: *se })
        }
    };
    let (first, last) = (holding(levels.first()), holding(levels.last()));
    let standing = Standing::new(&first, last, trust);
    let ends = standing.ends.map(|reach: Reach| reach.bounds);
    let is_open = ends.is_some_and(|b| b.lower.is_none() || b.upper.is_none());
    Interval {
        estimate: Some(estimate),
        lower: ends.and_then(|b| b.lower),
        upper: ends.and_then(|b| b.upper),
        se: standing.ends.and_then(|reach| reach.se),
        if_order_holds: first.ok().filter(|_| selected).map(|reach| reach.bounds),
        conditional: standing.conditional,
        refuted: standing.refuted,
        reason: standing.reason.or(is_open.then_some(Reason::BandTooWide)),
    }
}

/// A CDF with its band at each order it is taken at, likewise.
pub(crate) fn cdf(
    distribution: &Distribution,
    levels: &[&result::Result<CurveBand, Reason>],
    selected: bool,
    trust: &Trust,
) -> Cdf {
    let estimate = &distribution.repaired;
    let band = |band: Option<&&result::Result<CurveBand, Reason>>| match band {
        None => Err(Reason::NotEvaluated),
        Some(Err(reason)) => Err(reason.clone()),
        Some(Ok(band)) => Ok(band.clone()),
    };
    let holding = |band: &CurveBand| CdfBand {
        lower: band.lower.iter().zip(estimate).map(|(x, f)| Some(x.min(*f))).collect(),
        upper: band.upper.iter().zip(estimate).map(|(x, f)| Some(x.max(*f))).collect(),
    };
    let (first, last) = (band(levels.first()), band(levels.last()));
    let standing = Standing::new(&first, last, trust);
    let no_ends = || CdfBand { lower: vec![None; estimate.len()], upper: vec![None; estimate.len()] };
    let CdfBand { lower, upper } = standing.ends.as_ref().map_or_else(no_ends, holding);
    Cdf {
        reward: distribution.bins.iter().map(|b| b.max).collect(),
        raw: distribution.raw.clone(),
        estimate: estimate.clone(),
        lower,
        upper,
        half_width: standing.ends.and_then(|band| band.half_width),
        if_order_holds: first.as_ref().ok().filter(|_| selected).map(holding),
        conditional: standing.conditional,
        refuted: standing.refuted,
        reason: standing.reason,
    }
}
