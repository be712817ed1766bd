//! Whether the log contradicts what the weights assume, and what it cannot show.
//! See docs/methods.md, sections 8.4, 8.9, 8.10, 8.11 and 8.13.

use crate::interval::bernstein::WeightBounds;
use crate::result::check::{Check, Status};
use crate::result::finding::{Finding, Functional, Lack, Remedy};
use crate::result::selection::{OrderTest, Selection};
use crate::result::trust::{Trust, Trusts};
use crate::spec::structure::Structure;

/// Joint propensities are products of the slots' only if the target fills them independently: no log can tell.
pub(crate) fn independent_slots(structure: &Structure) -> Option<Check> {
    let finding = || Finding::TakesSlotsForIndependent(structure.clone());
    structure.needs_independent_slots().then(|| Check::new(Status::Ok, None, finding()))
}

pub(crate) fn paper_bias(structure: &Structure) -> Option<Check> {
    let Structure::PaperOrder(m) = structure else { return None };
    Some(Check::new(Status::Warn, None, Finding::PaperOrderIsBiased(*m)))
}

/// Whether the order that was chosen from the data could be tested.
pub(crate) fn order(selection: &Selection, trusts: &Trusts) -> Check {
    let next = selection.orders.iter().find(|test| test.order == selection.cdf + 1);
    let status = match trusts.worst() {
        Trust::Stands => Status::Ok,
        Trust::Conditional(_) => Status::Warn,
        Trust::Refuted(..) | Trust::Withheld(_) => Status::Fail,
    };
    let value = next.filter(|test| test.varies()).map(|test| test.statistic / test.critical);
    Check::new(status, value, Finding::Order(Box::new(selection.reason.clone())))
}

/// Whether the log contradicts a structure that was asked for by name.
pub(crate) fn structure(structure: &Structure, tests: &[OrderTest], trusts: &Trusts, remedy: Remedy) -> Option<Check> {
    if tests.is_empty() {
        return None;
    }
    let largest = |test: &OrderTest| test.statistic / test.critical;
    let value = tests.iter().map(largest).filter(|ratio| ratio.is_finite()).reduce(f64::max);
    Some(match trusts.worst().reason() {
        None => Check::new(Status::Ok, value, Finding::StructureStands(structure.clone())),
        Some(why) => {
            let all = [
                (Functional::Cdf, &trusts.cdf),
                (Functional::Mean, &trusts.mean),
                (Functional::Variance, &trusts.variance),
            ];
            let spoilt = all.into_iter().filter(|(_, trust)| **trust != Trust::Stands).map(|(what, _)| what);
            let finding = Finding::StructureRefuted { why: why.clone(), spoils: spoilt.collect(), remedy };
            Check::new(Status::Fail, value, finding)
        }
    })
}

/// What a guaranteed band rests on; `selected` says that the order was chosen from the data.
pub(crate) fn guarantee(WeightBounds { least, most, known }: WeightBounds, selected: bool) -> Check {
    let lacks = match (known, selected) {
        (true, false) => None,
        (true, true) => Some(Lack::FixedOrder),
        (false, _) => Some(Lack::KnownBounds),
    };
    let status = if lacks.is_none() { Status::Ok } else { Status::Warn };
    Check::new(status, None, Finding::Guarantee { least, most, lacks })
}
