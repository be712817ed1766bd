//! One process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::registry;

/// A lock that this process holds. It is freed when it is dropped, and by the system when the process ends, however it
/// ends: nobody has to tell a lock of a dead process from one of a living process.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// Locked as long as it is open.
    _file: File,
}

impl Lock {
    /// Takes the lock of this name, which is a file of its own. If another process has it, `waiting` is called once, and
    /// then the other process is waited for.
    ///
    /// # Errors
    /// If the file cannot be made, or the file system has no locks.
    pub fn take(path: &Path, waiting: impl FnOnce()) -> io::Result<Lock> {
        let mut waiting = Some(waiting);
        loop {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    waiting.take().into_iter().for_each(|waiting| waiting());
                    file.lock()?;
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Its last holder removed it: others may be about to lock another file of this name.
            if is_at(&file, path)? {
                return registry::adding(path, || Ok(Lock { path: path.to_owned(), _file: file }));
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // It is removed while it is still locked. A lock file that stays does no harm.
        let _ = registry::removing(&self.path, || fs::remove_file(&self.path));
    }
}

/// Whether a file is still the one of this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let number = |metadata: &fs::Metadata| (metadata.dev(), metadata.ino());
    match fs::metadata(path) {
        Ok(named) => Ok(number(&named) == number(&file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere, a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.lock");
        let (inside, waited) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let lock = Lock::take(&path, || _ = waited.fetch_add(1, Ordering::SeqCst)).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(!path.exists());
    }

    #[test]
    fn a_lock_file_that_nobody_holds_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.lock");
        fs::write(&path, "").unwrap();
        drop(Lock::take(&path, || panic!("nobody holds it")).unwrap());
        assert!(!path.exists());
    }
}
