//! A file under a temporary name.

use std::collections::hash_map::RandomState;
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use crate::registry;

/// Most bytes of a file's own name in its temporary name: together with the rest, no file system finds it too long.
const NAME: usize = 100;

/// Digits of the random part.
const DIGITS: usize = 16;

const ENDING: &str = ".part";

/// A file beside another, which is removed unless it is renamed. It is locked while it is written.
#[derive(Debug)]
pub(crate) struct Temporary {
    pub(crate) file: File,
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    /// Creates a file beside `target`, with the permissions of any other new file.
    pub(crate) fn beside(target: &Path) -> io::Result<Self> {
        let (folder, prefix) = (folder_of(target), prefix_of(target));
        loop {
            let path = folder.join(format!("{prefix}{:0DIGITS$x}{ENDING}", random()));
            let file = match registry::adding(&path, || File::create_new(&path)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            let temporary = Temporary { file, path, renamed: false };
            if temporary.is_claimed()? {
                return Ok(temporary);
            }
        }
    }

    /// Whether it is ours: somebody who looks for leftovers may have come between its creation and its lock.
    fn is_claimed(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(false),
            // Where there are no locks, nobody takes the file for a leftover either.
            Err(TryLockError::Error(_)) => Ok(true),
            Ok(()) => has_name(&self.file),
        }
    }

    /// Gives it the name that it was made for.
    pub(crate) fn rename(mut self, target: &Path) -> io::Result<()> {
        registry::removing(&self.path, || fs::rename(&self.path, target))?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // Whoever gave it up has an error to tell already.
            let _ = registry::removing(&self.path, || fs::remove_file(&self.path));
        }
    }
}

/// Removes what dead processes left of the same file. A file whose lock is free has no writer: the system frees the locks
/// of a process that ends, however it ends. Where there are no locks, nothing is removed.
pub(crate) fn remove_leftovers(target: &Path) {
    let (folder, prefix) = (folder_of(target), prefix_of(target));
    // What cannot be listed or removed stays: a leftover does no harm.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if entry.file_name().to_str().is_some_and(|name| is_temporary(name, &prefix))
            && is_file()
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_temporary(name: &str, prefix: &str) -> bool {
    let random = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(ENDING));
    random.is_some_and(|random| random.len() == DIGITS && random.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn prefix_of(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=NAME.min(name.len())).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    format!(".{}.", &name[..end])
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A number that no other process has: the keys of a hash map are random.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(unix)]
fn has_name(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.nlink() > 0)
}

#[cfg(not(unix))]
fn has_name(_: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn leftovers_of_the_same_file_go_and_files_in_use_stay() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.json");
        let leftover = folder.path().join(".out.json.0123456789abcdef.part");
        let kept = [".out.json.part", ".out.json.x.0123456789abcdef.part", ".out.0123456789abcdef.part", "out.json"];
        fs::write(&leftover, "half").unwrap();
        kept.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        let in_use = Temporary::beside(&target).unwrap();
        remove_leftovers(&target);
        assert!(!leftover.exists());
        assert!(in_use.path.exists(), "its writer lives");
        assert_eq!(names(folder.path()).len(), kept.len() + 1);
        drop(in_use);
        assert_eq!(names(folder.path()).len(), kept.len());
    }

    #[test]
    fn names_are_short_enough_and_never_the_same() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x".repeat(255), "ä".repeat(127), "short".to_owned()] {
            let target = folder.path().join(&name);
            let made: Vec<Temporary> = (0..100).map(|_| Temporary::beside(&target).unwrap()).collect();
            assert_eq!(names(folder.path()).len(), 100);
            assert!(names(folder.path()).iter().all(|name| name.len() < 140));
            drop(made);
            assert!(names(folder.path()).is_empty());
        }
    }
}
