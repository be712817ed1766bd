//! Intervals of sums of what is read off CDFs: quantiles, tails and probabilities of policies that are judged by the same
//! rows. One engine for what an evaluation prints and for what a combination asks.
//! See docs/methods.md, sections 6.9, 6.10 and 6.11.
//!
//! | sum | interval |
//! |---|---|
//! | one probability | the pointwise band at the nearest ends of bins |
//! | one quantile | where the pointwise band reaches its level (Woodruff) |
//! | CVaRs alone | percentiles of draws, corrected for bias and skewness |
//! | anything else | percentiles of draws, widened by the error of their own variance |

use std::cell::OnceCell;
use std::result;

use crate::distribution::curve::{Curve, Distribution};
use crate::distribution::estimator::Estimator;
use crate::influence::asymmetry::tail_values;
use crate::interval::bands::{CurveBand, band_around, invert, pointwise, pointwise_errors};
use crate::interval::drawn::{Blur, TailDraws, blurred, is_clumped, reward_range, stretched, tail_interval, wider};
use crate::interval::draws::{Draws, central, envelope};
use crate::interval::limits::{
    COARSE, FINE, Limits, Reach, bin_is_fine_enough, bounds, has_light_tail, tail_has_enough_rows,
};
use crate::interval::process::Process;
use crate::interval::readings::{Readings, read};
use crate::interval::thinning::Thinning;
use crate::result::interval::Bounds;
use crate::result::reason::Reason;
use crate::spec::combination::Metric;
use crate::spec::settings::Settings;
use crate::spec::tail::Tail;
use crate::sums::cell::Cell;

/// A metric of one of some policies' CDFs, times a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurveTerm {
    pub(crate) coefficient: f64,
    pub(crate) metric: Metric,
    /// The policy's place among the members.
    pub(crate) member: usize,
}

/// The joint error of some policies' CDFs. Every method takes the same members.
#[derive(Debug)]
pub(crate) struct CurveErrors<'d> {
    pub(crate) process: Process,
    settings: Settings,
    readings: Readings,
    grid: &'d Thinning,
    draws: OnceCell<Draws>,
    /// For each member, the standard error of each point of its CDF, the band that reaches as far, and that of its
    /// pointwise intervals.
    errors: Vec<OnceCell<Vec<f64>>>,
    error_bands: Vec<OnceCell<CurveBand>>,
    bands: Vec<OnceCell<CurveBand>>,
    light_tails: Vec<OnceCell<result::Result<(), Reason>>>,
}

