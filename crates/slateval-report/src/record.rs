//! An evaluation's parts as they stand in JSON, with reasons and findings in the reader's terms.

use serde::Serialize;
use slateval::{
    Check, Comparison, Correction, DesignSource, Diagnostics, Disparity, Dominance, Interval, PolicyEvaluation,
    ProbabilityEstimate, QuantileEstimate, Reason, Segment, SegmentEvaluation, Selection, Structure, TailEstimate,
    WeightHistogram,
};
use slateval_text::InWords;

use crate::Voice;

/// An answer as it serializes, and last the reason that goes with it.
#[derive(Debug, Serialize)]
pub struct WithReason<'a, T> {
    #[serde(flatten)]
    answer: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// An estimate with its interval, as the JSON has it.
pub type IntervalRecord<'a> = WithReason<'a, Interval>;

/// The largest difference between two segments, as the JSON has it.
pub type DisparityRecord<'a> = WithReason<'a, Disparity>;

/// One policy, as the JSON has it.
#[derive(Debug, Serialize)]
pub struct PolicyRecord<'a> {
    name: &'a str,
    structure: Option<&'a Structure>,
    correction: Option<Correction>,
    selection: Option<WithReason<'a, Selection>>,
    mean: IntervalRecord<'a>,
    variance: IntervalRecord<'a>,
    std: IntervalRecord<'a>,
    iqr: IntervalRecord<'a>,
    quantiles: Vec<WithReason<'a, QuantileEstimate>>,
    var: Vec<WithReason<'a, TailEstimate>>,
    cvar: Vec<WithReason<'a, TailEstimate>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probabilities: Vec<WithReason<'a, ProbabilityEstimate>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cdf: Option<WithReason<'a, slateval::Cdf>>,
    diagnostics: DiagnosticsRecord<'a>,
}

/// A target against another policy, as the JSON has it.
#[derive(Debug, Serialize)]
pub struct ComparisonRecord<'a> {
    policy: &'a str,
    baseline: &'a str,
    paired: bool,
    mean: IntervalRecord<'a>,
    cvar: Vec<WithReason<'a, TailEstimate>>,
    quantiles: Vec<WithReason<'a, QuantileEstimate>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probabilities: Vec<WithReason<'a, ProbabilityEstimate>>,
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
    checks: Vec<CheckRecord<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CheckRecord<'a> {
    #[serde(flatten)]
    check: &'a Check,
    message: String,
}

impl<'a, T> WithReason<'a, T> {
    fn told(answer: &'a T, reason: Option<&Reason>, voice: Voice) -> Self {
        WithReason { answer, reason: reason.map(|reason| reason.in_words(voice)) }
    }

    /// The same of several, each with an interval.
    fn several(all: &'a [T], interval: fn(&T) -> &Interval, voice: Voice) -> Vec<Self> {
        all.iter().map(|answer| Self::told(answer, interval(answer).reason.as_ref(), voice)).collect()
    }
}

impl<'a> IntervalRecord<'a> {
    /// The interval, with its reason in the reader's terms.
    pub fn new(interval: &'a Interval, voice: Voice) -> Self {
        Self::told(interval, interval.reason.as_ref(), voice)
    }
}

impl<'a> DisparityRecord<'a> {
    /// The difference.
    pub fn new(disparity: &'a Disparity, voice: Voice) -> Self {
        Self::told(disparity, disparity.interval.reason.as_ref(), voice)
    }
}

impl<'a> WithReason<'a, Selection> {
    pub(crate) fn new(selection: &'a Selection, voice: Voice) -> Self {
        WithReason { answer: selection, reason: Some(selection.reason.in_words(voice)) }
    }
}

impl<'a> PolicyRecord<'a> {
    /// The policy with its CDF.
    pub fn new(policy: &'a PolicyEvaluation, voice: Voice) -> Self {
        let cdf = WithReason::told(&policy.cdf, policy.cdf.reason.as_ref(), voice);
        PolicyRecord { cdf: Some(cdf), ..Self::without_cdf(policy, voice) }
    }

    /// The policy without its CDF, which is most of it.
    pub fn without_cdf(policy: &'a PolicyEvaluation, voice: Voice) -> Self {
        PolicyRecord {
            name: &policy.name,
            structure: policy.structure.as_ref(),
            correction: policy.correction,
            selection: policy.selection.as_ref().map(|s| WithReason::<Selection>::new(s, voice)),
            mean: IntervalRecord::new(&policy.mean, voice),
            variance: IntervalRecord::new(&policy.variance, voice),
            std: IntervalRecord::new(&policy.std, voice),
            iqr: IntervalRecord::new(&policy.iqr, voice),
            quantiles: WithReason::several(&policy.quantiles, |q| &q.interval, voice),
            var: WithReason::several(&policy.var, |t| &t.interval, voice),
            cvar: WithReason::several(&policy.cvar, |t| &t.interval, voice),
            probabilities: WithReason::several(&policy.probabilities, |p| &p.interval, voice),
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
            cvar: WithReason::several(&comparison.cvar, |t| &t.interval, voice),
            quantiles: WithReason::several(&comparison.quantiles, |q| &q.interval, voice),
            probabilities: WithReason::several(&comparison.probabilities, |p| &p.interval, voice),
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

impl<'a> CheckRecord<'a> {
    pub(crate) fn new(check: &'a Check, voice: Voice) -> Self {
        CheckRecord { check, message: check.finding.in_words(voice) }
    }
}
