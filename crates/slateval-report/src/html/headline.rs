//! What a decision rests on, in a sentence a target.

use std::collections::BTreeSet;

use slateval::{Band, Bounds, Comparison, Evaluation, Interval, Reason, Settings, Status, Tail};

use slateval_text::checks::spoiled_names;

use crate::Voice;
use crate::grid::{DASH, decimals_of};
use crate::metrics::has_same_tails;
use crate::number::{decimals, fixed, percent, signed};
use crate::standing::{Standing, ends, is_bounded};
use crate::text::name;

/// Why there is nothing to be told of differences with these bands.
pub(crate) fn no_bernstein(voice: Voice) -> String {
    format!("{} gives no interval of differences", voice.setting("band", "bernstein"))
}

/// What the log shows about a difference. Larger rewards are better.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    Better,
    Worse,
    /// The interval holds 0.
    Open,
    /// Both are of one and the same reward.
    Same,
    /// Nothing can be told: the interval is missing, too wide on one side, conditional or refuted.
    /// Why, where it was not said already.
    Unknown(Option<String>),
}

impl Verdict {
    pub(crate) fn of(difference: &Interval, voice: Voice) -> Self {
        let why = || difference.reason.as_ref().map_or("no interval".to_owned(), |reason| voice.after_mark(reason));
        match (difference.estimate, difference.lower, difference.upper) {
            _ if Standing::of(difference) != Standing::Stands => Verdict::Unknown(Some(why())),
            (Some(0.0), Some(0.0), Some(0.0)) => Verdict::Same,
            (Some(_), Some(lower), _) if lower > 0.0 => Verdict::Better,
            (Some(_), _, Some(upper)) if upper < 0.0 => Verdict::Worse,
            (Some(_), Some(_), Some(_)) => Verdict::Open,
            _ => Verdict::Unknown(Some(why())),
        }
    }

    fn words(&self) -> String {
        match self {
            Verdict::Unknown(Some(why)) => format!("{} ({why})", self.short()),
            other => other.short().to_owned(),
        }
    }

    /// The same without the reason.
    fn short(&self) -> &'static str {
        match self {
            Verdict::Better => "shown to be better",
            Verdict::Worse => "shown to be worse",
            Verdict::Open => "not shown to be better or worse",
            Verdict::Same => "the same",
            Verdict::Unknown(_) => "cannot tell",
        }
    }

    /// For style sheets.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Open | Verdict::Same => "open",
            Verdict::Unknown(_) => "unknown",
        }
    }
}

/// One difference of a target to what it is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    /// `mean`, or `worst 10% of slates`.
    pub(crate) what: String,
    /// The difference, in percent of the baseline where that makes sense.
    pub(crate) value: String,
    in_percent: bool,
    /// What the baseline has.
    base: Option<f64>,
    pub(crate) verdict: Verdict,
}

impl Claim {
    /// The verdict, with what both have where it is the same.
    fn words(&self) -> String {
        match (&self.verdict, self.base) {
            (Verdict::Same, Some(base)) => format!("the same ({})", plain(base)),
            (verdict, _) => verdict.words(),
        }
    }

    /// The same without a reason.
    pub(crate) fn short(&self) -> String {
        if self.verdict == Verdict::Same { self.words() } else { self.verdict.short().to_owned() }
    }
}

/// A target against another policy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Headline {
    pub(crate) policy: String,
    pub(crate) baseline: String,
    /// Names of checks that leave nothing to be relied on.
    pub(crate) spoiled: Vec<&'static str>,
    /// Names of other checks that failed.
    failed: Vec<&'static str>,
    /// Names of checks that warn.
    warned: Vec<&'static str>,
    pub(crate) claims: Vec<Claim>,
}

/// One for each comparison.
pub(crate) fn headlines(evaluation: &Evaluation, settings: &Settings, voice: Voice) -> Vec<Headline> {
    evaluation.comparisons.iter().filter_map(|c| Headline::new(evaluation, c, settings, voice)).collect()
}

