//! One policy's answers, read off its distribution and moments.
//! See docs/methods.md, sections 5.8 and 8.15.

use crate::checks::rows::coarse_bins;
use crate::distribution::curve::{Distribution, just_below};
use crate::interval::limits::Limits;
use crate::interval::policy::{Estimators, Uncertainty};
use crate::interval::standing;
use crate::result::check::{Check, Status};
use crate::result::diagnostics::Diagnostics;
use crate::result::evaluation::PolicyEvaluation;
use crate::result::finding::{Finding, Remedy};
use crate::result::interval::{Interval, ProbabilityEstimate, QuantileEstimate, TailEstimate};
use crate::result::reason::Reason;
use crate::result::selection::Selection;
use crate::result::trust::{Trust, Trusts};
use crate::spec::settings::Settings;

/// A policy to be described: what its answers are read from, and how far they can be trusted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Described<'n, 'e, 'a> {
    pub(crate) name: &'n str,
    pub(crate) estimators: Estimators<'e, 'a>,
    pub(crate) selection: Option<&'n Selection>,
    pub(crate) trusts: &'n Trusts,
}

/// Reads everything off a policy's distribution and moments. `uncertainty` is at each order that intervals are taken at.
pub(crate) fn describe(
    Described { name, estimators, selection, trusts }: Described<'_, '_, '_>,
    uncertainty: &[Uncertainty],
    mut diagnostics: Diagnostics,
    settings: &Settings,
) -> PolicyEvaluation {
    let selected = selection.is_some();
    let trusted = |estimate: f64, of: &dyn Fn(&Uncertainty) -> &Limits, trust: &Trust| {
        standing::interval(estimate, &uncertainty.iter().map(of).collect::<Vec<_>>(), selected, trust)
    };
    let interval = |estimate: f64, of: &dyn Fn(&Uncertainty) -> &Limits| trusted(estimate, of, &trusts.cdf);
    let of_variance = |estimate: f64, of: &dyn Fn(&Uncertainty) -> &Limits| trusted(estimate, of, &trusts.variance);
    let (distribution, curve, tail) =
        (&estimators.cdf.distribution, estimators.cdf.distribution.curve(), settings.tail);
    let spread = Spread::new(&estimators.variance.distribution, estimators.variance.moments.variance);
    let (variance, std) = match spread.variance() {
        Ok(v) => (of_variance(v, &|u| &u.variance), of_variance(v.sqrt(), &|u| &u.std)),
        Err(reason) => (Interval::missing(reason.clone()), Interval::missing(reason)),
    };
    let remedy = diagnostics.checks.first().map_or(Remedy::Structure, Remedy::after);
    let check = spread.check(uncertainty.last().map(|u| &u.variance), remedy);
    diagnostics.checks.extend(check);
    diagnostics.checks.extend(coarse_bins(distribution, settings));
    let quantile = |(i, &level): (usize, &f64)| QuantileEstimate {
        level,
        interval: interval(curve.quantile(level), &|u| &u.quantiles[i]),
    };
    let var =
        |(i, &alpha): (usize, &f64)| TailEstimate { alpha, interval: interval(curve.var(alpha, tail), &|u| &u.var[i]) };
    let cvar = |(i, &alpha): (usize, &f64)| {
        let bias = uncertainty[0].cvar_bias.as_ref().filter(|_| settings.debias_cvar).map_or(0.0, |bias| bias[i]);
        TailEstimate { alpha, interval: interval(curve.cvar(alpha, tail) - bias, &|u| &u.cvar[i]) }
    };
    let probability = |(i, &at_least): (usize, &f64)| {
        let estimate = 1.0 - curve.probability(just_below(&distribution.bins, at_least));
        ProbabilityEstimate { at_least, interval: interval(estimate, &|u| &u.probabilities[i]) }
    };
    PolicyEvaluation {
        name: name.to_owned(),
        structure: estimators.cdf.structure.clone(),
        correction: estimators.cdf.structure.as_ref().map(|_| estimators.cdf.corrected.correction),
        selection: selection.cloned(),
        mean: trusted(estimators.mean.moments.reward_mean(), &|u| &u.mean, &trusts.mean),
        variance,
        std,
        iqr: interval(curve.quantile(0.75) - curve.quantile(0.25), &|u| &u.iqr),
        quantiles: settings.quantiles.iter().enumerate().map(quantile).collect(),
        var: settings.alphas.iter().enumerate().map(var).collect(),
        cvar: settings.alphas.iter().enumerate().map(cvar).collect(),
        probabilities: settings.at_least.iter().enumerate().map(probability).collect(),
        cdf: standing::cdf(
            distribution,
            &uncertainty.iter().map(|u| &u.band).collect::<Vec<_>>(),
            selected,
            &trusts.cdf,
        ),
        diagnostics,
    }
}

/// What is known of the variance.
pub(crate) enum Spread {
    /// All rewards are equal.
    Constant,
    Variance(f64),
    /// One row has none.
    OneRow,
    /// It came out at or below 0.
    NotPositive(f64),
}

impl Spread {
    pub(crate) fn new(distribution: &Distribution, variance: f64) -> Self {
        let rows: f64 = distribution.bins.iter().map(|b| b.rows).sum();
        let is_constant = distribution.bins.first().map(|b| b.min) == distribution.bins.last().map(|b| b.max);
        if rows <= 1.0 {
            Spread::OneRow
        } else if is_constant {
            Spread::Constant
        } else if variance > 0.0 {
            Spread::Variance(variance)
        } else {
            Spread::NotPositive(variance)
        }
    }

    /// The estimate, or why there is none.
    pub(crate) fn variance(&self) -> std::result::Result<f64, Reason> {
        match self {
            Spread::Constant => Ok(0.0),
            Spread::Variance(variance) => Ok(*variance),
            Spread::OneRow => Err(Reason::VarianceOfOneRow),
            Spread::NotPositive(_) => Err(Reason::NoVariance { structure: None }),
        }
    }

    /// What is to be said of it; `limits` are those of its interval.
    fn check(&self, limits: Option<&Limits>, remedy: Remedy) -> Option<Check> {
        match (self, limits) {
            (Spread::OneRow, _) => Some(Check::new(Status::Fail, None, Finding::VarianceOfOneRow)),
            (Spread::NotPositive(variance), _) => {
                Some(Check::new(Status::Fail, Some(*variance), Finding::NoVariance(remedy)))
            }
            (Spread::Variance(_), Some(Err(reason @ Reason::NoVariance { .. }))) => {
                Some(Check::new(Status::Warn, None, Finding::VarianceHasNoInterval(reason.clone())))
            }
            (Spread::Constant | Spread::Variance(_), _) => None,
        }
    }
}
