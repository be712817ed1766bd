//! When an interval may be given, and why not.

use std::result;

use crate::answer::interval::Bounds;
use crate::estimate::design::{ROWS_NEEDED, designed_rows, effective_rows};
use crate::estimate::estimator::Estimator;
use crate::estimate::reward_tail::RewardTail;
use crate::math::normal;
use crate::question::settings::{Band, Settings};
use crate::question::tail::Tail;
use crate::summary::cell::Cell;
use crate::summary::clusters::ClusterSums;

/// The ends of an interval, or why there are none.
pub(crate) type Limits = result::Result<Bounds, String>;

/// Why there is no interval of the variance.
pub(crate) const NO_VARIANCE: &str = "the variance came out at or below 0";

/// Why no guaranteed interval is there of what compares policies, and of what is no quantile.
pub(crate) const GUARANTEES_ONE: &str = "a guaranteed band is of one policy";

pub(crate) const NEEDS_REWARD_BOUNDS: &str = "a guaranteed interval would need bounds of the reward";

/// Why there is no interval where rewards never vary: what has not been seen may still happen.
pub(crate) const ALL_ALIKE: &str = "all rewards are alike: nothing is known of how they vary";

/// ClusterSums of clusters below which nothing is known of how they vary.
pub(crate) const FEW_GROUPS: usize = 10;

/// The share of a bin in the distribution above which it says too little about a quantile in it.
pub(crate) const COARSE: f64 = 0.2;

/// The share of a bin in the distribution up to which quantiles are read inside it.
pub(crate) const FINE: f64 = 0.02;

/// The effective rows that a tail needs for an interval.
pub(crate) const TAIL_ROWS: f64 = 5.0;

/// What stands against any interval of a cell: one row, few clusters, rewards that never vary, or the user.
pub(crate) fn can_have_intervals(cell: &Cell, settings: &Settings) -> result::Result<(), String> {
    if cell.rows < 2 {
        return Err("one row tells nothing of how rows vary".to_owned());
    }
    if let Some(groups) = cell.clusters.as_ref().map(ClusterSums::occupied).filter(|&groups| groups < FEW_GROUPS) {
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

/// Whether the log is worth enough rows of the target's own for any interval.
pub(crate) fn has_enough_rows(estimator: &Estimator<'_>) -> result::Result<(), String> {
    if estimator.corrected.gave_up {
        return Err("the weights could not be corrected".to_owned());
    }
    let ess = designed_rows(estimator);
    if ess >= ROWS_NEEDED {
        return Ok(());
    }
    Err(format!(
        "the log is worth only {ess:.1} rows of the target's own, and {ROWS_NEEDED} are needed for an interval"
    ))
}

/// Whether the bin that a quantile is read from is fine enough to say something about it.
pub(crate) fn bin_is_fine_enough(estimator: &Estimator<'_>, level: f64) -> result::Result<(), String> {
    let share = estimator.distribution.curve().blur(level);
    if share <= COARSE {
        return Ok(());
    }
    Err(format!("it lies in a bin that holds {:.0}% of the distribution: use --bins log", 100.0 * share))
}

/// Whether enough of those rows lie in a tail of this probability.
pub(crate) fn tail_has_enough_rows(estimator: &Estimator<'_>, probability: f64) -> result::Result<(), String> {
    let rows = probability * effective_rows(estimator);
    if rows >= TAIL_ROWS {
        return Ok(());
    }
    Err(format!("the tail rests on {rows:.1} effective rows, and {TAIL_ROWS} are needed for an interval"))
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

/// Whether the rewards' tails are light enough for an interval.
pub(crate) fn light_enough(index: f64, least: f64, what: &str) -> result::Result<(), String> {
    if index >= least {
        return Ok(());
    }
    Err(format!(
        "rewards have so heavy a tail (index {index:.2}, and {least:.2} is needed) that a few rows not yet seen may decide the \
         {what}"
    ))
}

/// A tail's mean is decided by the rewards furthest out on its side.
pub(crate) fn has_light_tail(estimator: &Estimator<'_>, tail: Tail) -> result::Result<(), String> {
    light_enough(RewardTail::index_of(estimator, tail), RewardTail::FOR_MEAN, "tail")
}

pub(crate) fn bounds((lower, upper): (f64, f64)) -> Bounds {
    Bounds { lower: Some(lower), upper: Some(upper) }
}

/// The normal quantile for two-sided intervals.
pub(crate) fn z(settings: &Settings) -> f64 {
    normal::upper_quantile((1.0 - settings.confidence) / 2.0)
}
