//! An evaluation as JSON, schema `slateval/evaluation/1`.

use serde::Serialize;
use slateval::Evaluation;
use slateval_text::safe_json;

use crate::layout::numbers_on_one_line;
use crate::points::{CdfPoints, thinned};
use crate::record::{ComparisonRecord, DisparityRecord, PolicyRecord, SegmentRecord};
use crate::{Error, Voice};

#[derive(Serialize)]
struct Document<'a, S> {
    schema: &'static str,
    log: &'a slateval::LogFacts,
    settings: &'a S,
    policies: Vec<PolicyRecord<'a>>,
    comparisons: Vec<ComparisonRecord<'a>>,
    segments: Vec<SegmentRecord<'a>>,
    disparities: Vec<DisparityRecord<'a>>,
}

/// The evaluation with the settings that made it. The same evaluation gives the same bytes.
///
/// # Errors
/// [`Error::Encode`] if `settings` is nothing that JSON can hold.
pub fn json(
    evaluation: &Evaluation,
    settings: &impl Serialize,
    voice: Voice,
    points: CdfPoints,
) -> Result<String, Error> {
    match points {
        CdfPoints::Thinned => encode(&document(&thinned(evaluation), settings, voice)),
        CdfPoints::Every => encode(&document(evaluation, settings, voice)),
    }
}

fn document<'a, S: Serialize>(evaluation: &'a Evaluation, settings: &'a S, voice: Voice) -> Document<'a, S> {
    Document {
        schema: "slateval/evaluation/1",
        log: &evaluation.log,
        settings,
        policies: evaluation.policies.iter().map(|p| PolicyRecord::new(p, voice)).collect(),
        comparisons: evaluation.comparisons.iter().map(|c| ComparisonRecord::new(c, voice)).collect(),
        segments: evaluation.segments.iter().map(|s| SegmentRecord::new(s, voice)).collect(),
        disparities: evaluation.disparities.iter().map(|d| DisparityRecord::new(d, voice)).collect(),
    }
}

/// The same on one line.
pub(crate) fn compact(evaluation: &Evaluation, settings: &impl Serialize, voice: Voice) -> Result<String, Error> {
    one_line(&document(evaluation, settings, voice))
}

/// Anything on one line.
pub(crate) fn one_line(document: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(document).map_err(failed)
}

/// Anything as a value whose parts can be looked at.
pub(crate) fn to_value(document: &impl Serialize) -> Result<serde_json::Value, Error> {
    serde_json::to_value(document).map_err(failed)
}

fn failed(error: serde_json::Error) -> Error {
    Error::Encode { what: "JSON", reason: error.to_string() }
}

/// Indented, with arrays of numbers on one line and a line break at its end.
pub(crate) fn encode(document: &impl Serialize) -> Result<String, Error> {
    let pretty = serde_json::to_string_pretty(document).map_err(failed)?;
    Ok(safe_json(&numbers_on_one_line(&pretty)))
}
