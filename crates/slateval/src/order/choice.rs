//! Which order of weights the data ask for.
//!
//! The highest order that is active and that the log can carry: its design effective sample size is at least 10. CDF, mean
//! and second moment each have their own, by their own tests: an additive mean does not make an additive CDF, and the
//! square of a sum of slots is of order 2.
//!
//! What may be said of an interval follows from the tests too. It is taken one order above the chosen one, where the log
//! can carry that. An active order that the log cannot carry contradicts the chosen one: there is no interval. Where the
//! order next above is silent but could not be carried, nothing vouches for the choice: the interval is conditional.

use crate::answer::selection::{OrderTest, Selection};
use crate::estimate::design::ROWS_NEEDED;
use crate::estimate::design::product_design_ess;
use crate::estimate::estimator::Estimator;
use crate::order::order_test::{Evidence, Tested, judge};
use crate::summary::witness::Witness;
use crate::uncertainty::trust::{Trust, Trusts};

/// What an order is chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Functional {
    Cdf,
    Mean,
    Variance,
}

impl OrderTest {
    fn shows(&self, functional: Functional) -> bool {
        match functional {
            Functional::Cdf => self.active,
            Functional::Mean => self.mean.active,
            Functional::Variance => self.variance.active,
        }
    }

    fn is_carried(&self) -> bool {
        self.design_ess.is_some_and(|ess| ess >= ROWS_NEEDED)
    }

    /// Whether there are weights of this order that the log can carry.
    fn is_usable(&self) -> bool {
        !self.and_above && self.is_carried()
    }

    /// `effects of 3 slots`.
    fn effects(&self) -> String {
        format!("effects of {}{} slots", self.order, if self.and_above { " or more" } else { "" })
    }
}

/// Tests of the orders above `from` among those that `estimators` are of, and of what is beyond all of them.
fn tests(tested: &Tested<'_>, estimators: &[Estimator<'_>]) -> Vec<OrderTest> {
    let highest = tested.cell.slots.min(estimators.len()).max(1);
    let orders = (2..=highest).map(|order| tested.order(order, estimators[order - 1].design_ess));
    let beyond = beyond_orders(tested, &estimators[0]);
    judge(&orders.chain(beyond).collect::<Vec<_>>())
}

/// The witnesses. What is beyond all orders that are told apart is tested only where the log could carry a weight that
/// assumes nothing.
fn beyond_orders(tested: &Tested<'_>, estimator: &Estimator<'_>) -> Vec<Evidence> {
    let list = &tested.cell.layout.witnesses[tested.policy].layout.list;
    let evidence = |&witness: &Witness| match witness {
        Witness::Order(_) => Some(tested.witness(witness, None)),
        Witness::Beyond(_) => {
            let ess = product_design_ess(estimator);
            (ess >= ROWS_NEEDED).then(|| tested.witness(witness, Some(ess)))
        }
    };
    list.iter().filter_map(evidence).collect()
}

/// What the log says against a structure that was asked for by name: whether anything shows that it leaves out.
pub(crate) fn tests_of_structure(
    tested: &Tested<'_>,
    estimator: &Estimator<'_>,
    kept_above: std::ops::RangeInclusive<usize>,
) -> Vec<OrderTest> {
    let kept = kept_above.map(|order| tested.order(order, None));
    judge(&kept.chain(beyond_orders(tested, estimator)).collect::<Vec<_>>())
}

/// The trust in a structure that was asked for by name: nothing lessens it but the log's own contradiction.
pub(crate) fn trust_in_structure(tests: &[OrderTest]) -> Trusts {
    let trust = |functional: Functional| match tests.iter().find(|test| test.shows(functional)) {
        Some(test) => Trust::Refuted(format!("the log contradicts this structure: {} show in it", test.effects())),
        None => Trust::Stands,
    };
    Trusts::new(trust(Functional::Cdf), trust(Functional::Mean), trust(Functional::Variance))
}

