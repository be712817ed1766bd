//! Corrections: one reweighting of the rows that serves every point of the CDF, the mean and the second moment alike.
//!
//! Each turns the weights `G_i / n` into `w_i` with `n w_i = kappa' T_i`, a linear function of the row's terms
//! `T = (1, G, G^2, Z_k, G Z_k)`. A corrected estimate of `E[Y]` is then `kappa' sum_i T_i Y_i / n`: all that a
//! correction has to find is the vector `kappa`, from sums over the whole log.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::linear::{PseudoInverse, dot};
use crate::structure::Structure;
use crate::weighted::{Terms, Weighted, term};

/// How weights are corrected to lower the variance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// `w = G / n`, as in the paper.
    None,
    /// `w = G / sum G`.
    SelfNormalized,
    /// Regression on the slot ratios, whose expectation 1 is known.
    ControlVariate,
    /// Regression on the slot ratios, with their expectation under the target, known from `chi`.
    Calibrated,
}

/// The correction asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum CorrectionChoice {
    /// Calibrated for a target whose chi is there and passes its check, control variates otherwise.
    #[default]
    Auto,
    /// This one.
    Fixed(Correction),
}

/// A correction worked out for one weight.
#[derive(Debug, Clone)]
pub(crate) struct Corrected {
    /// What was used in the end.
    pub(crate) correction: Correction,
    /// `n w_i = kappa' T_i`.
    kappa: Terms,
    /// What had to be left out, in words.
    pub(crate) notes: Vec<String>,
    /// Whether the correction asked for was impossible.
    pub(crate) gave_up: bool,
}

impl Corrected {
    /// The corrected estimate of `E[Y]`, from the terms of `Y`.
    pub(crate) fn estimate(&self, terms: &[f64], n: f64) -> f64 {
        dot(&self.kappa, terms) / n
    }

    pub(crate) fn new(correction: Correction, structure: &Structure, sums: &Weighted<'_>) -> Self {
        let mut corrected = match correction {
            Correction::None => return Self::none(sums),
            Correction::SelfNormalized => Self::none(sums),
            Correction::ControlVariate => Self::control_variate(structure, sums),
            Correction::Calibrated => Self::calibrated(sums),
        };
        corrected.correction = correction;
        corrected.normalise(sums);
        corrected
    }

    fn none(sums: &Weighted<'_>) -> Self {
        let mut kappa = vec![0.0; term::len(sums.slots)];
        kappa[term::G] = 1.0;
        Corrected { correction: Correction::None, kappa, notes: Vec::new(), gave_up: false }
    }

    /// `n w_i = G_i (1 - abar' S^-1 (a_i - abar))` with controls `a = Z`, and `G - 1` beside them unless it is their sum.
    fn control_variate(structure: &Structure, sums: &Weighted<'_>) -> Self {
        let (controls, inverse) = Controls::chosen(structure, sums);
        let lambda = inverse.solve(&controls.mean);
        let mut this = Self::none(sums);
        this.kappa[term::G] += dot(&lambda, &controls.mean);
        for (control, lambda) in controls.list.iter().zip(&lambda) {
            match *control {
                Control::Slot(k) => this.kappa[term::gz(sums.slots, k)] -= lambda,
                // G (G - 1)
                Control::Weight => {
                    this.kappa[term::GG] -= lambda;
                    this.kappa[term::G] += lambda;
                }
            }
        }
        this.notes.extend(controls.note(&inverse));
        this
    }

    /// `n w_i = G_i + d' M^-1 phi_i` with `phi = (1, Z)`, `M = mean phi phi'`, `d = mean(h - G phi)`, `h = (1, chi)`.
    fn calibrated(sums: &Weighted<'_>) -> Self {
        let (n, slots, totals) = (sums.n, sums.slots, sums.totals());
        let mut moments = vec![vec![0.0; slots + 1]; slots + 1];
        let mut d = vec![0.0; slots + 1];
        moments[0][0] = 1.0;
        d[0] = 1.0 - totals[term::G] / n;
        for j in 0..slots {
            moments[0][j + 1] = totals[term::z(j)] / n;
            moments[j + 1][0] = moments[0][j + 1];
            d[j + 1] = (sums.chi(j) - totals[term::gz(slots, j)]) / n;
            for k in 0..slots {
                moments[j + 1][k + 1] = sums.zz(j, k) / n;
            }
        }
        // The constant stays; a slot whose ratio is constant is collinear with it.
        let floor: Vec<f64> = (0..=slots).map(|i| if i == 0 { 0.0 } else { f64::MIN_POSITIVE }).collect();
        let inverse = PseudoInverse::new(&moments, &floor);
        let c = inverse.solve(&d);
        let mut this = Self::none(sums);
        this.kappa[term::ONE] += c[0];
        for k in 0..slots {
            this.kappa[term::z(k)] += c[k + 1];
        }
        if inverse.is_singular() {
            this.notes.push(singular_note(&inverse.absent().map(|i| i - 1).collect::<Vec<_>>()));
        }
        this
    }

