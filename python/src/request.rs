//! What is asked for: the keyword arguments, as Python has written them down.

use pyo3::prelude::*;
use serde::Deserialize;
use slateval::{Correction, CorrectionChoice, IgnoredFile, Settings, Spec, Structure};
use slateval_logs::{Columns, Location, Log, Named, Names, OnBad, OnUnknown, Tolerance, provenance};

use crate::errors::{Failure, raise};

/// The keyword arguments that say what to keep of a log.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Request {
    reward: Option<String>,
    logging: Option<String>,
    target: Vec<Column>,
    chi: Vec<Column>,
    anywhere: Vec<Column>,
    weight: Vec<Column>,
    long: bool,
    slate: Option<String>,
    by: Option<String>,
    cluster: Option<String>,
    structure: String,
    target_slots: String,
    propensities: String,
    bins: String,
    baseline: Option<String>,
    #[serde(default)]
    interactions: bool,
    /// Whether a file may be read twice.
    #[serde(default)]
    allow_duplicates: bool,
    #[serde(default)]
    on_bad_row: OnBad,
    #[serde(default)]
    on_bad_file: OnBad,
    #[serde(default)]
    on_unknown_file: OnUnknown,
    #[serde(default)]
    allow_unended: bool,
    /// Bytes that sums may take.
    #[serde(default)]
    memory: Option<u64>,
    #[serde(skip)]
    look: Look,
}

/// Which rows are looked at for what they suggest about their columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Look {
    /// None: what costs next to nothing is seen anyway.
    #[default]
    Passing,
    /// The rows that are read, which are some of them.
    SomeRows,
    EveryRow,
}

/// A column, and the name of its target if it has one.
#[derive(Debug, Clone, Deserialize)]
struct Column(Option<String>, String);

/// The keyword arguments that say how to evaluate it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Method {
    correction: String,
    structure: Option<String>,
    alpha: Vec<f64>,
    tail: String,
    quantile: Vec<f64>,
    #[serde(default)]
    at_least: Vec<f64>,
    band: String,
    min_propensity: Option<f64>,
    confidence: f64,
    draws: usize,
    seed: u64,
    debias_cvar: bool,
    threads: Option<usize>,
}

/// Reads what the Python part of this package has written.
pub(crate) fn read<'a, T: Deserialize<'a>>(json: &'a str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|e| raise("InputError", &format!("these arguments are not understood: {e}")))
}

/// Paths and addresses as Python has them. From here on, nothing prints the secrets of an address.
pub(crate) fn locations(paths: Vec<String>) -> Vec<Location> {
    paths.into_iter().map(Location::from).collect()
}

impl Request {
    /// Opens a log.
    pub(crate) fn open(&self, paths: &[Location]) -> Result<Log, Failure> {
        let log = Log::open_within(paths, self.tolerance(), self.memory)?;
        Ok(self.looked_at(if self.allow_duplicates { log.allow_duplicates() } else { log }))
    }

    /// The same, with rows looked at.
    pub(crate) fn looking(self, look: Look) -> Self {
        Request { look, ..self }
    }

    /// The log with the memory that was asked for, and with rows looked at.
    pub(crate) fn bounded(&self, log: Log) -> Log {
        self.looked_at(match self.memory {
            Some(bytes) => log.with_memory(bytes),
            None => log,
        })
    }

    fn looked_at(&self, log: Log) -> Log {
        match self.look {
            Look::Passing => log,
            Look::SomeRows => log.with_some_rows_looked_at(),
            Look::EveryRow => log.with_every_row_looked_at(),
        }
    }

    /// What is done about bad rows and files.
    pub(crate) fn tolerance(&self) -> Tolerance {
        Tolerance {
            bad_rows: self.on_bad_row,
            bad_files: self.on_bad_file,
            unknown_files: self.on_unknown_file,
            unended: self.allow_unended,
        }
    }

    /// What is to be said about a log that was opened: files that were left out, and columns of which one of two is read.
    pub(crate) fn remarks(&self, log: &Log, columns: &Columns, spec: &Spec) -> Result<Vec<String>, Failure> {
        let ignored = log.ignored();
        let all = ignored.len() as u64;
        let files = if all == 1 { "file" } else { "files" };
        let left_out = (all > 0 && self.on_unknown_file == OnUnknown::Warn).then(|| {
            format!("{all} {files} left out that cannot be read as a log: {}", IgnoredFile::several(ignored, all))
        });
        let overlaps = log.overlaps(columns, spec)?;
        let read = overlaps.iter().filter(|overlap| overlap.is_read()).map(ToString::to_string);
        Ok(left_out.into_iter().chain(read).collect())
    }

    /// The columns, and a specification still to be completed by the log.
    pub(crate) fn wanted(&self) -> Result<(Columns, Spec), Failure> {
        let columns = self.names().columns()?;
        let structure: Structure = self.structure.parse()?;
        let names = columns.targets.iter().map(|t| t.name.clone());
        let mut spec = Spec::new(structure, names).with_binning(self.bins.parse()?);
        spec.target_slots = self.target_slots.parse()?;
        spec.propensities = self.propensities.parse()?;
        if let Some(baseline) = &self.baseline {
            columns.check_baseline(baseline)?;
            spec.baseline = Some(baseline.clone());
        }
        spec.interactions = self.interactions;
        spec.columns = provenance(&columns, &spec.structure);
        // What contradicts itself is refused before the log is read.
        slateval::Summary::new(spec.clone())?;
        Ok((columns, spec))
    }

    fn names(&self) -> Names {
        let named = |columns: &[Column]| {
            columns.iter().map(|Column(name, column)| Named { name: name.clone(), column: column.clone() }).collect()
        };
        Names {
            reward: self.reward.clone(),
            logging: self.logging.clone(),
            target: named(&self.target),
            chi: named(&self.chi),
            anywhere: named(&self.anywhere),
            weight: named(&self.weight),
            long: self.long,
            slate: self.slate.clone(),
            by: self.by.clone(),
            cluster: self.cluster.clone(),
        }
    }
}

impl Method {
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        settings.correction = match self.correction.as_str() {
            "none" => CorrectionChoice::Fixed(Correction::None),
            other => other.parse()?,
        };
        settings.structure = self.structure.as_deref().map(str::parse).transpose()?;
        settings.alphas.clone_from(&self.alpha);
        settings.tail = self.tail.parse()?;
        settings.quantiles.clone_from(&self.quantile);
        settings.at_least.clone_from(&self.at_least);
        settings.band = self.band.parse()?;
        settings.min_propensity = self.min_propensity;
        settings.confidence = self.confidence;
        settings.draws = self.draws;
        settings.seed = self.seed;
        settings.debias_cvar = self.debias_cvar;
        settings.threads = self.threads;
        Ok(settings)
    }
}
