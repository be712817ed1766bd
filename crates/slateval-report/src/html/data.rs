//! The evaluation inside the page, small enough to be sent by mail.

use serde::Serialize;
use slateval::{Evaluation, PolicyEvaluation, SegmentEvaluation};

use crate::Error;
use crate::chart::thinned;
use crate::json::{compact, one_line};

/// Points of a CDF in the page.
pub(crate) const POINTS: usize = 240;

/// Bytes that segments may take.
const SEGMENTS: usize = 250_000;

/// Points that segments' CDFs may have, as many as there is room for.
const SEGMENT_POINTS: [usize; 3] = [100, 25, 5];

/// What the page carries, and what of it is less than everything.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) json: String,
    /// Whether CDFs have fewer points than the evaluation's.
    pub(crate) thinned: bool,
    /// Whether segments had to stay out.
    pub(crate) without_segments: bool,
}

pub(crate) fn embed(evaluation: &Evaluation, record: &impl Serialize) -> Result<Embedded, Error> {
    let segments = segments(&evaluation.segments)?;
    let without_segments = segments.is_empty() && !evaluation.segments.is_empty();
    let embedded = Evaluation {
        log: evaluation.log.clone(),
        policies: policies(&evaluation.policies, POINTS),
        comparisons: evaluation.comparisons.clone(),
        segments,
        disparities: evaluation.disparities.clone(),
    };
    let lost = |(thin, whole): (&PolicyEvaluation, &PolicyEvaluation)| thin.cdf.reward.len() < whole.cdf.reward.len();
    let mut parts = embedded.segments.iter().zip(&evaluation.segments);
    let thinned = embedded.policies.iter().zip(&evaluation.policies).any(lost)
        || parts.any(|(thin, whole)| thin.policies.iter().zip(&whole.policies).any(lost));
    Ok(Embedded { json: compact(&embedded, record)?, thinned, without_segments })
}

/// All segments with as many points as there is room for, or none.
fn segments(all: &[SegmentEvaluation]) -> Result<Vec<SegmentEvaluation>, Error> {
    for points in SEGMENT_POINTS {
        let mut kept = Vec::with_capacity(all.len());
        let mut bytes = 0;
        for segment in all {
            let thin = SegmentEvaluation {
                column: segment.column.clone(),
                value: segment.value.clone(),
                rows: segment.rows,
                policies: policies(&segment.policies, points),
                comparisons: segment.comparisons.clone(),
            };
            bytes += one_line(&thin)?.len();
            if bytes > SEGMENTS {
                break;
            }
            kept.push(thin);
        }
        if kept.len() == all.len() {
            return Ok(kept);
        }
    }
    Ok(Vec::new())
}

fn policies(all: &[PolicyEvaluation], points: usize) -> Vec<PolicyEvaluation> {
    let thin = |policy: &PolicyEvaluation| {
        let PolicyEvaluation { cdf, .. } = policy;
        // The CDF is most of a policy: it is not copied whole.
        let cdf = thinned(cdf, points);
        PolicyEvaluation {
            name: policy.name.clone(),
            structure: policy.structure.clone(),
            correction: policy.correction,
            selection: policy.selection.clone(),
            mean: policy.mean.clone(),
            variance: policy.variance.clone(),
            std: policy.std.clone(),
            iqr: policy.iqr.clone(),
            quantiles: policy.quantiles.clone(),
            var: policy.var.clone(),
            cvar: policy.cvar.clone(),
            cdf,
            diagnostics: policy.diagnostics.clone(),
        }
    };
    all.iter().map(thin).collect()
}
