//! From a summary and rules to verdicts.
//! See docs/methods.md, section 10.

use std::fmt;

use slateval::{
    Band, Combination, Combined, Diagnostics, FailedCheck, IgnoredFile, Interval, Segment, Settings, Summary, Term,
    Worth,
};

use crate::Error;
use crate::rules::{Adjust, Judge, Rule, Rules, Scope};
use crate::token::Relation;

/// What the rules came to.
#[derive(Debug, Clone)]
pub struct Verdicts {
    /// The rules.
    pub rules: Rules,
    /// One of each rule and place, rule by rule, segments ascending.
    pub judgements: Vec<Judgement>,
    /// The one-sided confidence of each bound: more than that of the rules, where they share it.
    pub confidence: f64,
    /// How many judgements rest on a bound.
    pub bounds: usize,
    /// The column of the segments.
    pub column: Option<String>,
    /// Rows of the log.
    pub rows: u64,
    /// Files that were left out of the log because they are no logs, the first 1,000.
    pub ignored: Vec<IgnoredFile>,
    /// How many there are.
    pub ignored_files: u64,
    /// How it was evaluated: intervals whose two ends each have [`Verdicts::confidence`], and as many draws as they take.
    pub settings: Settings,
}

/// One rule, judged in one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Which rule, from 0.
    pub rule: usize,
    /// The segment; none for the whole log.
    pub segment: Option<Segment>,
    /// The verdict.
    pub verdict: Verdict,
    /// Left side minus right side. With a bound, its ends hold one by one, each at [`Verdicts::confidence`].
    pub difference: Interval,
    /// Checks that spoil the numbers of the rule's policies.
    pub failed: Vec<FailedCheck>,
    /// What the log is worth, where that is too little for a verdict by a bound.
    pub too_few: Option<Worth>,
}

/// Whether a rule is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Holds,
    /// It is not.
    DoesNotHold,
    /// The log does not say.
    CannotTell,
}

/// Draws beyond the end of an interval.
const BEYOND: f64 = 10.0;

/// More draws would take minutes a segment.
const MOST_DRAWS: f64 = 200_000.0;

/// Judges a summary by rules. How it is evaluated is up to `settings`, but for the confidence, which is the rules'.
///
/// # Errors
/// [`Error::Rule`] for rules about policies or segments that the summary has not, [`Error::TooManyBounds`], and what the
/// evaluation refuses.
pub fn judge(summary: &Summary, rules: &Rules, settings: &Settings) -> Result<Verdicts, Error> {
    rules.check_for(summary.spec()).map_err(Error::Rule)?;
    let bounds = bounds(rules, summary.segments().count());
    let (confidence, settings) = settings_for(rules, bounds, settings)?;

    let combinations: Vec<Combination> = rules.rules.iter().map(|rule| combination(rule, &settings)).collect();
    let refused = |error: slateval::Error| refused(error, bounds, confidence);
    let mut judgements = Vec::new();
    let mut judge = |segment: Option<&Segment>, place: usize, found: Combined| {
        let verdict = verdict(&rules.rules[place], &found);
        let too_few = too_few(&rules.rules[place], &found).cloned();
        let Combined { interval: difference, failed, .. } = found;
        judgements.push(Judgement { rule: place, segment: segment.cloned(), verdict, difference, failed, too_few });
    };
    let asked = |scope: Scope| (0..rules.rules.len()).filter(move |&place| rules.rules[place].scope == scope);
    let own = |places: &[usize]| places.iter().map(|&place| combinations[place].clone()).collect::<Vec<Combination>>();
    let (whole, each): (Vec<usize>, Vec<usize>) = (asked(Scope::Whole).collect(), asked(Scope::Each).collect());
    if !whole.is_empty() {
        let found = summary.combinations(&own(&whole), None, &settings).map_err(refused)?;
        whole.iter().zip(found).for_each(|(&place, found)| judge(None, place, found));
    }
    if !each.is_empty() {
        for (segment, found) in summary.combinations_by_segment(&own(&each), &settings).map_err(refused)? {
            each.iter().zip(found).for_each(|(&place, found)| judge(Some(&segment), place, found));
        }
    }
    judgements.sort_by_key(|judgement| judgement.rule);
    Ok(Verdicts {
        rules: rules.clone(),
        judgements,
        confidence,
        bounds,
        column: summary.spec().by.clone(),
        rows: summary.rows(),
        ignored: summary.ignored(),
        ignored_files: summary.ignored_files(),
        settings,
    })
}

/// What the rules make of settings, as far as can be said before a log is read: with one segment.
///
/// # Errors
/// [`Error::TooManyBounds`].
pub fn settings(rules: &Rules, settings: &Settings) -> Result<Settings, Error> {
    Ok(settings_for(rules, bounds(rules, 1), settings)?.1)
}

