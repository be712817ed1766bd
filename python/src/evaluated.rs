//! An evaluation with the summary it came from.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use slateval::{Evaluation, LOGGING, PolicyEvaluation, Profile, Settings};
use slateval_logs::{Columns, Log, Record};
use slateval_report::{
    CdfPoints, ComparisonRecord, Detail, DisparityRecord, Look, Picture, PolicyRecord, Report, Style, Voice, html,
    notebook, write_picture, write_whole,
};

use crate::errors::{Failure, raise};
use crate::packed::{compress, decompress};
use crate::request::{Method, read};
use crate::summary::look_at_some;
use crate::table::Table;
use crate::watch::interruptible;

/// An evaluation, the summary it came from, and how it was made. What it says is handed over as JSON, piece by piece. Each
/// part is evaluated when it is first asked for, and kept.
#[pyclass(frozen, module = "slateval._slateval")]
pub(crate) struct Evaluated {
    summary: Arc<slateval::Summary>,
    settings: Settings,
    record: Record,
    /// Everything.
    all: OnceLock<Arc<Evaluation>>,
    /// The whole log without its segments.
    whole: OnceLock<Arc<Evaluation>>,
    /// Levels for pictures, which are more than were asked for.
    profile: OnceLock<Arc<Profile>>,
    /// The log that was read for it, and its columns.
    log: Option<Arc<(Log, Columns)>>,
}

/// What is kept, or else made with the interpreter released, and kept.
fn kept<T: Send + Sync + 'static>(
    py: Python<'_>,
    place: &OnceLock<Arc<T>>,
    make: impl FnOnce() -> slateval::Result<T> + Send + 'static,
) -> PyResult<Arc<T>> {
    if let Some(known) = place.get() {
        return Ok(known.clone());
    }
    let made = interruptible(py, None, move |_| make())?.map_err(Failure::from)?;
    // Another thread may have been quicker; both have made the same.
    Ok(place.get_or_init(|| Arc::new(made)).clone())
}

impl Evaluated {
    /// Nothing is evaluated yet.
    pub(crate) fn lazy(summary: Arc<slateval::Summary>, settings: Settings, record: Record) -> Self {
        let (all, whole, profile) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Evaluated { summary, settings, record, all, whole, profile, log: None }
    }

    /// Everything is.
    pub(crate) fn new(
        py: Python<'_>,
        summary: Arc<slateval::Summary>,
        settings: Settings,
        record: Record,
        log: Option<Arc<(Log, Columns)>>,
    ) -> PyResult<Self> {
        let this = Evaluated { log, ..Self::lazy(summary, settings, record) };
        this.all(py)?;
        Ok(this)
    }

    /// What the rows of a log suggest about its columns.
    fn suspicions(&self, py: Python<'_>, (log, columns): &(Log, Columns)) -> PyResult<Vec<String>> {
        let (all, spec) = (self.all(py)?, self.summary.spec());
        let found = py.detach(|| log.suspicions(columns, spec, &all));
        Ok(found.iter().map(ToString::to_string).collect())
    }

    fn all(&self, py: Python<'_>) -> PyResult<Arc<Evaluation>> {
        let (summary, settings) = (self.summary.clone(), self.settings.clone());
        kept(py, &self.all, move || summary.evaluate(&settings))
    }

    /// An evaluation that may have no segments.
    fn whole(&self, py: Python<'_>) -> PyResult<Arc<Evaluation>> {
        if let Some(all) = self.all.get() {
            return Ok(all.clone());
        }
        let (summary, settings) = (self.summary.clone(), self.settings.clone());
        kept(py, &self.whole, move || summary.evaluate_part(None, &settings))
    }

    fn profile(&self, py: Python<'_>) -> PyResult<Arc<Profile>> {
        let (summary, settings) = (self.summary.clone(), self.settings.clone());
        kept(py, &self.profile, move || summary.profile(&Profile::levels(&settings), &settings))
    }

    fn find<T>(&self, py: Python<'_>, segment: Option<usize>, policy: usize, read: Read<'_, T>) -> PyResult<T> {
        let evaluation = match segment {
            None => self.whole(py)?,
            Some(_) => self.all(py)?,
        };
        let policies = match segment {
            None => Some(&evaluation.policies),
            Some(segment) => evaluation.segments.get(segment).map(|s| &s.policies),
        };
        let policies = policies.ok_or_else(|| PyIndexError::new_err("there is no such segment"))?;
        read(policies.get(policy).ok_or_else(|| PyIndexError::new_err("there is no such policy"))?)
    }

