//! `--resume FILE`: the work of a reading that was interrupted, so that the same command goes on with it.

use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use slateval::{Spec, Summary};
use slateval_files::WholeFile;
use slateval_logs::{Checkpoints, Columns, Log, Progress, Record, shown_path};

use crate::notes;

/// Where the work is kept.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    path: Option<&'a Path>,
    /// Why it could not be kept.
    failure: OnceLock<String>,
}

impl<'a> Work<'a> {
    /// Work that is kept in a file, or not at all.
    pub(crate) fn new(path: Option<&'a Path>) -> Self {
        Work { path, failure: OnceLock::new() }
    }

    /// Reads a log, from where an earlier run of the same command came to.
    pub(crate) fn summarize(
        &self,
        log: &Log,
        (columns, spec): (&Columns, &Spec),
        record: &Record,
        threads: Option<usize>,
        show: &(dyn Fn(Progress) + Sync),
    ) -> Result<Summary> {
        let Some(path) = self.path else { return Ok(log.summarize(columns, spec, threads, show)?) };
        let found = match std::fs::read(path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", shown_path(path))),
        };
        if found.is_some() {
            notes::info(&format!("{}: going on from where an earlier run came to", shown_path(path)));
        }
        let keep = |bytes: &[u8]| {
            self.keep(path, bytes);
            Ok(())
        };
        let checkpoints = Checkpoints { settings: serde_json::to_value(record)?, found, keep: &keep };
        let watch = |progress| {
            show(progress);
            std::ops::ControlFlow::Continue(())
        };
        let summary = log.summarize_resumably(columns, spec, threads, &watch, &checkpoints);
        summary.map_err(|error| match error {
            fault @ (slateval_logs::Error::Checkpoint(_) | slateval_logs::Error::InputNotRepeatable) => {
                anyhow::Error::new(fault).context(format!("--resume {}", shown_path(path)))
            }
            other => other.into(),
        })
    }

    /// Keeps a checkpoint. The reading goes on without if one cannot be written: it may have taken hours.
    fn keep(&self, path: &Path, bytes: &[u8]) {
        if self.failure.get().is_some() {
            return;
        }
        let write = || {
            let mut file = WholeFile::create(path)?;
            file.write_all(bytes)?;
            file.commit()
        };
        if let Err(error) = notes::timed("a checkpoint", write) {
            let path = shown_path(path);
            notes::warn(&format!("{path}: {error}; the log is read to its end, with no further checkpoints"));
            let _ = self.failure.set(error.to_string());
        }
    }

    /// Removes the work: all that was asked for is done.
    ///
    /// # Errors
    /// Also if a checkpoint could not be written. One of before stays then.
    pub(crate) fn finish(&self) -> Result<()> {
        let Some(path) = self.path else { return Ok(()) };
        if let Some(why) = self.failure.get() {
            bail!("{}: a checkpoint could not be written: {why}; the result is complete", shown_path(path));
        }
        match std::fs::remove_file(path) {
            // Another run with the same work file came first.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.with_context(|| format!("cannot remove {}", shown_path(path))),
        }
    }
}
