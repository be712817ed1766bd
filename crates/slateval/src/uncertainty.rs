//! Bands and intervals of one policy, and of its difference to another.

use std::result;

use crate::asymmetry::{Asymmetry, WeightShape, tail_values};
use crate::bernstein::{Guaranteed, WeightBounds};
use crate::cell::Cell;
use crate::distribution::{Curve, Tail};
use crate::draws::{Draws, central, corrected, envelope, place, read_off};
use crate::error::Result;
use crate::estimator::Estimator;
use crate::evaluation::Bounds;
use crate::groups::Groups;
use crate::moment::{self, Moment, MomentPart};
use crate::normal;
use crate::process::Process;
use crate::reward_tail::RewardTail;
use crate::selection::CARRIES;
use crate::settings::{Band, Settings};
use crate::weighted::{Bin, term};

/// The ends of an interval, or why there are none.
pub(crate) type Limits = result::Result<Bounds, String>;

/// The estimators that a policy's answers are read from, at one level of trust in the chosen order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level<'e, 'a> {
    pub(crate) cdf: &'e Estimator<'a>,
    pub(crate) mean: &'e Estimator<'a>,
    pub(crate) variance: &'e Estimator<'a>,
}

/// A band around a CDF.
#[derive(Debug, Clone)]
pub(crate) struct CurveBand {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    pub(crate) half_width: Option<f64>,
}

/// Everything uncertain about one policy.
#[derive(Debug, Clone)]
pub(crate) struct Uncertainty {
    pub(crate) band: result::Result<CurveBand, String>,
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

/// Why there is no interval of the variance.
pub(crate) const NO_VARIANCE: &str = "the variance came out at or below 0";

/// Why no guaranteed interval is there of what compares policies, and of what is no quantile.
pub(crate) const GUARANTEES_ONE: &str = "a guaranteed band is of one policy";
pub(crate) const NEEDS_REWARD_BOUNDS: &str = "a guaranteed interval would need bounds of the reward";

/// Why there is no interval where rewards never vary: what has not been seen may still happen.
pub(crate) const ALL_ALIKE: &str = "all rewards are alike: nothing is known of how they vary";

/// Groups of clusters below which nothing is known of how they vary.
pub(crate) const FEW_GROUPS: usize = 10;

/// The share of a bin in the distribution above which it says too little about a quantile in it.
pub(crate) const COARSE: f64 = 0.2;

/// The share of a bin in the distribution up to which quantiles are read inside it.
pub(crate) const FINE: f64 = 0.02;

/// The effective rows that a tail needs for an interval.
pub(crate) const TAIL_ROWS: f64 = 5.0;

impl<'a> Level<'_, 'a> {
    /// One estimator for everything.
    pub(crate) fn of<'e>(estimator: &'e Estimator<'a>) -> Level<'e, 'a> {
        Level { cdf: estimator, mean: estimator, variance: estimator }
    }
}

