//! One pass over a log, as the flags ask for.

use anyhow::Result;
use slateval::{IgnoredFile, Settings, Spec, Summary};
use slateval_logs::{Columns, Location, Log, OnUnknown, Overlap, shown_path};

use crate::args;
use crate::notes;
use crate::output::{counted, names};
use crate::progress::{Bar, Mode};
use crate::resume::Work;
use crate::settings::{Record, provenance};

/// Opens a log.
pub(crate) fn open(logs: &[Location], columns: &args::Columns) -> Result<Log> {
    let log = notes::timed("opening the log", || Log::open_within(logs, columns.tolerance(), columns.memory))?;
    Ok(as_asked(log, columns))
}

/// Opens a log of which nothing may be left.
pub(crate) fn open_what_is_left(logs: &[Location], columns: &args::Columns) -> Result<Log> {
    let log = notes::timed("opening the log", || Log::open_what_is_left(logs, columns.tolerance(), columns.memory))?;
    Ok(as_asked(log, columns))
}

/// Tells what was opened, and has it read as the flags ask for.
fn as_asked(log: Log, columns: &args::Columns) -> Log {
    log.files().iter().for_each(|file| notes::debug(&format!("reads {}", shown_path(file))));
    if !log.empty_files().is_empty() {
        let (count, names) = (counted(log.empty_files().len() as u64, "file"), names(log.empty_files()));
        notes::warn(&format!("{count} without a header or a row passed over: {names}"));
    }
    if columns.on_unknown_file == OnUnknown::Warn {
        warn_of_ignored(log.ignored(), log.ignored().len() as u64);
    }
    if columns.allow_duplicates { log.allow_duplicates() } else { log }
}

/// Names the files that were left out of a log, or of what a summary was made of.
pub(crate) fn warn_of_ignored(files: &[IgnoredFile], all: u64) {
    if !files.is_empty() {
        let (count, names) = (counted(all, "file"), IgnoredFile::several(files, all));
        notes::warn(&format!("{count} left out that cannot be read as a log: {names}"));
    }
}

/// Says which columns are read where a log has two of them for the same thing.
pub(crate) fn warn_of_overlaps(log: &Log, columns: &Columns, spec: &Spec) -> Result<()> {
    let overlaps = log.overlaps(columns, spec)?;
    overlaps.iter().filter(|overlap| overlap.is_read()).for_each(|overlap: &Overlap| notes::warn(&overlap.to_string()));
    Ok(())
}

/// The columns to be read and what is to be kept of them, before any log is looked at.
pub(crate) fn wanted(
    columns: &args::Columns,
    weights: &args::Weights,
    method: &args::Method,
) -> Result<(Columns, Spec)> {
    let columns = columns.resolve()?;
    let names = columns.targets.iter().map(|t| t.name.clone());
    let mut wanted = Spec::new(weights.structure(), names).with_binning(weights.assumed.bins);
    wanted.target_slots = weights.assumed.target_slots;
    wanted.propensities = weights.assumed.propensities;
    wanted.baseline = method.baseline(&columns)?;
    wanted.columns = provenance(&columns, &wanted.structure);
    Ok((columns, wanted))
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
        logs: &[Location],
        columns: &args::Columns,
        weights: &args::Weights,
        method: &args::Method,
        settings: &Settings,
    ) -> Result<Self> {
        let given = columns;
        let (columns, wanted) = wanted(columns, weights, method)?;
        settings.check_for(&wanted)?;
        let log = open(logs, given)?;
        let spec = log.spec(&columns, wanted)?;
        warn_of_overlaps(&log, &columns, &spec)?;
        Ok(Reading { log, columns, spec })
    }

    /// Reads it; with `work`, from where an earlier run of the same record came to.
    pub(crate) fn summarize(
        &self,
        threads: Option<usize>,
        progress: Mode,
        work: Option<(&Work<'_>, &Record)>,
    ) -> Result<Summary> {
        let bar = Bar::new(&self.log, progress);
        let show = |progress| bar.show(progress);
        let summary = notes::timed("reading the log", || match work {
            Some((work, record)) => work.summarize(&self.log, (&self.columns, &self.spec), record, threads, &show),
            None => Ok(self.log.summarize(&self.columns, &self.spec, threads, &show)?),
        });
        bar.finish(summary.is_ok());
        summary
    }
}
