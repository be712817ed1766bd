//! One pass over a log, as the flags ask for.

use anyhow::Result;
use slateval::{Settings, Spec, Summary};
use slateval_logs::{Columns, Log};

use crate::args;
use crate::progress::Bar;
use crate::settings::provenance;

/// Opens a log.
pub(crate) fn open(logs: &[String], columns: &args::Columns) -> Result<Log> {
    let mut log = Log::open_tolerating(logs, columns.tolerance())?;
    if let Some(bytes) = columns.memory {
        log = log.with_memory(bytes);
    }
    Ok(if columns.allow_duplicates { log.allow_duplicates() } else { log })
}

/// A log that has been opened, and what is to be kept of it.
pub(crate) struct Reading {
    pub(crate) log: Log,
    pub(crate) columns: Columns,
    pub(crate) spec: Spec,
}

impl Reading {
    /// Opens a log and refuses what cannot be done with it, before any row is read.
    pub(crate) fn new(
        logs: &[String],
        columns: &args::Columns,
        weights: &args::Weights,
        method: &args::Method,
        settings: &Settings,
    ) -> Result<Self> {
        let (given, columns) = (columns, columns.resolve()?);
        let names = columns.targets.iter().map(|t| t.name.clone());
        let mut wanted = Spec::new(weights.structure(), names).with_binning(weights.assumed.bins);
        wanted.target_slots = weights.assumed.target_slots;
        wanted.propensities = weights.assumed.propensities;
        wanted.baseline = method.baseline(&columns)?;
        wanted.columns = provenance(&columns, &wanted.structure);
        settings.check_for(&wanted)?;
        let log = open(logs, given)?;
        let spec = log.spec(&columns, wanted)?;
        Ok(Reading { log, columns, spec })
    }

    /// Reads it.
    pub(crate) fn summarize(&self, threads: Option<usize>) -> Result<Summary> {
        let bar = Bar::new(&self.log);
        let summary = self.log.summarize(&self.columns, &self.spec, threads, &|progress| bar.show(progress));
        bar.finish();
        Ok(summary?)
    }
}
