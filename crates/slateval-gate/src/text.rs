//! Verdicts for a terminal.

use slateval::{Metric, Tail};
use slateval_text::{on_one_line, shown};

use crate::evidence::Evidence;
use crate::expression::Quantity;
use crate::judge::{Judgement, Verdict, Verdicts};
use crate::number::percent;
use crate::rules::Adjust;

/// One block for each rule, and how many hold.
pub fn text(verdicts: &Verdicts) -> String {
    let mut out = String::new();
    for (place, rule) in verdicts.rules.rules.iter().enumerate() {
        let own: Vec<&Judgement> = verdicts.judgements.iter().filter(|j| j.rule == place).collect();
        out += &format!("{}: {}\n", verdicts.overall(place), line(&rule.name));
        if rule.name != rule.require {
            out += &format!("    {}\n", line(&rule.require));
        }
        for judgement in own {
            let evidence = Evidence::new(verdicts, judgement);
            let (found, reason) = (line(&evidence.sentence), evidence.reason.as_deref().map(line));
            let indent = match (&verdicts.column, &judgement.segment) {
                (Some(column), Some(segment)) => {
                    let place = format!("{} = {}", line(column), line(&segment.to_string()));
                    out += &format!("    {place}: {}\n        {found}\n", judgement.verdict);
                    8
                }
                _ => {
                    out += &format!("    {found}\n");
                    4
                }
            };
            out += &reason.map_or(String::new(), |reason| format!("{}{reason}\n", " ".repeat(indent)));
        }
        out.push('\n');
    }
    out + &upper_tail(verdicts) + &shared_confidence(verdicts) + &closing(verdicts) + "\n"
}

/// Text of a rule or of the log on one line. Rules may be written over several.
pub(crate) fn line(text: &str) -> String {
    shown(&on_one_line(text)).into_owned()
}

/// Which tail VaR and CVaR are of, where it is not the usual one.
fn upper_tail(verdicts: &Verdicts) -> String {
    let of_tail = |quantity: Quantity| matches!(quantity, Quantity::Var(_) | Quantity::Of(Metric::Cvar(_)));
    let mut terms = verdicts.rules.rules.iter().flat_map(|rule| &rule.requirement.sum.terms);
    if verdicts.settings.tail == Tail::Lower || !terms.any(|term| of_tail(term.quantity)) {
        return String::new();
    }
    "var and cvar are of the upper tail, the largest rewards.\n".to_owned()
}

fn shared_confidence(verdicts: &Verdicts) -> String {
    if verdicts.rules.adjust == Adjust::None || verdicts.bounds < 2 {
        return String::new();
    }
    let (each, all) = (percent(verdicts.confidence), percent(verdicts.rules.confidence));
    format!("Each of {} bounds is at {each}, so that all hold at once with {all} confidence.\n", verdicts.bounds)
}

/// How many rules hold.
pub(crate) fn closing(verdicts: &Verdicts) -> String {
    let rules = verdicts.rules.rules.len();
    let hold = (0..rules).filter(|&rule| verdicts.overall(rule) == Verdict::Holds).count();
    match rules {
        1 => format!("{hold} of 1 rule holds."),
        _ => format!("{hold} of {rules} rules hold."),
    }
}