impl Headline {
    fn new(evaluation: &Evaluation, comparison: &Comparison, settings: &Settings, voice: Voice) -> Option<Self> {
        let policy = evaluation.policy(&comparison.policy)?;
        let baseline = evaluation.policy(&comparison.baseline)?;
        let named = |status: Status| {
            let both = policy.diagnostics.checks.iter().chain(&baseline.diagnostics.checks);
            let names: BTreeSet<&str> = both.filter(|c| c.status == status).map(|c| c.name().as_str()).collect();
            names.into_iter().collect()
        };
        let claim = |what: String, difference: &Interval, base: &Interval| {
            let mut claim = claim(what, difference, base, evaluation, voice);
            if let Verdict::Unknown(why) = &mut claim.verdict {
                match &difference.reason {
                    _ if settings.band == Band::Bernstein => *why = Some(no_bernstein(voice)),
                    // The caution before the claims names the checks.
                    Some(Reason::CheckNotPassed { .. }) => *why = None,
                    _ => {}
                }
            }
            claim
        };
        let mut claims = vec![claim("mean".to_owned(), &comparison.mean, &baseline.mean)];
        if !has_same_tails(evaluation) {
            let tail = headline_alpha(settings).and_then(|at| comparison.cvar.get(at).zip(baseline.cvar.get(at)));
            let tail = tail.map(|(d, base)| claim(tail_name(settings, d.alpha), &d.interval, &base.interval));
            claims.extend(tail);
        } else if evaluation.log.reward.distinct != Some(2) {
            // The smallest reward that not every slate has. Where rewards have two values this is the mean over again.
            let first = comparison.probabilities.first().zip(baseline.probabilities.first());
            let what = |at_least: f64| format!("slates with a reward of at least {at_least}");
            claims.extend(first.map(|(d, base)| claim(what(d.at_least), &d.interval, &base.interval)));
        }
        say_once(&mut claims);
        Some(Headline {
            policy: name(&comparison.policy),
            baseline: name(&comparison.baseline),
            spoiled: spoiled_names([policy, baseline]),
            failed: named(Status::Fail),
            warned: named(Status::Warn),
            claims,
        })
    }

    /// What to know before anything else.
    fn caution(&self) -> Option<String> {
        let checks = |names: &[&str]| if names.len() == 1 { "check" } else { "checks" };
        let Headline { spoiled, failed, warned, .. } = self;
        match (&spoiled[..], &failed[..], &warned[..]) {
            ([], [], []) => None,
            ([], [], warned) => Some(format!("With caution: {} to look at ({}).", checks(warned), warned.join(", "))),
            ([], failed, _) => Some(format!("With caution: {} failed ({}).", checks(failed), failed.join(", "))),
            (spoiled, ..) => {
                Some(format!("Do not rely on this: {} not passed ({}).", checks(spoiled), spoiled.join(", ")))
            }
        }
    }

    /// The whole sentence.
    pub(crate) fn sentence(&self) -> String {
        let caution = self.caution().map(|c| format!("{c} ")).unwrap_or_default();
        let claim = |(i, c): (usize, &Claim)| {
            let against = if i == 0 { format!(" against {}", self.baseline) } else { String::new() };
            let value = if c.verdict == Verdict::Same { String::new() } else { format!(" {}", c.value) };
            format!("{}{value}{against}: {}", c.what, c.words())
        };
        let claims: Vec<String> = self.claims.iter().enumerate().map(claim).collect();
        format!("{caution}{}: {}.", self.policy, claims.join("; "))
    }
}

/// A reason that the claim before has given is not given again.
fn say_once(claims: &mut [Claim]) {
    for at in (1..claims.len()).rev() {
        if claims[at].verdict == claims[at - 1].verdict
            && let Verdict::Unknown(why) = &mut claims[at].verdict
        {
            *why = None;
        }
    }
}

