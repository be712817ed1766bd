//! Bands and intervals of one policy, and of its difference to another.
//! See docs/methods.md, sections 6.8 and 6.14.

use crate::interval::bands::{CurveBand, band_around};
use crate::interval::curve_errors::{CurveErrors, CurveTerm};
use crate::interval::draws::Grids;
use crate::interval::limits::{Limits, Reach, can_have_intervals, has_enough_rows};
use crate::interval::readings::{QUARTILES, Readings};
use crate::spec::combination::Metric;
use std::result;

use crate::distribution::curve::just_below;
use crate::distribution::estimator::Estimator;
use crate::interval::bernstein::{Guaranteed, WeightBounds};
use crate::result::interval::Bounds;
use crate::result::reason::Reason;
use crate::spec::error::Result;
use crate::spec::settings::{Band, Settings};
use crate::sums::cell::Cell;

use crate::interval::moment::{self, Moment, MomentPart};
use crate::interval::process::Process;

/// The estimators that a policy's answers are read from: those of the chosen orders, or of the orders that intervals are
/// taken at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimators<'e, 'a> {
    pub(crate) cdf: &'e Estimator<'a>,
    pub(crate) mean: &'e Estimator<'a>,
    pub(crate) variance: &'e Estimator<'a>,
}

/// Everything uncertain about one policy.
#[derive(Debug, Clone)]
pub(crate) struct Uncertainty {
    pub(crate) band: result::Result<CurveBand, Reason>,
    pub(crate) mean: Limits,
    pub(crate) variance: Limits,
    pub(crate) std: Limits,
    pub(crate) iqr: Limits,
    pub(crate) quantiles: Vec<Limits>,
    pub(crate) var: Vec<Limits>,
    pub(crate) cvar: Vec<Limits>,
    /// Of the probabilities of rewards that are at least so large.
    pub(crate) probabilities: Vec<Limits>,
    /// How much larger each CVaR is in the mean of the draws than its estimate, where that is corrected.
    pub(crate) cvar_bias: Option<Vec<f64>>,
    /// What a guaranteed band rests on.
    pub(crate) guarantee: Option<WeightBounds>,
}

/// Everything uncertain about the difference of two policies.
#[derive(Debug, Clone)]
pub(crate) struct DifferenceUncertainty {
    pub(crate) mean: Limits,
    pub(crate) cvar: Vec<Limits>,
    pub(crate) quantiles: Vec<Limits>,
    /// Of the probabilities of rewards that are at least so large.
    pub(crate) probabilities: Vec<Limits>,
    /// The same for all quantiles at once.
    pub(crate) quantile_band: Vec<Limits>,
    /// How far the CDFs lie apart; none where it cannot be told.
    pub(crate) gap: Option<Gap>,
    /// How much larger each difference of CVaR is in the mean of the draws than its estimate, where that is corrected.
    pub(crate) cvar_bias: Option<Vec<f64>>,
}

/// How far one CDF lies from another, in standard errors: the extremes over the interior, and over all rewards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap {
    pub(crate) interior: Option<(f64, f64)>,
    pub(crate) everywhere: (f64, f64),
}

impl<'a> Estimators<'_, 'a> {
    /// One estimator for everything.
    pub(crate) fn of<'e>(estimator: &'e Estimator<'a>) -> Estimators<'e, 'a> {
        Estimators { cdf: estimator, mean: estimator, variance: estimator }
    }
}

impl Uncertainty {
    /// With nothing but a reason.
    fn withheld(reason: &Reason, settings: &Settings) -> Self {
        let no = || Err(reason.clone());
        let each = |count: usize| (0..count).map(|_| no()).collect::<Vec<Limits>>();
        Uncertainty {
            band: Err(reason.clone()),
            mean: no(),
            variance: no(),
            std: no(),
            iqr: no(),
            quantiles: each(settings.quantiles.len()),
            var: each(settings.alphas.len()),
            cvar: each(settings.alphas.len()),
            probabilities: each(settings.at_least.len()),
            cvar_bias: None,
            guarantee: None,
        }
    }

