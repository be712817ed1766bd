//! Corrections: one reweighting of the rows that serves every point of the CDF, the mean and the second moment alike.
//! See docs/methods.md, section 4.
//!
//! Each turns the weights `G_i / n` into `w_i` with `n w_i = kappa' T_i`, a linear function of the row's terms
//! `T = (1, G, G^2, Z_k, G Z_k)`. A corrected estimate of `E[Y]` is then `kappa' sum_i T_i Y_i / n`: all that a
//! correction has to find is the vector `kappa`, from sums over the whole log.
//!
//! Its influence function is `G_i Y_i - b_Y' a_i - E[Y]`, with adjustments `a_i` of expectation 0 and slopes `b_Y` that
//! are linear in the sums of `T Y`:
//!
//! | correction | `a_i` | `b_Y` |
//! |---|---|---|
//! | none | nothing | |
//! | self-normalized | `G - 1` | the estimate |
//! | control variates | the controls | `S^-1 Cov(a, G Y)` |
//! | calibrated | `G phi - h` | least squares of `Y` on `phi` |

use crate::result::finding::Finding;
use crate::spec::correction::Correction;

use crate::correction::terms::{WeightTerm, WeightTerms};
use crate::correction::weight_sums::WeightSums;
use crate::math::linear::{PseudoInverse, dot};
use crate::spec::structure::Structure;
use crate::sums::index::Feature;

/// Variance that a ratio of two equal propensities may have because they were rounded: some `1e-15` in single precision. A
/// correction does not depend on the scale of what it uses, so that rounding alone would move estimates as much as chance.
pub(crate) const ROUNDING_VARIANCE: f64 = 1e-12;

/// A correction worked out for one weight.
#[derive(Debug, Clone)]
pub(crate) struct Corrected {
    /// What was used in the end.
    pub(crate) correction: Correction,
    /// `n w_i = kappa' T_i`.
    kappa: WeightTerms,
    /// What the influence function is adjusted by.
    pub(crate) adjustments: Vec<Adjustment>,
    /// What had to be left out.
    pub(crate) note: Option<Finding>,
    /// Whether the correction asked for was impossible.
    pub(crate) gave_up: bool,
}

/// One of the `a_i`, and its slope.
#[derive(Debug, Clone)]
pub(crate) struct Adjustment {
    /// As a sum of the row's features, each with its coefficient.
    pub(crate) factors: Vec<(Feature, f64)>,
    /// `b_Y` is this times the terms of `Y`, by `n`.
    slope: WeightTerms,
}

impl Adjustment {
    /// `G - 1`.
    fn of_weight(slope: WeightTerms) -> Self {
        Adjustment { factors: vec![(Feature::G, 1.0), (Feature::One, -1.0)], slope }
    }

    /// `b_Y` for the indicator of each bin.
    pub(crate) fn slopes_by_bin(&self, sums: &WeightSums<'_>) -> Vec<f64> {
        let mut slopes = sums.by_bin(&self.slope);
        slopes.iter_mut().for_each(|slope| *slope /= sums.n);
        slopes
    }

    /// `b_Y`, from the terms of `Y`.
    pub(crate) fn slope(&self, terms: &WeightTerms, n: f64) -> f64 {
        self.slope.apply(terms) / n
    }
}

impl Corrected {
    /// The corrected estimate of `E[Y]`, from the terms of `Y`.
    pub(crate) fn estimate(&self, terms: &WeightTerms, n: f64) -> f64 {
        self.kappa.apply(terms) / n
    }

    /// The corrected probability of each occupied bin, ascending.
    pub(crate) fn masses(&self, sums: &WeightSums<'_>) -> Vec<f64> {
        let mut masses = sums.by_bin(&self.kappa);
        masses.iter_mut().for_each(|mass| *mass /= sums.n);
        masses
    }

    pub(crate) fn new(correction: Correction, structure: &Structure, sums: &WeightSums<'_>) -> Self {
        let mut corrected = match correction {
            Correction::None => return Self::none(sums),
            Correction::SelfNormalized => Self::none(sums),
            Correction::ControlVariate => Self::control_variate(structure, sums),
            Correction::Calibrated => Self::calibrated(sums),
        };
        corrected.correction = correction;
        corrected.normalise(sums);
        if corrected.correction == Correction::SelfNormalized {
            corrected.adjustments = vec![Adjustment::of_weight(corrected.kappa.clone())];
        }
        corrected
    }

    /// The logged rewards as they are.
    pub(crate) fn logged(sums: &WeightSums<'_>) -> Self {
        Self::none(sums)
    }

