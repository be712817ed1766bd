//! Bands around CDFs, and intervals of quantiles read off them.
//! See docs/methods.md, sections 6.8 and 6.9.

use crate::correction::weight_sums::Bin;
use crate::distribution::curve::Curve;
use crate::distribution::estimator::Estimator;
use crate::interval::limits::FINE;
use crate::interval::process::Process;
use crate::result::interval::Bounds;
use crate::spec::settings::Settings;

/// A band around a CDF.
#[derive(Debug, Clone)]
pub(crate) struct CurveBand {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    pub(crate) half_width: Option<f64>,
}

/// The bounds of each point of a CDF by itself, given their standard errors.
pub(crate) fn pointwise(estimator: &Estimator<'_>, errors: &[f64], settings: &Settings) -> CurveBand {
    let t = estimator.weight_shape().of_middle().ends((1.0 - settings.confidence) / 2.0).up;
    band_around(&estimator.distribution.repaired, |b| t * errors[b])
}

/// The standard error of each point of a member's CDF.
pub(crate) fn pointwise_errors(process: &Process, member: usize, members: usize) -> Vec<f64> {
    let mut by = vec![0.0; members];
    by[member] = 1.0;
    process.variance(&by).into_iter().map(f64::sqrt).collect()
}

/// `F` minus and plus something, clipped to [0, 1] and monotone: the lower end a running maximum, the upper one a running
/// minimum from the right.
pub(crate) fn band_around(cdf: &[f64], width: impl Fn(usize) -> f64) -> CurveBand {
    let mut lower: Vec<f64> = cdf.iter().enumerate().map(|(b, f)| (f - width(b)).clamp(0.0, 1.0)).collect();
    let mut upper: Vec<f64> = cdf.iter().enumerate().map(|(b, f)| (f + width(b)).clamp(0.0, 1.0)).collect();
    for b in 1..lower.len() {
        lower[b] = lower[b].max(lower[b - 1]);
    }
    for b in (1..upper.len()).rev() {
        upper[b - 1] = upper[b - 1].min(upper[b]);
    }
    CurveBand { lower, upper, half_width: None }
}

/// The interval of a quantile: from where the band's upper end reaches the level to where its lower end does
/// (Woodruff). If that happens in a bin that holds much of the distribution, it is not known where inside the bin. The
/// interval then ends where the bin does: at its smallest reward below, at its largest above.
pub(crate) fn invert(curve: Curve<'_>, band: &CurveBand, level: f64) -> Bounds {
    let bins = curve.bins;
    let end = |cdf: &[f64], outermost: fn(&Bin) -> f64| {
        let own = Curve { bins, cdf };
        let b = own.bin_at(level);
        Some(if curve.mass(b) > FINE { outermost(&bins[b]) } else { own.quantile(level) })
    };
    Bounds { lower: end(&band.upper, |bin| bin.min), upper: end(&band.lower, |bin| bin.max) }
}