    /// Makes the weights sum to 1: what self-normalising is, and what rounding or dropped controls may have cost the
    /// other corrections. Weights that sum to nothing cannot be normalised and are left as they were logged.
    fn normalise(&mut self, sums: &Weighted<'_>) {
        let total = self.estimate(&sums.totals(), sums.n);
        if total > 1e-9 && total.is_finite() {
            self.kappa.iter_mut().for_each(|k| *k /= total);
            return;
        }
        let note = format!(
            "the weights sum to {total:.4} a row, where 1 is expected: correction {} is impossible, none was used, and \
             the estimates mean nothing",
            self.correction
        );
        *self = Corrected { gave_up: true, ..Self::none(sums) };
        self.notes.push(note);
    }
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
    fn chosen(structure: &Structure, sums: &Weighted<'_>) -> (Self, PseudoInverse) {
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

    fn new(list: Vec<Control>, sums: &Weighted<'_>) -> Self {
        let totals = sums.totals();
        let (n, slots) = (sums.n, sums.slots);
        let mean_of = |c: Control| match c {
            Control::Slot(k) => totals[term::z(k)] / n,
            Control::Weight => totals[term::G] / n - 1.0,
        };
        let product_of = |a: Control, b: Control| match (a, b) {
            (Control::Slot(j), Control::Slot(k)) => sums.zz(j, k) / n,
            (Control::Slot(k), Control::Weight) | (Control::Weight, Control::Slot(k)) => {
                (totals[term::gz(slots, k)] - totals[term::z(k)]) / n
            }
            (Control::Weight, Control::Weight) => (totals[term::GG] - 2.0 * totals[term::G]) / n + 1.0,
        };
        let mean: Vec<f64> = list.iter().map(|&c| mean_of(c)).collect();
        let row = |(i, &a): (usize, &Control)| {
            list.iter().enumerate().map(|(j, &b)| product_of(a, b) - mean[i] * mean[j]).collect()
        };
        let covariance = list.iter().enumerate().map(row).collect();
        let second_moment = list.iter().map(|&c| product_of(c, c)).collect();
        Controls { list, mean, second_moment, covariance }
    }

    /// A control whose variance is rounding of its second moment does not vary.
    fn inverse(&self) -> PseudoInverse {
        let floor: Vec<f64> = self.second_moment.iter().map(|m| 1e-12 * m.abs()).collect();
        PseudoInverse::new(&self.covariance, &floor)
    }

    fn note(&self, inverse: &PseudoInverse) -> Option<String> {
        let slots: Vec<usize> = inverse
            .absent()
            .filter_map(|i| match self.list[i] {
                Control::Slot(k) => Some(k),
                Control::Weight => None,
            })
            .collect();
        match self.list[..] {
            [Control::Weight] => inverse.is_singular().then(|| "the weight never varies".to_owned()),
            _ => inverse.is_singular().then(|| singular_note(&slots)),
        }
    }
}

/// What to say when not every control could be used.
fn singular_note(constant_slots: &[usize]) -> String {
    if constant_slots.is_empty() {
        return "the slot ratios are linearly dependent in this log: a pseudo-inverse was used, which corrects for \
                fewer of them"
            .to_owned();
    }
    let slots: Vec<String> = constant_slots.iter().map(|k| (k + 1).to_string()).collect();
    format!("the ratio of slot {} never varies: it was dropped from the correction", slots.join(", "))
}

impl CorrectionChoice {
    /// Refuses a correction that the structure, or a log without chi, cannot have.
    pub(crate) fn check(self, structure: &Structure) -> Result<()> {
        let bad = |correction: Correction, why: &str| {
            Err(Error::BadSetting { setting: "correction", value: correction.to_string(), why: why.into() })
        };
        match (structure, self) {
            (Structure::PaperOrder(_), CorrectionChoice::Fixed(c)) if c != Correction::None => {
                bad(c, "paper-order reproduces the paper, which corrects nothing: use none or auto")
            }
            (Structure::Given, CorrectionChoice::Fixed(c @ Correction::Calibrated)) => {
                bad(c, "a given weight comes without slots: use none, self-normalized or control-variate")
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Correction::None => "none",
            Correction::SelfNormalized => "self-normalized",
            Correction::ControlVariate => "control-variate",
            Correction::Calibrated => "calibrated",
        })
    }
}

impl fmt::Display for CorrectionChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CorrectionChoice::Auto => f.write_str("auto"),
            CorrectionChoice::Fixed(correction) => correction.fmt(f),
        }
    }
}

impl FromStr for CorrectionChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(CorrectionChoice::Fixed(match text {
            "auto" => return Ok(CorrectionChoice::Auto),
            "none" => Correction::None,
            "self-normalized" => Correction::SelfNormalized,
            "control-variate" => Correction::ControlVariate,
            "calibrated" => Correction::Calibrated,
            _ => {
                return Err(Error::BadSetting {
                    setting: "correction",
                    value: text.into(),
                    why: "must be auto, none, self-normalized, control-variate or calibrated".into(),
                });
            }
        }))
    }
}

impl From<CorrectionChoice> for String {
    fn from(choice: CorrectionChoice) -> String {
        choice.to_string()
    }
}

impl TryFrom<String> for CorrectionChoice {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}
