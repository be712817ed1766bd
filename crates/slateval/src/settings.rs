//! How a summary is evaluated: everything that can be decided after the log has been read.

use serde::{Deserialize, Serialize};

use crate::correction::CorrectionChoice;
use crate::distribution::Tail;
use crate::error::{Error, Result};
use crate::spec::Spec;

/// What to report, and how to correct the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Settings {
    /// How weights are corrected.
    pub correction: CorrectionChoice,
    /// Levels of quantiles, in (0, 1).
    pub quantiles: Vec<f64>,
    /// Tail probabilities of VaR and CVaR, in (0, 1).
    pub alphas: Vec<f64>,
    /// The tail they look at.
    pub tail: Tail,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            correction: CorrectionChoice::Auto,
            quantiles: vec![0.25, 0.5, 0.75],
            alphas: vec![0.05, 0.1, 0.25],
            tail: Tail::Lower,
        }
    }
}

impl Settings {
    /// Refuses settings out of their range, and a correction that the structure cannot have: what can be told before
    /// the log is read.
    ///
    /// # Errors
    /// [`Error::BadSetting`].
    pub fn check_for(&self, spec: &Spec) -> Result<()> {
        self.correction.check(&spec.structure)?;
        let outside = |p: &&f64| !(**p > 0.0 && **p < 1.0);
        for (setting, values) in [("quantile", &self.quantiles), ("alpha", &self.alphas)] {
            if let Some(value) = values.iter().find(outside) {
                let why = "must lie between 0 and 1".to_owned();
                return Err(Error::BadSetting { setting, value: value.to_string(), why });
            }
        }
        Ok(())
    }
}
