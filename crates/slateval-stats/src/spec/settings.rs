//! How a summary is evaluated: everything that can be decided after the log has been read.

use crate::names::setting;
use crate::spec::correction::CorrectionChoice;
use crate::spec::error::{Error, Result};
use crate::spec::specification::Spec;
use crate::spec::structure::Structure;
use crate::spec::tail::Tail;

/// What to report, and how to correct the weights.
///
/// ```
/// use slateval_stats::{Band, Correction, Settings, Tail};
///
/// let settings = Settings::default().with_confidence(0.9).with_quantiles([0.5, 0.9]).with_tail(Tail::Upper);
/// assert_eq!(settings.quantiles, [0.5, 0.9]);
///
/// // The paper's estimator, without intervals.
/// let paper = Settings::default().with_correction(Correction::None).with_band(Band::None);
/// assert_eq!(paper.correction.to_string(), "none");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Settings {
    /// How weights are corrected.
    pub correction: CorrectionChoice,
    /// An order to use in place of one chosen from the data, for a summary that kept them all (structure auto).
    pub structure: Option<Structure>,
    /// Levels of quantiles, in (0, 1).
    pub quantiles: Vec<f64>,
    /// Tail probabilities of VaR and CVaR, in (0, 1).
    pub alphas: Vec<f64>,
    /// Rewards `x` whose probability `P(reward >= x)` is reported. If there are none, and the log has few distinct
    /// rewards ([`Evaluation::FEW_REWARDS`](crate::Evaluation::FEW_REWARDS)), all of them but the smallest are.
    #[cfg_attr(feature = "serde", serde(default))]
    pub at_least: Vec<f64>,
    /// The tail they look at.
    pub tail: Tail,
    /// Where bands and intervals come from.
    pub band: Band,
    /// The probability with which a band or an interval is to hold the truth, in (0, 1).
    pub confidence: f64,
    /// Multiplier draws that bands and some intervals rest on.
    pub draws: usize,
    /// Where the draws begin; the same seed gives the same numbers.
    pub seed: u64,
    /// No logging propensity of any action is below this: what the guaranteed band rests on.
    pub min_propensity: Option<f64>,
    /// Whether CVaR is corrected for its bootstrap bias: less biased, a little more variable.
    pub debias_cvar: bool,
    /// Threads to draw with; all cores if none is given. The numbers do not depend on it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub threads: Option<usize>,
}

/// Where bands and intervals come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Band {
    /// The Gaussian multiplier bootstrap of the influence function: right in large samples.
    #[default]
    Multiplier,
    /// Empirical Bernstein bounds: right in every sample, given bounds of the weights, and wider.
    Bernstein,
    /// No bands and no intervals.
    None,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            correction: CorrectionChoice::Auto,
            structure: None,
            quantiles: vec![0.25, 0.5, 0.75],
            alphas: vec![0.05, 0.1, 0.25],
            at_least: Vec::new(),
            tail: Tail::Lower,
            band: Band::Multiplier,
            confidence: 0.95,
            draws: 2000,
            seed: 0,
            min_propensity: None,
            debias_cvar: false,
            threads: None,
        }
    }
}

impl Settings {
    /// The same with another correction of weights.
    pub fn with_correction(mut self, correction: impl Into<CorrectionChoice>) -> Self {
        self.correction = correction.into();
        self
    }

    /// The same with this order in place of one chosen from the data, for a summary of structure auto.
    pub fn with_structure(mut self, structure: Structure) -> Self {
        self.structure = Some(structure);
        self
    }

    /// The same with these levels of quantiles.
    pub fn with_quantiles(mut self, levels: impl Into<Vec<f64>>) -> Self {
        self.quantiles = levels.into();
        self
    }

    /// The same with these tail probabilities of VaR and CVaR.
    pub fn with_alphas(mut self, alphas: impl Into<Vec<f64>>) -> Self {
        self.alphas = alphas.into();
        self
    }

    /// The same with the probabilities of rewards that are at least these.
    pub fn with_at_least(mut self, rewards: impl Into<Vec<f64>>) -> Self {
        self.at_least = rewards.into();
        self
    }

    /// The same with VaR and CVaR of this tail.
    pub fn with_tail(mut self, tail: Tail) -> Self {
        self.tail = tail;
        self
    }

    /// The same with other bands and intervals, or none.
    pub fn with_band(mut self, band: Band) -> Self {
        self.band = band;
        self
    }

