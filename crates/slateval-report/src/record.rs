//! An evaluation's parts as they stand in JSON, with reasons and findings in the reader's terms.

use serde::Serialize;
use slateval::{
    Bounds, Cdf, CdfBand, Check, Comparison, Correction, DesignSource, Diagnostics, Disparity, Dominance, Interval,
    OrderTest, PolicyEvaluation, ProbabilityEstimate, QuantileEstimate, Refutation, Segment, SegmentEvaluation,
    Selection, Status, Structure, TailEstimate, WeightHistogram,
};

use crate::Voice;

/// One policy, as the JSON has it.
#[derive(Debug, Serialize)]
pub struct PolicyRecord<'a> {
    name: &'a str,
    structure: Option<&'a Structure>,
    correction: Option<Correction>,
    selection: Option<SelectionRecord<'a>>,
    mean: IntervalRecord,
    variance: IntervalRecord,
    std: IntervalRecord,
    iqr: IntervalRecord,
    quantiles: Vec<QuantileRecord>,
    var: Vec<TailRecord>,
    cvar: Vec<TailRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probabilities: Vec<ProbabilityRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cdf: Option<CdfRecord<'a>>,
    diagnostics: DiagnosticsRecord<'a>,
}

/// A target against another policy, as the JSON has it.
#[derive(Debug, Serialize)]
pub struct ComparisonRecord<'a> {
    policy: &'a str,
    baseline: &'a str,
    paired: bool,
    mean: IntervalRecord,
    cvar: Vec<TailRecord>,
    quantiles: Vec<QuantileRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probabilities: Vec<ProbabilityRecord>,
    dominance: Option<Dominance>,
}

/// One segment, as the JSON has it.
#[derive(Debug, Serialize)]
pub struct SegmentRecord<'a> {
    column: &'a str,
    value: &'a Segment,
    rows: u64,
    policies: Vec<PolicyRecord<'a>>,
    comparisons: Vec<ComparisonRecord<'a>>,
}

/// The largest difference between two segments, as the JSON has it.
#[derive(Debug, Serialize)]
pub struct DisparityRecord<'a> {
    policy: &'a str,
    metric: &'a str,
    alpha: Option<f64>,
    low: &'a Segment,
    high: &'a Segment,
    #[serde(flatten)]
    interval: IntervalRecord,
}

