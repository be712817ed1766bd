//! The files that this process would leave behind if it ended now.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn files() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something after which there is a file to be removed, and remembers the file, if it succeeds.
pub(crate) fn adding<T>(path: &Path, create: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let mut files = files();
    let made = create()?;
    files.insert(path.to_owned());
    Ok(made)
}

/// Does something after which the file is no longer there, and forgets it, if that succeeds.
pub(crate) fn removing<T>(path: &Path, remove: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let mut files = files();
    let done = remove()?;
    files.remove(path);
    Ok(done)
}

/// Removes every temporary file and lock file of this process. Meant for a process that a signal is about to end:
/// no file is created or renamed after this, for whoever tries waits for ever.
pub fn abandon() {
    let files = files();
    for file in files.iter() {
        // There is nobody left to tell.
        let _ = fs::remove_file(file);
    }
    std::mem::forget(files);
}
