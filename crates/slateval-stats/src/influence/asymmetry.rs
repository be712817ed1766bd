//! How far the error of a weighted mean is from normal: its skewness, and how well its own variance is known.
//! See docs/methods.md, section 6.3.
//!
//! The error of an estimate is `sum_i x_i / n` with `x = w y`: a weight times a centred function of the reward. With
//! `skewness = sum x^3 / (sum x^2)^(3/2)`, the studentised error has the `p`-quantile `z_p - skewness (2 z_p^2 + 1) / 6`
//! (Edgeworth).
//!
//! The standard error is estimated too: `sum x^2` has the relative variance `sum x^4 / (sum x^2)^2`. Of this,
//! `skewness^2` is the part that varies together with the estimate, and the Edgeworth correction already allows for it.
//! Half of that part is taken off, because the skewness is itself estimated; on a logarithmic scale, where the error of
//! a variance is closer to normal, all of it is. Call what is left `v`. Then `sum x^2` is treated as a chi-square of
//! `2 / v` degrees of freedom (Satterthwaite), and t quantiles take the place of normal ones.
//!
//! Bins keep `sum w^2`, and the log as a whole `sum w^3` and `sum w^4`; within bins these are taken to be proportional.

use crate::correction::terms::WeightTerm;
use crate::distribution::curve::Curve;
use crate::distribution::estimator::Estimator;
use crate::math::{normal, student};
use crate::spec::tail::Tail;
use crate::sums::index::Feature;

/// The shape of an estimate's error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asymmetry {
    /// `sum x^3 / (sum x^2)^(3/2)`.
    pub(crate) skewness: f64,
    /// `sum x^4 / (sum x^2)^2`.
    pub(crate) spread: f64,
}

/// Multipliers of the standard error towards the lower and the upper end of an interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) down: f64,
    pub(crate) up: f64,
}

/// Skewness beyond which the expansion no longer helps, as a share of the normal quantile.
const LARGEST_SHIFT: f64 = 0.5;

/// Degrees of freedom are taken to be at least this many, however few the formula gives. Intervals are not withheld for
/// their sake: `has_enough_rows` in `uncertainty/limits.rs` decides by the rows that the log is worth.
const LEAST_FREEDOM: f64 = 4.0;

impl Asymmetry {
    /// A normal error whose variance is known.
    pub(crate) const NORMAL: Self = Asymmetry { skewness: 0.0, spread: 0.0 };

    /// The multipliers of the standard error for two ends that each leave out `tail`.
    pub(crate) fn ends(&self, tail: f64) -> Ends {
        self.ends_with(self.student(tail, 0.5), tail)
    }

    /// The same on a logarithmic scale.
    pub(crate) fn ends_of_logarithm(&self, tail: f64) -> Ends {
        self.ends_with(self.student(tail, 1.0), tail)
    }

    fn ends_with(&self, t: f64, tail: f64) -> Ends {
        let shift = self.shift(tail);
        Ends { down: t - shift, up: t + shift }
    }

    /// The t quantile, with a share of the squared skewness taken off.
    fn student(&self, tail: f64, share: f64) -> f64 {
        let left = self.spread - share * self.skewness * self.skewness;
        let freedom = if left > 0.0 { 2.0 / left } else { f64::INFINITY };
        student::upper_quantile(tail, freedom.max(LEAST_FREEDOM))
    }

    /// How far both ends move for the sake of skewness, in standard errors.
    pub(crate) fn shift(&self, tail: f64) -> f64 {
        let z = normal::upper_quantile(tail);
        (self.skewness * (2.0 * z * z + 1.0) / 6.0).clamp(-LARGEST_SHIFT * z, LARGEST_SHIFT * z)
    }

    /// How many times wider an interval is than that of a normal error whose variance is known.
    pub(crate) fn wider(&self, tail: f64) -> f64 {
        self.student(tail, 0.5) / normal::upper_quantile(tail)
    }
}

/// A policy's weights in each bin of rewards.
#[derive(Debug)]
pub(crate) struct WeightShape {
    rows: Vec<f64>,
    /// `sum w`.
    sums: Vec<f64>,
    /// `sum w^2`.
    squares: Vec<f64>,
    /// `sum w^3 / sum w^2` and `sum w^4 / sum w^2` of all rows.
    cubes: f64,
    fourths: f64,
}

impl WeightShape {
    /// As [`Estimator::weight_shape`] keeps it.
    pub(crate) fn of(estimator: &Estimator<'_>) -> Self {
        let rows: Vec<f64> = estimator.distribution.bins.iter().map(|bin| bin.rows).collect();
        if estimator.is_logging() {
            return WeightShape { sums: rows.clone(), squares: rows.clone(), rows, cubes: 1.0, fourths: 1.0 };
        }
        let (sums, tally) = (&estimator.sums, estimator.sums.weight_tally());
        let total = sums.totals()[WeightTerm::GG];
        let share = |sum: f64| if total > 0.0 { sum / total } else { 0.0 };
        WeightShape {
            rows,
            sums: sums.of_one.column(Feature::G).to_vec(),
            squares: sums.of_weight.column(Feature::G).iter().map(|square| square.max(0.0)).collect(),
            cubes: share(tally.cubes),
            fourths: share(tally.fourths),
        }
    }

    /// The error of the mean of `w y + l`: centred functions of the reward, of the policy and of the logging policy beside
    /// it, given by their values in each bin.
    pub(crate) fn of_sum(&self, of_policy: &[f64], of_logging: &[f64]) -> Asymmetry {
        let (mut second, mut third, mut fourth) = (0.0, 0.0, 0.0);
        for (b, (&y, &l)) in of_policy.iter().zip(of_logging).enumerate() {
            let (n, w, ww) = (self.rows[b], self.sums[b] * y, self.squares[b] * y * y);
            let (www, wwww) = (self.cubes * ww * y, self.fourths * ww * y * y);
            second += ww + l * (2.0 * w + l * n);
            third += www + l * (3.0 * ww + l * (3.0 * w + l * n));
            fourth += wwww + l * (4.0 * www + l * (6.0 * ww + l * (4.0 * w + l * n)));
        }
        if second <= 0.0 || fourth <= 0.0 {
            return Asymmetry::NORMAL;
        }
        Asymmetry { skewness: third / second.powf(1.5), spread: fourth / (second * second) }
    }

    /// The error of the mean of the weights alone, as of a CDF in its middle.
    pub(crate) fn of_middle(&self) -> Asymmetry {
        let total: f64 = self.squares.iter().sum();
        if total <= 0.0 {
            return Asymmetry::NORMAL;
        }
        Asymmetry { skewness: 0.0, spread: self.fourths / total }
    }
}

/// What the error of a tail's mean is the mean of, in each bin: `-(q - R)+ / alpha`, or `(R - q)+ / alpha` for the upper
/// tail, `q` being where the tail begins; centred, and times a number.
pub(crate) fn tail_values(curve: Curve<'_>, alpha: f64, tail: Tail, times: f64) -> Vec<f64> {
    let q = curve.var(alpha, tail);
    let beyond = |reward: f64| match tail {
        Tail::Lower => times * (reward - q).min(0.0) / alpha,
        Tail::Upper => times * (reward - q).max(0.0) / alpha,
    };
    let mean: f64 = curve.bins.iter().enumerate().map(|(b, bin)| curve.mass(b) * beyond(bin.mean)).sum();
    curve.bins.iter().map(|bin| beyond(bin.mean) - mean).collect()
}
