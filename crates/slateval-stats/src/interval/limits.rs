//! When an interval may be given, and why not.
//! See docs/methods.md, section 6.19.

use std::result;

use crate::distribution::estimator::Estimator;
use crate::distribution::reward_tail::RewardTail;
use crate::influence::design::{ROWS_NEEDED, designed_rows, effective_rows};
use crate::math::normal;
use crate::result::interval::Bounds;
use crate::result::reason::{Reason, TailMetric};
use crate::spec::settings::{Band, Settings};
use crate::spec::tail::Tail;
use crate::sums::cell::Cell;
use crate::sums::clusters::ClusterSums;

/// How far an estimate may be off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    /// The ends of its interval.
    pub(crate) bounds: Bounds,
    /// Its standard error; none where the interval rests on no such thing.
    pub(crate) se: Option<f64>,
}

/// The ends of an interval and the standard error, or why there are none.
pub(crate) type Limits = result::Result<Reach, Reason>;

/// Groups of clusters below which nothing is known of how they vary.
pub(crate) const FEW_GROUPS: usize = 10;

/// The share of a bin in the distribution above which it says too little about a quantile in it.
pub(crate) const COARSE: f64 = 0.2;

/// The share of a bin in the distribution up to which quantiles are read inside it.
pub(crate) const FINE: f64 = 0.02;

/// The effective rows that a tail needs for an interval.
pub(crate) const TAIL_ROWS: f64 = 5.0;

/// What stands against any interval of a cell: one row, few clusters, rewards that never vary, or the user.
pub(crate) fn can_have_intervals(cell: &Cell, settings: &Settings) -> result::Result<(), Reason> {
    if cell.rows < 2 {
        return Err(Reason::OneRow);
    }
    if let Some(groups) = cell.clusters.as_ref().map(ClusterSums::occupied).filter(|&groups| groups < FEW_GROUPS) {
        return Err(Reason::FewClusters { groups, needed: FEW_GROUPS });
    }
    let alike = cell.bins.range().is_some_and(|(least, most)| least == most);
    match settings.band {
        Band::None => Err(Reason::SwitchedOff),
        Band::Multiplier if alike => Err(Reason::EqualRewards),
        // A guaranteed band allows for what has not been seen.
        Band::Multiplier | Band::Bernstein => Ok(()),
    }
}

/// Whether the log is worth enough rows of the target's own for any interval.
pub(crate) fn has_enough_rows(estimator: &Estimator<'_>) -> result::Result<(), Reason> {
    if estimator.corrected.gave_up {
        return Err(Reason::NotCorrected);
    }
    let rows = designed_rows(estimator);
    if rows >= ROWS_NEEDED {
        return Ok(());
    }
    Err(Reason::FewRows { rows, needed: ROWS_NEEDED })
}

/// Whether the bin that a quantile is read from is fine enough to say something about it.
pub(crate) fn bin_is_fine_enough(estimator: &Estimator<'_>, level: f64) -> result::Result<(), Reason> {
    let share = estimator.distribution.curve().blur(level);
    if share <= COARSE {
        return Ok(());
    }
    Err(Reason::CoarseBin { reward: None, share })
}

/// Whether a tail of this probability holds enough effective rows.
pub(crate) fn tail_has_enough_rows(estimator: &Estimator<'_>, probability: f64) -> result::Result<(), Reason> {
    let rows = probability * effective_rows(estimator);
    if rows >= TAIL_ROWS {
        return Ok(());
    }
    Err(Reason::ThinTail { rows, needed: TAIL_ROWS })
}

/// The variance, if it came out as one.
pub(crate) fn positive_variance(estimator: &Estimator<'_>) -> result::Result<f64, Reason> {
    let variance = estimator.moments.variance;
    if variance <= 0.0 {
        return Err(Reason::NoVariance { structure: estimator.structure.clone() });
    }
    Ok(variance)
}

/// Whether the rewards' tails are light enough for an interval.
pub(crate) fn light_enough(of: TailMetric, index: f64, needed: f64) -> result::Result<(), Reason> {
    if index >= needed { Ok(()) } else { Err(Reason::HeavyTail { of, index, needed }) }
}

/// A tail's mean is decided by the rewards furthest out on its side.
pub(crate) fn has_light_tail(estimator: &Estimator<'_>, tail: Tail) -> result::Result<(), Reason> {
    light_enough(TailMetric::Tail, RewardTail::index_of(estimator, tail), RewardTail::FOR_MEAN)
}

pub(crate) fn bounds((lower, upper): (f64, f64)) -> Bounds {
    Bounds { lower: Some(lower), upper: Some(upper) }
}

/// The normal quantile for two-sided intervals.
pub(crate) fn z(settings: &Settings) -> f64 {
    normal::upper_quantile((1.0 - settings.confidence) / 2.0)
}

impl Reach {
    /// Times a number.
    pub(crate) fn scaled(self, by: f64) -> Self {
        Reach { bounds: scaled(self.bounds, by), se: self.se.map(|se| by.abs() * se) }
    }

    /// With a number added to the estimate.
    pub(crate) fn shifted(self, by: f64) -> Self {
        Reach { bounds: plus(self.bounds, bounds((by, by))), se: self.se }
    }
}

/// Times a number; a negative one exchanges the ends.
pub(crate) fn scaled(b: Bounds, by: f64) -> Bounds {
    let (lower, upper) = (b.lower.map(|x| by * x), b.upper.map(|x| by * x));
    if by < 0.0 { Bounds { lower: upper, upper: lower } } else { Bounds { lower, upper } }
}

/// The ends of a sum of two.
pub(crate) fn plus(a: Bounds, b: Bounds) -> Bounds {
    let add = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
    Bounds { lower: add(a.lower, b.lower), upper: add(a.upper, b.upper) }
}
