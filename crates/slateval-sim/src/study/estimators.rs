//! The estimators that a study compares: data, one line each.

use slateval::{Correction, CorrectionChoice, Structure};

/// A way to estimate: a structure and a correction.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimator {
    /// Its name in tables.
    pub name: &'static str,
    /// Which weight.
    pub structure: Structure,
    /// How it is corrected.
    pub correction: CorrectionChoice,
}

impl Estimator {
    pub(crate) fn uses_chi(&self) -> bool {
        matches!(self.correction, CorrectionChoice::Auto | CorrectionChoice::Fixed(Correction::Calibrated))
    }
}

/// The paper's estimator, its baseline, and what this project offers in their place. Order `m` is left out where slates
/// have no more than `m` slots, for it is then the product.
pub fn estimators(slots: usize) -> Vec<Estimator> {
    use Correction::{Calibrated, ControlVariate, None, SelfNormalized};
    let list = [
        ("SUnO", Structure::Additive, None),
        ("UnO", Structure::Product, None),
        ("UnO, self-normalized", Structure::Product, SelfNormalized),
        ("additive, control variates", Structure::Additive, ControlVariate),
        ("additive, calibrated", Structure::Additive, Calibrated),
        ("order 2, calibrated", Structure::Order(2), Calibrated),
        ("order 3, calibrated", Structure::Order(3), Calibrated),
    ];
    let sensible = |structure: &Structure| !matches!(structure, Structure::Order(m) if *m >= slots);
    let estimator =
        |(name, structure, correction)| Estimator { name, structure, correction: CorrectionChoice::Fixed(correction) };
    let default = Estimator { name: "default", structure: Structure::Auto, correction: CorrectionChoice::Auto };
    list.into_iter().filter(|(_, structure, _)| sensible(structure)).map(estimator).chain([default]).collect()
}
