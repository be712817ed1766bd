//! Is this log fit for the job?

use pyo3::prelude::*;
use slateval_logs::{ColumnUse, Record};
use slateval_report::{Inspection, SchemaColumn, Voice, inspection, inspection_json};

use crate::errors::Failure;
use crate::evaluated::LOOK;
use crate::request::{Method, Request, read};
use crate::summary::{read_batches, read_files};
use crate::watch::interruptible;

/// What is found out about a log, as JSON and as text. `data` are paths, or an iterator of Arrow data with the names of
/// all its columns.
#[pyfunction]
#[pyo3(signature = (request, method, paths, objects, names, interactions, band_width, threads=None, progress=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn inspect(
    py: Python<'_>,
    request: &str,
    method: &str,
    paths: Vec<String>,
    objects: Option<Bound<'_, PyAny>>,
    names: Vec<String>,
    interactions: bool,
    band_width: f64,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let request: Request = read(request)?;
    let method: Method = read(method)?;
    let settings = method.settings()?;
    let reading = match &objects {
        Some(objects) => read_batches(py, &request, Some(&method), objects, &names, threads, progress.as_ref())?,
        None => read_files(py, request, Some(&method), paths.clone(), threads, progress.as_ref())?,
    };
    let spec = reading.summary.spec().clone();
    let schema = reading.log.describe(&reading.columns, &spec).map_err(Failure::from)?;
    let record = Record::of_log(&paths, &reading.columns, &spec, &settings).tolerating(reading.tolerance);
    let (files, bytes) = match objects {
        Some(_) => (0, 0),
        None => (reading.log.files().len(), reading.log.bytes()),
    };
    let summary = reading.summary;
    let made = interruptible(py, None, move |_| -> Result<(String, String), Failure> {
        let found = Inspection {
            files,
            bytes,
            columns: schema.uses.into_iter().map(column).collect(),
            unused: schema.unused,
            evaluation: summary.evaluate(&settings)?,
            confidence: settings.confidence,
            interactions: interactions.then(|| summary.interactions(&settings)).transpose()?,
            band_width,
        };
        Ok((inspection_json(&found, &record, Voice::Python)?, inspection(&found, LOOK)))
    })?;
    Ok(made?)
}

fn column(found: ColumnUse) -> SchemaColumn {
    let ColumnUse { role, policy, name, columns, data_type, used } = found;
    SchemaColumn { role: role.word(), policy, name, columns, data_type, used }
}