    fn none(sums: &WeightSums<'_>) -> Self {
        let mut kappa = WeightTerms::zero(sums.slots);
        kappa[WeightTerm::G] = 1.0;
        Corrected { correction: Correction::None, kappa, adjustments: Vec::new(), note: None, gave_up: false }
    }

    /// `n w_i = G_i (1 - abar' S^-1 (a_i - abar))` with controls `a = Z`, and `G - 1` beside them unless it is their sum.
    fn control_variate(structure: &Structure, sums: &WeightSums<'_>) -> Self {
        let (controls, inverse) = Controls::chosen(structure, sums);
        let lambda = inverse.solve(&controls.mean);
        let mut this = Self::none(sums);
        this.kappa[WeightTerm::G] += dot(&lambda, &controls.mean);
        for (control, lambda) in controls.list.iter().zip(&lambda) {
            match *control {
                Control::Slot(k) => this.kappa[WeightTerm::GZ(k)] -= lambda,
                // G (G - 1)
                Control::Weight => {
                    this.kappa[WeightTerm::GG] -= lambda;
                    this.kappa[WeightTerm::G] += lambda;
                }
            }
        }
        this.adjustments = controls.adjustments(&inverse, sums.slots);
        this.note = controls.note(&inverse);
        this
    }

    /// `n w_i = G_i + d' M^-1 phi_i` with `phi = (1, Z)`, `M = mean phi phi'`, `d = mean(h - G phi)`, `h = (1, chi)`.
    fn calibrated(sums: &WeightSums<'_>) -> Self {
        let (n, slots, totals) = (sums.n, sums.slots, sums.totals());
        let mut moments = vec![vec![0.0; slots + 1]; slots + 1];
        let mut d = vec![0.0; slots + 1];
        moments[0][0] = 1.0;
        d[0] = 1.0 - totals[WeightTerm::G] / n;
        for j in 0..slots {
            moments[0][j + 1] = totals[WeightTerm::Z(j)] / n;
            moments[j + 1][0] = moments[0][j + 1];
            d[j + 1] = (sums.chi(j) - totals[WeightTerm::GZ(j)]) / n;
            for k in 0..slots {
                moments[j + 1][k + 1] = sums.zz(j, k) / n;
            }
        }
        // The constant stays; a slot whose ratio is constant is collinear with it.
        let floor: Vec<f64> = (0..=slots).map(|i| if i == 0 { 0.0 } else { ROUNDING_VARIANCE }).collect();
        let inverse = PseudoInverse::new(&moments, &floor);
        let c = inverse.solve(&d);
        let mut this = Self::none(sums);
        this.kappa[WeightTerm::One] += c[0];
        for k in 0..slots {
            this.kappa[WeightTerm::Z(k)] += c[k + 1];
        }
        this.adjustments = calibrated_adjustments(&inverse, slots);
        if inverse.is_singular() {
            this.note = Some(singular_note(&inverse, &inverse.absent().map(|i| i - 1).collect::<Vec<_>>()));
        }
        this
    }

    /// Makes the weights sum to 1: what self-normalising is, and what rounding or dropped controls may have cost the
    /// other corrections. Weights that sum to nothing cannot be normalised and are left as they were logged.
    fn normalise(&mut self, sums: &WeightSums<'_>) {
        let total = self.estimate(sums.totals(), sums.n);
        if total > 1e-9 && total.is_finite() {
            self.kappa.divide_by(total);
            return;
        }
        let note = Finding::WeightsSumToNothing { mean: total, correction: self.correction };
        *self = Corrected { gave_up: true, note: Some(note), ..Self::none(sums) };
    }
}

/// `a = G phi - h`, with `b_Y = M^-1 mean(phi Y)`.
fn calibrated_adjustments(inverse: &PseudoInverse, slots: usize) -> Vec<Adjustment> {
    let adjustment = |j: usize| {
        let mut slope = WeightTerms::zero(slots);
        for (i, x) in inverse.column(j).into_iter().enumerate() {
            slope[if i == 0 { WeightTerm::One } else { WeightTerm::Z(i - 1) }] = x;
        }
        match j {
            0 => Adjustment::of_weight(slope),
            _ => Adjustment { factors: vec![(Feature::ChiError(j - 1), 1.0)], slope },
        }
    };
    (0..=slots).map(adjustment).collect()
}

/// A function of the row whose expectation under the logging policy is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Control {
    /// `Z_k`.
    Slot(usize),
    /// `G - 1`.
    Weight,
}

/// The controls with their means and covariance.
struct Controls {
    list: Vec<Control>,
    mean: Vec<f64>,
    second_moment: Vec<f64>,
    covariance: Vec<Vec<f64>>,
}