    /// Of one policy, and of its difference to `second` where there is one.
    pub(crate) fn new(
        cell: &Cell,
        occupied: &[u32],
        estimators: Estimators<'_, '_>,
        second: Option<Estimators<'_, '_>>,
        settings: &Settings,
        grids: &Grids,
    ) -> Result<(Self, Option<DifferenceUncertainty>)> {
        let refuse = |reason: &Reason| {
            let difference = second.map(|_| DifferenceUncertainty::withheld(reason, settings));
            Ok((Self::withheld(reason, settings), difference))
        };
        if let Err(reason) = can_have_intervals(cell, settings) {
            return refuse(&reason);
        }
        if settings.band == Band::Bernstein {
            let difference = second.map(|_| DifferenceUncertainty::withheld(&Reason::GuaranteeOfOnePolicy, settings));
            return Ok((Self::guaranteed(estimators.cdf, settings)?, difference));
        }
        let carried = has_enough_rows(estimators.cdf).and_then(|()| second.map_or(Ok(()), |s| has_enough_rows(s.cdf)));
        let moments = MomentLimits::new(cell, estimators, settings);
        if let Err(reason) = carried {
            let (mut withheld, difference) = refuse(&reason)?;
            (withheld.mean, withheld.variance, withheld.std) = (moments.mean, moments.variance, moments.std);
            return Ok((withheld, difference));
        }
        let members: Vec<&Estimator<'_>> = [estimators.cdf].into_iter().chain(second.map(|s| s.cdf)).collect();
        let readings = Readings::of_evaluation(settings, &estimators.cdf.distribution.bins);
        let errors = CurveErrors::new(cell, occupied, &members, readings, settings, &grids.of_curves);
        let difference = second.map(|second| {
            DifferenceUncertainty::new(cell, &errors, &members, [estimators.mean, second.mean], settings)
        });
        Ok((Self::drawn(&errors, &members, moments, settings), difference))
    }

    /// Of the first member.
    fn drawn(errors: &CurveErrors<'_>, members: &[&Estimator<'_>], moments: MomentLimits, settings: &Settings) -> Self {
        let term = |coefficient: f64, metric: Metric| CurveTerm { coefficient, metric, member: 0 };
        let one = |metric: Metric| errors.limits(members, &[term(1.0, metric)]);
        let quantile = |level: f64| one(Metric::Quantile(level));
        let [low, high] = QUARTILES.map(Metric::Quantile);
        let bins = &members[0].distribution.bins;
        let below =
            |&reward: &f64| errors.limits(members, &[term(-1.0, Metric::Probability(just_below(bins, reward)))]);
        let half_width = errors.half_width(members, 0);
        let mut band = band_around(&members[0].distribution.repaired, |_| half_width);
        band.half_width = Some(half_width);
        let bias = |&alpha: &f64| errors.bias(members, &[term(1.0, Metric::Cvar(alpha))]);
        Uncertainty {
            band: Ok(band),
            mean: moments.mean,
            variance: moments.variance,
            std: moments.std,
            iqr: errors.limits(members, &[term(-1.0, low), term(1.0, high)]),
            quantiles: settings.quantiles.iter().map(|&level| quantile(level)).collect(),
            var: settings.alphas.iter().map(|&alpha| quantile(settings.tail.level(alpha))).collect(),
            cvar: settings.alphas.iter().map(|&alpha| one(Metric::Cvar(alpha))).collect(),
            probabilities: settings.at_least.iter().map(|x| below(x).map(|found| found.shifted(1.0))).collect(),
            cvar_bias: settings.debias_cvar.then(|| settings.alphas.iter().map(bias).collect()),
            guarantee: None,
        }
    }

    /// From empirical Bernstein bounds: the band, and what can be read off it without bounds of the reward.
    fn guaranteed(estimator: &Estimator<'_>, settings: &Settings) -> Result<Self> {
        let found = Guaranteed::new(estimator, settings)?;
        let mut this = Self::withheld(&Reason::GuaranteeNeedsRewardBounds, settings);
        let bins = &estimator.distribution.bins;
        // A guarantee rests on no standard error.
        let reach = |bounds: Bounds| Reach { bounds, se: None };
        let quantile = |level: f64| Ok(reach(found.quantile(bins, level)));
        this.quantiles = settings.quantiles.iter().map(|&level| quantile(level)).collect();
        this.var = settings.alphas.iter().map(|&alpha| quantile(settings.tail.level(alpha))).collect();
        let below = |&reward: &f64| reach(found.probability(bins, just_below(bins, reward))).scaled(-1.0);
        this.probabilities = settings.at_least.iter().map(|x| Ok(below(x).shifted(1.0))).collect();
        this.guarantee = Some(found.weights);
        this.band = Ok(CurveBand { lower: found.lower, upper: found.upper, half_width: None });
        Ok(this)
    }
}

