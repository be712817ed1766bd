//! What a decision rests on, in a sentence a target.

use slateval::{Band, Bounds, Comparison, Evaluation, Interval, PolicyEvaluation, Reason, Settings, Status, Tail};

use slateval_text::checks::spoiled_names;

use crate::Voice;
use crate::grid::{Column, DASH, Grid, Kind};
use crate::number::{decimals, fixed, percent, signed};
use crate::standing::{Standing, ends, is_bounded};
use crate::terminal::has_same_tails;
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
    Unknown(Option<Doubt>),
}

/// Why nothing can be told of a difference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Doubt {
    /// What the interval says.
    Reason(Reason),
    /// There is no interval.
    NoInterval,
    /// Guaranteed bands give none of differences.
    Bernstein,
}

impl Doubt {
    fn words(&self, voice: Voice) -> String {
        match self {
            Doubt::Reason(reason) => voice.after_mark(reason),
            Doubt::NoInterval => "no interval".to_owned(),
            Doubt::Bernstein => no_bernstein(voice),
        }
    }
}

impl Verdict {
    pub(crate) fn of(difference: &Interval) -> Self {
        if Standing::of(difference) != Standing::Stands {
            return Verdict::unknown(difference);
        }
        match (difference.estimate, difference.lower, difference.upper) {
            (Some(0.0), Some(0.0), Some(0.0)) => Verdict::Same,
            (Some(_), Some(lower), _) if lower > 0.0 => Verdict::Better,
            (Some(_), _, Some(upper)) if upper < 0.0 => Verdict::Worse,
            (Some(_), Some(_), Some(_)) => Verdict::Open,
            _ => Verdict::unknown(difference),
        }
    }

    fn unknown(difference: &Interval) -> Self {
        Verdict::Unknown(Some(difference.reason.clone().map_or(Doubt::NoInterval, Doubt::Reason)))
    }

    pub(crate) fn words(&self, voice: Voice) -> String {
        match self {
            Verdict::Unknown(Some(doubt)) => format!("{} ({})", self.short(), doubt.words(voice)),
            other => other.short().to_owned(),
        }
    }

    /// The same without the reason.
    pub(crate) fn short(&self) -> &'static str {
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
    pub(crate) fn words(&self, voice: Voice) -> String {
        match (&self.verdict, self.base) {
            (Verdict::Same, Some(base)) => format!("the same ({})", plain(base)),
            (verdict, _) => verdict.words(voice),
        }
    }

    /// The same without a reason.
    pub(crate) fn short(&self) -> String {
        match &self.verdict {
            Verdict::Same => self.words(Voice::default()),
            verdict => verdict.short().to_owned(),
        }
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
    pub(crate) failed: Vec<String>,
    /// Names of checks that warn.
    pub(crate) warned: Vec<String>,
    pub(crate) claims: Vec<Claim>,
}

/// One for each comparison.
pub(crate) fn headlines(evaluation: &Evaluation, settings: &Settings) -> Vec<Headline> {
    evaluation.comparisons.iter().filter_map(|c| Headline::new(evaluation, c, settings)).collect()
}

impl Headline {
    fn new(evaluation: &Evaluation, comparison: &Comparison, settings: &Settings) -> Option<Self> {
        let policy = evaluation.policy(&comparison.policy)?;
        let baseline = evaluation.policy(&comparison.baseline)?;
        let named = |status: Status| {
            let both = policy.diagnostics.checks.iter().chain(&baseline.diagnostics.checks);
            let mut names: Vec<String> = both.filter(|c| c.status == status).map(|c| c.name().to_string()).collect();
            names.sort();
            names.dedup();
            names
        };
        let spoiled = spoiled_names([policy, baseline]);
        let mut claims = vec![claim("mean".to_owned(), &comparison.mean, &baseline.mean, evaluation)];
        let second = if has_same_tails(evaluation) {
            probability_claim(evaluation, comparison, baseline)
        } else {
            tail_claim(evaluation, comparison, baseline, settings)
        };
        claims.extend(second);
        for claim in &mut claims {
            match &mut claim.verdict {
                Verdict::Unknown(reason) if settings.band == Band::Bernstein => *reason = Some(Doubt::Bernstein),
                // The caution before the claims names the checks.
                Verdict::Unknown(reason @ Some(Doubt::Reason(Reason::CheckNotPassed { .. }))) => *reason = None,
                _ => {}
            }
        }
        say_once(&mut claims);
        Some(Headline {
            policy: name(&comparison.policy),
            baseline: name(&comparison.baseline),
            spoiled,
            failed: named(Status::Fail),
            warned: named(Status::Warn),
            claims,
        })
    }

