//! One policy's answers, read off its distribution and moments.

use crate::answer::check::{Check, Status};
use crate::answer::diagnostics::Diagnostics;
use crate::answer::evaluation::PolicyEvaluation;
use crate::answer::interval::{Cdf, CdfBand, Interval, QuantileEstimate, TailEstimate};
use crate::answer::selection::Selection;
use crate::estimate::distribution::Distribution;
use crate::question::settings::Settings;
use crate::uncertainty::bands::CurveBand;
use crate::uncertainty::limits::{COARSE, FINE, Limits, NO_VARIANCE};
use crate::uncertainty::policy::{Estimators, Uncertainty};
use crate::uncertainty::trust::{Trust, Trusts};

/// Reads everything off a policy's distribution and moments.
pub(crate) fn describe(
    (name, level): (&str, Estimators<'_, '_>),
    uncertainty: &[Uncertainty],
    (selection, trusts): (Option<&Selection>, &Trusts),
    mut diagnostics: Diagnostics,
    settings: &Settings,
) -> PolicyEvaluation {
    let selected = selection.is_some();
    let trusted = |estimate: f64, of: &dyn Fn(&Uncertainty) -> &Limits, trust: &Trust| {
        Interval::new(estimate, &uncertainty.iter().map(of).collect::<Vec<_>>(), selected, trust)
    };
    let interval = |estimate: f64, of: &dyn Fn(&Uncertainty) -> &Limits| trusted(estimate, of, &trusts.cdf);
    let of_variance = |estimate: f64, of: &dyn Fn(&Uncertainty) -> &Limits| trusted(estimate, of, &trusts.variance);
    let (distribution, curve, tail) = (&level.cdf.distribution, level.cdf.distribution.curve(), settings.tail);
    let (variance, std, check) = match spread(&level.variance.distribution, level.variance.moments.variance) {
        Spread::Constant => (of_variance(0.0, &|u| &u.variance), of_variance(0.0, &|u| &u.std), None),
        Spread::Variance(v) => {
            let guard = uncertainty.last().and_then(|u| u.variance.as_ref().err());
            let check = guard.filter(|reason| reason.starts_with(NO_VARIANCE)).map(|reason| {
                Check::new("variance", Status::Warn, None, format!("the variance has no interval: {reason}"))
            });
            (of_variance(v, &|u| &u.variance), of_variance(v.sqrt(), &|u| &u.std), check)
        }
        Spread::Missing(reason, check) => (Interval::missing(reason), Interval::missing(reason), Some(check)),
    };
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
    PolicyEvaluation {
        name: name.to_owned(),
        structure: level.cdf.structure.clone(),
        correction: level.cdf.structure.as_ref().map(|_| level.cdf.corrected.correction),
        selection: selection.cloned(),
        mean: trusted(level.mean.moments.origin + level.mean.moments.mean, &|u| &u.mean, &trusts.mean),
        variance,
        std,
        iqr: interval(curve.quantile(0.75) - curve.quantile(0.25), &|u| &u.iqr),
        quantiles: settings.quantiles.iter().enumerate().map(quantile).collect(),
        var: settings.alphas.iter().enumerate().map(var).collect(),
        cvar: settings.alphas.iter().enumerate().map(cvar).collect(),
        cdf: describe_cdf(distribution, uncertainty, selected, &trusts.cdf),
        diagnostics,
    }
}

/// The CDF with its band, which always holds the estimate.
fn describe_cdf(distribution: &Distribution, uncertainty: &[Uncertainty], selected: bool, trust: &Trust) -> Cdf {
    let estimate = &distribution.repaired;
    let holding = |band: &CurveBand| {
        let lower = band.lower.iter().zip(estimate).map(|(x, f)| Some(x.min(*f))).collect();
        let upper = band.upper.iter().zip(estimate).map(|(x, f)| Some(x.max(*f))).collect();
        CdfBand { lower, upper }
    };
    let band = |u: Option<&'_ Uncertainty>| u.map_or(Err(String::new()), |u| u.band.clone());
    let (first, last) = (band(uncertainty.first()), band(uncertainty.last()));
    let mut cdf = Cdf {
        reward: distribution.bins.iter().map(|b| b.max).collect(),
        raw: distribution.raw.clone(),
        estimate: estimate.clone(),
        lower: vec![None; estimate.len()],
        upper: vec![None; estimate.len()],
        half_width: None,
        if_order_holds: first.as_ref().ok().filter(|_| selected).map(holding),
        conditional: false,
        refuted: false,
        reason: None,
    };
    match (trust, last) {
        (Trust::Withheld(why), _) => cdf.reason = Some(why.clone()),
        (Trust::Conditional(why), _) => match first {
            Ok(_) => (cdf.conditional, cdf.reason) = (true, Some(why.clone())),
            Err(reason) => cdf.reason = Some(reason),
        },
        (_, Err(reason)) => cdf.reason = Some(reason),
        (Trust::Stands | Trust::Refuted(_), Ok(band)) => {
            let ends = holding(&band);
            (cdf.lower, cdf.upper, cdf.half_width) = (ends.lower, ends.upper, band.half_width);
            if let Trust::Refuted(why) = trust {
                (cdf.refuted, cdf.reason) = (true, Some(why.clone()));
            }
        }
    }
    cdf
}

/// Quantiles and tails are read inside a bin; one that holds much of the distribution has little to say about them.
fn coarse_bins(distribution: &Distribution, settings: &Settings) -> Option<Check> {
    let levels =
        settings.quantiles.iter().copied().chain(settings.alphas.iter().map(|&alpha| settings.tail.level(alpha)));
    let (share, level) =
        levels.map(|level| (distribution.curve().blur(level), level)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let status = match share {
        share if share > COARSE => Status::Fail,
        share if share > FINE => Status::Warn,
        _ => return None,
    };
    let message = format!(
        "the quantile at {level} lies in a bin of rewards that holds {:.0}% of the distribution, so quantiles, VaR and \
         CVaR are coarse: use --bins log for rewards over many orders of magnitude, or more --bins",
        100.0 * share
    );
    Some(Check::new("bins", status, Some(share), message))
}

/// What is known of the variance.
pub(crate) enum Spread {
    Constant,
    Variance(f64),
    Missing(&'static str, Check),
}

pub(crate) fn spread(distribution: &Distribution, variance: f64) -> Spread {
    let rows: f64 = distribution.bins.iter().map(|b| b.rows).sum();
    let constant = distribution.bins.first().map(|b| b.min) == distribution.bins.last().map(|b| b.max);
    if rows <= 1.0 {
        let reason = "one row has no variance";
        return Spread::Missing(reason, Check::new("variance", Status::Fail, None, reason));
    }
    if constant {
        return Spread::Constant;
    }
    if variance > 0.0 {
        return Spread::Variance(variance);
    }
    let message = "the variance came out at or below 0 and is not given: the square of the reward needs a structure of \
                   higher order than its mean, or the log has too few rows";
    let check = Check::new("variance", Status::Fail, Some(variance), message);
    Spread::Missing(NO_VARIANCE, check)
}
