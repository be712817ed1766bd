//! Summaries: read from files or from memory, merged, kept as bytes, evaluated.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slateval_logs::{Columns, Location, Log, Progress, Record, Tolerance};

use crate::errors::Failure;
use crate::evaluated::{Evaluated, write};
use crate::packed::{compress, decompress, is_compressed};
use crate::request::{Look, Method, Request, locations, read};
use crate::source::Source;
use crate::watch::{interruptible, tell};

/// Name, bytes, fingerprint, row groups and rows of a file.
type InputFacts = (String, u64, String, Option<(usize, usize)>, u64, Option<String>);

/// Two summaries together.
pub(crate) fn merge(
    one: &slateval::Summary,
    other: &slateval::Summary,
    allow_duplicates: bool,
) -> slateval::Result<slateval::Summary> {
    let mut merged = one.clone();
    if allow_duplicates {
        merged.merge_duplicates(other)?
    } else {
        merged.merge(other)?
    }
    Ok(merged)
}

/// A summary, and where it comes from.
#[pyclass(frozen, module = "slateval._slateval")]
pub(crate) struct Summary {
    pub(crate) inner: Arc<slateval::Summary>,
    origin: Origin,
    /// What is to be said about its log.
    remarks: Vec<String>,
    /// The log that was read for it, where it was read here.
    log: Option<Arc<(Log, Columns)>>,
}

#[derive(Debug, Clone)]
enum Origin {
    Log { paths: Vec<Location>, columns: Box<Columns>, tolerance: Tolerance },
    File(Location),
    Here,
}

/// A summary with what its log looked like.
pub(crate) struct Reading {
    pub(crate) summary: slateval::Summary,
    pub(crate) log: Log,
    pub(crate) columns: Columns,
    pub(crate) tolerance: Tolerance,
    /// What is to be said about the log.
    pub(crate) remarks: Vec<String>,
}

