//! One at a time: whoever changes a state holds its lock from before reading it until it is written.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use slateval_files::Lock;
use slateval_logs::shown_path;

use crate::notes;

/// Waits for the lock of a state.
pub(crate) fn take(state: &Path) -> Result<Lock> {
    let shown = shown_path(state);
    let path = std::fs::canonicalize(state).unwrap_or_else(|_| state.to_owned());
    let waiting = || notes::info(&format!("{shown}: waiting for another update of it to end"));
    let lock = path_beside(&path);
    Lock::take(&lock, waiting).with_context(|| format!("{shown}: its lock, {}, cannot be had", shown_path(&lock)))
}

/// A file of its own beside the state, which is replaced by every update.
fn path_beside(state: &Path) -> PathBuf {
    let name = state.file_name().unwrap_or_default().to_string_lossy();
    state.with_file_name(format!(".{name}.lock"))
}