    /// The value of a segment.
    fn segment(&self, py: Python<'_>, segment: Option<usize>) -> PyResult<Option<slateval::Segment>> {
        let Some(place) = segment else { return Ok(None) };
        let all = self.all(py)?;
        let found = all.segments.get(place).ok_or_else(|| PyIndexError::new_err("there is no such segment"))?;
        Ok(Some(found.value.clone()))
    }

    fn page(&self, py: Python<'_>, command: &str, write: Write<'_>) -> PyResult<String> {
        let (evaluation, profile) = (&*self.all(py)?, &*self.profile(py)?);
        let (settings, record) = (&self.settings, &self.record);
        let report = Report { evaluation, profile, settings, record, command, voice: Voice::Python };
        Ok(py.detach(|| write(&report)).map_err(Failure::from)?)
    }
}

/// Reads one policy.
type Read<'r, T> = &'r dyn Fn(&PolicyEvaluation) -> PyResult<T>;

/// Writes a page.
type Write<'w> = &'w (dyn Fn(&Report<'_, Record>) -> Result<String, slateval_report::Error> + Sync);

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

/// The answers at one level, of every policy and comparison.
#[derive(Serialize)]
struct LevelFacts<'a> {
    policies: Vec<PolicyRecord<'a>>,
    comparisons: Vec<ComparisonRecord<'a>>,
}

#[pymethods]
impl Evaluated {
    /// The names of the policies, in order.
    #[getter]
    fn names(&self) -> Vec<String> {
        let targets = self.summary.spec().policies.iter().map(|policy| policy.name.clone());
        std::iter::once(LOGGING.to_owned()).chain(targets).collect()
    }

    /// One policy without its CDF.
    #[pyo3(signature = (policy, segment=None))]
    fn policy(&self, py: Python<'_>, policy: usize, segment: Option<usize>) -> PyResult<String> {
        self.find(py, segment, policy, &|policy| json(&PolicyRecord::without_cdf(policy, Voice::Python)))
    }

    /// The CDF of a policy: reward, raw, estimate, lower, upper.
    #[pyo3(signature = (policy, segment=None))]
    fn cdf(&self, py: Python<'_>, policy: usize, segment: Option<usize>) -> PyResult<Table> {
        self.find(py, segment, policy, &|policy| cdf(&policy.cdf))
    }

    /// What is known of the log: its rows, its slots and the range of its rewards.
    fn log(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.whole(py)?.log)
    }

    fn comparisons(&self, py: Python<'_>) -> PyResult<String> {
        json(&comparisons(&self.whole(py)?.comparisons))
    }

    fn disparities(&self, py: Python<'_>) -> PyResult<String> {
        let all = self.all(py)?;
        let disparities = all.disparities.iter().map(|d| DisparityRecord::new(d, Voice::Python));
        json(&disparities.collect::<Vec<_>>())
    }

    fn segments(&self, py: Python<'_>) -> PyResult<String> {
        let all = self.all(py)?;
        let facts = all.segments.iter().map(|segment| SegmentFacts {
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
        let all = self.all(py)?;
        let made = py.detach(|| slateval_report::json(&all, &self.record, Voice::Python, points));
        Ok(made.map_err(Failure::from)?)
    }

    /// The table of the command line, in full or as people decide on it first.
    fn to_text(&self, py: Python<'_>, full: bool) -> PyResult<String> {
        let detail = if full { Detail::Full } else { Detail::default() };
        Ok(slateval_report::table(&*self.all(py)?, &self.settings, Look { detail, ..LOOK }))
    }

    /// What did not go well, a line each.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut lines = self.log.as_deref().map_or(Ok(Vec::new()), |log| self.suspicions(py, log))?;
        lines.extend(slateval_report::warnings(&*self.all(py)?, LOOK));
        Ok(lines)
    }

    /// Whether a look at some rows would tell more than the checks do.
    fn asks_for_a_second_look(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(Log::asks_for_a_second_look(&*self.all(py)?))
    }

    /// What some rows suggest that are handed over again: Arrow data, with the names of all columns.
    fn second_look(
        &self,
        py: Python<'_>,
        request: &str,
        objects: &Bound<'_, PyAny>,
        names: Vec<String>,
    ) -> PyResult<Vec<String>> {
        self.suspicions(py, &look_at_some(py, request, objects, &names)?)
    }

    /// Every policy and comparison at other levels, of the whole log or of one segment.
    #[pyo3(signature = (quantile, alpha, at_least, segment=None))]
    fn levels(
        &self,
        py: Python<'_>,
        quantile: Vec<f64>,
        alpha: Vec<f64>,
        at_least: Vec<f64>,
        segment: Option<usize>,
    ) -> PyResult<String> {
        let (summary, segment) = (self.summary.clone(), self.segment(py, segment)?);
        let mut settings = self.settings.clone().with_quantiles(quantile).with_alphas(alpha);
        settings.at_least = at_least;
        let found = interruptible(py, None, move |_| summary.evaluate_part(segment.as_ref(), &settings))?;
        let found = found.map_err(Failure::from)?;
        json(&LevelFacts {
            policies: found.policies.iter().map(|p| PolicyRecord::without_cdf(p, Voice::Python)).collect(),
            comparisons: comparisons(&found.comparisons),
        })
    }

    /// The same log with other settings, evaluated when it is asked for.
    fn at(&self, method: &str) -> PyResult<Evaluated> {
        let mut settings = read::<Method>(method)?.settings()?;
        settings.threads = settings.threads.or(self.settings.threads);
        settings.check_for(self.summary.spec()).map_err(Failure::from)?;
        let record = self.record.with_settings(&settings);
        Ok(Evaluated::lazy(self.summary.clone(), settings, record))
    }

    /// Together with another summary, evaluated the same way.
    fn merge(&self, py: Python<'_>, other: &Evaluated, allow_duplicates: bool) -> PyResult<Evaluated> {
        let merged = py.detach(|| crate::summary::merge(&self.summary, &other.summary, allow_duplicates));
        let merged = merged.map_err(Failure::from)?;
        let record = Record::of_spec(merged.spec(), &self.settings);
        Evaluated::new(py, Arc::new(merged), self.settings.clone(), record, None)
    }

    #[pyo3(signature = (path, day=None))]
    fn save(&self, py: Python<'_>, path: &str, day: Option<&str>) -> PyResult<()> {
        crate::summary::save(py, &self.summary, path, day)
    }

    /// The page of the command line, in a file.
    fn report(&self, py: Python<'_>, path: &str, command: &str) -> PyResult<()> {
        write(path, self.page(py, command, &|report| html(report))?.as_bytes())
    }

    /// The same for a notebook's cell.
    fn notebook(&self, py: Python<'_>, command: &str) -> PyResult<String> {
        self.page(py, command, &|report| notebook(report))
    }

    /// Some pictures beside each other as SVG.
    fn svg(&self, py: Python<'_>, what: Vec<String>) -> PyResult<String> {
        let pictures = what.iter().map(|name| picture(name)).collect::<PyResult<Vec<_>>>()?;
        let evaluation = if pictures.contains(&Picture::Segments) { self.all(py)? } else { self.whole(py)? };
        let with_levels = pictures.iter().any(|picture| picture.needs_profile());
        let profile = if with_levels { Some(self.profile(py)?) } else { None };
        Ok(py.detach(|| slateval_report::picture(&pictures, &evaluation, profile.as_deref(), &self.settings)))
    }

    /// Tails and differences at the levels of pictures, for other programs that draw.
    fn profile_json(&self, py: Python<'_>) -> PyResult<String> {
        json(&*self.profile(py)?)
    }

    /// What it takes to make it again.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, String, String)> {
        let bytes = py.detach(|| compress(&self.summary))?;
        Ok((PyBytes::new(py, &bytes), json(&self.settings)?, json(&self.record)?))
    }

    #[staticmethod]
    fn from_state(py: Python<'_>, summary: &[u8], settings: &str, record: &str) -> PyResult<Evaluated> {
        let summary = py.detach(|| decompress(summary))?;
        Ok(Evaluated::lazy(Arc::new(summary), read(settings)?, read(record)?))
    }
}

fn picture(name: &str) -> PyResult<Picture> {
    Picture::named(name).ok_or_else(|| {
        let known = Picture::ALL.map(Picture::name).join(", ");
        raise("InputError", &format!("there is no plot {name:?}; there are {known}"))
    })
}

/// Writes a drawing as SVG or PNG, by the ending of the name.
#[pyfunction]
pub(crate) fn write_svg(py: Python<'_>, drawing: &str, path: &str) -> PyResult<()> {
    Ok(py.detach(|| write_picture(drawing, Path::new(path))).map_err(Failure::from)?)
}

fn cdf(cdf: &slateval::Cdf) -> PyResult<Table> {
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

/// Writes a file whole or not at all.
pub(crate) fn write(path: &str, bytes: &[u8]) -> PyResult<()> {
    let failed = |source| slateval_report::Error::Write { path: path.to_owned(), source };
    Ok(write_whole(Path::new(path), |file| file.write_all(bytes).map_err(failed)).map_err(Failure::from)?)
}
