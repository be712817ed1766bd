//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::temporary::{Temporary, folder_of, remove_leftovers};

/// A file that is being written: under a temporary name beside its own until [`commit`](WholeFile::commit) renames it.
/// A reader never sees half of it, and one that is dropped leaves what was there before.
///
/// A link is followed; what is no file (a pipe, a device) is written to as it is.
#[derive(Debug)]
pub struct WholeFile {
    target: PathBuf,
    file: BufWriter<File>,
    /// None for what is no file.
    temporary: Option<Temporary>,
}

impl WholeFile {
    /// Begins a file, and removes what dead processes left of the same.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = fs::metadata(&target).ok();
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            let file = BufWriter::new(OpenOptions::new().write(true).open(&target)?);
            return Ok(WholeFile { target, file, temporary: None });
        }
        remove_leftovers(&target);
        let temporary = Temporary::beside(&target)?;
        if let Some(before) = before {
            // What only its owner could read stays so.
            temporary.file.set_permissions(before.permissions())?;
        }
        let file = BufWriter::new(temporary.file.try_clone()?);
        Ok(WholeFile { target, file, temporary: Some(temporary) })
    }

    /// Gives the file its name, once all of it is on disk.
    ///
    /// # Errors
    /// If it cannot be written or renamed. What was there before is then still there.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some(temporary) = self.temporary else { return Ok(()) };
        self.file.get_ref().sync_all()?;
        temporary.rename(&self.target)?;
        sync_folder(folder_of(&self.target))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Refuses a path that could not be written to: a directory, a name that is too long, a place where no file may be made.
///
/// # Errors
/// Those of [`WholeFile::create`], and of a name that no file can have.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        // Whether a pipe or a device takes anything is seen when it is written to: to open a pipe is to wait for its reader.
        Ok(metadata) if !metadata.is_file() => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => WholeFile::create(path).map(drop),
    }
}

/// Makes a new name last: it is the folder that holds it.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Not every file system can do it, and not everybody who may write to a folder may open it.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        synced => synced,
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    fn write_text(path: &Path, text: &str) -> io::Result<()> {
        let mut file = WholeFile::create(path)?;
        file.write_all(text.as_bytes())?;
        file.commit()
    }

    #[test]
    fn a_file_given_up_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        write_text(&path, "before").unwrap();
        let mut half = WholeFile::create(&path).unwrap();
        half.write_all(b"half").unwrap();
        half.flush().unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        drop(half);
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        write_text(&path, "after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(names(folder.path()), ["result.json"]);
    }

    #[test]
    fn what_cannot_be_written_is_refused_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        check_writable(&file).unwrap();
        assert!(names(folder.path()).is_empty());
        fs::write(&file, "kept").unwrap();
        check_writable(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
        for bad in [folder.path().to_owned(), file.join("below"), folder.path().join("nowhere").join("x")] {
            assert!(check_writable(&bad).is_err(), "{}", bad.display());
        }
        check_writable(&folder.path().join("x".repeat(255))).unwrap();
        assert!(check_writable(&folder.path().join("x".repeat(256))).is_err());
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[cfg(unix)]
    #[test]
    fn files_are_as_public_as_any_other() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        fs::write(folder.path().join("plain"), "").unwrap();
        write_text(&folder.path().join("whole"), "").unwrap();
        assert_eq!(mode("whole"), mode("plain"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_text(&link, "after").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "after");
        write_text(Path::new("/dev/null"), "nothing").unwrap();
        check_writable(Path::new("/dev/null")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
