//! Which order of weights the data ask for.
//! See docs/methods.md, sections 7.3, 7.4 and 7.6.
//!
//! The highest order that is active and that the log can carry: its design effective sample size is at least 10. CDF, mean
//! and second moment each have their own, by their own tests: an additive mean does not make an additive CDF, and the
//! square of a sum of slots is of order 2.
//!
//! What may be said of an interval follows from the tests too. It is taken one order above the chosen one, where the log
//! can carry that. An active order that the log cannot carry contradicts the chosen one: there is no interval. Where the
//! order next above is silent but could not be carried, nothing vouches for the choice: the interval is conditional.

use crate::checks::propensities;
use crate::distribution::estimator::Estimator;
use crate::influence::design::ROWS_NEEDED;
use crate::influence::design::product_design_ess;
use crate::order::order_test::{Clue, Tested, judge};
use crate::result::finding::{Functional, Remedy};
use crate::result::reason::{Reason, Untested, WayOut};
use crate::result::refutation::Refutation;
use crate::result::selection::{OrderTest, Selection, SelectionReason};
use crate::result::trust::{Trust, Trusts};
use crate::spec::structure::Structure;
use crate::sums::witness::Witness;

impl OrderTest {
    fn shows(&self, functional: Functional) -> bool {
        match functional {
            Functional::Cdf => self.active,
            Functional::Mean => self.mean.active,
            Functional::Variance => self.variance.active,
        }
    }

    /// Whether products of so many slots vary at all, but for rounding.
    pub(crate) fn varies(&self) -> bool {
        self.critical > 1e-12
    }

    fn is_carried(&self) -> bool {
        self.design_ess.is_some_and(|ess| ess >= ROWS_NEEDED)
    }

    /// Whether there are weights of this order that the log can carry.
    fn is_usable(&self) -> bool {
        !self.and_above && self.is_carried()
    }
}

/// Tests of the orders from 2 on, given what each order from 1 on is worth, and of what is beyond all of them.
fn tests(tested: &Tested<'_>, first: &Estimator<'_>, design_ess: &[Option<f64>]) -> Vec<OrderTest> {
    let highest = tested.cell.slots.min(design_ess.len()).max(1);
    let orders = (2..=highest).map(|order| tested.order(order, design_ess[order - 1]));
    let beyond = beyond_orders(tested, first);
    judge(&tested.evidence(orders.chain(beyond).collect()))
}

/// The witnesses. What is beyond all orders that are told apart is tested only where the log could carry a weight that
/// assumes nothing.
fn beyond_orders(tested: &Tested<'_>, estimator: &Estimator<'_>) -> Vec<Clue> {
    let list = &tested.cell.layout.witnesses[tested.policy].layout.list;
    let clue = |&witness: &Witness| match witness {
        Witness::Order(_) => Some(tested.witness(witness, None)),
        Witness::Beyond(_) => {
            let ess = product_design_ess(estimator);
            (ess >= ROWS_NEEDED).then(|| tested.witness(witness, Some(ess)))
        }
    };
    list.iter().filter_map(clue).collect()
}

/// What the log says against a structure that was asked for by name: whether anything shows that it leaves out.
pub(crate) fn tests_of_structure(
    tested: &Tested<'_>,
    estimator: &Estimator<'_>,
    kept_above: std::ops::RangeInclusive<usize>,
) -> Vec<OrderTest> {
    let kept = kept_above.map(|order| tested.order(order, None));
    judge(&tested.evidence(kept.chain(beyond_orders(tested, estimator)).collect()))
}

/// The trust in a structure that was asked for by name: nothing lessens it but the log's own contradiction.
pub(crate) fn trust_in_structure(structure: &Structure, tests: &[OrderTest]) -> Trusts {
    let trust = |functional: Functional| match tests.iter().find(|test| test.shows(functional)) {
        Some(test) => {
            Trust::Refuted(Refutation::Structure(structure.clone()), Reason::Refuted { effects: test.effects() })
        }
        None => Trust::Stands,
    };
    Trusts::new(trust(Functional::Cdf), trust(Functional::Mean), trust(Functional::Variance))
}

/// The number of slots of a slate that the target changes at most: from this order on, all weights are the same. A slot can
/// be changed in some slates only, so the orders tell too: products of more slots than are changed never vary.
fn distinct_orders(orders: &[OrderTest], first: &Estimator<'_>) -> usize {
    let changed = (0..first.sums.slots).filter(|&slot| propensities::is_changed(&first.sums, slot)).count();
    let varying = match orders.last() {
        Some(last) if !last.varies() => orders.iter().filter(|test| test.varies()).map(|test| test.order).max(),
        _ => Some(usize::MAX),
    };
    changed.min(varying.unwrap_or(1)).max(1)
}