/// An estimate with its interval, as the JSON has it.
#[derive(Debug, Serialize)]
pub struct IntervalRecord {
    estimate: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    se: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    if_order_holds: Option<Bounds>,
    #[serde(skip_serializing_if = "is_false")]
    conditional: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    refuted: Option<Refutation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct QuantileRecord {
    level: f64,
    #[serde(flatten)]
    interval: IntervalRecord,
}

#[derive(Debug, Serialize)]
struct TailRecord {
    alpha: f64,
    #[serde(flatten)]
    interval: IntervalRecord,
}

#[derive(Debug, Serialize)]
struct ProbabilityRecord {
    at_least: f64,
    #[serde(flatten)]
    interval: IntervalRecord,
}

#[derive(Debug, Serialize)]
struct CdfRecord<'a> {
    reward: &'a [f64],
    raw: &'a [f64],
    estimate: &'a [f64],
    lower: &'a [Option<f64>],
    upper: &'a [Option<f64>],
    half_width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    if_order_holds: Option<&'a CdfBand>,
    #[serde(skip_serializing_if = "is_false")]
    conditional: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    refuted: Option<Refutation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SelectionRecord<'a> {
    orders: &'a [OrderTest],
    cdf: usize,
    mean: usize,
    variance: usize,
    band: Option<usize>,
    reason: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct DiagnosticsRecord<'a> {
    ess: Option<f64>,
    design_ess: Option<f64>,
    design_ess_from: DesignSource,
    weight_mean: f64,
    weight_min: f64,
    weight_max: f64,
    negative_share: f64,
    max_share: Option<f64>,
    weight_histogram: Option<&'a WeightHistogram>,
    checks: Vec<CheckRecord>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CheckRecord {
    name: &'static str,
    status: Status,
    value: Option<f64>,
    message: String,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl<'a> PolicyRecord<'a> {
    /// The policy with its CDF.
    pub fn new(policy: &'a PolicyEvaluation, voice: Voice) -> Self {
        PolicyRecord { cdf: Some(CdfRecord::new(&policy.cdf, voice)), ..Self::without_cdf(policy, voice) }
    }

    /// The policy without its CDF, which is most of it.
    pub fn without_cdf(policy: &'a PolicyEvaluation, voice: Voice) -> Self {
        let interval = |interval: &Interval| IntervalRecord::new(interval, voice);
        PolicyRecord {
            name: &policy.name,
            structure: policy.structure.as_ref(),
            correction: policy.correction,
            selection: policy.selection.as_ref().map(|s| SelectionRecord::new(s, voice)),
            mean: interval(&policy.mean),
            variance: interval(&policy.variance),
            std: interval(&policy.std),
            iqr: interval(&policy.iqr),
            quantiles: quantiles(&policy.quantiles, voice),
            var: tails(&policy.var, voice),
            cvar: tails(&policy.cvar, voice),
            probabilities: probabilities(&policy.probabilities, voice),
            cdf: None,
            diagnostics: DiagnosticsRecord::new(&policy.diagnostics, voice),
        }
    }
}

impl<'a> ComparisonRecord<'a> {
    /// The comparison.
    pub fn new(comparison: &'a Comparison, voice: Voice) -> Self {
        ComparisonRecord {
            policy: &comparison.policy,
            baseline: &comparison.baseline,
            paired: comparison.paired,
            mean: IntervalRecord::new(&comparison.mean, voice),
            cvar: tails(&comparison.cvar, voice),
            quantiles: quantiles(&comparison.quantiles, voice),
            probabilities: probabilities(&comparison.probabilities, voice),
            dominance: comparison.dominance,
        }
    }
}

impl<'a> SegmentRecord<'a> {
    /// The segment.
    pub fn new(segment: &'a SegmentEvaluation, voice: Voice) -> Self {
        SegmentRecord {
            column: &segment.column,
            value: &segment.value,
            rows: segment.rows,
            policies: segment.policies.iter().map(|p| PolicyRecord::new(p, voice)).collect(),
            comparisons: segment.comparisons.iter().map(|c| ComparisonRecord::new(c, voice)).collect(),
        }
    }
}

impl<'a> DisparityRecord<'a> {
    /// The difference.
    pub fn new(disparity: &'a Disparity, voice: Voice) -> Self {
        DisparityRecord {
            policy: &disparity.policy,
            metric: disparity.metric,
            alpha: disparity.alpha,
            low: &disparity.low,
            high: &disparity.high,
            interval: IntervalRecord::new(&disparity.interval, voice),
        }
    }
}

impl IntervalRecord {
    /// The interval, with its reason in the reader's terms.
    pub fn new(interval: &Interval, voice: Voice) -> Self {
        IntervalRecord {
            estimate: interval.estimate,
            lower: interval.lower,
            upper: interval.upper,
            se: interval.se,
            if_order_holds: interval.if_order_holds,
            conditional: interval.conditional,
            refuted: interval.refuted.clone(),
            reason: interval.reason.as_ref().map(|reason| reason.in_words(&voice)),
        }
    }
}

fn quantiles(all: &[QuantileEstimate], voice: Voice) -> Vec<QuantileRecord> {
    all.iter().map(|q| QuantileRecord { level: q.level, interval: IntervalRecord::new(&q.interval, voice) }).collect()
}

fn probabilities(all: &[ProbabilityEstimate], voice: Voice) -> Vec<ProbabilityRecord> {
    let record = |p: &ProbabilityEstimate| ProbabilityRecord {
        at_least: p.at_least,
        interval: IntervalRecord::new(&p.interval, voice),
    };
    all.iter().map(record).collect()
}

fn tails(all: &[TailEstimate], voice: Voice) -> Vec<TailRecord> {
    all.iter().map(|t| TailRecord { alpha: t.alpha, interval: IntervalRecord::new(&t.interval, voice) }).collect()
}

impl<'a> CdfRecord<'a> {
    fn new(cdf: &'a Cdf, voice: Voice) -> Self {
        CdfRecord {
            reward: &cdf.reward,
            raw: &cdf.raw,
            estimate: &cdf.estimate,
            lower: &cdf.lower,
            upper: &cdf.upper,
            half_width: cdf.half_width,
            if_order_holds: cdf.if_order_holds.as_ref(),
            conditional: cdf.conditional,
            refuted: cdf.refuted.clone(),
            reason: cdf.reason.as_ref().map(|reason| reason.in_words(&voice)),
        }
    }
}

impl<'a> SelectionRecord<'a> {
    pub(crate) fn new(selection: &'a Selection, voice: Voice) -> Self {
        SelectionRecord {
            orders: &selection.orders,
            cdf: selection.cdf,
            mean: selection.mean,
            variance: selection.variance,
            band: selection.band,
            reason: selection.reason.in_words(&voice),
        }
    }
}

impl<'a> DiagnosticsRecord<'a> {
    pub(crate) fn new(diagnostics: &'a Diagnostics, voice: Voice) -> Self {
        DiagnosticsRecord {
            ess: diagnostics.ess,
            design_ess: diagnostics.design_ess,
            design_ess_from: diagnostics.design_ess_from,
            weight_mean: diagnostics.weight_mean,
            weight_min: diagnostics.weight_min,
            weight_max: diagnostics.weight_max,
            negative_share: diagnostics.negative_share,
            max_share: diagnostics.max_share,
            weight_histogram: diagnostics.weight_histogram.as_ref(),
            checks: diagnostics.checks.iter().map(|check| CheckRecord::new(check, voice)).collect(),
        }
    }
}

impl CheckRecord {
    pub(crate) fn new(check: &Check, voice: Voice) -> Self {
        CheckRecord {
            name: check.name().as_str(),
            status: check.status,
            value: check.value,
            message: check.finding.in_words(&voice),
        }
    }
}