impl Uncertainty {
    /// With nothing but a reason.
    fn withheld(reason: &str, settings: &Settings) -> Self {
        let no = || Err(reason.to_owned());
        let each = |count: usize| (0..count).map(|_| no()).collect::<Vec<Limits>>();
        Uncertainty {
            band: Err(reason.to_owned()),
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
        level: Level<'_, '_>,
        second: Option<Level<'_, '_>>,
        settings: &Settings,
    ) -> Result<(Self, Option<DifferenceUncertainty>)> {
        let refuse = |reason: &str| {
            let difference = second.map(|_| DifferenceUncertainty::withheld(reason, settings));
            Ok((Self::withheld(reason, settings), difference))
        };
        if let Err(reason) = can_have_intervals(cell, settings) {
            return refuse(&reason);
        }
        if settings.band == Band::Bernstein {
            let difference = second.map(|_| DifferenceUncertainty::withheld(GUARANTEES_ONE, settings));
            return Ok((Self::guaranteed(level.cdf, settings)?, difference));
        }
        let carried = carries(level.cdf).and_then(|()| second.map_or(Ok(()), |s| carries(s.cdf)));
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
            carries_tail(estimator, level.min(1.0 - level))?;
            resolves(estimator, level)?;
            Ok(invert(distribution.curve(), &pointwise, level))
        };
        let cvar = |(i, &alpha): (usize, &f64)| {
            carries_tail(estimator, alpha)?;
            resolves(estimator, settings.tail.level(alpha))?;
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
            iqr: carries_tail(estimator, 0.25)
                .and_then(|()| resolves(estimator, 0.25))
                .and_then(|()| resolves(estimator, 0.75))
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
        let mut this = Self::withheld(NEEDS_REWARD_BOUNDS, settings);
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
    fn new(cell: &Cell, level: Level<'_, '_>, settings: &Settings) -> Self {
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
    fn withheld(reason: &str, settings: &Settings) -> Self {
        let each = |count: usize| (0..count).map(|_| Err(reason.to_owned())).collect();
        DifferenceUncertainty {
            mean: Err(reason.to_owned()),
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
        first: Level<'_, '_>,
        second: Level<'_, '_>,
        settings: &Settings,
    ) -> Self {
        let part = |coefficient: f64, estimator| MomentPart { coefficient, moment: Moment::Mean, estimator };
        let mean = moment::interval(cell, &[part(1.0, first.mean), part(-1.0, second.mean)], settings);
        // The shape of the error is that of the target that comes first in the log's specification.
        let is_first = second.cdf.structure.is_none() || first.cdf.sums.policy < second.cdf.sums.policy;
        let shape = WeightShape::of(if is_first { first.cdf } else { second.cdf });
        let wider = wider(&shape, settings);
        let bands = [(first, 0), (second, 1)].map(|(level, m)| pointwise(process, level.cdf, m, 2, settings));
        let told = |level: f64, tail: f64| -> result::Result<(), String> {
            for estimator in [first.cdf, second.cdf] {
                carries_tail(estimator, tail)?;
                resolves(estimator, level)?;
            }
            Ok(())
        };
        let estimates = [first, second].map(|level| read_off(level.cdf.distribution.curve(), settings));
        let cvar = |(i, &alpha): (usize, &f64)| {
            told(settings.tail.level(alpha), alpha)?;
            has_light_tail(first.cdf, settings.tail)?;
            let p = place::cvar(i);
            let values = |level: Level<'_, '_>, times: f64| {
                tail_values(level.cdf.distribution.curve(), alpha, settings.tail, times)
            };
            let asymmetry = match second.cdf.structure {
                None => shape.of_sum(&values(first, 1.0), &values(second, -1.0)),
                Some(_) if is_first => shape.of_mean(&values(first, 1.0)),
                Some(_) => shape.of_mean(&values(second, -1.0)),
            };
            let blur = |level: Level<'_, '_>| level.cdf.distribution.curve().tail_blur(alpha, settings.tail, FINE);
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

/// The bounds of each point of a member's CDF by itself.
pub(crate) fn pointwise(
    process: &Process,
    estimator: &Estimator<'_>,
    member: usize,
    members: usize,
    settings: &Settings,
) -> CurveBand {
    let mut by = vec![0.0; members];
    by[member] = 1.0;
    let t = WeightShape::of(estimator).of_middle().ends((1.0 - settings.confidence) / 2.0).up;
    let spread: Vec<f64> = process.variance(&by).into_iter().map(|v| t * v.sqrt()).collect();
    band_around(&estimator.distribution.repaired, |b| spread[b])
}

/// How many times wider intervals from draws have to be, for the draws' own variance is estimated.
pub(crate) fn wider(shape: &WeightShape, settings: &Settings) -> f64 {
    shape.of_middle().ends((1.0 - settings.confidence) / 2.0).up / z(settings)
}

/// An interval's ends, moved away from the estimate.
pub(crate) fn stretched(estimate: f64, (lower, upper): (f64, f64), wider: f64) -> Bounds {
    bounds((estimate + wider * (lower - estimate), estimate + wider * (upper - estimate)))
}

/// Draws of a sum of CVaRs around its estimate.
pub(crate) struct TailDraws {
    pub(crate) draws: Vec<f64>,
    pub(crate) estimate: f64,
    /// Whether a tail may begin in an atom or a bin that holds much of the distribution.
    pub(crate) is_clumped: bool,
    /// What a single tail's mean lies between.
    pub(crate) range: Option<(f64, f64)>,
}

/// Whether the quantile of a level may lie in a bin that holds much of the distribution.
pub(crate) fn is_clumped(curve: Curve<'_>, pointwise: &CurveBand, level: f64) -> bool {
    let bin_at = |cdf: &[f64]| Curve { bins: curve.bins, cdf }.bin_at(level);
    let (from, to) = (bin_at(&pointwise.upper), bin_at(&pointwise.lower));
    (from..=to).any(|b| curve.mass(b) > FINE)
}

/// A tail's mean is decided by the rewards furthest out on its side.
pub(crate) fn has_light_tail(estimator: &Estimator<'_>, tail: Tail) -> result::Result<(), String> {
    moment::light_enough(RewardTail::index_of(estimator, tail), RewardTail::FOR_MEAN, "tail")
}

/// The interval of a sum of CVaRs from its draws: percentiles corrected for bias and skewness. Beside an atom the draws are
/// lumps, to which the correction does not apply: there the interval holds the plain percentiles as well. Bins that hold much of the distribution add what is not known of the
/// rewards inside them, each part with its sign.
pub(crate) fn tail_interval(
    TailDraws { draws, estimate, is_clumped, range }: TailDraws,
    asymmetry: Asymmetry,
    blurs: &[(f64, (f64, f64))],
    settings: &Settings,
) -> Bounds {
    let tail = (1.0 - settings.confidence) / 2.0;
    let plain = is_clumped.then(|| central(draws.clone(), settings.confidence));
    let (mut lower, mut upper) = corrected(draws, estimate, asymmetry.shift(tail), settings.confidence);
    if let Some(plain) = plain {
        (lower, upper) = (lower.min(plain.0), upper.max(plain.1));
    }
    let mut b = stretched(estimate, (lower, upper), asymmetry.wider(tail));
    for &(coefficient, (down, up)) in blurs {
        let (down, up) = if coefficient < 0.0 { (up, down) } else { (down, up) };
        b.lower = b.lower.map(|x| x - coefficient.abs() * down);
        b.upper = b.upper.map(|x| x + coefficient.abs() * up);
    }
    if let Some((least, most)) = range {
        b = Bounds { lower: b.lower.map(|x| x.max(least)), upper: b.upper.map(|x| x.min(most)) };
    }
    b
}

/// The smallest and the largest logged reward, times a number.
pub(crate) fn reward_range(curve: Curve<'_>, times: f64) -> (f64, f64) {
    let ends = [curve.bins[0].min * times, curve.bins[curve.bins.len() - 1].max * times];
    (ends[0].min(ends[1]), ends[0].max(ends[1]))
}

/// The difference of two numbers that may lie further below and above than they seem.
fn blurred(b: Bounds, [(down, up), (other_down, other_up)]: [(f64, f64); 2]) -> Bounds {
    Bounds { lower: b.lower.map(|x| x - down - other_up), upper: b.upper.map(|x| x + up + other_down) }
}

/// The normal quantile for two-sided intervals.
pub(crate) fn z(settings: &Settings) -> f64 {
    normal::upper_quantile((1.0 - settings.confidence) / 2.0)
}

/// What stands against any interval of a cell: one row, few clusters, rewards that never vary, or the user.
pub(crate) fn can_have_intervals(cell: &Cell, settings: &Settings) -> result::Result<(), String> {
    if cell.rows < 2 {
        return Err("one row tells nothing of how rows vary".to_owned());
    }
    if let Some(groups) = cell.groups.as_ref().map(Groups::occupied).filter(|&groups| groups < FEW_GROUPS) {
        return Err(format!("rows are in only {groups} groups of clusters, and {FEW_GROUPS} are needed"));
    }
    let alike = cell.bins.range().is_some_and(|(least, most)| least == most);
    match settings.band {
        Band::None => Err("intervals are switched off".to_owned()),
        Band::Multiplier if alike => Err(ALL_ALIKE.to_owned()),
        // A guaranteed band allows for what has not been seen.
        Band::Multiplier | Band::Bernstein => Ok(()),
    }
}

/// The variance, if it came out as one.
pub(crate) fn positive_variance(estimator: &Estimator<'_>) -> result::Result<f64, String> {
    let variance = estimator.moments.variance;
    if variance <= 0.0 {
        let order = estimator.structure.as_ref().map_or(String::new(), |s| format!(" with structure {s}"));
        return Err(format!("{NO_VARIANCE}{order}"));
    }
    Ok(variance)
}

pub(crate) fn bounds((lower, upper): (f64, f64)) -> Bounds {
    Bounds { lower: Some(lower), upper: Some(upper) }
}

/// Whether the log is worth enough rows of the target's own for any interval.
pub(crate) fn carries(estimator: &Estimator<'_>) -> result::Result<(), String> {
    if estimator.corrected.gave_up {
        return Err("the weights could not be corrected".to_owned());
    }
    let ess = designed_rows(estimator);
    if ess >= CARRIES {
        return Ok(());
    }
    Err(format!("the log is worth only {ess:.1} rows of the target's own, and {CARRIES} are needed for an interval"))
}

/// Whether the bin that a quantile is read from is fine enough to say something about it.
pub(crate) fn resolves(estimator: &Estimator<'_>, level: f64) -> result::Result<(), String> {
    let share = estimator.distribution.curve().blur(level);
    if share <= COARSE {
        return Ok(());
    }
    Err(format!("it lies in a bin that holds {:.0}% of the distribution: use --bins log", 100.0 * share))
}

/// Whether enough of those rows lie in a tail of this probability.
pub(crate) fn carries_tail(estimator: &Estimator<'_>, probability: f64) -> result::Result<(), String> {
    let rows = probability * effective_rows(estimator);
    if rows >= TAIL_ROWS {
        return Ok(());
    }
    Err(format!("the tail rests on {rows:.1} effective rows, and {TAIL_ROWS} are needed for an interval"))
}

/// The smaller of the effective sample sizes, as happened and as designed, in clusters as far as rows are alike in them.
pub(crate) fn effective_rows(estimator: &Estimator<'_>) -> f64 {
    happened_rows(estimator).min(estimator.design_ess.unwrap_or(0.0)) / estimator.design_effect
}

/// The effective sample size as designed, in clusters as far as rows are alike in them.
pub(crate) fn designed_rows(estimator: &Estimator<'_>) -> f64 {
    estimator.design_ess.unwrap_or(0.0) / estimator.design_effect
}

/// `(sum G)^2 / sum G^2`.
pub(crate) fn happened_rows(estimator: &Estimator<'_>) -> f64 {
    let totals = estimator.sums.totals();
    let (g, gg) = (totals[term::G], totals[term::GG]);
    if gg > 0.0 { g * g / gg } else { 0.0 }
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

/// The interval of a quantile: where the band's ends reach its level (Woodruff). Where in a bin that holds much of the
/// distribution they do is not known, so that they are taken to be where the bin begins and ends.
pub(crate) fn invert(curve: Curve<'_>, band: &CurveBand, level: f64) -> Bounds {
    let bins = curve.bins;
    let end = |cdf: &[f64], outermost: fn(&Bin) -> f64| {
        let own = Curve { bins, cdf };
        let b = own.bin_at(level);
        Some(if curve.mass(b) > FINE { outermost(&bins[b]) } else { own.quantile(level) })
    };
    Bounds { lower: end(&band.upper, |bin| bin.min), upper: end(&band.lower, |bin| bin.max) }
}