/// How many judgements rest on a bound. What is known without error needs none.
fn bounds(rules: &Rules, segments: usize) -> usize {
    let judged = rules.rules.iter().filter(|rule| rule.judge == Judge::Bound && rule.requirement.is_uncertain());
    judged.map(|rule| if rule.scope == Scope::Each { segments } else { 1 }).sum()
}

/// The one-sided confidence of each bound, and two-sided intervals whose ends have it each, from enough draws.
fn settings_for(rules: &Rules, bounds: usize, settings: &Settings) -> Result<(f64, Settings), Error> {
    let confidence = match rules.adjust {
        Adjust::None => rules.confidence,
        Adjust::Bonferroni => 1.0 - (1.0 - rules.confidence) / bounds.max(1) as f64,
    };
    let draws = draws(confidence);
    if settings.band == Band::Multiplier && draws > MOST_DRAWS * (1.0 + 1e-9) {
        return Err(Error::TooManyBounds { bounds, confidence, draws });
    }
    let mut settings = settings.clone();
    settings.confidence = 2.0 * confidence - 1.0;
    settings.draws = settings.draws.max(draws.min(MOST_DRAWS) as usize);
    Ok((confidence, settings))
}

/// As many draws as a one-sided bound of this confidence rests on. A little is taken off before rounding up: a confidence
/// of .95 leaves a little more than .05.
fn draws(confidence: f64) -> f64 {
    (BEYOND / (1.0 - confidence) - 1e-6).ceil()
}

/// Terms that share the error of their bound may ask for more draws than there can be.
fn refused(error: slateval::Error, bounds: usize, confidence: f64) -> Error {
    match error {
        slateval::Error::TooFewDraws { .. } => Error::TooManyBounds { bounds, confidence, draws: draws(confidence) },
        other => Error::Evaluation(other),
    }
}

fn combination(rule: &Rule, settings: &Settings) -> Combination {
    let sum = &rule.requirement.sum;
    let term = |t: &crate::expression::Term| Term::new(t.coefficient, t.quantity.metric(settings), t.policy.clone());
    Combination { terms: sum.terms.iter().map(term).collect(), constant: sum.constant }
}

/// What the log is worth, if that is too little for a verdict by a bound.
fn too_few<'f>(rule: &Rule, found: &'f Combined) -> Option<&'f Worth> {
    found.worth.as_ref().filter(|worth| rule.judge == Judge::Bound && worth.rows < Diagnostics::ENOUGH_ROWS)
}

fn verdict(rule: &Rule, found: &Combined) -> Verdict {
    // What is no number shows nothing.
    let number = |x: Option<f64>| x.filter(|x| x.is_finite());
    let Interval { estimate, lower, upper, .. } = found.interval;
    let (estimate, lower, upper) = (number(estimate), number(lower), number(upper));
    let relation = rule.requirement.relation;
    match rule.judge {
        Judge::Point => match estimate {
            Some(estimate) if relation.is_met(estimate) => Verdict::Holds,
            Some(_) => Verdict::DoesNotHold,
            None => Verdict::CannotTell,
        },
        // Numbers that are known to be wrong show nothing, nor do bounds that are known to be too narrow.
        Judge::Bound if !found.failed.is_empty() || too_few(rule, found).is_some() => Verdict::CannotTell,
        // Nor do bounds under a condition that cannot be tested, or that something stands against.
        Judge::Bound if found.interval.conditional || found.interval.refuted.is_some() => Verdict::CannotTell,
        Judge::Bound => relation.verdict(lower, upper),
    }
}

impl Relation {
    /// What the ends of the difference of the sides show.
    pub(crate) fn verdict(self, lower: Option<f64>, upper: Option<f64>) -> Verdict {
        let (worst, best) = if self.wants_more() { (lower, upper) } else { (upper, lower) };
        if worst.is_some_and(|end| self.is_met(end)) {
            Verdict::Holds
        } else if best.is_some_and(|end| !self.is_met(end)) {
            Verdict::DoesNotHold
        } else {
            Verdict::CannotTell
        }
    }

    /// Whether the difference of the sides compares with 0 as it should.
    pub(crate) fn is_met(self, difference: f64) -> bool {
        match self {
            Relation::AtLeast => difference >= 0.0,
            Relation::Above => difference > 0.0,
            Relation::AtMost => difference <= 0.0,
            Relation::Below => difference < 0.0,
        }
    }

    pub(crate) fn wants_more(self) -> bool {
        matches!(self, Relation::AtLeast | Relation::Above)
    }
}

impl Verdicts {
    /// Whether every rule holds everywhere.
    pub fn passed(&self) -> bool {
        self.judgements.iter().all(|judgement| judgement.verdict == Verdict::Holds)
    }

    /// The rule of a judgement.
    pub fn rule(&self, judgement: &Judgement) -> &Rule {
        &self.rules.rules[judgement.rule]
    }