/// The alpha of the sentence: a tenth if it is there, otherwise the middle one.
pub(crate) fn headline_alpha(settings: &Settings) -> Option<usize> {
    let tenth = settings.alphas.iter().position(|a| *a == 0.1);
    tenth.or_else(|| (!settings.alphas.is_empty()).then_some(settings.alphas.len() / 2))
}

/// Which slates a tail is about.
pub(crate) fn tail_name(settings: &Settings, alpha: f64) -> String {
    let which = if settings.tail == Tail::Lower { "worst" } else { "best" };
    format!("{which} {} of slates", percent(alpha))
}

fn claim(what: String, difference: &Interval, base: &Interval, evaluation: &Evaluation, voice: Voice) -> Claim {
    let percents = divisor(base, evaluation).map(|base| scaled(difference, 100.0 / base)).filter(is_seen);
    let verdict = Verdict::of(difference, voice);
    let in_percent = percents.is_some() && verdict != Verdict::Same;
    let value = match (percents, &verdict) {
        (_, Verdict::Same) => "0".to_owned(),
        (Some(percents), _) => written(&percents, "%"),
        (None, _) => match written(difference, "").as_str() {
            DASH => DASH.to_owned(),
            value => format!("{value} in units of the reward"),
        },
    };
    Claim { what, value, in_percent, base: base.estimate, verdict }
}

/// Whether percents are worth the sign: less than a hundredth is not.
fn is_seen(percents: &Interval) -> bool {
    let (lower, upper) = ends(percents);
    [percents.estimate, lower, upper].into_iter().flatten().any(|x| x.abs() >= 0.01)
}

/// What a difference may be divided by: a value above 0 that is known well enough, and no accident of where 0 is.
fn divisor(base: &Interval, evaluation: &Evaluation) -> Option<f64> {
    let estimate = base.estimate.filter(|e| *e > 0.0)?;
    let half = base.lower.zip(base.upper).map(|(lower, upper)| (upper - lower) / 2.0);
    let reward = &evaluation.log.reward;
    let known = half.is_none_or(|half| half < estimate / 2.0);
    (known && estimate > 1e-3 * (reward.max - reward.min)).then_some(estimate)
}

/// Whether any sentence speaks of percent.
pub(crate) fn has_percent(headlines: &[Headline]) -> bool {
    headlines.iter().flat_map(|h| &h.claims).any(|c| c.in_percent)
}

fn scaled(interval: &Interval, by: f64) -> Interval {
    let times = |x: Option<f64>| x.map(|x| x * by);
    let bounds = |b: Bounds| Bounds { lower: times(b.lower), upper: times(b.upper) };
    let mut scaled = interval.clone();
    scaled.estimate = times(interval.estimate);
    (scaled.lower, scaled.upper, scaled.se) = (times(interval.lower), times(interval.upper), times(interval.se));
    scaled.if_order_holds = interval.if_order_holds.map(bounds);
    scaled
}

fn written(interval: &Interval, unit: &str) -> String {
    let decimals = decimals_of(&[interval]);
    let number = |x: Option<f64>| x.map_or(DASH.to_owned(), |x| signed_unless_zero(x, decimals));
    let estimate = format!("{}{unit}", number(interval.estimate));
    match (interval.estimate, is_bounded(interval)) {
        (None, _) => DASH.to_owned(),
        (_, false) => estimate,
        (_, true) => {
            let ((lower, upper), (open, close)) = (ends(interval), Standing::of(interval).brackets());
            format!("{estimate} {open}{}, {}{close}", number(lower), number(upper))
        }
    }
}

/// Nothing has no sign, and no more than one digit if it is exactly nothing.
fn signed_unless_zero(value: f64, decimals: usize) -> String {
    let text = signed(value, decimals);
    match text.strip_prefix('+') {
        Some(_) if value == 0.0 => "0".to_owned(),
        Some(zero) if !zero.contains(|c: char| c.is_ascii_digit() && c != '0') => zero.to_owned(),
        _ => text,
    }
}

