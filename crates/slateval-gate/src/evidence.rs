//! What a verdict rests on, in words.

use slateval::{Diagnostics, Interval, LOGGING, Metric, Status, Worth};
use slateval_text::number::decimals;
use slateval_text::{InWords, Voice, condition};

use crate::expression::{Quantity, Term};
use crate::judge::{Judgement, Verdict, Verdicts};
use crate::number::{fixed, percent, shortest};
use crate::rules::Judge;
use crate::token::Relation;

/// A judgement with the metrics on the left and a number on the right.
#[derive(Debug)]
pub(crate) struct Evidence {
    /// The metrics as they are written.
    pub(crate) expression: String,
    /// What they are to be compared with.
    pub(crate) threshold: f64,
    /// What was found, in a sentence.
    pub(crate) sentence: String,
    /// Why it cannot be told, or what else there is to know.
    pub(crate) reason: Option<String>,
}

impl Evidence {
    pub(crate) fn new(verdicts: &Verdicts, judgement: &Judgement) -> Self {
        let rule = verdicts.rule(judgement);
        let (sum, relation) = (&rule.requirement.sum, rule.requirement.relation);
        // What comes first has no minus sign.
        let is_turned = sum.terms.first().is_some_and(|term| term.coefficient < 0.0);
        let sign = if is_turned { -1.0 } else { 1.0 };
        let moved = |x: Option<f64>| x.map(|x| sign * (x - sum.constant));
        let Interval { estimate, lower, upper, .. } = judgement.difference;
        let (lower, upper) = if is_turned { (upper, lower) } else { (lower, upper) };
        let found = Found {
            expression: expression(&sum.terms, sign),
            threshold: -sign * sum.constant,
            relation: if is_turned { relation.turned() } else { relation },
            estimate: moved(estimate),
            lower: moved(lower),
            upper: moved(upper),
            is_difference: sum.terms.len() > 1,
            confidence: verdicts.confidence,
        };
        let reason = reason((rule.judge, relation), judgement, &found);
        let sentence = found.sentence(rule.judge, judgement);
        Evidence { expression: found.expression, threshold: found.threshold, sentence, reason }
    }

    /// The sentence with the reason.
    pub(crate) fn in_full(&self) -> String {
        self.reason.as_ref().map_or(self.sentence.clone(), |reason| format!("{}; {reason}", self.sentence))
    }
}

struct Found {
    expression: String,
    threshold: f64,
    relation: Relation,
    estimate: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    is_difference: bool,
    confidence: f64,
}

impl Found {
    fn number(&self, value: f64) -> String {
        let shown = [self.estimate, self.lower, self.upper].into_iter().flatten();
        fixed(value, decimals(shown.chain([self.threshold])), self.is_difference)
    }

    fn required(&self) -> String {
        let words = match self.relation {
            Relation::AtLeast => "at least",
            Relation::Above => "more than",
            Relation::AtMost => "at most",
            Relation::Below => "less than",
        };
        format!("{words} {} is required", shortest(self.threshold))
    }

    fn sentence(&self, judge: Judge, judgement: &Judgement) -> String {
        let Some(estimate) = self.estimate else { return format!("{} has no estimate", self.expression) };
        let equation = format!("{} = {}", self.expression, self.number(estimate));
        let confidence = percent(self.confidence);
        let is_exact = self.lower == self.upper && self.lower.is_some();
        let end = |lower: bool| if lower { ("at least", self.lower) } else { ("at most", self.upper) };
        let wants_more = self.relation.wants_more();
        let required = self.required();
        match (judge, judgement.verdict) {
            (Judge::Point, _) => format!("{equation}, by the estimate alone; {required}"),
            (_, Verdict::CannotTell) => {
                let (word, worst) = if wants_more { ("low", self.lower) } else { ("high", self.upper) };
                let has_bound = judgement.difference.refuted.is_none()
                    && judgement.failed.is_empty()
                    && judgement.too_few.is_none();
                match worst {
                    Some(worst) if self.lower != self.upper && has_bound => {
                        format!(
                            "not shown: {equation}, but it could be as {word} as {} ({confidence} confidence); {required}",
                            self.number(worst)
                        )
                    }
                    _ => format!("{equation}; {required}"),
                }
            }
            (_, verdict) => match end(wants_more == (verdict == Verdict::Holds)) {
                (words, Some(end)) if !is_exact => {
                    format!("{equation}, {words} {} with {confidence} confidence; {required}", self.number(end))
                }
                _ => format!("{equation}; {required}"),
            },
        }
    }

    /// How many times more rows would show it, if the estimate stayed where it is: errors fall with their square root.
    fn more_rows(&self) -> Option<f64> {
        let estimate = self.estimate?;
        let worst = if self.relation.wants_more() { self.lower? } else { self.upper? };
        let (margin, arm) = (estimate - self.threshold, estimate - worst);
        let turned = if self.relation.wants_more() { 1.0 } else { -1.0 };
        (turned * margin > 0.0 && turned * arm > 0.0).then(|| (arm / margin).powi(2))
    }
}

