//! An evaluation as JSON, schema `slateval/evaluation/1`.

use serde::Serialize;
use slateval::Evaluation;

use crate::Error;

#[derive(Serialize)]
struct Document<'a, S> {
    schema: &'static str,
    log: &'a slateval::LogFacts,
    settings: &'a S,
    policies: &'a [slateval::PolicyEvaluation],
    comparisons: &'a [slateval::Comparison],
    segments: &'a [slateval::SegmentEvaluation],
    disparities: &'a [slateval::Disparity],
}

/// The evaluation with the settings that made it. The same evaluation gives the same bytes.
///
/// # Errors
/// [`Error::Encode`] if `settings` is nothing that JSON can hold.
pub fn json(evaluation: &Evaluation, settings: &impl Serialize) -> Result<String, Error> {
    let document = Document {
        schema: "slateval/evaluation/1",
        log: &evaluation.log,
        settings,
        policies: &evaluation.policies,
        comparisons: &evaluation.comparisons,
        segments: &evaluation.segments,
        disparities: &evaluation.disparities,
    };
    encode(&document)
}

/// Indented, with a line break at its end.
pub(crate) fn encode(document: &impl Serialize) -> Result<String, Error> {
    let failed = |e: serde_json::Error| Error::Encode { what: "JSON", reason: e.to_string() };
    serde_json::to_string_pretty(document).map(|text| text + "\n").map_err(failed)
}
