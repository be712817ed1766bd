//! Parts of answers, for whoever shows them.

use crate::result::evaluation::{Evaluation, PolicyEvaluation, SegmentEvaluation};
use crate::result::interval::{Cdf, CdfBand};
use crate::result::selection::{FunctionalTest, OrderTest};

impl Cdf {
    /// The CDF at some of its points, with its band: for pictures that need fewer.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn at_points(&self, points: &[usize]) -> Cdf {
        let numbers = |values: &[f64]| points.iter().map(|&point| values[point]).collect();
        let bounds = |values: &[Option<f64>]| points.iter().map(|&point| values[point]).collect();
        let band = |band: &CdfBand| CdfBand { lower: bounds(&band.lower), upper: bounds(&band.upper) };
        Cdf {
            reward: numbers(&self.reward),
            raw: numbers(&self.raw),
            estimate: numbers(&self.estimate),
            lower: bounds(&self.lower),
            upper: bounds(&self.upper),
            half_width: self.half_width,
            if_order_holds: self.if_order_holds.as_ref().map(band),
            conditional: self.conditional,
            refuted: self.refuted.clone(),
            reason: self.reason.clone(),
        }
    }
}

impl OrderTest {
    /// The test of the CDF itself.
    pub fn cdf(&self) -> FunctionalTest {
        FunctionalTest { statistic: self.statistic, critical: self.critical, active: self.active }
    }
}

// Hidden, for slateval-report alone: its page holds an evaluation whose CDFs have fewer points. CDFs are most of an
// evaluation, and a clone would copy them all first.

impl PolicyEvaluation {
    /// The same with another CDF.
    #[doc(hidden)]
    pub fn with_cdf(&self, cdf: Cdf) -> Self {
        PolicyEvaluation {
            name: self.name.clone(),
            structure: self.structure.clone(),
            correction: self.correction,
            selection: self.selection.clone(),
            mean: self.mean.clone(),
            variance: self.variance.clone(),
            std: self.std.clone(),
            iqr: self.iqr.clone(),
            quantiles: self.quantiles.clone(),
            var: self.var.clone(),
            cvar: self.cvar.clone(),
            probabilities: self.probabilities.clone(),
            cdf,
            diagnostics: self.diagnostics.clone(),
        }
    }
}

impl SegmentEvaluation {
    /// The same with other policies.
    #[doc(hidden)]
    pub fn with_policies(&self, policies: Vec<PolicyEvaluation>) -> Self {
        SegmentEvaluation {
            column: self.column.clone(),
            value: self.value.clone(),
            rows: self.rows,
            policies,
            comparisons: self.comparisons.clone(),
        }
    }
}

impl Evaluation {
    /// The same without policies and segments.
    #[doc(hidden)]
    pub fn without_cdfs(&self) -> Self {
        Evaluation {
            log: self.log.clone(),
            policies: Vec::new(),
            comparisons: self.comparisons.clone(),
            segments: Vec::new(),
            disparities: self.disparities.clone(),
        }
    }
}
