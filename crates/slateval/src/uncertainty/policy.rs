//! Bands and intervals of one policy, and of its difference to another.

use crate::uncertainty::bands::{CurveBand, band_around, invert, pointwise};
use crate::uncertainty::drawn::{TailDraws, is_clumped, reward_range, stretched, tail_interval, wider};
use crate::uncertainty::limits::{
    FINE, Limits, bin_is_fine_enough, can_have_intervals, has_enough_rows, has_light_tail, tail_has_enough_rows,
};
use std::result;

use crate::answer::interval::Bounds;
use crate::answer::reason::Reason;
use crate::estimate::asymmetry::{WeightShape, tail_values};
use crate::estimate::estimator::Estimator;
use crate::question::error::Result;
use crate::question::settings::{Band, Settings};
use crate::summary::cell::Cell;
use crate::uncertainty::bernstein::{Guaranteed, WeightBounds};
use crate::uncertainty::draws::{Draws, envelope, place, read_off};
use crate::uncertainty::moment::{self, Moment, MomentPart};
use crate::uncertainty::process::Process;

/// The estimators that a policy's answers are read from, at one level of trust in the chosen order.
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
    /// How much larger each CVaR is in the mean of the draws than its estimate.
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
    /// The same for all quantiles at once.
    pub(crate) quantile_band: Vec<Limits>,
    /// How far the CDFs lie apart; none where it cannot be told.
    pub(crate) gap: Option<Gap>,
    /// How much larger each difference of CVaR is in the mean of the draws than its estimate.
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
            cvar_bias: None,
            guarantee: None,
        }
    }

    /// Of one policy, and of its difference to `second` where there is one.
    pub(crate) fn new(
        cell: &Cell,
        occupied: &[u32],
        level: Estimators<'_, '_>,
        second: Option<Estimators<'_, '_>>,
        settings: &Settings,
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
            return Ok((Self::guaranteed(level.cdf, settings)?, difference));
        }
        let carried = has_enough_rows(level.cdf).and_then(|()| second.map_or(Ok(()), |s| has_enough_rows(s.cdf)));
        let moments = MomentLimits::new(cell, level, settings);
        if let Err(reason) = carried {
            let (mut withheld, difference) = refuse(&reason)?;
            (withheld.mean, withheld.variance, withheld.std) = (moments.mean, moments.variance, moments.std);
            return Ok((withheld, difference));
        }
        let members: Vec<&Estimator<'_>> = [level.cdf].into_iter().chain(second.map(|s| s.cdf)).collect();
        let process = Process::new(cell, occupied, &members);
        let distributions: Vec<_> = members.iter().map(|e| &e.distribution).collect();
        let draws = Draws::new(&process, &distributions, settings);
        let difference =
            second.map(|second| DifferenceUncertainty::new(cell, &process, &draws, level, second, settings));
        Ok((Self::drawn(level.cdf, moments, &process, &draws, settings), difference))
    }

    fn drawn(
        estimator: &Estimator<'_>,
        moments: MomentLimits,
        process: &Process,
        draws: &Draws,
        settings: &Settings,
    ) -> Self {
        let distribution = &estimator.distribution;
        let pointwise = pointwise(process, estimator, 0, draws.sup.len(), settings);
        let shape = WeightShape::of(estimator);
        let wider = wider(&shape, settings);
        let estimates = read_off(distribution.curve(), settings);
        let quantile = |level: f64| {
            tail_has_enough_rows(estimator, level.min(1.0 - level))?;
            bin_is_fine_enough(estimator, level)?;
            Ok(invert(distribution.curve(), &pointwise, level))
        };
        let cvar = |(i, &alpha): (usize, &f64)| {
            tail_has_enough_rows(estimator, alpha)?;
            bin_is_fine_enough(estimator, settings.tail.level(alpha))?;
            has_light_tail(estimator, settings.tail)?;
            let p = place::cvar(i);
            let asymmetry = shape.of_mean(&tail_values(distribution.curve(), alpha, settings.tail, 1.0));
            let blur = distribution.curve().tail_blur(alpha, settings.tail, FINE);
            let is_clumped = is_clumped(distribution.curve(), &pointwise, settings.tail.level(alpha));
            let range = Some(reward_range(distribution.curve(), 1.0));
            let drawn = TailDraws { draws: draws.values[0][p].clone(), estimate: estimates[p], is_clumped, range };
            Ok(tail_interval(drawn, asymmetry, &[(1.0, blur)], settings))
        };
        let iqr = || stretched(estimates[place::IQR], draws.percentiles(place::IQR, settings.confidence), wider);
        let bias = |i: usize| draws.mean(0, place::cvar(i)) - estimates[place::cvar(i)];
        let half_width = draws.half_width(0, settings.confidence);
        let mut band = band_around(&distribution.repaired, |_| half_width);
        band.half_width = Some(half_width);
        Uncertainty {
            band: Ok(band),
            mean: moments.mean,
            variance: moments.variance,
            std: moments.std,
            iqr: tail_has_enough_rows(estimator, 0.25)
                .and_then(|()| bin_is_fine_enough(estimator, 0.25))
                .and_then(|()| bin_is_fine_enough(estimator, 0.75))
                .map(|()| iqr()),
            quantiles: settings.quantiles.iter().map(|&level| quantile(level)).collect(),
            var: settings.alphas.iter().map(|&alpha| quantile(settings.tail.level(alpha))).collect(),
            cvar: settings.alphas.iter().enumerate().map(cvar).collect(),
            cvar_bias: Some((0..settings.alphas.len()).map(bias).collect()),
            guarantee: None,
        }
    }

    /// From empirical Bernstein bounds: the band, and what can be read off it without bounds of the reward.
    fn guaranteed(estimator: &Estimator<'_>, settings: &Settings) -> Result<Self> {
        let found = Guaranteed::new(estimator, settings)?;
        let mut this = Self::withheld(&Reason::GuaranteeNeedsRewardBounds, settings);
        let bins = &estimator.distribution.bins;
        let quantile = |level: f64| found.quantile(bins, level);
        this.quantiles = settings.quantiles.iter().map(|&level| Ok(quantile(level))).collect();
        this.var = settings.alphas.iter().map(|&alpha| Ok(quantile(settings.tail.level(alpha)))).collect();
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
    fn new(cell: &Cell, level: Estimators<'_, '_>, settings: &Settings) -> Self {
        let of = |moment: Moment, estimator: &Estimator<'_>| {
            moment::interval(cell, &[MomentPart { coefficient: 1.0, moment, estimator }], settings)
        };
        MomentLimits {
            mean: of(Moment::Mean, level.mean),
            variance: of(Moment::Variance, level.variance),
            std: of(Moment::Std, level.variance),
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
            quantile_band: each(settings.quantiles.len()),
            gap: None,
            cvar_bias: None,
        }
    }

    fn new(
        cell: &Cell,
        process: &Process,
        draws: &Draws,
        first: Estimators<'_, '_>,
        second: Estimators<'_, '_>,
        settings: &Settings,
    ) -> Self {
        let part = |coefficient: f64, estimator| MomentPart { coefficient, moment: Moment::Mean, estimator };
        let mean = moment::interval(cell, &[part(1.0, first.mean), part(-1.0, second.mean)], settings);
        // The shape of the error is that of the target that comes first in the log's specification.
        let is_first = second.cdf.structure.is_none() || first.cdf.sums.policy < second.cdf.sums.policy;
        let shape = WeightShape::of(if is_first { first.cdf } else { second.cdf });
        let wider = wider(&shape, settings);
        let bands = [(first, 0), (second, 1)].map(|(level, m)| pointwise(process, level.cdf, m, 2, settings));
        let told = |level: f64, tail: f64| -> result::Result<(), Reason> {
            for estimator in [first.cdf, second.cdf] {
                tail_has_enough_rows(estimator, tail)?;
                bin_is_fine_enough(estimator, level)?;
            }
            Ok(())
        };
        let estimates = [first, second].map(|level| read_off(level.cdf.distribution.curve(), settings));
        let cvar = |(i, &alpha): (usize, &f64)| {
            told(settings.tail.level(alpha), alpha)?;
            has_light_tail(first.cdf, settings.tail)?;
            let p = place::cvar(i);
            let values = |level: Estimators<'_, '_>, times: f64| {
                tail_values(level.cdf.distribution.curve(), alpha, settings.tail, times)
            };
            let asymmetry = match second.cdf.structure {
                None => shape.of_sum(&values(first, 1.0), &values(second, -1.0)),
                Some(_) if is_first => shape.of_mean(&values(first, 1.0)),
                Some(_) => shape.of_mean(&values(second, -1.0)),
            };
            let blur = |level: Estimators<'_, '_>| level.cdf.distribution.curve().tail_blur(alpha, settings.tail, FINE);
            let blurs = [(1.0, blur(first)), (-1.0, blur(second))];
            let clumped = |m: usize| {
                let level = settings.tail.level(alpha);
                is_clumped([first, second][m].cdf.distribution.curve(), &bands[m], level)
            };
            let estimate = estimates[0][p] - estimates[1][p];
            let is_clumped = clumped(0) || clumped(1);
            let drawn = TailDraws { draws: draws.differences(p), estimate, is_clumped, range: None };
            Ok(tail_interval(drawn, asymmetry, &blurs, settings))
        };
        let quantile = |(i, &level): (usize, &f64)| {
            told(level, level.min(1.0 - level))?;
            let p = place::quantile(settings, i);
            let ends = draws.percentiles_of_difference(p, settings.confidence);
            let blur = [first, second].map(|l| l.cdf.distribution.curve().quantile_blur(level, FINE));
            Ok(blurred(stretched(estimates[0][p] - estimates[1][p], ends, wider), blur))
        };
        let quantiles: Vec<Limits> = settings.quantiles.iter().enumerate().map(quantile).collect();
        let bias = |i: usize| {
            let p = place::cvar(i);
            draws.mean(0, p) - draws.mean(1, p) - (estimates[0][p] - estimates[1][p])
        };
        let cvar_bias = (0..settings.alphas.len()).map(bias).collect();
        DifferenceUncertainty {
            mean,
            cvar: settings.alphas.iter().enumerate().map(cvar).collect(),
            quantile_band: at_once(&quantiles, draws, settings),
            quantiles,
            gap: Some(Gap::new(process, first.cdf, second.cdf)),
            cvar_bias: Some(cvar_bias),
        }
    }
}

/// The limits of differences of quantiles that hold at once, wherever there are any: never within those of each by itself.
fn at_once(pointwise: &[Limits], draws: &Draws, settings: &Settings) -> Vec<Limits> {
    let told = (0..pointwise.len()).filter(|&i| pointwise[i].is_ok());
    let differences: Vec<Vec<f64>> = told.map(|i| draws.differences(place::quantile(settings, i))).collect();
    let mut ends = envelope(&differences, settings.confidence).into_iter();
    let hull = |own: &Bounds, (lower, upper): (f64, f64)| Bounds {
        lower: own.lower.map(|x| x.min(lower)),
        upper: own.upper.map(|x| x.max(upper)),
    };
    let limits = |own: &Limits| match own {
        Ok(own) => Ok(ends.next().map_or(*own, |ends| hull(own, ends))),
        Err(reason) => Err(reason.clone()),
    };
    pointwise.iter().map(limits).collect()
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

/// The difference of two numbers that may lie further below and above than they seem.
fn blurred(b: Bounds, [(down, up), (other_down, other_up)]: [(f64, f64); 2]) -> Bounds {
    Bounds { lower: b.lower.map(|x| x - down - other_up), upper: b.upper.map(|x| x + up + other_down) }
}
