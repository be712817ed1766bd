//! The CDF of every policy and segment as one table on disk.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use slateval::{Evaluation, PolicyEvaluation};

use crate::whole::ending;
use crate::{Error, write_whole};

/// Writes the columns `policy, segment, reward, raw, estimate, lower, upper`; `segment` is null for the whole log.
///
/// # Errors
/// [`Error::Ending`] for a name that ends in neither `.parquet` nor `.csv`, [`Error::Write`].
pub fn write_cdf(evaluation: &Evaluation, path: &Path) -> Result<(), Error> {
    let batch = to_batch(evaluation)?;
    let encode = |e: String| Error::Encode { what: "the CDF", reason: e };
    match ending(path).as_deref() {
        Some("parquet") => write_whole(path, |file| {
            let mut bytes = Vec::new();
            let mut writer =
                ArrowWriter::try_new(&mut bytes, batch.schema(), None).map_err(|e| encode(e.to_string()))?;
            writer.write(&batch).map_err(|e| encode(e.to_string()))?;
            writer.close().map_err(|e| encode(e.to_string()))?;
            file.write_all(&bytes).map_err(|source| Error::Write { path: path.display().to_string(), source })
        }),
        Some("csv") => write_whole(path, |file| {
            let mut writer = arrow_csv::Writer::new(file);
            writer.write(&batch).map_err(|e| encode(e.to_string()))
        }),
        _ => Err(Error::Ending { path: path.display().to_string(), endings: ".parquet or .csv" }),
    }
}

fn to_batch(evaluation: &Evaluation) -> Result<RecordBatch, Error> {
    let whole = evaluation.policies.iter().map(|p| (p, None));
    let parts = evaluation.segments.iter().flat_map(|s| s.policies.iter().map(|p| (p, Some(s.value.to_string()))));
    let all: Vec<(&PolicyEvaluation, Option<String>)> = whole.chain(parts).collect();

    let policy: StringArray =
        all.iter().flat_map(|(p, _)| p.cdf.reward.iter().map(|_| Some(p.name.as_str()))).collect();
    let segment: StringArray = all.iter().flat_map(|(p, s)| p.cdf.reward.iter().map(|_| s.as_deref())).collect();
    let numbers = |of: fn(&PolicyEvaluation) -> Vec<Option<f64>>| -> ArrayRef {
        Arc::new(all.iter().flat_map(|(p, _)| of(p)).collect::<Float64Array>())
    };
    RecordBatch::try_from_iter_with_nullable([
        ("policy", Arc::new(policy) as ArrayRef, false),
        ("segment", Arc::new(segment) as ArrayRef, true),
        ("reward", numbers(|p| some(&p.cdf.reward)), false),
        ("raw", numbers(|p| some(&p.cdf.raw)), false),
        ("estimate", numbers(|p| some(&p.cdf.estimate)), false),
        ("lower", numbers(|p| p.cdf.lower.clone()), true),
        ("upper", numbers(|p| p.cdf.upper.clone()), true),
    ])
    .map_err(|e| Error::Encode { what: "the CDF", reason: e.to_string() })
}

fn some(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}
