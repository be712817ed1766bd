//! What is read off a distribution, by name and in order: one description for every table.

use slateval::{
    Comparison, Evaluation, Interval, PolicyEvaluation, ProbabilityEstimate, QuantileEstimate, Settings, TailEstimate,
};

use crate::number::percent;
use crate::terminal::Detail;

/// A metric's name, and what was found of it.
pub(crate) type Named<'e> = (String, &'e Interval);

/// Which levels are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    pub(crate) detail: Detail,
    /// Whether all quantiles are shown: those that someone asked for are.
    quantiles: bool,
    /// The same for tails.
    tails: bool,
    /// Whether no tail is shown: they say nothing, and the probabilities of few rewards stand in their place.
    no_tails: bool,
}

impl Shown {
    pub(crate) fn new(evaluation: &Evaluation, settings: &Settings, detail: Detail) -> Self {
        let usual = Settings::default();
        let is_full = detail == Detail::Full;
        Shown {
            detail,
            quantiles: is_full || settings.quantiles != usual.quantiles,
            tails: is_full || settings.alphas != usual.alphas,
            no_tails: settings.alphas == usual.alphas && has_same_tails(evaluation),
        }
    }

    fn quantile(self, level: f64) -> bool {
        self.quantiles || level == 0.5
    }

    fn tail(self, alpha: f64) -> bool {
        !self.no_tails && (self.tails || alpha == 0.1)
    }
}

/// Whether few distinct rewards leave every policy with the same tails, as those of clicks are all 0.
pub(crate) fn has_same_tails(evaluation: &Evaluation) -> bool {
    let is_few = evaluation.log.reward.distinct.is_some_and(|count| count <= Evaluation::FEW_REWARDS);
    let tails = evaluation.policies.iter().flat_map(|policy| policy.var.iter().chain(&policy.cvar));
    let mut estimates = tails.map(|tail| tail.interval.estimate);
    let first = estimates.next();
    is_few && estimates.all(|estimate| Some(estimate) == first)
}

/// What is shown of a policy.
pub(crate) fn of_policy(policy: &PolicyEvaluation, shown: Shown) -> Vec<Named<'_>> {
    let only_full = |name: &str, interval| (shown.detail == Detail::Full).then(|| (name.to_owned(), interval));
    let mut all = vec![("mean".to_owned(), &policy.mean)];
    all.extend(only_full("std", &policy.std));
    all.extend(probabilities(&policy.probabilities));
    all.extend(quantiles(&policy.quantiles, shown));
    all.extend(only_full("IQR", &policy.iqr));
    all.extend(tails("VaR", &policy.var, shown));
    all.extend(tails("CVaR", &policy.cvar, shown));
    all
}

/// What is shown of a difference.
pub(crate) fn of_comparison(comparison: &Comparison, shown: Shown) -> Vec<Named<'_>> {
    let mut all = vec![("mean".to_owned(), &comparison.mean)];
    all.extend(probabilities(&comparison.probabilities));
    all.extend(quantiles(&comparison.quantiles, shown));
    all.extend(tails("CVaR", &comparison.cvar, shown));
    all
}

fn probabilities(all: &[ProbabilityEstimate]) -> impl Iterator<Item = Named<'_>> {
    all.iter().map(|p| (format!("P(≥ {})", p.at_least), &p.interval))
}

fn quantiles(all: &[QuantileEstimate], shown: Shown) -> impl Iterator<Item = Named<'_>> {
    let name = |level| if level == 0.5 { "median".to_owned() } else { format!("quantile {}", percent(level)) };
    all.iter().filter(move |q| shown.quantile(q.level)).map(move |q| (name(q.level), &q.interval))
}

fn tails<'e>(metric: &'static str, all: &'e [TailEstimate], shown: Shown) -> impl Iterator<Item = Named<'e>> {
    let named = move |t: &'e TailEstimate| (format!("{metric} {}", percent(t.alpha)), &t.interval);
    all.iter().filter(move |t| shown.tail(t.alpha)).map(named)
}

/// The names alone.
pub(crate) fn labels(metrics: &[Named<'_>]) -> Vec<String> {
    metrics.iter().map(|(name, _)| name.clone()).collect()
}

/// What was found alone.
pub(crate) fn intervals_of(metrics: &[Named<'_>]) -> Vec<Interval> {
    metrics.iter().map(|(_, interval)| (*interval).clone()).collect()
}
