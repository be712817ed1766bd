//! Verdicts for programs, schema `slateval/gate/1`.

use serde::Serialize;
use slateval::{IgnoredFile, Segment};
use slateval_text::{InWords, Voice, safe_json};

use crate::Error;
use crate::evidence::Evidence;
use crate::judge::{Judgement, Verdicts};
use crate::rules::{Adjust, Judge};

#[derive(Serialize)]
struct Document<'a, S> {
    schema: &'static str,
    slateval: &'static str,
    passed: bool,
    file: &'a str,
    /// Of the log.
    rows: u64,
    /// As in an evaluation's `log`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ignored: &'a [IgnoredFile],
    #[serde(skip_serializing_if = "is_zero")]
    ignored_files: u64,
    confidence: f64,
    adjust: Adjust,
    /// The one-sided confidence of each bound.
    confidence_each: f64,
    /// How many judgements rest on a bound.
    bounds: usize,
    settings: &'a S,
    rules: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    require: &'a str,
    judge: Judge,
    segment: Option<Place<'a>>,
    verdict: String,
    estimate: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    conditional: bool,
    refuted: Option<String>,
    metrics: String,
    threshold: f64,
    evidence: String,
    reason: Option<String>,
    failed_checks: Vec<Failed<'a>>,
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct Place<'a> {
    column: &'a str,
    value: &'a Segment,
}

#[derive(Serialize)]
struct Failed<'a> {
    policy: &'a str,
    name: &'a str,
    message: String,
}

/// The verdicts, with a line break at the end. `estimate`, `lower` and `upper` are of the left side minus the right one;
/// `settings` is what the evaluation is put on record with.
///
/// # Errors
/// [`Error::Json`].
pub fn json(verdicts: &Verdicts, settings: &impl Serialize) -> Result<String, Error> {
    let document = Document {
        schema: "slateval/gate/1",
        slateval: env!("CARGO_PKG_VERSION"),
        passed: verdicts.passed(),
        file: verdicts.rules.file(),
        rows: verdicts.rows,
        ignored: &verdicts.ignored,
        ignored_files: verdicts.ignored_files,
        confidence: verdicts.rules.confidence,
        adjust: verdicts.rules.adjust,
        confidence_each: verdicts.confidence,
        bounds: verdicts.bounds,
        settings,
        rules: verdicts.judgements.iter().map(|judgement| entry(verdicts, judgement)).collect(),
    };
    Ok(safe_json(&serde_json::to_string_pretty(&document)?) + "\n")
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn entry<'a>(verdicts: &'a Verdicts, judgement: &'a Judgement) -> Line<'a> {
    let (rule, evidence) = (verdicts.rule(judgement), Evidence::new(verdicts, judgement));
    let place = |value: &'a Segment| Some(Place { column: verdicts.column.as_deref()?, value });
    let failed = judgement.failed.iter();
    Line {
        name: &rule.name,
        require: &rule.require,
        judge: rule.judge,
        segment: judgement.segment.as_ref().and_then(place),
        verdict: judgement.verdict.to_string(),
        estimate: judgement.difference.estimate,
        lower: judgement.difference.lower,
        upper: judgement.difference.upper,
        conditional: judgement.difference.conditional,
        refuted: judgement.difference.refuted.as_ref().map(ToString::to_string),
        metrics: evidence.expression,
        threshold: evidence.threshold,
        evidence: evidence.sentence,
        reason: evidence.reason,
        failed_checks: failed
            .map(|f| Failed {
                policy: &f.policy,
                name: f.check.name().as_str(),
                message: f.check.finding.in_words(Voice::CommandLine),
            })
            .collect(),
        line: rule.position.line,
        column: rule.position.column,
    }
}