/// A number with no more digits than it needs, up to four.
fn plain(value: f64) -> String {
    let text = fixed(value, decimals([value].into_iter()));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use slateval::{Effects, Refutation, Structure, Untested};

    use super::*;

    fn interval(estimate: f64, ends: Option<(f64, f64)>) -> Interval {
        let reason = ends.is_none().then_some(Reason::OneRow);
        let (lower, upper) = (ends.map(|e| e.0), ends.map(|e| e.1));
        Interval { estimate: Some(estimate), lower, upper, reason, ..Interval::default() }
    }

    #[test]
    fn verdicts_follow_the_interval() {
        let words = |difference: &Interval| Verdict::of(difference, Voice::CommandLine).words();
        assert_eq!(words(&interval(0.1, Some((0.01, 0.2)))), "shown to be better");
        assert_eq!(words(&interval(-0.1, Some((-0.2, -0.01)))), "shown to be worse");
        assert_eq!(words(&interval(0.1, Some((0.0, 0.2)))), "not shown to be better or worse");
        assert_eq!(words(&interval(0.1, None)), "cannot tell (one row tells nothing of how rows vary)");
        let half = Interval { upper: None, ..interval(0.1, Some((-0.1, 0.0))) };
        assert_eq!(words(&half), "cannot tell (no interval)");
        let half = Interval { upper: None, ..interval(0.1, Some((0.05, 0.0))) };
        assert_eq!(words(&half), "shown to be better");
        let none = Interval { estimate: None, ..interval(0.1, Some((0.05, 0.2))) };
        assert_eq!(words(&none), "cannot tell (no interval)");
    }

    #[test]
    fn differences_are_written_with_as_many_digits_as_their_intervals_carry() {
        assert_eq!(written(&interval(4.123, Some((2.01, 6.32))), "%"), "+4.1% [+2.0, +6.3]");
        assert_eq!(written(&interval(-0.012345, Some((-0.02, 0.005))), ""), "−0.012 [−0.020, +0.005]");
        assert_eq!(written(&interval(0.5, None), ""), "+0.5000");
        assert_eq!(written(&interval(0.001, Some((-0.3, 0.3))), "%"), "0.00% [−0.30, +0.30]");
        assert_eq!((plain(0.0), plain(0.25), plain(1200.0)), ("0".into(), "0.25".into(), "1,200".into()));
    }

    #[test]
    fn nothing_is_claimed_from_marked_intervals() {
        let bounds = Bounds { lower: Some(0.01), upper: Some(0.2) };
        let conditional = Interval {
            if_order_holds: Some(bounds),
            conditional: true,
            reason: Some(Reason::Untested { order: 1, why: Untested::NoTest }),
            ..interval(0.1, None)
        };
        let cannot = "cannot tell (holds if slots do not interact: this log is too thin to tell (effects of more slots could \
                      not be tested))";
        assert_eq!(Verdict::of(&conditional, Voice::CommandLine).words(), cannot);
        assert_eq!(written(&scaled(&conditional, 100.0), "%"), "+10.0% (+1.0, +20.0)?");
        let refuted = Interval {
            refuted: Some(Refutation::Structure(Structure::Additive)),
            reason: Some(Reason::Refuted { effects: Effects { slots: 3, and_above: false } }),
            ..interval(0.1, Some((0.01, 0.2)))
        };
        assert_eq!(
            Verdict::of(&refuted, Voice::CommandLine).words(),
            "cannot tell (the log contradicts this structure: effects of 3 slots show in it)"
        );
        assert_eq!(written(&refuted, ""), "+0.100 [+0.010, +0.200]!");
    }

    #[test]
    fn equal_tails_are_the_same() {
        assert_eq!(Verdict::of(&interval(0.0, Some((0.0, 0.0))), Voice::CommandLine), Verdict::Same);
    }
}
