//! A log in parts that can be read anywhere: plan, partial, merge.

use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use slateval::Spec;
use slateval_logs::{Columns, Task};

use crate::errors::Failure;
use crate::request::{Method, Request, locations, read};
use crate::summary::{Summary, check, of_batches};
use crate::watch::interruptible;

/// What every task of a plan has to know.
#[derive(Debug, Serialize, Deserialize)]
struct Job {
    columns: Columns,
    spec: Spec,
}

/// A task as Python sees it: its file, its row groups, the bytes it stands for, and the task itself.
type Listed = (String, Option<(usize, usize)>, u64, String);

/// The tasks of a log, what they have in common, and remarks about the log. How it will be evaluated is checked before anybody reads them.
#[pyfunction]
#[pyo3(signature = (request, paths, method=None))]
pub(crate) fn plan(
    py: Python<'_>,
    request: &str,
    paths: Vec<String>,
    method: Option<&str>,
) -> PyResult<(Vec<Listed>, String, Vec<String>)> {
    let paths = locations(paths);
    let request: Request = read(request)?;
    let method: Option<Method> = method.map(read).transpose()?;
    let (columns, spec) = request.wanted()?;
    check(method.as_ref(), &spec)?;
    let planned = interruptible(py, None, move |_| {
        let log = request.open(&paths)?;
        log.check_duplicates()?;
        let spec = log.spec(&columns, spec)?;
        let remarks = request.remarks(&log, &columns, &spec)?;
        Ok::<_, Failure>((log.plan_for(&columns), Job { columns, spec }, remarks))
    })?;
    let (tasks, job, remarks) = planned?;
    let listed = tasks.iter().map(|task| {
        let groups = task.row_groups.as_ref().map(|groups| (groups.start, groups.end));
        Ok((task.file.name(), groups, task.bytes, write(task)?))
    });
    Ok((listed.collect::<PyResult<_>>()?, write(&job)?, remarks))
}

fn write(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))
}

/// The summary of some tasks of one plan, merged in their order.
#[pyfunction]
pub(crate) fn partial(py: Python<'_>, tasks: Vec<String>, job: &str) -> PyResult<Summary> {
    let tasks: Vec<Task> = tasks.iter().map(|task| read(task)).collect::<PyResult<_>>()?;
    let Job { columns, spec } = read(job)?;
    let summary = interruptible(py, None, move |_| {
        let mut total = slateval::Summary::new(spec.clone())?;
        for task in &tasks {
            // That no file is in the log twice was checked when it was planned.
            total.merge_duplicates(&slateval_logs::partial(task, &columns, &spec)?)?;
        }
        Ok::<_, Failure>(total)
    })?;
    Ok(Summary::here(summary?))
}

/// Refuses rows that come as Arrow data of this schema, or settings to evaluate them with, before any row is moved.
#[pyfunction]
#[pyo3(signature = (request, schema, names, method=None))]
pub(crate) fn check_batches(
    request: &str,
    schema: &Bound<'_, PyAny>,
    names: Vec<String>,
    method: Option<&str>,
) -> PyResult<()> {
    let method: Option<Method> = method.map(read).transpose()?;
    of_batches(&read(request)?, method.as_ref(), schema, &names)?;
    Ok(())
}

/// Puts the parts of a log together, one after the other.
#[pyclass(module = "slateval._slateval")]
pub(crate) struct Merger {
    /// In a place of its own: Python's objects are not aligned as its bins are.
    total: Option<Box<slateval::Summary>>,
    allow_duplicates: bool,
}

#[pymethods]
impl Merger {
    #[new]
    fn new(allow_duplicates: bool) -> Self {
        Merger { total: None, allow_duplicates }
    }

    /// Takes in a summary. One that does not fit is refused, and changes nothing.
    fn add(&mut self, py: Python<'_>, part: &Summary) -> PyResult<()> {
        let (total, inner, allowed) = (&mut self.total, &part.inner, self.allow_duplicates);
        let merged = py.detach(|| match total {
            None => {
                *total = Some(Box::new(inner.as_ref().clone()));
                Ok(())
            }
            Some(total) if allowed => total.merge_duplicates(inner),
            Some(total) => total.merge(inner),
        });
        Ok(merged.map_err(Failure::from)?)
    }

    /// All of them together, if there are any. `request` and `paths` say what log they are of.
    #[pyo3(signature = (request=None, paths=Vec::new()))]
    fn finish(&mut self, request: Option<&str>, paths: Vec<String>) -> PyResult<Option<Summary>> {
        let Some(total) = self.total.take() else { return Ok(None) };
        Ok(Some(match request {
            Some(request) => {
                let request: Request = read(request)?;
                Summary::of_log(*total, locations(paths), request.wanted()?.0, request.tolerance())
            }
            None => Summary::here(*total),
        }))
    }
}
