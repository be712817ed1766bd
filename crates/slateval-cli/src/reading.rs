//! One pass over a log, as the flags ask for.

use anyhow::Result;
use slateval::{IgnoredFile, Settings, Spec, Summary};
use slateval_logs::{Columns, Location, Log, OnUnknown, Record, Tolerance, shown_path};

use crate::args::{How, Opening};
use crate::notes;
use crate::output::{counted, names};
use crate::progress::{Bar, Mode};
use crate::resume::Work;

/// Opens a log. None of its files may be left, if it adds to a state that is there already.
pub(crate) fn open(logs: &[Location], opening: &Opening, may_be_empty: bool) -> Result<Log> {
    let open = if may_be_empty { Log::open_what_is_left::<Location> } else { Log::open_within::<Location> };
    let log = notes::timed("opening the log", || open(logs, opening.tolerance(), opening.memory))?;
    log.files().iter().for_each(|file| notes::debug(&format!("reads {}", shown_path(file))));
    if !log.empty_files().is_empty() {
        let (count, names) = (counted(log.empty_files().len() as u64, "file"), names(log.empty_files()));
        notes::warn(&format!("{count} without a header or a row passed over: {names}"));
    }
    if opening.on_unknown_file == OnUnknown::Warn {
        warn_of_ignored(log.ignored(), log.ignored().len() as u64);
    }
    Ok(if opening.allow_duplicates { log.allow_duplicates() } else { log })
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
    overlaps.iter().filter(|overlap| overlap.is_read()).for_each(|overlap| notes::warn(&overlap.to_string()));
    Ok(())
}

/// A log that has been opened, and what is to be kept of it.
pub(crate) struct Reading<'a> {
    pub(crate) given: &'a [Location],
    pub(crate) tolerance: Tolerance,
    pub(crate) log: Log,
    pub(crate) columns: Columns,
    pub(crate) spec: Spec,
}

impl<'a> Reading<'a> {
    /// Opens a log and refuses what cannot be done with it, before any row is read.
    pub(crate) fn new(given: &'a [Location], how: &How, settings: &Settings) -> Result<Self> {
        let (columns, wanted) = how.wanted()?;
        settings.check_for(&wanted)?;
        let opening = &how.columns.opening;
        Self::of(given, opening, open(given, opening, false)?, columns, wanted)
    }

    /// The same of a log that is open.
    pub(crate) fn of(
        given: &'a [Location],
        opening: &Opening,
        log: Log,
        columns: Columns,
        wanted: Spec,
    ) -> Result<Self> {
        let spec = log.spec(&columns, wanted)?;
        warn_of_overlaps(&log, &columns, &spec)?;
        Ok(Reading { given, tolerance: opening.tolerance(), log, columns, spec })
    }

    /// How the log is read, and evaluated with these settings.
    pub(crate) fn record(&self, settings: &Settings) -> Record {
        Record::of_log(self.given, &self.columns, &self.spec, settings).tolerating(self.tolerance)
    }

    /// Reads it; with a file for the work, from where an earlier run of the same record came to.
    pub(crate) fn summarize(&self, settings: &Settings, progress: Mode, work: &Work<'_>) -> Result<Summary> {
        let bar = Bar::new(&self.log, progress);
        let show = |progress| bar.show(progress);
        let what = (&self.columns, &self.spec);
        let read = || work.summarize(&self.log, what, &self.record(settings), settings.threads, &show);
        let summary = notes::timed("reading the log", read);
        bar.finish(summary.is_ok());
        summary
    }
}
