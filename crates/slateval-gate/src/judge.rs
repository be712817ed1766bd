//! From a summary and rules to verdicts.

use std::fmt;

use slateval::{Combination, Combined, FailedCheck, Interval, Segment, Settings, Summary, Term};

use crate::Error;
use crate::rules::{Adjust, Judge, Rule, Rules, Scope};
use crate::token::Comparison;

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
    /// Failed checks of the rule's policies.
    pub failed: Vec<FailedCheck>,
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

/// Draws beyond the end of an interval that are aimed at, and those that it takes at the least.
const BEYOND: f64 = 10.0;
const BEYOND_AT_LEAST: f64 = 2.0;

/// More draws would take minutes a segment.
const MOST_DRAWS: f64 = 200_000.0;

/// Judges a summary by rules. How it is evaluated is up to `settings`, but for the confidence, which is the rules'.
///
/// # Errors
/// [`Error::Rule`] for rules about policies or segments that the summary has not, [`Error::TooManyBounds`], and what the
/// evaluation refuses.
pub fn judge(summary: &Summary, rules: &Rules, settings: &Settings) -> Result<Verdicts, Error> {
    rules.check_for(summary.spec()).map_err(Error::Rule)?;
    let segments: Vec<Segment> = summary.segments().cloned().collect();
    let bounds = rules.rules.iter().filter(|rule| rule.judge == Judge::Bound);
    let bounds: usize = bounds.map(|rule| if rule.scope == Scope::Each { segments.len() } else { 1 }).sum();
    let confidence = match rules.adjust {
        Adjust::None => rules.confidence,
        Adjust::Bonferroni => 1.0 - (1.0 - rules.confidence) / bounds.max(1) as f64,
    };
    let settings = settings_for(confidence, bounds, settings)?;

    let combinations: Vec<Combination> = rules.rules.iter().map(|rule| combination(rule, &settings)).collect();
    // Every rule is looked at in the whole log: what fails there fails its segments, which may be too small to show it.
    let whole = summary.combinations(&combinations, None, &settings)?;
    let mut judgements = Vec::new();
    let mut judge = |segment: Option<&Segment>, place: usize, found: Combined| {
        let verdict = verdict(&rules.rules[place], &found);
        let Combined { interval, failed } = found;
        judgements.push(Judgement { rule: place, segment: segment.cloned(), verdict, difference: interval, failed });
    };
    let asked = |scope: Scope| (0..rules.rules.len()).filter(move |&place| rules.rules[place].scope == scope);
    asked(Scope::Whole).for_each(|place| judge(None, place, whole[place].clone()));
    let each: Vec<usize> = asked(Scope::Each).collect();
    let parts: Vec<Combination> = each.iter().map(|&place| combinations[place].clone()).collect();
    for segment in segments.iter().filter(|_| !each.is_empty()) {
        for (&place, mut found) in each.iter().zip(summary.combinations(&parts, Some(segment), &settings)?) {
            let seen = found.failed.clone();
            let unseen = |f: &&FailedCheck| !seen.iter().any(|s| s.policy == f.policy && s.check.name == f.check.name);
            found.failed.extend(whole[place].failed.iter().filter(unseen).cloned());
            judge(Some(segment), place, found);
        }
    }
    judgements.sort_by_key(|judgement| judgement.rule);
    Ok(Verdicts { rules: rules.clone(), judgements, confidence, bounds, column: summary.spec().by.clone() })
}

/// Two-sided intervals whose ends hold with the confidence each, from enough draws.
fn settings_for(confidence: f64, bounds: usize, settings: &Settings) -> Result<Settings, Error> {
    let beyond = 1.0 - confidence;
    if BEYOND_AT_LEAST / beyond > MOST_DRAWS * (1.0 + 1e-9) {
        return Err(Error::TooManyBounds { bounds, confidence, draws: (BEYOND_AT_LEAST / beyond).ceil() });
    }
    let mut settings = settings.clone();
    settings.confidence = 2.0 * confidence - 1.0;
    settings.draws = settings.draws.max(draws(confidence));
    Ok(settings)
}

/// As many draws as a one-sided bound of this confidence rests on.
pub fn draws(confidence: f64) -> usize {
    (BEYOND / (1.0 - confidence)).ceil().min(MOST_DRAWS) as usize
}

fn combination(rule: &Rule, settings: &Settings) -> Combination {
    let sum = &rule.requirement.sum;
    let term = |t: &crate::expression::Term| Term::new(t.coefficient, t.quantity.metric(settings), t.policy.clone());
    Combination { terms: sum.terms.iter().map(term).collect(), constant: sum.constant }
}

fn verdict(rule: &Rule, found: &Combined) -> Verdict {
    let Interval { estimate, lower, upper, .. } = found.interval;
    let comparison = rule.requirement.comparison;
    match rule.judge {
        Judge::Point => match estimate {
            Some(estimate) if comparison.is_met(estimate) => Verdict::Holds,
            Some(_) => Verdict::DoesNotHold,
            None => Verdict::CannotTell,
        },
        // Numbers that are known to be wrong show nothing.
        Judge::Bound if !found.failed.is_empty() => Verdict::CannotTell,
        Judge::Bound => {
            let (worst, best) = if comparison.wants_more() { (lower, upper) } else { (upper, lower) };
            if worst.is_some_and(|end| comparison.is_met(end)) {
                Verdict::Holds
            } else if best.is_some_and(|end| !comparison.is_met(end)) {
                Verdict::DoesNotHold
            } else {
                Verdict::CannotTell
            }
        }
    }
}

impl Comparison {
    /// Whether the difference of the sides compares with 0 as it should.
    pub(crate) fn is_met(self, difference: f64) -> bool {
        match self {
            Comparison::AtLeast => difference >= 0.0,
            Comparison::Above => difference > 0.0,
            Comparison::AtMost => difference <= 0.0,
            Comparison::Below => difference < 0.0,
        }
    }

    pub(crate) fn wants_more(self) -> bool {
        matches!(self, Comparison::AtLeast | Comparison::Above)
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
