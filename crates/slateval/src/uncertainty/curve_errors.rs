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

use crate::answer::interval::Bounds;
use crate::answer::reason::Reason;
use crate::estimate::asymmetry::tail_values;
use crate::estimate::estimator::Estimator;
use crate::question::combination::Metric;
use crate::question::settings::Settings;
use crate::question::tail::Tail;
use crate::summary::cell::Cell;
use crate::uncertainty::bands::{CurveBand, invert, pointwise};
use crate::uncertainty::drawn::{Blur, TailDraws, blurred, is_clumped, reward_range, stretched, tail_interval, wider};
use crate::uncertainty::draws::{CellDraws, Draws, central, envelope};
use crate::uncertainty::limits::{
    COARSE, FINE, Limits, bin_is_fine_enough, bounds, has_light_tail, scaled, tail_has_enough_rows,
};
use crate::uncertainty::process::Process;
use crate::uncertainty::readings::{Readings, read};

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
    shared: &'d CellDraws<'d>,
    draws: OnceCell<Draws>,
    /// For each member.
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
        shared: &'d CellDraws<'d>,
    ) -> Self {
        CurveErrors {
            process: Process::new(cell, occupied, members),
            settings: settings.clone(),
            readings,
            shared,
            draws: OnceCell::new(),
            bands: members.iter().map(|_| OnceCell::new()).collect(),
            light_tails: members.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    /// The interval of a sum of terms.
    pub(crate) fn limits(&self, members: &[&Estimator<'_>], terms: &[CurveTerm]) -> Limits {
        if let [CurveTerm { coefficient, metric: Metric::Probability(reward), member }] = *terms {
            let found = probability(reward, members[member], self.band(members, member))?;
            return Ok(scaled(found, coefficient));
        }
        for term in terms {
            says_enough_about(term.metric, members[term.member], self.settings.tail)?;
        }
        if let [CurveTerm { coefficient, metric: Metric::Quantile(level), member }] = *terms {
            let curve = members[member].distribution.curve();
            return Ok(scaled(invert(curve, self.band(members, member), level), coefficient));
        }
        if terms.iter().all(|term| matches!(term.metric, Metric::Cvar(_))) {
            return self.tail_limits(members, terms);
        }
        let ends = central(self.drawn_sums(members, terms), self.settings.confidence);
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
        Ok(blurred(widened, terms.iter().filter_map(blur)))
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
        let drawn = TailDraws {
            draws: self.drawn_sums(members, terms),
            estimate: estimate(members, terms, tail),
            is_clumped: any_clumped,
            range,
        };
        let asymmetry = members[first].weight_shape().of_sum(&of_first, &of_logging);
        Ok(tail_interval(drawn, asymmetry, &blurs, &self.settings))
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
            Ok(own) => Ok(ends.next().map_or(*own, |ends| hull(own, ends))),
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
        self.draws.get_or_init(|| Draws::new(&self.process, members, &self.readings, &self.settings, self.shared))
    }

    fn band(&self, members: &[&Estimator<'_>], member: usize) -> &CurveBand {
        let new = || pointwise(&self.process, members[member], member, members.len(), &self.settings);
        self.bands[member].get_or_init(new)
    }
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
fn probability(reward: f64, estimator: &Estimator<'_>, band: &CurveBand) -> Limits {
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
