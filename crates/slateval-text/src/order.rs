//! Why an order was chosen, in sentences.

use std::mem::discriminant;

use slateval_stats::{Reason, SelectionReason, Trust};

use crate::reason::effects;
use crate::{InWords, Voice};

impl InWords for SelectionReason {
    /// A sentence without its full stop.
    fn in_words(&self, voice: Voice) -> String {
        let SelectionReason { cdf, mean, variance, slots, distinct, .. } = self;
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let chosen = format!("CDF at order {cdf}, mean at {mean}, variance at {variance}");
        let why = match self.trusts.cdf.reason() {
            Some(reason) => reason.in_words(voice),
            None if cdf >= slots => {
                format!("slates have {slots} slot{}: nothing is assumed at this order", plural(*slots))
            }
            None if cdf >= distinct => {
                let s = plural(*distinct);
                format!("the target changes at most {distinct} slot{s} of a slate: nothing is assumed at this order")
            }
            None => silence(self),
        };
        format!("{chosen}: {why}{}{}", others(self, voice), untested(self))
    }
}

/// What stands against the mean and the variance, where it is of another kind than what stands against the CDF.
fn others(reason: &SelectionReason, voice: Voice) -> String {
    let others = [("mean", &reason.trusts.mean), ("variance", &reason.trusts.variance)];
    let differs = |trust: &Trust| discriminant(trust) != discriminant(&reason.trusts.cdf);
    let clause = |(what, trust): (&str, &Trust)| {
        let against: &Reason = trust.reason().filter(|_| differs(trust))?;
        Some(format!("; {what}: {}", against.in_words(voice)))
    };
    others.into_iter().filter_map(clause).collect()
}

fn silence(reason: &SelectionReason) -> String {
    let Some(next) = &reason.next else { return String::new() };
    let (statistic, critical) = (significant(next.statistic), significant(next.critical));
    let silent = format!("{} do not show (statistic {statistic}, critical value {critical})", effects(next.effects()));
    if next.and_above {
        return silent;
    }
    format!("{silent}; intervals are taken at order {}, so that a small effect of it cannot spoil them", next.order)
}

/// Orders further up that could not be carried, or not tested.
fn untested(reason: &SelectionReason) -> String {
    let thin: Vec<String> = reason.thin.iter().map(ToString::to_string).collect();
    let mut named = match &thin[..] {
        [] => String::new(),
        [one] => format!("; order {one} does not show, though this log is too thin to rely on that"),
        many => format!("; orders {} do not show, though this log is too thin to rely on that", many.join(" and ")),
    };
    if let Some(highest) = reason.untested_above {
        named.push_str(&format!("; effects of more than {highest} slots could not be tested"));
    }
    named
}

/// Three digits.
fn significant(x: f64) -> String {
    if x >= 0.001 || x == 0.0 { format!("{x:.3}") } else { format!("{x:.2e}") }
}