impl<'d> CurveErrors<'d> {
    pub(crate) fn new(
        cell: &Cell,
        occupied: &[u32],
        members: &[&Estimator<'_>],
        readings: Readings,
        settings: &Settings,
        grid: &'d Thinning,
    ) -> Self {
        CurveErrors {
            process: Process::new(cell, occupied, members),
            settings: settings.clone(),
            readings,
            grid,
            draws: OnceCell::new(),
            errors: members.iter().map(|_| OnceCell::new()).collect(),
            error_bands: members.iter().map(|_| OnceCell::new()).collect(),
            bands: members.iter().map(|_| OnceCell::new()).collect(),
            light_tails: members.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    /// The interval of a sum of terms.
    pub(crate) fn limits(&self, members: &[&Estimator<'_>], terms: &[CurveTerm]) -> Limits {
        if let [CurveTerm { coefficient, metric: Metric::Probability(reward), member }] = *terms {
            let bounds = probability(reward, members[member], self.band(members, member))?;
            let se = Some(self.error_at(reward, members, member));
            return Ok(Reach { bounds, se }.scaled(coefficient));
        }
        for term in terms {
            says_enough_about(term.metric, members[term.member], self.settings.tail)?;
        }
        if let [CurveTerm { coefficient, metric: Metric::Quantile(level), member }] = *terms {
            let curve = members[member].distribution.curve();
            let bounds = invert(curve, self.band(members, member), level);
            let se = Some(self.error_of_quantile(level, members, member));
            return Ok(Reach { bounds, se }.scaled(coefficient));
        }
        if terms.iter().all(|term| matches!(term.metric, Metric::Cvar(_))) {
            return self.tail_limits(members, terms);
        }
        let drawn = self.drawn_sums(members, terms);
        let se = Some(standard_deviation(&drawn));
        let ends = central(drawn, self.settings.confidence);
        let shape = members[first_target(members, terms)].weight_shape();
        let widened = stretched(estimate(members, terms, self.settings.tail), ends, wider(shape, &self.settings));
        // Differences within one policy, such as its interquartile range, are not widened: the check `bins` warns of them.
        let compares = terms.iter().any(|term| term.member != terms[0].member);
        let blur = |term: &CurveTerm| match term.metric {
            Metric::Quantile(level) if compares => {
                let (down, up) = members[term.member].distribution.curve().quantile_blur(level, FINE);
                Some(Blur { coefficient: term.coefficient, down, up })
            }
            _ => None,
        };
        Ok(Reach { bounds: blurred(widened, terms.iter().filter_map(blur)), se })
    }

    /// The standard error of a member's CDF at a reward; inside a bin, between those at its ends.
    fn error_at(&self, reward: f64, members: &[&Estimator<'_>], member: usize) -> f64 {
        let errors = self.errors(members, member);
        let (place, filled) = members[member].distribution.curve().place(reward);
        let before = place.checked_sub(1).map_or(0.0, |before| errors[before]);
        filled * errors[place] + (1.0 - filled) * before
    }

    /// The standard error of a member's quantile: half of the way between where the CDF and its own standard error reach the
    /// level, and where the CDF less the error does (Woodruff).
    fn error_of_quantile(&self, level: f64, members: &[&Estimator<'_>], member: usize) -> f64 {
        let Distribution { bins, repaired, .. } = &members[member].distribution;
        let new = || {
            let errors = self.errors(members, member);
            band_around(repaired, |b| errors[b])
        };
        let CurveBand { lower, upper, .. } = self.error_bands[member].get_or_init(new);
        let at = |cdf: &[f64]| Curve { bins, cdf }.quantile(level);
        (at(lower) - at(upper)) / 2.0
    }

    fn errors(&self, members: &[&Estimator<'_>], member: usize) -> &[f64] {
        self.errors[member].get_or_init(|| pointwise_errors(&self.process, member, members.len()))
    }

    /// CVaRs alone: the shape of their error is that of the first target's, and of logging beside it.
    fn tail_limits(&self, members: &[&Estimator<'_>], terms: &[CurveTerm]) -> Limits {
        let first = first_target(members, terms);
        let bins = members[first].distribution.bins.len();
        let (mut of_first, mut of_logging) = (vec![0.0; bins], vec![0.0; bins]);
        let (mut any_clumped, mut blurs) = (false, Vec::new());
        let tail = self.settings.tail;
        for term in judged_by_tail(terms) {
            self.light_tails[term.member].get_or_init(|| has_light_tail(members[term.member], tail)).clone()?;
        }
        for &CurveTerm { coefficient, metric, member } in terms {
            let Metric::Cvar(alpha) = metric else { continue };
            let curve = members[member].distribution.curve();
            any_clumped |= is_clumped(curve, self.band(members, member), tail.level(alpha));
            let (down, up) = curve.tail_blur(alpha, tail, FINE);
            blurs.push(Blur { coefficient, down, up });
            let sum = match member {
                _ if member == first => &mut of_first,
                _ if members[member].is_logging() => &mut of_logging,
                _ => continue,
            };
            let own = tail_values(curve, alpha, tail, coefficient);
            sum.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
        }
        let range = match terms {
            [term] => Some(reward_range(members[term.member].distribution.curve(), term.coefficient)),
            _ => None,
        };
        let draws = self.drawn_sums(members, terms);
        let se = Some(standard_deviation(&draws));
        let drawn = TailDraws { draws, estimate: estimate(members, terms, tail), is_clumped: any_clumped, range };
        let asymmetry = members[first].weight_shape().of_sum(&of_first, &of_logging);
        Ok(Reach { bounds: tail_interval(drawn, asymmetry, &blurs, &self.settings), se })
    }

    /// How much larger the CVaRs of a sum are in the mean of the draws than their estimates.
    pub(crate) fn bias(&self, members: &[&Estimator<'_>], terms: &[CurveTerm]) -> f64 {
        let draws = self.draws(members);
        let of = |term: &CurveTerm| match (term.metric, self.readings.place(term.metric)) {
            (Metric::Cvar(alpha), Some(place)) => {
                let estimate = members[term.member].distribution.curve().cvar(alpha, self.settings.tail);
                term.coefficient * (draws.mean(term.member, place) - estimate)
            }
            _ => 0.0,
        };
        terms.iter().map(of).sum()
    }

    /// The intervals of several sums that hold at once, wherever there are any: never within those of each by itself.
    pub(crate) fn at_once(&self, members: &[&Estimator<'_>], sums: &[Vec<CurveTerm>], each: &[Limits]) -> Vec<Limits> {
        let known = sums.iter().zip(each).filter(|(_, limits)| limits.is_ok());
        let drawn: Vec<Vec<f64>> = known.map(|(terms, _)| self.drawn_sums(members, terms)).collect();
        let mut ends = envelope(&drawn, self.settings.confidence).into_iter();
        let hull = |own: &Bounds, (lower, upper): (f64, f64)| Bounds {
            lower: own.lower.map(|x| x.min(lower)),
            upper: own.upper.map(|x| x.max(upper)),
        };
        let limits = |own: &Limits| match own {
            Ok(own) => Ok(ends.next().map_or(*own, |ends| Reach { bounds: hull(&own.bounds, ends), ..*own })),
            Err(reason) => Err(reason.clone()),
        };
        each.iter().map(limits).collect()
    }

    /// Half the width of the band that holds a member's whole CDF.
    pub(crate) fn half_width(&self, members: &[&Estimator<'_>], member: usize) -> f64 {
        self.draws(members).half_width(member, self.settings.confidence)
    }

    /// A sum of terms in each draw.
    fn drawn_sums(&self, members: &[&Estimator<'_>], terms: &[CurveTerm]) -> Vec<f64> {
        let draws = self.draws(members);
        let mut sums = vec![0.0; self.settings.draws];
        for term in terms {
            let Some(place) = self.readings.place(term.metric) else { continue };
            let values = draws.values(term.member, place);
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += term.coefficient * value);
        }
        sums
    }

    fn draws(&self, members: &[&Estimator<'_>]) -> &Draws {
        self.draws.get_or_init(|| Draws::new(&self.process, members, &self.readings, &self.settings, self.grid))
    }

    fn band(&self, members: &[&Estimator<'_>], member: usize) -> &CurveBand {
        let new = || pointwise(members[member], self.errors(members, member), &self.settings);
        self.bands[member].get_or_init(new)
    }
}

fn standard_deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt()
}

fn estimate(members: &[&Estimator<'_>], terms: &[CurveTerm], tail: Tail) -> f64 {
    let value = |term: &CurveTerm| read(term.metric, members[term.member].distribution.curve(), tail);
    terms.iter().map(|term| term.coefficient * value(term)).sum()
}

/// Of the members that terms are about, the target that comes first in the log's specification; logging, if there is none.
fn first_target(members: &[&Estimator<'_>], terms: &[CurveTerm]) -> usize {
    let place = |member: &usize| match members[*member].structure {
        Some(_) => members[*member].sums.policy,
        None => usize::MAX,
    };
    terms.iter().map(|term| term.member).min_by_key(place).unwrap_or(0)
}

/// The terms whose rewards must have a light tail. The difference of one metric between two policies is judged by the first:
/// both are of the same logged rewards.
fn judged_by_tail(terms: &[CurveTerm]) -> &[CurveTerm] {
    match terms {
        [first, second] if first.metric == second.metric && first.coefficient == -second.coefficient => &terms[..1],
        _ => terms,
    }
}

/// Whether the log says enough about what is read off a CDF.
fn says_enough_about(metric: Metric, estimator: &Estimator<'_>, tail: Tail) -> result::Result<(), Reason> {
    match metric {
        Metric::Quantile(level) => {
            tail_has_enough_rows(estimator, level.min(1.0 - level))?;
            bin_is_fine_enough(estimator, level)
        }
        Metric::Cvar(alpha) => {
            tail_has_enough_rows(estimator, alpha)?;
            bin_is_fine_enough(estimator, tail.level(alpha))
        }
        Metric::Probability(reward) => {
            let curve = estimator.distribution.curve();
            let f = curve.probability(reward);
            tail_has_enough_rows(estimator, f.min(1.0 - f))?;
            let (b, filled) = curve.place(reward);
            let share = curve.mass(b);
            if filled == 1.0 || share <= COARSE {
                return Ok(());
            }
            Err(Reason::CoarseBin { reward: Some(reward), share })
        }
        Metric::Mean | Metric::Variance | Metric::Std | Metric::Ess => Ok(()),
    }
}

/// The bounds of `F(v)`. A CDF never falls: a lower bound at an earlier reward and an upper bound at a later one hold
/// at `v` too. They are the band's at the nearest ends of bins, before and after `v`, whose tails hold enough effective
/// rows; 0 or 1 where there is no such end.
fn probability(reward: f64, estimator: &Estimator<'_>, band: &CurveBand) -> result::Result<Bounds, Reason> {
    let (cdf, curve) = (&estimator.distribution.repaired, estimator.distribution.curve());
    let (place, filled) = curve.place(reward);
    let carried = |b: &usize| tail_has_enough_rows(estimator, cdf[*b].min(1.0 - cdf[*b])).is_ok();
    let before = if filled == 1.0 { place + 1 } else { place };
    let lower = (0..before).rev().find(carried).map(|b| band.lower[b]);
    let upper = (place..cdf.len()).find(carried).map(|b| band.upper[b]);
    if lower.is_none() && upper.is_none() {
        let f = curve.probability(reward);
        tail_has_enough_rows(estimator, f.min(1.0 - f))?;
    }
    Ok(bounds((lower.unwrap_or(0.0), upper.unwrap_or(1.0))))
}