impl Controls {
    /// The ratios, and the weight unless it is a linear function of them: always for an additive one, for others where
    /// slates have one slot, or where a ranking shows all its items.
    fn chosen(structure: &Structure, sums: &WeightSums<'_>) -> (Self, PseudoInverse) {
        let ratios: Vec<Control> = (0..sums.slots).map(Control::Slot).collect();
        let alone = Controls::new(ratios.clone(), sums);
        let inverse = alone.inverse();
        if structure.is_additive() {
            return (alone, inverse);
        }
        let both = Controls::new(ratios.into_iter().chain([Control::Weight]).collect(), sums);
        let (slots, weight) = (sums.slots, sums.slots);
        // What is left of the weight's variance after regression on the ratios.
        let covariance: Vec<f64> = (0..slots).map(|k| both.covariance[k][weight]).collect();
        let total = both.covariance[weight][weight];
        let left = total - dot(&covariance, &inverse.solve(&covariance));
        if slots > 0 && left <= 1e-10 * total {
            return (alone, inverse);
        }
        let inverse = both.inverse();
        (both, inverse)
    }

    fn new(list: Vec<Control>, sums: &WeightSums<'_>) -> Self {
        let totals = sums.totals();
        let n = sums.n;
        let mean_of = |c: Control| match c {
            Control::Slot(k) => totals[WeightTerm::Z(k)] / n,
            Control::Weight => totals[WeightTerm::G] / n - 1.0,
        };
        let product_of = |a: Control, b: Control| match (a, b) {
            (Control::Slot(j), Control::Slot(k)) => sums.zz(j, k) / n,
            (Control::Slot(k), Control::Weight) | (Control::Weight, Control::Slot(k)) => {
                (totals[WeightTerm::GZ(k)] - totals[WeightTerm::Z(k)]) / n
            }
            (Control::Weight, Control::Weight) => (totals[WeightTerm::GG] - 2.0 * totals[WeightTerm::G]) / n + 1.0,
        };
        let mean: Vec<f64> = list.iter().map(|&c| mean_of(c)).collect();
        let row = |(i, &a): (usize, &Control)| {
            list.iter().enumerate().map(|(j, &b)| product_of(a, b) - mean[i] * mean[j]).collect()
        };
        let covariance = list.iter().enumerate().map(row).collect();
        let second_moment = list.iter().map(|&c| product_of(c, c)).collect();
        Controls { list, mean, second_moment, covariance }
    }

    /// A control does not vary if its variance is what rounding leaves of its second moment, or of the 1 that it is the
    /// distance to: `Z_k` is `Y_k - 1`, and propensities may be stored in single precision.
    fn inverse(&self) -> PseudoInverse {
        let floor: Vec<f64> = self.second_moment.iter().map(|m| ROUNDING_VARIANCE * (1.0 + m.abs())).collect();
        PseudoInverse::new(&self.covariance, &floor)
    }

    /// The controls themselves, with `b_Y = S^-1 Cov(a, G Y)`.
    fn adjustments(&self, inverse: &PseudoInverse, slots: usize) -> Vec<Adjustment> {
        let adjustment = |(j, control): (usize, &Control)| {
            let mut slope = WeightTerms::zero(slots);
            for (i, x) in inverse.column(j).into_iter().enumerate() {
                // Cov(a, G Y) = mean(a G Y) - mean(a) mean(G Y)
                slope[WeightTerm::G] -= x * self.mean[i];
                match self.list[i] {
                    Control::Slot(k) => slope[WeightTerm::GZ(k)] += x,
                    Control::Weight => {
                        slope[WeightTerm::GG] += x;
                        slope[WeightTerm::G] -= x;
                    }
                }
            }
            match *control {
                Control::Slot(k) => Adjustment { factors: vec![(Feature::Ratio(k), 1.0)], slope },
                Control::Weight => Adjustment::of_weight(slope),
            }
        };
        self.list.iter().enumerate().map(adjustment).collect()
    }

    fn note(&self, inverse: &PseudoInverse) -> Option<Finding> {
        let slots: Vec<usize> = inverse
            .absent()
            .filter_map(|i| match self.list[i] {
                Control::Slot(k) => Some(k),
                Control::Weight => None,
            })
            .collect();
        match self.list[..] {
            [Control::Weight] => inverse.is_singular().then_some(Finding::WeightNeverVaries),
            _ => inverse.is_singular().then(|| singular_note(inverse, &slots)),
        }
    }
}

/// What to say when not every control could be used.
fn singular_note(inverse: &PseudoInverse, constant_slots: &[usize]) -> Finding {
    if constant_slots.is_empty() || inverse.is_dependent() {
        return Finding::RatiosDependent;
    }
    Finding::RatiosNeverVary(constant_slots.iter().map(|k| k + 1).collect())
}
