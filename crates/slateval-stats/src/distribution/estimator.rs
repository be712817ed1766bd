//! One policy's reward distribution by one weight and one correction, with the influence functions of its moments.
//! See docs/methods.md, sections 5.7, 5.8 and 6.1.

use std::cell::OnceCell;

use crate::correction::corrected::Corrected;
use crate::correction::terms::{WeightTerm, WeightTerms};
use crate::correction::weight_sums::{Bin, WeightSums};
use crate::distribution::curve::Distribution;
use crate::distribution::reward_tail::RewardTail;
use crate::influence::asymmetry::WeightShape;
use crate::influence::design::design_second_moment;
use crate::influence::function::{design_effect, weight_design_effect};
use crate::influence::leverage::leverage;
use crate::result::diagnostics::DesignSource;
use crate::spec::correction::Correction;
use crate::spec::structure::Structure;
use crate::sums::cell::Cell;
use crate::sums::feature_map::LinearFunction;
use crate::sums::index::Feature;

/// A correction that takes up more than this says nothing any more about how much it does.
const LARGEST_LEVERAGE: f64 = 0.5;

/// Everything that one weight, corrected, says about a policy.
#[derive(Debug)]
pub(crate) struct Estimator<'a> {
    pub(crate) sums: WeightSums<'a>,
    pub(crate) corrected: Corrected,
    /// What the weight assumes; none for the logging policy.
    pub(crate) structure: Option<Structure>,
    pub(crate) distribution: Distribution,
    pub(crate) moments: Moments,
    /// `n / E[G^2]`, and where the second moment comes from.
    pub(crate) design_ess: Option<f64>,
    pub(crate) design_from: DesignSource,
    /// How many times more the mean weight varies than if rows were independent; 1 without clusters.
    pub(crate) design_effect: f64,
    /// The share of the weights' variation that the correction takes up; 0 where nothing was fitted.
    pub(crate) leverage: f64,
    reward_tail: OnceCell<RewardTail>,
    weight_shape: OnceCell<WeightShape>,
}

/// Mean about the cell's origin, and variance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    pub(crate) origin: f64,
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}

impl<'a> Estimator<'a> {
    pub(crate) fn of_target(
        cell: &Cell,
        sums: WeightSums<'a>,
        structure: Structure,
        (correction, chi_usable): (Correction, bool),
        bins: &[Bin],
    ) -> Self {
        let corrected = Corrected::new(correction, &structure, &sums);
        let distribution = Distribution::new(bins.to_vec(), corrected.masses(&sums).into_iter());
        let moments = Moments::of_target(&corrected, &sums);
        let (second, design_from) = design_second_moment(&structure, &sums, chi_usable);
        let design_ess = (second > 0.0 && second.is_finite()).then(|| sums.n / second);
        let design_effect = weight_design_effect(cell, &sums);
        let leverage = leverage(corrected.correction, &structure, &sums);
        let structure = Some(structure);
        Estimator {
            sums,
            corrected,
            structure,
            distribution,
            moments,
            design_ess,
            design_from,
            design_effect,
            leverage,
            reward_tail: OnceCell::new(),
            weight_shape: OnceCell::new(),
        }
    }

    /// The tail of the policy's rewards.
    pub(crate) fn reward_tail(&self) -> &RewardTail {
        self.reward_tail.get_or_init(|| RewardTail::of(self))
    }

    /// The policy's weights in each bin.
    pub(crate) fn weight_shape(&self) -> &WeightShape {
        self.weight_shape.get_or_init(|| WeightShape::of(self))
    }

    /// What half-widths are multiplied by, for the correction was fitted to the rows that it corrects.
    pub(crate) fn inflation(&self) -> f64 {
        1.0 / (1.0 - self.leverage.clamp(0.0, LARGEST_LEVERAGE))
    }

