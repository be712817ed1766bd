//! Is this log fit for the job?

use pyo3::prelude::*;
use slateval_logs::{ColumnUse, Location, Record};
use slateval_report::{Inspection, Noticed, SchemaColumn, Voice, inspection, inspection_json};

use crate::errors::Failure;
use crate::evaluated::LOOK;
use crate::request::{Look, Method, Request, locations, read};
use crate::summary::{Reading, Summary, of_batches, read_batches, read_files};
use crate::watch::interruptible;

/// What is asked about a log.
struct Question {
    paths: Vec<Location>,
    method: Method,
    interactions: bool,
    band_width: f64,
}

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
    let request = read::<Request>(request)?.looking(Look::EveryRow);
    let method: Method = read(method)?;
    let paths = locations(paths);
    let reading = match &objects {
        Some(objects) => read_batches(py, &request, Some(&method), objects, &names, threads, progress.as_ref())?,
        None => read_files(py, request, Some(&method), paths.clone(), threads, progress.as_ref())?,
    };
    answer(py, reading, Question { paths, method, interactions, band_width })
}

/// The same of a log that others have read. `schema` is Arrow data without rows where it was no files.
#[pyfunction]
#[pyo3(signature = (request, method, summary, paths, schema, names, interactions, band_width))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn inspect_summary(
    py: Python<'_>,
    request: &str,
    method: &str,
    summary: &Summary,
    paths: Vec<String>,
    schema: Option<Bound<'_, PyAny>>,
    names: Vec<String>,
    interactions: bool,
    band_width: f64,
) -> PyResult<(String, String)> {
    let request: Request = read(request)?;
    let method: Method = read(method)?;
    let paths = locations(paths);
    let tolerance = request.tolerance();
    let (log, columns) = match &schema {
        Some(schema) => of_batches(&request, Some(&method), schema, &names)?.log(),
        None => (request.open(&paths)?, request.wanted()?.0),
    };
    let (summary, remarks) = (summary.inner.as_ref().clone(), Vec::new());
    let reading = Reading { summary, log, columns, tolerance, remarks };
    answer(py, reading, Question { paths, method, interactions, band_width })
}

fn answer(py: Python<'_>, reading: Reading, asked: Question) -> PyResult<(String, String)> {
    let Question { paths, method, interactions, band_width } = asked;
    let Reading { summary, log, columns, tolerance, .. } = reading;
    let settings = method.settings()?;
    let spec = summary.spec().clone();
    let schema = log.describe(&columns, &spec).map_err(Failure::from)?;
    let overlaps = log.overlaps(&columns, &spec).map_err(Failure::from)?;
    let record = Record::of_log(&paths, &columns, &spec, &settings).tolerating(tolerance);
    let (files, bytes) = if paths.is_empty() { (0, 0) } else { (log.files().len(), log.bytes()) };
    let made = interruptible(py, None, move |_| -> Result<(String, String), Failure> {
        let evaluation = summary.evaluate(&settings)?;
        let suspicions = log.suspicions(&columns, &spec, &evaluation);
        let noticed = Noticed {
            shorter_slates: log.shorter_slates(),
            alike_rows: log.alike_rows().map(|alike| alike.rows),
            suspicions: suspicions.iter().map(ToString::to_string).collect(),
        };
        let found = Inspection {
            files,
            bytes,
            columns: schema.uses.into_iter().map(column).collect(),
            unused: schema.unused,
            remarks: overlaps.iter().map(ToString::to_string).collect(),
            evaluation,
            confidence: settings.confidence,
            interactions: interactions.then(|| summary.interactions(&settings)).transpose()?,
            band_width,
            noticed,
        };
        Ok((inspection_json(&found, &record, Voice::Python)?, inspection(&found, LOOK)))
    })?;
    Ok(made?)
}

fn column(found: ColumnUse) -> SchemaColumn {
    let ColumnUse { role, policy, name, columns, data_type, used } = found;
    SchemaColumn { role: role.word(), policy, name, columns, data_type, used }
}
