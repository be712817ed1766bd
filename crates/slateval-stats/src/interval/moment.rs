//! Intervals of means, variances and standard deviations, and of sums and differences of them.
//! See docs/methods.md, sections 6.4 and 6.5.
//!
//! Each is a mean of an influence function, whose standard error the sums over all rows give. How far its ends lie from
//! the estimate follows from the error's own shape, see [`asymmetry`](crate::influence::asymmetry). A variance or standard
//! deviation by itself has its interval on the logarithmic scale: there its error is closer to normal, and 0 is out of
//! reach.

use std::result;

use crate::distribution::estimator::Estimator;
use crate::distribution::reward_tail::RewardTail;
use crate::influence::asymmetry::{Asymmetry, Ends};
use crate::influence::function::{InfluencePart, standard_error};
use crate::interval::limits::{Limits, Reach, bounds, has_enough_rows, light_enough, positive_variance};
use crate::math::normal;
use crate::result::interval::Bounds;
use crate::result::reason::{Reason, TailMetric};
use crate::spec::settings::Settings;
use crate::sums::cell::Cell;
use crate::sums::feature_map::LinearFunction;

/// Which moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Mean,
    Variance,
    Std,
}

/// A moment of a policy, times a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MomentPart<'e, 'a> {
    pub(crate) coefficient: f64,
    pub(crate) moment: Moment,
    pub(crate) estimator: &'e Estimator<'a>,
}

impl MomentPart<'_, '_> {
    fn value(&self) -> result::Result<f64, Reason> {
        let moments = &self.estimator.moments;
        Ok(match self.moment {
            Moment::Mean => moments.reward_mean(),
            Moment::Variance => positive_variance(self.estimator)?,
            Moment::Std => positive_variance(self.estimator)?.sqrt(),
        })
    }

    /// The influence function of the mean or the variance, and the factor that makes it the moment's own: 1, or
    /// `1 / (2 std)` for a standard deviation.
    fn influence(&self) -> result::Result<(LinearFunction, f64), Reason> {
        Ok(match self.moment {
            Moment::Mean => (self.estimator.mean_influence(), 1.0),
            Moment::Variance => (self.estimator.variance_influence(), 1.0),
            Moment::Std => (self.estimator.variance_influence(), 1.0 / (2.0 * self.value()?)),
        })
    }

    /// Whether rewards far out leave anything to be said.
    fn has_light_tails(&self) -> result::Result<(), Reason> {
        match self.moment {
            Moment::Mean => light_enough(TailMetric::Mean, self.estimator.reward_tail().index, RewardTail::FOR_MEAN),
            Moment::Variance | Moment::Std => {
                let least = RewardTail::needed_for_variance(self.estimator.sums.n);
                light_enough(TailMetric::Variance, self.estimator.reward_tail().weighted_index, least)
            }
        }
    }

    /// The function of the reward whose weighted mean is the moment's error, at each bin's mean reward and times the
    /// coefficient.
    fn values(&self) -> Vec<f64> {
        let moments = &self.estimator.moments;
        let mean = moments.reward_mean();
        let square = |x: f64| (x - mean) * (x - mean) - moments.variance;
        let value = |reward: f64| match self.moment {
            Moment::Mean => reward - mean,
            Moment::Variance => square(reward),
            Moment::Std => square(reward) / (2.0 * moments.variance.sqrt()),
        };
        self.estimator.distribution.bins.iter().map(|bin| self.coefficient * value(bin.mean)).collect()
    }
}

/// The interval of a sum of parts.
pub(crate) fn interval(cell: &Cell, parts: &[MomentPart<'_, '_>], settings: &Settings) -> Limits {
    let (mut value, mut influences) = (0.0, Vec::new());
    for part in parts {
        has_enough_rows(part.estimator)?;
        part.has_light_tails()?;
        let (influence, slope) = part.influence()?;
        value += part.coefficient * part.value()?;
        influences.push(InfluencePart { estimator: part.estimator, influence, by: part.coefficient * slope });
    }
    let error = standard_error(cell, &influences);
    let tail = (1.0 - settings.confidence) / 2.0;
    let bounds = match parts {
        [part] if part.moment != Moment::Mean => on_log_scale(part, value, error, tail),
        _ => {
            let Ends { down, up } = asymmetry(parts).ends(tail);
            bounds((value - down * error, value + up * error))
        }
    };
    Ok(Reach { bounds, se: Some(error) })
}

/// The shape of a sum's error: that of its first target, and of logging beside it.
fn asymmetry(parts: &[MomentPart<'_, '_>]) -> Asymmetry {
    let is_logging = |part: &&MomentPart<'_, '_>| part.estimator.is_logging();
    // Whatever the order of the parts.
    let targets = parts.iter().filter(|part| !is_logging(part));
    let first = targets.min_by_key(|part| part.estimator.sums.policy);
    let Some(first) = first.or(parts.first()) else { return Asymmetry::NORMAL };
    let mut own = vec![0.0; first.estimator.distribution.bins.len()];
    let mut logging = own.clone();
    for part in parts {
        let same = is_logging(&part) == is_logging(&first) && part.estimator.sums.policy == first.estimator.sums.policy;
        let sums = match same {
            true => &mut own,
            false if is_logging(&part) => &mut logging,
            false => continue,
        };
        sums.iter_mut().zip(part.values()).for_each(|(sum, x)| *sum += x);
    }
    first.estimator.weight_shape().of_sum(&own, &logging)
}

/// `log v` varies by `r = se / v`, and its studentised error is that of `v` plus `r/2` times its square.
fn on_log_scale(part: &MomentPart<'_, '_>, value: f64, error: f64, tail: f64) -> Bounds {
    // A multiple of a variance: its size is what has a logarithm.
    let (size, r) = (value.abs(), error / value.abs());
    let relative = match part.moment {
        Moment::Std => 2.0 * r,
        _ => r,
    };
    let z = normal::upper_quantile(tail);
    let Ends { down, up } = asymmetry(&[MomentPart { coefficient: 1.0, ..*part }]).ends_of_logarithm(tail);
    let back = relative * z * z / 2.0;
    let (low, high) = (size * (-r * (down + back)).exp(), size * (r * (up - back).max(down.min(up))).exp());
    if value < 0.0 { bounds((-high, -low)) } else { bounds((low, high)) }
}