impl Selection {
    /// Chooses among the orders that `estimators` are of, the first of order 1.
    pub(crate) fn choose(tested: &Tested<'_>, estimators: &[Estimator<'_>]) -> Self {
        let slots = tested.cell.slots;
        let orders = tests(tested, estimators);
        let highest = |functional: Functional| {
            let usable = orders.iter().filter(|test| test.shows(functional) && test.is_usable());
            usable.map(|test| test.order).max().unwrap_or(1)
        };
        let (cdf, mean) = (highest(Functional::Cdf), highest(Functional::Mean));
        let variance = highest(Functional::Variance).max(mean);
        let mut selection = Selection { orders, cdf, mean, variance, band: None, reason: String::new() };
        let told_apart = estimators.len() > 1;
        if matches!(selection.trust(Functional::Cdf, slots, told_apart), Trust::Stands) {
            selection.band = Some(selection.guard(cdf));
        }
        selection.reason = selection.explain(slots, told_apart);
        selection
    }

    /// The order at which an interval is taken: the next one, where the log can carry its weights.
    pub(crate) fn guard(&self, order: usize) -> usize {
        let next = self.orders.iter().find(|test| test.order == order + 1 && test.is_usable());
        next.map_or(order, |test| test.order)
    }

    /// The trust in the policy's intervals. `told_apart` says that orders are kept to choose among: they are not for
    /// targets whose slots depend on each other.
    pub(crate) fn trusts(&self, slots: usize, told_apart: bool) -> Trusts {
        let trust = |functional: Functional| self.trust(functional, slots, told_apart);
        Trusts::new(trust(Functional::Cdf), trust(Functional::Mean), trust(Functional::Variance))
    }

    fn trust(&self, functional: Functional, slots: usize, told_apart: bool) -> Trust {
        let order = match functional {
            Functional::Cdf => self.cdf,
            Functional::Mean => self.mean,
            Functional::Variance => self.variance,
        };
        if let Some(test) = self.orders.iter().find(|test| test.order > order && test.shows(functional)) {
            return Trust::Withheld(contradiction(test, order, told_apart));
        }
        if order >= slots {
            return Trust::Stands;
        }
        let holds_if = match order {
            1 => "it holds if slots do not interact".to_owned(),
            _ => format!("it holds if no more than {order} slots interact"),
        };
        if !told_apart {
            return Trust::Conditional(format!(
                "{holds_if}: for a target whose slots depend on each other, this cannot be tested"
            ));
        }
        match self.orders.iter().find(|test| test.order == order + 1) {
            Some(next) if next.is_carried() => Trust::Stands,
            Some(next) => Trust::Conditional(format!(
                "{holds_if}: this log is too thin to tell (worth {:.1} rows at order {}, and {ROWS_NEEDED} are needed)",
                next.design_ess.unwrap_or(0.0),
                next.order
            )),
            None => Trust::Conditional(format!(
                "{holds_if}: this log is too thin to tell (effects of more slots could not be tested)"
            )),
        }
    }

    /// Why, in words.
    fn explain(&self, slots: usize, told_apart: bool) -> String {
        let chosen = format!("CDF at order {}, mean at {}, variance at {}", self.cdf, self.mean, self.variance);
        let trusts = self.trusts(slots, told_apart);
        let why = match &trusts.cdf {
            Trust::Stands if self.cdf >= slots => {
                let plural = if slots == 1 { "" } else { "s" };
                format!("slates have {slots} slot{plural}: nothing is assumed at this order")
            }
            Trust::Stands => self.explain_silence(),
            Trust::Conditional(why) | Trust::Refuted(why) | Trust::Withheld(why) => why.clone(),
        };
        let others = [("mean", &trusts.mean), ("variance", &trusts.variance)];
        let differs = |(_, trust): &(&str, &Trust)| {
            **trust != Trust::Stands && std::mem::discriminant(*trust) != std::mem::discriminant(&trusts.cdf)
        };
        let others = others.into_iter().filter(differs).map(|(what, trust)| match trust {
            Trust::Conditional(why) | Trust::Refuted(why) | Trust::Withheld(why) => format!("; {what}: {why}"),
            Trust::Stands => String::new(),
        });
        format!("{chosen}: {why}{}{}", others.collect::<String>(), self.name_untested(slots, told_apart))
    }

    fn explain_silence(&self) -> String {
        let Some(next) = self.orders.iter().find(|test| test.order == self.cdf + 1) else { return String::new() };
        let silent = format!(
            "{} do not show (statistic {}, critical value {})",
            next.effects(),
            significant(next.statistic),
            significant(next.critical)
        );
        if next.and_above {
            return silent;
        }
        format!("{silent}; intervals are taken at order {}, so that a small effect of it cannot spoil them", next.order)
    }

    /// Orders further up that could not be carried, or not tested.
    fn name_untested(&self, slots: usize, told_apart: bool) -> String {
        if !told_apart {
            return String::new();
        }
        let is_thin = |test: &&OrderTest| test.order > self.cdf + 1 && !test.active && !test.is_carried();
        let thin: Vec<String> = self.orders.iter().filter(is_thin).map(|test| test.order.to_string()).collect();
        let mut named = match &thin[..] {
            [] => String::new(),
            [one] => format!("; order {one} does not show, though this log is too thin to rely on that"),
            many => format!("; orders {} do not show, though this log is too thin to rely on that", many.join(" and ")),
        };
        let tested = self.orders.last().is_some_and(|test| test.and_above);
        let highest = self.orders.iter().filter(|test| !test.and_above).map(|test| test.order).max().unwrap_or(1);
        if slots > highest && !tested && self.cdf < highest {
            named.push_str(&format!("; effects of more than {highest} slots could not be tested"));
        }
        named
    }
}

/// What an active order says that has no weights, or whose weights the log cannot carry.
fn contradiction(test: &OrderTest, order: usize, told_apart: bool) -> String {
    let shows = format!("{} show in the log", test.effects());
    if !told_apart {
        return format!("{shows}, which a target whose slots depend on each other cannot be corrected for");
    }
    if test.and_above {
        return format!(
            "{shows}: order {order} is likely wrong; read the log with structure product, which assumes nothing"
        );
    }
    let ess = test.design_ess.unwrap_or(0.0);
    format!(
        "{shows}, which is worth only {ess:.1} rows at that order ({ROWS_NEEDED} are needed): order {order} is likely wrong"
    )
}

/// Three digits.
fn significant(x: f64) -> String {
    if x >= 0.001 || x == 0.0 { format!("{x:.3}") } else { format!("{x:.2e}") }
}