/// Reads files on their own threads.
pub(crate) fn read_files(
    py: Python<'_>,
    request: Request,
    method: Option<&Method>,
    paths: Vec<Location>,
    threads: Option<usize>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Reading> {
    let (columns, spec) = request.wanted()?;
    check(method, &spec)?;
    let read = interruptible(py, progress, move |shared| {
        let log = request.open(&paths)?;
        let spec = log.spec(&columns, spec)?;
        let remarks = request.remarks(&log, &columns, &spec)?;
        shared.total.store(log.rows().unwrap_or(0), Ordering::Relaxed);
        let watch = |now: Progress| {
            shared.rows.fetch_max(now.rows, Ordering::Relaxed);
            if shared.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let summary = log.summarize_while(&columns, &spec, threads, &watch)?;
        Ok::<Reading, Failure>(Reading { summary, log, columns, tolerance: request.tolerance(), remarks })
    })?;
    Ok(read?)
}

/// Reads batches that Python hands over. They are asked for on this thread, which listens for signals between them.
pub(crate) fn read_batches(
    py: Python<'_>,
    request: &Request,
    method: Option<&Method>,
    objects: &Bound<'_, PyAny>,
    names: &[String],
    threads: Option<usize>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Reading> {
    let Opened { mut source, log, columns, spec } = of_batches(request, method, objects, names)?;
    let raised = Mutex::new(None);
    let summary = py.detach(|| {
        let mut watch = |now: Progress| {
            let told = Python::attach(|py| py.check_signals().and_then(|()| tell(py, progress, now.rows, 0)));
            match told {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    if let Ok(mut raised) = raised.lock() {
                        *raised = Some(error);
                    }
                    ControlFlow::Break(())
                }
            }
        };
        log.summarize_batches(&columns, &spec, threads, &mut source, &mut watch)
    });
    let raised = raised.into_inner().ok().flatten().or_else(|| source.raised());
    let summary = match (summary, raised) {
        (Ok(summary), _) => summary,
        (Err(_), Some(raised)) => return Err(raised),
        (Err(error), None) => return Err(Failure::from(error).into()),
    };
    tell(py, progress, summary.rows(), 0)?;
    let remarks = request.remarks(&log, &columns, &spec)?;
    Ok(Reading { summary, log, columns, tolerance: request.tolerance(), remarks })
}

/// A log of batches that Python hands over again, of which some rows have been looked at.
pub(crate) fn look_at_some(
    py: Python<'_>,
    request: &str,
    objects: &Bound<'_, PyAny>,
    names: &[String],
) -> PyResult<(Log, Columns)> {
    let request = read::<Request>(request)?.looking(Look::SomeRows);
    let Opened { mut source, log, columns, spec } = of_batches(&request, None, objects, names)?;
    py.detach(|| {
        let mut watch = |now: Progress| match now.rows {
            rows if rows < Log::SECOND_LOOK => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        // Stopping early is no error here, and all of these rows have been read before.
        let _ = log.summarize_batches(&columns, &spec, None, &mut source, &mut watch);
    });
    Ok((log, columns))
}

/// Rows of which none has been read.
pub(crate) struct Opened {
    source: Source,
    log: Log,
    columns: Columns,
    spec: slateval::Spec,
}

impl Opened {
    /// The log without its rows.
    pub(crate) fn log(self) -> (Log, Columns) {
        (self.log, self.columns)
    }
}

/// Looks at the first batch's schema, and refuses what does not fit it.
pub(crate) fn of_batches(
    request: &Request,
    method: Option<&Method>,
    objects: &Bound<'_, PyAny>,
    names: &[String],
) -> PyResult<Opened> {
    let (columns, spec) = request.wanted()?;
    check(method, &spec)?;
    let source = Source::new(objects, names)?;
    let log = request.bounded(Log::of_batches("data", source.schema()).tolerating(request.tolerance()));
    let spec = log.spec(&columns, spec).map_err(Failure::from)?;
    Ok(Opened { source, log, columns, spec })
}

/// Refuses settings before an hour is spent on the log.
pub(crate) fn check(method: Option<&Method>, spec: &slateval::Spec) -> PyResult<()> {
    if let Some(method) = method {
        method.settings()?.check_for(spec).map_err(Failure::from)?;
    }
    Ok(())
}

impl Summary {
    /// A summary that was made here, of whatever.
    pub(crate) fn here(summary: slateval::Summary) -> Self {
        Summary { inner: Arc::new(summary), origin: Origin::Here, remarks: Vec::new(), log: None }
    }

    /// The summary of a log.
    pub(crate) fn of_log(
        summary: slateval::Summary,
        paths: Vec<Location>,
        columns: Columns,
        tolerance: Tolerance,
    ) -> Self {
        let origin = Origin::Log { paths, columns: Box::new(columns), tolerance };
        Summary { inner: Arc::new(summary), origin, remarks: Vec::new(), log: None }
    }

    /// The same, with what was noticed while the log was read.
    fn of_reading(reading: Reading, paths: Vec<Location>) -> Self {
        let Reading { summary, log, columns, tolerance, remarks } = reading;
        let log = Some(Arc::new((log, columns.clone())));
        Summary { log, remarks, ..Summary::of_log(summary, paths, columns, tolerance) }
    }
}

/// Writes a summary to a file, with the day that its rows are of.
pub(crate) fn save(py: Python<'_>, summary: &slateval::Summary, path: &str, day: Option<&str>) -> PyResult<()> {
    let day: Option<slateval::Day> = day.map(str::parse).transpose().map_err(Failure::from)?;
    let bytes = py.detach(|| match day {
        Some(day) => {
            let mut dated = summary.clone();
            dated.set_day(day);
            dated.to_bytes()
        }
        None => summary.to_bytes(),
    });
    write(path, &bytes)
}

#[pymethods]
impl Summary {
    #[staticmethod]
    #[pyo3(signature = (request, paths, method=None, threads=None, progress=None))]
    fn read_files(
        py: Python<'_>,
        request: &str,
        paths: Vec<String>,
        method: Option<&str>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let method: Option<Method> = method.map(read).transpose()?;
        let paths = locations(paths);
        let given = paths.clone();
        let read = read_files(py, read(request)?, method.as_ref(), paths, threads, progress.as_ref())?;
        Ok(Summary::of_reading(read, given))
    }

    #[staticmethod]
    #[pyo3(signature = (request, objects, names, method=None, threads=None, progress=None))]
    fn read_batches(
        py: Python<'_>,
        request: &str,
        objects: &Bound<'_, PyAny>,
        names: Vec<String>,
        method: Option<&str>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let method: Option<Method> = method.map(read).transpose()?;
        let request: Request = read(request)?;
        let read = read_batches(py, &request, method.as_ref(), objects, &names, threads, progress.as_ref())?;
        Ok(Summary::of_reading(read, Vec::new()))
    }

    /// A summary of bytes, compressed or not; `path` is the file they were read from.
    #[staticmethod]
    #[pyo3(signature = (bytes, path=None))]
    fn from_bytes(py: Python<'_>, bytes: &[u8], path: Option<String>) -> PyResult<Self> {
        if is_compressed(bytes) {
            return Summary::from_compressed(py, bytes);
        }
        let inner = Arc::new(slateval::Summary::from_bytes(bytes).map_err(Failure::from)?);
        let origin = path.map_or(Origin::Here, |path| Origin::File(path.into()));
        Ok(Summary { inner, origin, remarks: Vec::new(), log: None })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.inner.to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Compressed, for pickles.
    fn to_compressed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &py.detach(|| compress(&self.inner))?))
    }

    #[staticmethod]
    fn from_compressed(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        Ok(Summary::here(py.detach(|| decompress(bytes))?))
    }

    #[pyo3(signature = (path, day=None))]
    fn save(&self, py: Python<'_>, path: &str, day: Option<&str>) -> PyResult<()> {
        save(py, &self.inner, path, day)
    }

    /// The days that rows are of.
    fn days(&self) -> Vec<String> {
        self.inner.history().days.iter().map(ToString::to_string).collect()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Summary>().getattr("from_compressed")?, (self.to_compressed(py)?,)))
    }

    /// Both together; neither is changed.
    fn merge(&self, py: Python<'_>, other: &Summary, allow_duplicates: bool) -> PyResult<Summary> {
        let merged = py.detach(|| merge(&self.inner, &other.inner, allow_duplicates));
        Ok(Summary::here(merged.map_err(Failure::from)?))
    }

    /// The files that rows came from: name, bytes, fingerprint, row groups, rows, day.
    fn inputs(&self) -> Vec<InputFacts> {
        let groups = |input: &slateval::Input| input.row_groups.as_ref().map(|groups| (groups.start, groups.end));
        let facts = |input: &slateval::Input| {
            let (name, day) = (input.name.clone(), input.day.map(String::from));
            (name, input.bytes, format!("{:016x}", input.fingerprint), groups(input), input.rows, day)
        };
        self.inner.inputs().into_iter().map(facts).collect()
    }

    /// What is to be said about its log.
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.inner.rows()
    }

    #[getter]
    fn slots(&self) -> Option<usize> {
        self.inner.slots()
    }

    /// What it is a summary of, as JSON.
    #[getter]
    fn spec(&self) -> String {
        serde_json::to_string(self.inner.spec()).unwrap_or_default()
    }

    fn evaluate(&self, py: Python<'_>, method: &str) -> PyResult<Evaluated> {
        let settings = read::<Method>(method)?.settings()?;
        let spec = self.inner.spec();
        let record = match &self.origin {
            Origin::Log { paths, columns, tolerance } => {
                Record::of_log(paths, columns, spec, &settings).tolerating(*tolerance)
            }
            Origin::File(path) => Record::of_summary(path, spec, &settings),
            Origin::Here => Record::of_spec(spec, &settings),
        };
        Evaluated::new(py, self.inner.clone(), settings, record, self.log.clone())
    }
}