    /// The same with bands and intervals that hold the truth with this probability.
    pub fn with_confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// The same with this many multiplier draws.
    pub fn with_draws(mut self, draws: usize) -> Self {
        self.draws = draws;
        self
    }

    /// The same with draws that begin elsewhere.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same, knowing that no logging propensity of any action is below this.
    pub fn with_min_propensity(mut self, smallest: f64) -> Self {
        self.min_propensity = Some(smallest);
        self
    }

    /// The same with CVaR corrected for its bootstrap bias.
    pub fn with_debiased_cvar(mut self) -> Self {
        self.debias_cvar = true;
        self
    }

    /// The same with this many threads to draw with.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The order asked for, of a summary that kept several.
    pub(crate) fn order(&self, spec: &Spec) -> Result<Option<usize>> {
        let bad = |structure: &Structure, why: String| {
            Err(Error::BadSetting { setting: "structure", value: structure.to_string(), why })
        };
        match &self.structure {
            None => Ok(None),
            Some(same) if *same == spec.structure => Ok(None),
            Some(structure) if spec.structure != Structure::Auto => {
                bad(structure, format!("this summary was made with structure {}, and has no other", spec.structure))
            }
            Some(Structure::Additive) => Ok(Some(1)),
            Some(Structure::Order(m)) if *m <= spec.basis() => Ok(Some(*m)),
            Some(structure) => bad(
                structure,
                format!("a summary of structure auto has additive and order:1 to order:{}", spec.basis()),
            ),
        }
    }

    /// Refuses settings out of their range, and a correction that the structure cannot have: what can be told before
    /// the log is read.
    ///
    /// # Errors
    /// [`Error::BadSetting`], and [`Error::TooFewDraws`] if the confidence takes more draws.
    pub fn check_for(&self, spec: &Spec) -> Result<()> {
        self.correction.check(&spec.structure)?;
        self.order(spec)?;
        let bad = |setting, value: String, why: &str| Err(Error::BadSetting { setting, value, why: why.to_owned() });
        let outside = |p: &&f64| !(**p > 0.0 && **p < 1.0);
        let confidence = [self.confidence];
        for (setting, values) in
            [("quantile", &self.quantiles[..]), ("alpha", &self.alphas), ("confidence", &confidence)]
        {
            if values.len() > MOST_LEVELS {
                return bad(setting, format!("{} of them", values.len()), "at most 10,000 are told at a time");
            }
            if let Some(value) = values.iter().find(outside) {
                return bad(setting, value.to_string(), "must lie between 0 and 1");
            }
        }
        if self.at_least.len() > MOST_LEVELS {
            return bad("at-least", format!("{} of them", self.at_least.len()), "at most 10,000 are told at a time");
        }
        if let Some(reward) = self.at_least.iter().find(|reward| !reward.is_finite()) {
            return bad("at-least", reward.to_string(), "must be a finite number");
        }
        if let Some(p) = self.min_propensity.filter(|p| !(*p > 0.0 && *p <= 1.0)) {
            return bad("min-propensity", p.to_string(), "must be above 0 and at most 1");
        }
        if self.band == Band::Multiplier && !(MIN_DRAWS..=MAX_DRAWS).contains(&self.draws) {
            return bad("draws", self.draws.to_string(), "give between 100 and 1,000,000");
        }
        let beyond = self.draws as f64 * (1.0 - self.confidence) / 2.0;
        if self.band == Band::Multiplier && beyond < 2.0 - 1e-9 {
            let needed = (4.0 / (1.0 - self.confidence)).ceil();
            return Err(Error::TooFewDraws { draws: self.draws, confidence: self.confidence, needed });
        }
        if self.band == Band::Bernstein && spec.cluster.is_some() {
            return bad(
                "band",
                "bernstein".into(),
                "a guaranteed band takes rows to be independent; use multiplier with clusters",
            );
        }
        if self.debias_cvar && self.band != Band::Multiplier {
            return bad("debias-cvar", "on".into(), "needs the draws of band multiplier");
        }
        Ok(())
    }
}

/// Levels of one kind at most.
const MOST_LEVELS: usize = 10_000;

/// Fewer draws say nothing about a tail of 2.5%.
const MIN_DRAWS: usize = 100;

/// More draws tell nothing more, and would have to be kept.
pub(crate) const MAX_DRAWS: usize = 1_000_000;

setting!(Band, "band", "must be multiplier, bernstein or none", {
    Multiplier: "multiplier",
    Bernstein: "bernstein",
    None: "none",
});
