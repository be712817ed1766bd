//! An evaluation with the summary it came from.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use slateval::{Evaluation, PolicyEvaluation, Profile, Settings};
use slateval_logs::Record;
use slateval_report::{
    CdfPoints, ComparisonRecord, Detail, DisparityRecord, Look, PolicyRecord, Report, Style, Voice, html, notebook,
    write_plot, write_whole,
};

use crate::errors::Failure;
use crate::table::Table;
use crate::watch::interruptible;

/// An evaluation, the summary it came from, and how it was made. What it says is handed over as JSON, piece by piece.
#[pyclass(frozen, module = "slateval._slateval")]
pub(crate) struct Evaluated {
    summary: Arc<slateval::Summary>,
    settings: Settings,
    record: Record,
    evaluation: Evaluation,
}

impl Evaluated {
    pub(crate) fn new(
        py: Python<'_>,
        summary: Arc<slateval::Summary>,
        settings: Settings,
        record: Record,
    ) -> PyResult<Self> {
        let (own, how) = (summary.clone(), settings.clone());
        let evaluation = interruptible(py, None, move |_| own.evaluate(&how))?.map_err(Failure::from)?;
        Ok(Evaluated { summary, settings, record, evaluation })
    }

    fn policies(&self, segment: Option<usize>) -> PyResult<&[PolicyEvaluation]> {
        let policies = match segment {
            None => Some(&self.evaluation.policies),
            Some(segment) => self.evaluation.segments.get(segment).map(|s| &s.policies),
        };
        policies.map(Vec::as_slice).ok_or_else(|| PyIndexError::new_err("there is no such segment"))
    }

    /// Levels for pictures, which are more than were asked for.
    fn profile(&self, py: Python<'_>) -> PyResult<Profile> {
        let (summary, settings) = (self.summary.clone(), self.settings.clone());
        let profile = interruptible(py, None, move |_| summary.profile(&Profile::levels(&settings), &settings))?;
        Ok(profile.map_err(Failure::from)?)
    }

    fn find(&self, segment: Option<usize>, policy: usize) -> PyResult<&PolicyEvaluation> {
        self.policies(segment)?.get(policy).ok_or_else(|| PyIndexError::new_err("there is no such policy"))
    }
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Everything, without colour, with settings as keyword arguments.
pub(crate) const LOOK: Look = Look { style: Style::Plain, voice: Voice::Python, detail: Detail::Full };

fn comparisons(all: &[slateval::Comparison]) -> Vec<ComparisonRecord<'_>> {
    all.iter().map(|comparison| ComparisonRecord::new(comparison, Voice::Python)).collect()
}

#[derive(Serialize)]
struct SegmentFacts<'a> {
    column: &'a str,
    value: &'a slateval::Segment,
    rows: u64,
    comparisons: Vec<ComparisonRecord<'a>>,
}

