//! A log in parts that can be read anywhere: plan, partial, merge.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use slateval::Spec;
use slateval_logs::{Columns, Log, Task};

use crate::errors::Failure;
use crate::request::{Request, read};
use crate::watch::interruptible;

/// What every task of a plan has to know.
#[derive(Debug, Serialize, Deserialize)]
struct Job {
    columns: Columns,
    spec: Spec,
}

/// A task as Python sees it: its file, its row groups, and the task itself.
type Listed = (String, Option<(usize, usize)>, String);

/// The tasks of a log, and what they have in common.
#[pyfunction]
pub(crate) fn plan(py: Python<'_>, request: &str, paths: Vec<String>) -> PyResult<(Vec<Listed>, String)> {
    let request: Request = read(request)?;
    let (columns, spec) = request.wanted()?;
    let planned = interruptible(py, None, move |_| {
        let log = Log::open_tolerating(&paths, request.tolerance())?;
        let spec = log.spec(&columns, spec)?;
        Ok::<_, Failure>((log.plan_for(&columns), Job { columns, spec }))
    })?;
    let (tasks, job) = planned?;
    let listed = tasks.iter().map(|task| {
        let groups = task.row_groups.as_ref().map(|groups| (groups.start, groups.end));
        Ok((task.file.display().to_string(), groups, write(task)?))
    });
    Ok((listed.collect::<PyResult<_>>()?, write(&job)?))
}

fn write(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))
}

/// The summary of one task, as bytes.
#[pyfunction]
pub(crate) fn partial<'py>(py: Python<'py>, task: &str, job: &str) -> PyResult<Bound<'py, PyBytes>> {
    let task: Task = read(task)?;
    let Job { columns, spec } = read(job)?;
    let bytes = interruptible(py, None, move |_| {
        slateval_logs::partial(&task, &columns, &spec).map(|summary| summary.to_bytes())
    })?;
    Ok(PyBytes::new(py, &bytes.map_err(Failure::from)?))
}
