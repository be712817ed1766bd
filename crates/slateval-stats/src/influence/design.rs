//! How many rows of the target's own a log is worth.
//! See docs/methods.md, section 9.

use crate::correction::terms::WeightTerm;
use crate::correction::weight_sums::WeightSums;
use crate::distribution::estimator::Estimator;
use crate::result::diagnostics::DesignSource;
use crate::spec::structure::Structure;
use crate::weights::multilinear;

/// `E[G^2]`: `mean G(chi)`, or without chi the larger of `G(mean Z^2)` and `mean G(Z^2)`. The first understates it when
/// chi varies by row, the second when rare hits are unseen.
/// A chi that failed its check counts as not known.
pub(crate) fn design_second_moment(
    structure: &Structure,
    sums: &WeightSums<'_>,
    chi_usable: bool,
) -> (f64, DesignSource) {
    let (n, tally) = (sums.n, sums.weight_tally());
    if !structure.is_multilinear() {
        return (sums.totals()[WeightTerm::GG] / n, DesignSource::Ratios);
    }
    if sums.has_chi() && chi_usable {
        let additive = || n + (0..sums.slots).map(|k| sums.chi(k)).sum::<f64>();
        let sum = if structure.is_additive() { additive() } else { tally.design_chi };
        return (sum / n, DesignSource::Chi);
    }
    let mean_squares: Vec<f64> = (0..sums.slots).map(|k| sums.zz(k, k) / n).collect();
    let of_means = multilinear(structure, &mean_squares);
    (of_means.max(tally.design_ratios / n), DesignSource::Ratios)
}

/// The rows that the log is worth where nothing is assumed, for slates of more slots than orders are told apart.
pub(crate) fn product_design_ess(estimator: &Estimator<'_>) -> f64 {
    let (sums, tally) = (&estimator.sums, estimator.sums.tally());
    let second = match estimator.design_from {
        DesignSource::Chi => tally.product_chi / sums.n,
        DesignSource::Ratios => {
            let of_means: f64 = (0..sums.slots).map(|k| 1.0 + sums.zz(k, k) / sums.n).product();
            of_means.max(tally.product_ratios / sums.n)
        }
    };
    if second > 0.0 { sums.n / second } else { 0.0 }
}

/// The smaller of the observed and the design effective sample size, divided by the design effect of clusters.
pub(crate) fn effective_rows(estimator: &Estimator<'_>) -> f64 {
    observed_rows(estimator).min(estimator.design_ess.unwrap_or(0.0)) / estimator.design_effect
}

/// The design effective sample size, divided by the design effect of clusters.
pub(crate) fn designed_rows(estimator: &Estimator<'_>) -> f64 {
    estimator.design_ess.unwrap_or(0.0) / estimator.design_effect
}

/// `(sum G)^2 / sum G^2`.
pub(crate) fn observed_rows(estimator: &Estimator<'_>) -> f64 {
    let totals = estimator.sums.totals();
    let (g, gg) = (totals[WeightTerm::G], totals[WeightTerm::GG]);
    if gg > 0.0 { g * g / gg } else { 0.0 }
}

/// Design effective sample size below which an order cannot be used.
pub(crate) const ROWS_NEEDED: f64 = 10.0;