    /// What to know before anything else.
    pub(crate) fn caution(&self) -> Option<String> {
        let checks = |count: usize| if count == 1 { "check" } else { "checks" };
        if !self.spoiled.is_empty() {
            let (kind, names) = (checks(self.spoiled.len()), self.spoiled.join(", "));
            return Some(format!("Do not rely on this: {kind} not passed ({names})."));
        }
        if !self.failed.is_empty() {
            let (kind, names) = (checks(self.failed.len()), self.failed.join(", "));
            return Some(format!("With caution: {kind} failed ({names})."));
        }
        let names = self.warned.join(", ");
        (!names.is_empty()).then(|| format!("With caution: {} to look at ({names}).", checks(self.warned.len())))
    }

    /// The whole sentence.
    pub(crate) fn sentence(&self, voice: Voice) -> String {
        let caution = self.caution().map(|c| format!("{c} ")).unwrap_or_default();
        let claim = |(i, c): (usize, &Claim)| {
            let against = if i == 0 { format!(" against {}", self.baseline) } else { String::new() };
            match c.verdict {
                Verdict::Same => format!("{}{against}: {}", c.what, c.words(voice)),
                _ => format!("{} {}{against}: {}", c.what, c.value, c.words(voice)),
            }
        };
        let claims: Vec<String> = self.claims.iter().enumerate().map(claim).collect();
        format!("{caution}{}: {}.", self.policy, claims.join("; "))
    }
}

/// A reason that the claim before has given is not given again.
fn say_once(claims: &mut [Claim]) {
    for at in (1..claims.len()).rev() {
        if claims[at].verdict == claims[at - 1].verdict
            && let Verdict::Unknown(reason) = &mut claims[at].verdict
        {
            *reason = None;
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
    let which = match settings.tail {
        Tail::Lower => "worst",
        Tail::Upper => "best",
    };
    format!("{which} {} of slates", percent(alpha))
}

fn tail_claim(
    evaluation: &Evaluation,
    comparison: &Comparison,
    baseline: &PolicyEvaluation,
    settings: &Settings,
) -> Option<Claim> {
    let at = headline_alpha(settings)?;
    let (difference, base) = (comparison.cvar.get(at)?, baseline.cvar.get(at)?);
    Some(claim(tail_name(settings, difference.alpha), &difference.interval, &base.interval, evaluation))
}

/// The smallest reward that not every slate has. Where rewards have two values this is the mean over again.
fn probability_claim(evaluation: &Evaluation, comparison: &Comparison, baseline: &PolicyEvaluation) -> Option<Claim> {
    let (difference, base) = (comparison.probabilities.first()?, baseline.probabilities.first()?);
    let what = format!("slates with a reward of at least {}", difference.at_least);
    let found = claim(what, &difference.interval, &base.interval, evaluation);
    (evaluation.log.reward.distinct != Some(2)).then_some(found)
}

fn claim(what: String, difference: &Interval, base: &Interval, evaluation: &Evaluation) -> Claim {
    let percents = divisor(base, evaluation).map(|base| scaled(difference, 100.0 / base)).filter(is_seen);
    let verdict = Verdict::of(difference);
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
    let column = Column { name: String::new(), kind: Kind::Difference, cells: vec![interval.clone()], more: vec![] };
    let decimals = Grid { corner: String::new(), labels: vec![], columns: vec![column] }.decimals();
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
        let words = |difference: &Interval| Verdict::of(difference).words(Voice::CommandLine);
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
        assert_eq!(Verdict::of(&conditional).words(Voice::CommandLine), cannot);
        assert_eq!(written(&scaled(&conditional, 100.0), "%"), "+10.0% (+1.0, +20.0)?");
        let refuted = Interval {
            refuted: Some(Refutation::Structure(Structure::Additive)),
            reason: Some(Reason::Refuted { effects: Effects { slots: 3, and_above: false } }),
            ..interval(0.1, Some((0.01, 0.2)))
        };
        assert_eq!(
            Verdict::of(&refuted).words(Voice::CommandLine),
            "cannot tell (the log contradicts this structure: effects of 3 slots show in it)"
        );
        assert_eq!(written(&refuted, ""), "+0.100 [+0.010, +0.200]!");
    }

    #[test]
    fn equal_tails_are_the_same() {
        assert_eq!(Verdict::of(&interval(0.0, Some((0.0, 0.0)))), Verdict::Same);
    }
}
