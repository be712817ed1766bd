//! Intervals from draws: percentiles, corrected for bias and skewness, widened by what bins hide.
//! See docs/methods.md, sections 6.10 and 6.11.

use crate::distribution::curve::Curve;
use crate::influence::asymmetry::{Asymmetry, WeightShape};
use crate::interval::bands::CurveBand;
use crate::interval::draws::{central, corrected};
use crate::interval::limits::{FINE, bounds, z};
use crate::result::interval::Bounds;
use crate::spec::settings::Settings;

/// Draws of a sum of CVaRs around its estimate.
pub(crate) struct TailDraws {
    pub(crate) draws: Vec<f64>,
    pub(crate) estimate: f64,
    /// Whether a tail may begin in an atom or a bin that holds much of the distribution.
    pub(crate) is_clumped: bool,
    /// What a single tail's mean lies between.
    pub(crate) range: Option<(f64, f64)>,
}

/// How far below and above its estimate a term of a sum may lie, for bins hide where the rewards inside them lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blur {
    /// What the term is multiplied by in the sum.
    pub(crate) coefficient: f64,
    pub(crate) down: f64,
    pub(crate) up: f64,
}

/// The interval of a sum of CVaRs from its draws: percentiles corrected for bias and skewness. Beside an atom the draws are
/// lumps, to which the correction does not apply: there the interval holds the plain percentiles as well. Bins that hold
/// much of the distribution add what is not known of the rewards inside them.
pub(crate) fn tail_interval(
    TailDraws { draws, estimate, is_clumped, range }: TailDraws,
    asymmetry: Asymmetry,
    blurs: &[Blur],
    settings: &Settings,
) -> Bounds {
    let tail = (1.0 - settings.confidence) / 2.0;
    let plain = is_clumped.then(|| central(draws.clone(), settings.confidence));
    let (mut lower, mut upper) = corrected(draws, estimate, asymmetry.shift(tail), settings.confidence);
    if let Some(plain) = plain {
        (lower, upper) = (lower.min(plain.0), upper.max(plain.1));
    }
    let mut b = blurred(stretched(estimate, (lower, upper), asymmetry.wider(tail)), blurs.iter().copied());
    if let Some((least, most)) = range {
        b = Bounds { lower: b.lower.map(|x| x.clamp(least, most)), upper: b.upper.map(|x| x.clamp(least, most)) };
    }
    b
}

/// Whether the quantile of a level may lie in a bin that holds much of the distribution.
pub(crate) fn is_clumped(curve: Curve<'_>, pointwise: &CurveBand, level: f64) -> bool {
    let bin_at = |cdf: &[f64]| Curve { bins: curve.bins, cdf }.bin_at(level);
    let (from, to) = (bin_at(&pointwise.upper), bin_at(&pointwise.lower));
    (from..=to).any(|b| curve.mass(b) > FINE)
}

/// The smallest and the largest logged reward, times a number.
pub(crate) fn reward_range(curve: Curve<'_>, times: f64) -> (f64, f64) {
    let ends = [curve.bins[0].min * times, curve.bins[curve.bins.len() - 1].max * times];
    (ends[0].min(ends[1]), ends[0].max(ends[1]))
}

/// How many times wider intervals from draws have to be, for the draws' own variance is estimated.
pub(crate) fn wider(shape: &WeightShape, settings: &Settings) -> f64 {
    shape.of_middle().ends((1.0 - settings.confidence) / 2.0).up / z(settings)
}

/// An interval's ends, moved away from the estimate.
pub(crate) fn stretched(estimate: f64, (lower, upper): (f64, f64), wider: f64) -> Bounds {
    bounds((estimate + wider * (lower - estimate), estimate + wider * (upper - estimate)))
}

/// An interval's ends, moved away by what bins hide of each term.
pub(crate) fn blurred(interval: Bounds, blurs: impl Iterator<Item = Blur>) -> Bounds {
    blurs.fold(interval, |Bounds { lower, upper }, Blur { coefficient, down, up }| {
        let (down, up) = if coefficient < 0.0 { (up, down) } else { (down, up) };
        Bounds { lower: lower.map(|x| x - coefficient.abs() * down), upper: upper.map(|x| x + coefficient.abs() * up) }
    })
}
