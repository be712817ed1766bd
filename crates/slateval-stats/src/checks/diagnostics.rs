//! Effective sample sizes of a policy, and the checks that one estimator is enough for.
//! See docs/methods.md, sections 8 and 9.
//!
//! Other checks are added later: those of chi, the correction, the order or structure, clusters and the guaranteed band
//! by `Target::diagnostics` in `evaluate/target.rs`, those of the variance and the bins by `describe` in
//! `evaluate/describe.rs`.

use crate::checks::assumptions::{independent_slots, paper_bias};
use crate::checks::propensities::{factored, of_estimator};
use crate::checks::rows;
use crate::result::diagnostics::{DesignSource, Diagnostics};
use crate::result::finding::Remedy;

use crate::correction::terms::WeightTerm;
use crate::distribution::estimator::Estimator;
use crate::influence::design::effective_rows;
use crate::spec::structure::Structure;

impl Diagnostics {
    /// Of the logged rewards themselves: every row weighs 1.
    pub(crate) fn of_logging(n: f64) -> Self {
        Diagnostics {
            ess: Some(n),
            design_ess: Some(n),
            design_ess_from: DesignSource::Ratios,
            weight_mean: 1.0,
            weight_min: 1.0,
            weight_max: 1.0,
            negative_share: 0.0,
            max_share: Some(1.0 / n),
            weight_histogram: None,
            checks: Vec::new(),
        }
    }

    /// Of a target's weights. `alphas` are the tails that will be reported.
    pub(crate) fn new(estimator: &Estimator<'_>, alphas: &[f64]) -> Self {
        let (sums, structure) = (&estimator.sums, estimator.structure.as_ref().unwrap_or(&Structure::Additive));
        let (n, totals, tally) = (sums.n, sums.totals(), sums.weight_tally());
        let (design_ess, from) = (estimator.design_ess, estimator.design_from);
        let positive = |x: f64| (x > 0.0 && x.is_finite()).then_some(x);
        let (least, most) = (tally.min.unwrap_or(0.0), tally.max.unwrap_or(0.0));
        let ess = positive(totals[WeightTerm::GG]).map(|gg| totals[WeightTerm::G].powi(2) / gg);
        let max_share = positive(tally.absolute).map(|sum| least.abs().max(most.abs()) / sum);
        // Rows that are alike within clusters are worth fewer.
        let effect = estimator.design_effect;
        let mut checks = vec![of_estimator(estimator)];
        let remedy = Remedy::after(&checks[0]);
        checks.extend(factored(structure, sums, effect, remedy));
        checks.push(rows::effective_sample(design_ess.map(|ess| ess / effect), remedy));
        checks.extend(rows::tail(effective_rows(estimator), alphas));
        checks.push(rows::concentration(max_share));
        checks.push(rows::rewards(estimator));
        checks.extend(independent_slots(structure));
        checks.extend(paper_bias(structure));
        Diagnostics {
            ess,
            design_ess,
            design_ess_from: from,
            weight_mean: totals[WeightTerm::G] / n,
            weight_min: least,
            weight_max: most,
            negative_share: tally.negative as f64 / n,
            max_share,
            weight_histogram: tally.counts.histogram(least, most),
            checks,
        }
    }
}