    pub(crate) fn of_logging(cell: &Cell, sums: WeightSums<'a>, bins: &[Bin]) -> Self {
        let (r, r2) = (sums.rewards()[WeightTerm::One], sums.squared_rewards()[WeightTerm::One]);
        let moments = Moments {
            origin: sums.origin,
            mean: r / sums.n,
            // The unbiased sample variance.
            variance: (r2 - r * r / sums.n) / (sums.n - 1.0),
        };
        Estimator {
            corrected: Corrected::logged(&sums),
            structure: None,
            distribution: Distribution::logged(bins.to_vec()),
            moments,
            design_ess: Some(sums.n),
            design_from: DesignSource::Ratios,
            design_effect: design_effect(cell, &sums, Feature::Reward),
            // That of a mean.
            leverage: 1.0 / sums.n,
            reward_tail: OnceCell::new(),
            weight_shape: OnceCell::new(),
            sums,
        }
    }

    /// Whether this is the policy that wrote the log: its rows weigh 1, and nothing is assumed of it.
    pub(crate) fn is_logging(&self) -> bool {
        self.structure.is_none()
    }

    /// Whether a constant is estimated without error. Uncorrected weights do not sum to 1.
    fn is_normalised(&self) -> bool {
        self.is_logging() || self.corrected.correction != Correction::None
    }

    /// The influence function of the mean, as a linear function of the features.
    pub(crate) fn mean_influence(&self) -> LinearFunction {
        let origin = if self.is_normalised() { 0.0 } else { self.sums.origin };
        self.influence([origin, 1.0, 0.0])
    }

    /// That of the variance, by the delta method: `IF of R^2 - 2 mean IF of R`.
    pub(crate) fn variance_influence(&self) -> LinearFunction {
        let Moments { origin, mean, .. } = self.moments;
        if self.is_normalised() {
            return self.influence([0.0, -2.0 * mean, 1.0]);
        }
        // About 0: (R' + o)^2 - 2 (mean + o) (R' + o).
        let total = mean + origin;
        self.influence([origin * origin - 2.0 * total * origin, 2.0 * origin - 2.0 * total, 1.0])
    }

    /// Of `Y = c_0 + c_1 R' + c_2 R'^2` with `R' = R - origin`: `G Y - b_Y' a - E[Y]`.
    fn influence(&self, c: [f64; 3]) -> LinearFunction {
        let sums = &self.sums;
        let terms = WeightTerms::combined(c, [sums.totals(), sums.rewards(), sums.squared_rewards()]);
        let weighted = [(Feature::G, c[0]), (Feature::GR, c[1]), (Feature::GR2, c[2])];
        let mut x = LinearFunction::new(sums.features(), &weighted);
        for adjustment in &self.corrected.adjustments {
            let slope = adjustment.slope(&terms, sums.n);
            for &(feature, c) in &adjustment.factors {
                x[feature] -= slope * c;
            }
        }
        x[Feature::One] -= self.corrected.estimate(&terms, sums.n);
        x
    }
}

impl Moments {
    /// The mean reward: [`mean`](Self::mean) is measured from the origin.
    pub(crate) fn reward_mean(&self) -> f64 {
        self.origin + self.mean
    }

    fn of_target(corrected: &Corrected, sums: &WeightSums<'_>) -> Self {
        let n = sums.n;
        let (rewards, squares) = (sums.rewards(), sums.squared_rewards());
        let (first, second) = (corrected.estimate(rewards, n), corrected.estimate(squares, n));
        let variance = match corrected.correction {
            // Exactly unbiased if E[R^2 | A] has the weight's order. Weights that do not sum to 1 are not indifferent
            // to the origin, so this one is taken about 0.
            Correction::None => {
                let o = sums.origin;
                let totals = sums.totals();
                let (g, gr, gr2) = (totals[WeightTerm::G], rewards[WeightTerm::G], squares[WeightTerm::G]);
                let about_zero = gr + o * g;
                let second = gr2 + 2.0 * o * gr + o * o * g;
                let own_squares = sums.squared_weighted_rewards()
                    + 2.0 * o * rewards[WeightTerm::GG]
                    + o * o * totals[WeightTerm::GG];
                second / n - (about_zero * about_zero - own_squares) / (n * (n - 1.0))
            }
            _ => second - first * first,
        };
        // Weights that do not sum to 1 move the origin's share too.
        let total = corrected.estimate(sums.totals(), n);
        let mean = first + sums.origin * (total - 1.0);
        Moments { origin: sums.origin, mean, variance }
    }
}
