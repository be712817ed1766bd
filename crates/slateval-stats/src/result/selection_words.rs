//! Why an order was chosen, in sentences.

use std::fmt;
use std::mem::discriminant;

use crate::result::reason::Reason;
use crate::result::selection::SelectionReason;
use crate::result::trust::Trust;
use crate::result::words::{PlainWords, Words};

impl SelectionReason {
    /// The reason as a sentence without its full stop, with advice in a front end's words.
    pub fn in_words(&self, words: &impl Words) -> String {
        let SelectionReason { cdf, mean, variance, slots, distinct, .. } = self;
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let chosen = format!("CDF at order {cdf}, mean at {mean}, variance at {variance}");
        let why = match self.trusts.cdf.reason() {
            Some(reason) => reason.in_words(words),
            None if cdf >= slots => {
                format!("slates have {slots} slot{}: nothing is assumed at this order", plural(*slots))
            }
            None if cdf >= distinct => {
                let s = plural(*distinct);
                format!("the target changes at most {distinct} slot{s} of a slate: nothing is assumed at this order")
            }
            None => self.silence(),
        };
        format!("{chosen}: {why}{}{}", self.others(words), self.untested())
    }

    /// What stands against the mean and the variance, where it is of another kind than what stands against the CDF.
    fn others(&self, words: &impl Words) -> String {
        let others = [("mean", &self.trusts.mean), ("variance", &self.trusts.variance)];
        let differs = |trust: &Trust| discriminant(trust) != discriminant(&self.trusts.cdf);
        let clause = |(what, trust): (&str, &Trust)| {
            let reason: &Reason = trust.reason().filter(|_| differs(trust))?;
            Some(format!("; {what}: {}", reason.in_words(words)))
        };
        others.into_iter().filter_map(clause).collect()
    }

    fn silence(&self) -> String {
        let Some(next) = &self.next else { return String::new() };
        let (statistic, critical) = (significant(next.statistic), significant(next.critical));
        let silent = format!("{} do not show (statistic {statistic}, critical value {critical})", next.effects());
        if next.and_above {
            return silent;
        }
        format!("{silent}; intervals are taken at order {}, so that a small effect of it cannot spoil them", next.order)
    }

    /// Orders further up that could not be carried, or not tested.
    fn untested(&self) -> String {
        let thin: Vec<String> = self.thin.iter().map(ToString::to_string).collect();
        let mut named = match &thin[..] {
            [] => String::new(),
            [one] => format!("; order {one} does not show, though this log is too thin to rely on that"),
            many => format!("; orders {} do not show, though this log is too thin to rely on that", many.join(" and ")),
        };
        if let Some(highest) = self.untested_above {
            named.push_str(&format!("; effects of more than {highest} slots could not be tested"));
        }
        named
    }
}

/// Three digits.
fn significant(x: f64) -> String {
    if x >= 0.001 || x == 0.0 { format!("{x:.3}") } else { format!("{x:.2e}") }
}

impl fmt::Display for SelectionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&PlainWords))
    }
}