/// Intervals of the moments.
struct MomentLimits {
    mean: Limits,
    variance: Limits,
    std: Limits,
}

impl MomentLimits {
    fn new(cell: &Cell, estimators: Estimators<'_, '_>, settings: &Settings) -> Self {
        let of = |moment: Moment, estimator: &Estimator<'_>| {
            moment::interval(cell, &[MomentPart { coefficient: 1.0, moment, estimator }], settings)
        };
        MomentLimits {
            mean: of(Moment::Mean, estimators.mean),
            variance: of(Moment::Variance, estimators.variance),
            std: of(Moment::Std, estimators.variance),
        }
    }
}

impl DifferenceUncertainty {
    fn withheld(reason: &Reason, settings: &Settings) -> Self {
        let each = |count: usize| (0..count).map(|_| Err(reason.clone())).collect();
        DifferenceUncertainty {
            mean: Err(reason.clone()),
            cvar: each(settings.alphas.len()),
            quantiles: each(settings.quantiles.len()),
            probabilities: each(settings.at_least.len()),
            quantile_band: each(settings.quantiles.len()),
            gap: None,
            cvar_bias: None,
        }
    }

    /// Of the first member minus the second. `means` are the estimators of their means.
    fn new(
        cell: &Cell,
        errors: &CurveErrors<'_>,
        members: &[&Estimator<'_>],
        means: [&Estimator<'_>; 2],
        settings: &Settings,
    ) -> Self {
        let part = |coefficient: f64, estimator| MomentPart { coefficient, moment: Moment::Mean, estimator };
        let mean = moment::interval(cell, &[part(1.0, means[0]), part(-1.0, means[1])], settings);
        let difference = |metric: Metric| -> Vec<CurveTerm> {
            let term = |(member, coefficient): (usize, f64)| CurveTerm { coefficient, metric, member };
            [(0, 1.0), (1, -1.0)].map(term).to_vec()
        };
        let cvars: Vec<Vec<CurveTerm>> = settings.alphas.iter().map(|&alpha| difference(Metric::Cvar(alpha))).collect();
        let quantiles: Vec<Vec<CurveTerm>> =
            settings.quantiles.iter().map(|&level| difference(Metric::Quantile(level))).collect();
        let bins = &members[0].distribution.bins;
        let below = |&reward: &f64| difference(Metric::Probability(just_below(bins, reward)));
        let probabilities: Vec<Vec<CurveTerm>> = settings.at_least.iter().map(below).collect();
        let limits = |sums: &[Vec<CurveTerm>]| -> Vec<Limits> {
            sums.iter().map(|terms| errors.limits(members, terms)).collect()
        };
        let of_quantiles = limits(&quantiles);
        DifferenceUncertainty {
            mean,
            cvar: limits(&cvars),
            probabilities: limits(&probabilities).into_iter().map(turned).collect(),
            quantile_band: errors.at_once(members, &quantiles, &of_quantiles),
            quantiles: of_quantiles,
            gap: Some(Gap::new(&errors.process, members[0], members[1])),
            cvar_bias: settings.debias_cvar.then(|| cvars.iter().map(|terms| errors.bias(members, terms)).collect()),
        }
    }
}

/// The limits of what is larger where this is smaller.
fn turned(limits: Limits) -> Limits {
    limits.map(|found| found.scaled(-1.0))
}

impl Gap {
    /// Where both CDFs are below this, or both above its complement, rewards are too few for either to be shown below.
    const EDGE: f64 = 0.05;

    /// A smaller difference of two CDFs is rounding.
    const ROUNDING: f64 = 1e-9;

    fn new(process: &Process, first: &Estimator<'_>, second: &Estimator<'_>) -> Self {
        let variance = process.variance(&[1.0, -1.0]);
        let (a, b) = (&first.distribution.repaired, &second.distribution.repaired);
        let mut gap = Gap { interior: None, everywhere: (0.0, 0.0) };
        let widen = |(low, high): (f64, f64), t: f64| (low.min(t), high.max(t));
        for ((a, b), variance) in a.iter().zip(b).zip(variance) {
            let difference = a - b;
            let t = if difference.abs() <= Self::ROUNDING { 0.0 } else { difference / variance.sqrt() };
            gap.everywhere = widen(gap.everywhere, t);
            if a.max(*b) >= Self::EDGE && a.min(*b) <= 1.0 - Self::EDGE {
                gap.interior = Some(gap.interior.map_or((t, t), |range| widen(range, t)));
            }
        }
        gap
    }
}
