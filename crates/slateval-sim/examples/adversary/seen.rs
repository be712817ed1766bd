//! What one evaluation showed: which intervals it printed, and whether they hold the truth.

use slateval::{Cdf, Comparison, Interval, PolicyEvaluation};
use slateval_sim::adversary::{Mix, Truths, World};

/// How an interval is shown to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Both ends are there, and nothing is said against them.
    Printed,
    /// It holds only if an assumption does.
    Conditional,
    /// It is there, and marked: the log contradicts its structure, or a check leaves nothing to be relied on.
    Marked,
    /// An end is missing.
    Withheld,
}

/// How an interval is shown.
pub(crate) fn kind(interval: &Interval) -> Kind {
    match (interval.lower, interval.upper) {
        _ if interval.conditional => Kind::Conditional,
        _ if interval.refuted.is_some() => Kind::Marked,
        (Some(_), Some(_)) => Kind::Printed,
        _ => Kind::Withheld,
    }
}

/// How a band is shown.
fn band_kind(cdf: &Cdf) -> Kind {
    let is_whole = cdf.lower.iter().chain(&cdf.upper).all(Option::is_some);
    match is_whole {
        _ if cdf.conditional => Kind::Conditional,
        _ if cdf.refuted.is_some() => Kind::Marked,
        true => Kind::Printed,
        false => Kind::Withheld,
    }
}

/// One interval of one evaluation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// How it is shown.
    pub(crate) kind: Kind,
    /// Whether it holds the truth.
    pub(crate) holds: bool,
    /// Its width.
    pub(crate) width: f64,
}

/// Everything that is counted of one evaluation, of a log or a segment.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    /// In the order of [`Answers::NAMES`].
    pub(crate) intervals: Vec<Seen>,
    /// The largest distance between the estimated CDF and the true one.
    pub(crate) distance: f64,
    /// The order of the CDF, where one was chosen.
    pub(crate) order: Option<usize>,
    /// The design effective sample size.
    pub(crate) ess: Option<f64>,
}

/// The numbers that intervals are to hold.
#[derive(Debug, Clone)]
pub(crate) struct Answers {
    target: Mix,
    values: Vec<f64>,
}

impl Answers {
    /// What is asked for. In a world with another tail, `.1` stands for that.
    pub(crate) const NAMES: [&'static str; 11] =
        ["band", "mean", "median", "std", "VaR.1", "CVaR.1", "CVaR.25", "Δmean", "Δmedian", "ΔCVaR.1", "ΔCVaR.25"];

    pub(crate) fn new(truths: Truths, tail: f64) -> Self {
        let Truths { target, logging } = truths;
        let wide = World::WIDE_TAIL;
        let gain = |of: &dyn Fn(&Mix) -> f64| of(&target) - of(&logging);
        let values = vec![
            target.mean(),
            target.quantile(0.5),
            target.std(),
            target.quantile(tail),
            target.cvar(tail),
            target.cvar(wide),
            gain(&Mix::mean),
            gain(&|mix| mix.quantile(0.5)),
            gain(&|mix| mix.cvar(tail)),
            gain(&|mix| mix.cvar(wide)),
        ];
        Answers { target, values }
    }

    /// Looks at an evaluation: the target and its comparison with logging.
    pub(crate) fn look(&self, policy: &PolicyEvaluation, comparison: &Comparison) -> Look {
        let mut intervals = vec![];
        let truth: Vec<f64> = policy.cdf.reward.iter().map(|&v| self.target.cdf(v)).collect();
        intervals.push(band(&policy.cdf, &truth));
        // Settings ask for quantiles .25, .5, .75 and for tails .05, the world's, .25.
        let asked = [
            &policy.mean,
            &policy.quantiles[1].interval,
            &policy.std,
            &policy.var[1].interval,
            &policy.cvar[1].interval,
            &policy.cvar[2].interval,
            &comparison.mean,
            &comparison.quantiles[1].interval,
            &comparison.cvar[1].interval,
            &comparison.cvar[2].interval,
        ];
        intervals.extend(asked.into_iter().zip(&self.values).map(|(interval, value)| seen(interval, *value)));
        let distance = policy.cdf.estimate.iter().zip(&truth).map(|(f, t)| (f - t).abs()).fold(0.0, f64::max);
        let order = policy.selection.as_ref().map(|selection| selection.cdf);
        Look { intervals, distance, order, ess: policy.diagnostics.design_ess }
    }
}

fn seen(interval: &Interval, truth: f64) -> Seen {
    // A quantile found by bisection, and a sum of a million numbers, are right to a millionth.
    let slack = 1e-6 * (1.0 + truth.abs());
    let (lower, upper) = (interval.lower.unwrap_or(f64::NAN), interval.upper.unwrap_or(f64::NAN));
    Seen { kind: kind(interval), holds: lower <= truth + slack && truth - slack <= upper, width: upper - lower }
}

/// Whether the band holds the CDF at every logged reward; its width is the mean one.
fn band(cdf: &Cdf, truth: &[f64]) -> Seen {
    let ends = cdf.lower.iter().zip(&cdf.upper).map(|(l, u)| (l.unwrap_or(f64::NAN), u.unwrap_or(f64::NAN)));
    let (mut holds, mut width) = (true, 0.0);
    for ((lower, upper), f) in ends.zip(truth) {
        holds &= lower <= f + 1e-9 && f - 1e-9 <= upper;
        width += (upper - lower) / truth.len() as f64;
    }
    Seen { kind: band_kind(cdf), holds, width }
}