#[pymethods]
impl Evaluated {
    /// The names of the policies, in order.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.evaluation.policies.iter().map(|p| p.name.clone()).collect()
    }

    /// One policy without its CDF.
    #[pyo3(signature = (policy, segment=None))]
    fn policy(&self, policy: usize, segment: Option<usize>) -> PyResult<String> {
        let policy = self.find(segment, policy)?;
        json(&PolicyRecord::without_cdf(policy, Voice::Python))
    }

    /// The CDF of a policy: reward, raw, estimate, lower, upper.
    #[pyo3(signature = (policy, segment=None))]
    fn cdf(&self, policy: usize, segment: Option<usize>) -> PyResult<Table> {
        let cdf = &self.find(segment, policy)?.cdf;
        let floats = |values: &[f64]| Arc::new(Float64Array::from(values.to_vec())) as ArrayRef;
        let bounds = |values: &[Option<f64>]| Arc::new(Float64Array::from(values.to_vec())) as ArrayRef;
        let columns = [
            ("reward", floats(&cdf.reward), false),
            ("raw", floats(&cdf.raw), false),
            ("estimate", floats(&cdf.estimate), false),
            ("lower", bounds(&cdf.lower), true),
            ("upper", bounds(&cdf.upper), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns);
        Ok(Table::of(batch.map_err(|e| PyValueError::new_err(e.to_string()))?))
    }

    /// What is known of the log: its rows, its slots and the range of its rewards.
    fn log(&self) -> PyResult<String> {
        json(&self.evaluation.log)
    }

    fn comparisons(&self) -> PyResult<String> {
        json(&comparisons(&self.evaluation.comparisons))
    }

    fn disparities(&self) -> PyResult<String> {
        let disparities = self.evaluation.disparities.iter().map(|d| DisparityRecord::new(d, Voice::Python));
        json(&disparities.collect::<Vec<_>>())
    }

    fn segments(&self) -> PyResult<String> {
        let facts = self.evaluation.segments.iter().map(|segment| SegmentFacts {
            column: &segment.column,
            value: &segment.value,
            rows: segment.rows,
            comparisons: comparisons(&segment.comparisons),
        });
        json(&facts.collect::<Vec<_>>())
    }

    /// How it was made.
    fn record(&self) -> PyResult<String> {
        json(&self.record)
    }

    /// The JSON of the command line, with settings as keyword arguments in its messages.
    fn to_json(&self, py: Python<'_>, full_cdf: bool) -> PyResult<String> {
        let points = if full_cdf { CdfPoints::Every } else { CdfPoints::Thinned };
        let made = py.detach(|| slateval_report::json(&self.evaluation, &self.record, Voice::Python, points));
        Ok(made.map_err(Failure::from)?)
    }

    /// The table of the command line.
    fn to_text(&self) -> String {
        slateval_report::table(&self.evaluation, &self.settings, LOOK)
    }

    /// What did not go well, a line each.
    fn warnings(&self) -> Vec<String> {
        slateval_report::warnings(&self.evaluation, LOOK)
    }

    /// The same log at other levels.
    fn at(&self, py: Python<'_>, quantile: Vec<f64>, alpha: Vec<f64>) -> PyResult<Evaluated> {
        let mut settings = self.settings.clone();
        (settings.quantiles, settings.alphas) = (quantile, alpha);
        Evaluated::new(py, self.summary.clone(), settings, self.record.clone())
    }

    /// The same log with the probabilities of rewards that are at least these, and no other levels.
    fn at_least(&self, py: Python<'_>, rewards: Vec<f64>) -> PyResult<Evaluated> {
        let mut settings = self.settings.clone();
        (settings.quantiles, settings.alphas, settings.at_least) = (Vec::new(), Vec::new(), rewards);
        Evaluated::new(py, self.summary.clone(), settings, self.record.clone())
    }

    /// Together with another summary, evaluated the same way.
    fn merge(&self, py: Python<'_>, other: &Evaluated) -> PyResult<Evaluated> {
        let mut merged = self.summary.as_ref().clone();
        py.detach(|| merged.merge(&other.summary)).map_err(Failure::from)?;
        let record = Record::of_spec(merged.spec(), &self.settings);
        Evaluated::new(py, Arc::new(merged), self.settings.clone(), record)
    }

    fn save(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let bytes = py.detach(|| self.summary.to_bytes());
        write(path, &bytes)
    }

    /// The page of the command line, in a file.
    fn report(&self, py: Python<'_>, path: &str, command: &str) -> PyResult<()> {
        let profile = &self.profile(py)?;
        let Evaluated { evaluation, settings, record, .. } = self;
        let page = py.detach(|| html(&Report { evaluation, profile, settings, record, command, voice: Voice::Python }));
        write(path, page.map_err(Failure::from)?.as_bytes())
    }

    /// The same for a notebook's cell.
    fn notebook(&self, py: Python<'_>, command: &str) -> PyResult<String> {
        let profile = &self.profile(py)?;
        let Evaluated { evaluation, settings, record, .. } = self;
        let page =
            py.detach(|| notebook(&Report { evaluation, profile, settings, record, command, voice: Voice::Python }));
        Ok(page.map_err(Failure::from)?)
    }

    /// The picture of the command line.
    fn plot(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let profile = &self.profile(py)?;
        let drawn = py.detach(|| write_plot(&self.evaluation, profile, &self.settings, Path::new(path)));
        Ok(drawn.map_err(Failure::from)?)
    }

    /// What it takes to make it again.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, String, String)> {
        Ok((PyBytes::new(py, &self.summary.to_bytes()), json(&self.settings)?, json(&self.record)?))
    }

    #[staticmethod]
    fn from_state(py: Python<'_>, summary: &[u8], settings: &str, record: &str) -> PyResult<Evaluated> {
        let summary = slateval::Summary::from_bytes(summary).map_err(Failure::from)?;
        Evaluated::new(py, Arc::new(summary), crate::request::read(settings)?, crate::request::read(record)?)
    }
}

/// Writes a file whole or not at all.
pub(crate) fn write(path: &str, bytes: &[u8]) -> PyResult<()> {
    let failed = |source| slateval_report::Error::Write { path: path.to_owned(), source };
    Ok(write_whole(Path::new(path), |file| file.write_all(bytes).map_err(failed)).map_err(Failure::from)?)
}