    /// A rule's verdict over all places: it holds if it holds in each.
    pub(crate) fn overall(&self, rule: usize) -> Verdict {
        let own = self.judgements.iter().filter(|judgement| judgement.rule == rule).map(|j| j.verdict);
        own.fold(Verdict::Holds, |worst, verdict| match (worst, verdict) {
            (Verdict::DoesNotHold, _) | (_, Verdict::DoesNotHold) => Verdict::DoesNotHold,
            (Verdict::CannotTell, _) | (_, Verdict::CannotTell) => Verdict::CannotTell,
            _ => Verdict::Holds,
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::DoesNotHold => "does not hold",
            Verdict::CannotTell => "cannot tell",
        })
    }
}

#[cfg(test)]
mod tests {
    use slateval::Bounds;

    use super::*;

    #[test]
    fn what_is_no_number_shows_nothing() -> Result<(), crate::Mistake> {
        let of = |judge: &str| Rules::parse(&format!("[[rule]]\nrequire = 'mean(new) > 0'\njudge = '{judge}'\n"), "r");
        for (judge, x) in [("bound", f64::NAN), ("point", f64::NAN), ("bound", f64::INFINITY), ("point", f64::INFINITY)]
        {
            let interval = Interval { estimate: Some(x), lower: Some(x), upper: Some(x), ..Interval::default() };
            let found = Combined { interval, failed: Vec::new(), worth: None };
            assert_eq!(verdict(&of(judge)?.rules[0], &found), Verdict::CannotTell, "{judge} {x}");
        }
        Ok(())
    }

    fn rule(judge: &str) -> Result<Rule, crate::Mistake> {
        let text = format!("[[rule]]\nrequire = 'mean(new) > 0'\njudge = '{judge}'\n");
        Ok(Rules::parse(&text, "r")?.rules.swap_remove(0))
    }

    const REFUTED: slateval::Refutation = slateval::Refutation::Structure(slateval::Structure::Additive);

    /// Intervals of a mean that is above 0, and what may be said of it by its bound.
    fn intervals() -> [(&'static str, Interval, Verdict); 4] {
        let bounds = Bounds { lower: Some(0.4), upper: Some(0.6) };
        let stands = Interval { estimate: Some(0.5), lower: bounds.lower, upper: bounds.upper, ..Interval::default() };
        let withheld = Interval { lower: None, upper: None, if_order_holds: Some(bounds), ..stands.clone() };
        [
            ("conditional", Interval { conditional: true, ..withheld.clone() }, Verdict::CannotTell),
            ("withheld", withheld, Verdict::CannotTell),
            ("refuted", Interval { refuted: Some(REFUTED), ..stands.clone() }, Verdict::CannotTell),
            ("stands", stands, Verdict::Holds),
        ]
    }

    #[test]
    fn only_bounds_that_stand_show_anything() -> Result<(), crate::Mistake> {
        for (name, interval, expected) in intervals() {
            let found = Combined { interval, failed: Vec::new(), worth: None };
            assert_eq!(verdict(&rule("bound")?, &found), expected, "{name}");
            assert_eq!(verdict(&rule("point")?, &found), Verdict::Holds, "{name}: the estimate alone counts");
        }
        Ok(())
    }

    #[test]
    fn a_contradicted_order_or_structure_shows_nothing() -> Result<(), crate::Mistake> {
        let [.., (_, interval, _)] = intervals();
        let why = slateval::Reason::Refuted { effects: slateval::Effects { slots: 3, and_above: false } };
        let refuted = slateval::Finding::StructureRefuted {
            why,
            spoils: vec![slateval::Functional::Mean],
            remedy: slateval::Remedy::Structure,
        };
        for finding in [slateval::Finding::Order(Box::default()), refuted] {
            let name = finding.name();
            let check = slateval::Check::new(slateval::Status::Fail, None, finding);
            let failed = vec![FailedCheck { policy: "new".into(), check }];
            let found = Combined { interval: interval.clone(), failed, worth: None };
            assert_eq!(verdict(&rule("bound")?, &found), Verdict::CannotTell, "{name}");
            assert_eq!(verdict(&rule("point")?, &found), Verdict::Holds, "{name}");
        }
        Ok(())
    }

    #[test]
    fn what_is_known_without_error_takes_no_share_of_it() -> Result<(), Box<dyn std::error::Error>> {
        let text = "adjust = 'bonferroni'\n[[rule]]\nrequire = 'ess(new) >= 10'\n[[rule]]\nrequire = 'mean(new) > 0'\n";
        let mut rules = Rules::parse(text, "r")?;
        assert_eq!(bounds(&rules, 1), 1);
        let used = settings(&rules, &Settings::default())?;
        assert_eq!((used.confidence, used.draws), (2.0 * 0.95 - 1.0, 2000));
        rules.confidence = 0.99995;
        assert_eq!(settings(&rules, &Settings::default())?.draws, 200_000);
        rules.confidence = 0.99996;
        assert!(matches!(settings(&rules, &Settings::default()), Err(Error::TooManyBounds { bounds: 1, .. })));
        Ok(())
    }
}