fn reason((judge, relation): (Judge, Relation), judgement: &Judgement, found: &Found) -> Option<String> {
    if let Some(failed) = judgement.failed.first() {
        let (policy, check) = (quoted(&failed.policy), &failed.check);
        let verb = if check.status == Status::Fail { "failed" } else { "warns" };
        let found =
            format!("the check `{}` of {policy} {verb}: {}", check.name(), check.finding.in_words(Voice::CommandLine));
        let remark = if judge == Judge::Point { "do not rely on it: " } else { "nothing can be shown: " };
        return Some(remark.to_owned() + &found);
    }
    if judge == Judge::Point || judgement.verdict != Verdict::CannotTell {
        let reason = judgement.difference.reason.as_ref().filter(|_| judgement.verdict == Verdict::CannotTell);
        return reason.map(|reason| reason.in_words(Voice::CommandLine));
    }
    let given = &judgement.difference;
    if let Some(reason) = &given.reason {
        let words = reason.in_words(Voice::CommandLine);
        return Some(match (condition(reason), given.refuted.is_some()) {
            (Some(condition), _) if given.conditional => under_condition(&condition, given, relation),
            (_, true) => format!("nothing can be shown: {words}"),
            _ => format!("there is no bound: {words}"),
        });
    }
    if let Some(Worth { policy, rows, .. }) = &judgement.too_few {
        let own = if policy == LOGGING { "" } else { " of the target's own" };
        let enough = Diagnostics::ENOUGH_ROWS;
        return Some(format!("the log is worth only {rows:.1} rows{own}, and {enough} are needed for a verdict"));
    }
    let worst = given.if_order_holds.and_then(|b| if relation.wants_more() { b.lower } else { b.upper });
    let would_hold = worst.is_some_and(|end| relation.is_met(end));
    let rows = match found.more_rows() {
        Some(times) if times <= 1000.0 => {
            format!("about {:.1} times as many rows would show it if the estimate stayed", times.max(1.1))
        }
        Some(_) => "the estimate is too near the limit for more rows to help".to_owned(),
        None => "the estimate itself does not meet it; more rows may show that it does not hold".to_owned(),
    };
    let order = if would_hold { "; it would hold if the order chosen from the data is right" } else { "" };
    Some(rows + order)
}

/// What a bound rests on that cannot be tested, and what it would show.
fn under_condition(condition: &str, given: &Interval, relation: Relation) -> String {
    let would = match given.if_order_holds.map(|ends| relation.verdict(ends.lower, ends.upper)) {
        Some(Verdict::Holds) => "under this condition the rule would hold",
        Some(Verdict::DoesNotHold) => "under this condition the rule would not hold",
        _ => "even under this condition it could not be told",
    };
    format!("the bound holds only if {condition}; {would}")
}

fn expression(terms: &[Term], sign: f64) -> String {
    let mut out = String::new();
    for term in terms.iter().filter(|term| term.coefficient != 0.0) {
        let coefficient = sign * term.coefficient;
        out += match (out.is_empty(), coefficient < 0.0) {
            (true, true) => "−",
            (true, false) => "",
            (false, true) => " − ",
            (false, false) => " + ",
        };
        if coefficient.abs() != 1.0 {
            out += &format!("{}·", shortest(coefficient.abs()));
        }
        out += &written(term);
    }
    if out.is_empty() { "0".to_owned() } else { out }
}

/// A metric as it is written in a rule.
fn written(term: &Term) -> String {
    let policy = quoted(&term.policy);
    match term.quantity {
        Quantity::Var(alpha) => format!("var({policy}, {})", shortest(alpha)),
        Quantity::Of(Metric::Mean) => format!("mean({policy})"),
        Quantity::Of(Metric::Variance) => format!("variance({policy})"),
        Quantity::Of(Metric::Std) => format!("std({policy})"),
        Quantity::Of(Metric::Quantile(level)) => format!("quantile({policy}, {})", shortest(level)),
        Quantity::Of(Metric::Cvar(alpha)) => format!("cvar({policy}, {})", shortest(alpha)),
        Quantity::Of(Metric::Probability(v)) => format!("prob({policy} <= {})", shortest(v)),
        Quantity::Of(_) => format!("ess({policy})"),
    }
}

/// A name in quotes where a rule would need them.
fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if plain { name.to_owned() } else { format!("\"{name}\"") }
}

#[cfg(test)]
mod tests {
    use slateval::Bounds;

    use super::*;

    #[test]
    fn a_condition_is_named_with_what_it_would_show() {
        let thin = "slots do not interact: this log is too thin to tell";
        let named = "the bound holds only if slots do not interact: this log is too thin to tell";
        for (lower, upper, would) in [
            (0.1, 0.3, "under this condition the rule would hold"),
            (-0.3, -0.1, "under this condition the rule would not hold"),
            (-0.1, 0.3, "even under this condition it could not be told"),
        ] {
            let ends = Bounds { lower: Some(lower), upper: Some(upper) };
            let given = Interval { if_order_holds: Some(ends), conditional: true, ..Interval::default() };
            assert_eq!(under_condition(thin, &given, Relation::AtLeast), format!("{named}; {would}"));
        }
    }
}