impl Selection {
    /// Chooses among the orders from 1 on, given what each is worth, and the estimator of order 1.
    pub(crate) fn choose(tested: &Tested<'_>, first: &Estimator<'_>, design_ess: &[Option<f64>]) -> Self {
        let slots = tested.cell.slots;
        let orders = tests(tested, first, design_ess);
        let highest = |functional: Functional| {
            let usable = orders.iter().filter(|test| test.shows(functional) && test.is_usable());
            usable.map(|test| test.order).max().unwrap_or(1)
        };
        let (cdf, mean) = (highest(Functional::Cdf), highest(Functional::Mean));
        let variance = highest(Functional::Variance).max(mean);
        let told_apart = design_ess.len() > 1;
        let remedy = Remedy::after(&propensities::of_estimator(first));
        let distinct = if told_apart { distinct_orders(&orders, first).min(slots) } else { slots };
        let chosen = Chosen { orders, cdf, mean, variance, slots, distinct, told_apart, remedy };
        let trusts = chosen.trusts();
        let reason = chosen.reason(&trusts);
        let Chosen { orders, .. } = chosen;
        let mut selection = Selection { orders, cdf, mean, variance, band: None, reason };
        if trusts.cdf == Trust::Stands {
            selection.band = Some(selection.guard(cdf));
        }
        selection
    }

    /// The trust in the policy's intervals.
    pub(crate) fn trusts(&self) -> &Trusts {
        &self.reason.trusts
    }

    /// The order at which an interval is taken: the next one, where the log can carry its weights.
    pub(crate) fn guard(&self, order: usize) -> usize {
        let next = self.orders.iter().find(|test| test.order == order + 1 && test.is_usable());
        next.map_or(order, |test| test.order)
    }
}

/// The chosen orders, and what the trust in them rests on.
struct Chosen {
    orders: Vec<OrderTest>,
    cdf: usize,
    mean: usize,
    variance: usize,
    /// Slots of the longest slate.
    slots: usize,
    /// From this order on, all weights are the same.
    distinct: usize,
    /// Whether orders are kept to choose among: they are not for targets whose slots depend on each other.
    told_apart: bool,
    /// What helps where the log contradicts all orders.
    remedy: Remedy,
}

impl Chosen {
    fn trusts(&self) -> Trusts {
        Trusts::new(self.trust(Functional::Cdf), self.trust(Functional::Mean), self.trust(Functional::Variance))
    }

    fn trust(&self, functional: Functional) -> Trust {
        let order = match functional {
            Functional::Cdf => self.cdf,
            Functional::Mean => self.mean,
            Functional::Variance => self.variance,
        };
        if let Some(test) = self.orders.iter().find(|test| test.order > order && test.shows(functional)) {
            let way_out = self.way_out(test);
            return Trust::Withheld(Reason::Contradicted { order, effects: test.effects(), way_out });
        }
        if order >= self.distinct {
            return Trust::Stands;
        }
        let why = match self.orders.iter().find(|test| test.order == order + 1) {
            _ if !self.told_apart => Untested::JointSlots,
            Some(next) if next.is_carried() => return Trust::Stands,
            Some(next) => {
                let rows = next.design_ess.unwrap_or(0.0);
                Untested::Thin { order: next.order, rows, needed: ROWS_NEEDED }
            }
            None => Untested::NoTest,
        };
        Trust::Conditional(Reason::Untested { order, why })
    }

    /// What is left where an order shows that has no weights, or whose weights the log cannot carry.
    fn way_out(&self, test: &OrderTest) -> WayOut {
        if !self.told_apart {
            WayOut::None
        } else if self.remedy == Remedy::Propensities {
            WayOut::Propensities
        } else if test.and_above {
            WayOut::Product
        } else {
            WayOut::MoreRows { rows: test.design_ess.unwrap_or(0.0), needed: ROWS_NEEDED }
        }
    }

    fn reason(&self, trusts: &Trusts) -> SelectionReason {
        let next = self.orders.iter().find(|test| test.order == self.cdf + 1);
        let is_thin = |test: &&OrderTest| {
            (self.cdf + 2..=self.distinct).contains(&test.order) && !test.active && !test.is_carried()
        };
        let thin = self.orders.iter().filter(is_thin).map(|test| test.order);
        let tests_all_above = self.orders.last().is_some_and(|test| test.and_above);
        let highest = self.orders.iter().filter(|test| !test.and_above).map(|test| test.order).max().unwrap_or(1);
        let is_untested = self.distinct > highest && !tests_all_above && self.cdf < highest;
        SelectionReason {
            cdf: self.cdf,
            mean: self.mean,
            variance: self.variance,
            slots: self.slots,
            distinct: self.distinct,
            trusts: trusts.clone(),
            next: next.cloned(),
            thin: if self.told_apart { thin.collect() } else { Vec::new() },
            untested_above: (self.told_apart && is_untested).then_some(highest),
        }
    }
}
