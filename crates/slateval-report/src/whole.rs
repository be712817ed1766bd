//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use crate::Error;

/// Writes a file under a temporary name beside its own, then renames it: a reader never sees half of it, and a failed
/// run leaves what was there before. A link is followed; what is no file (a pipe, a device) is written to as it is.
///
/// # Errors
/// [`Error::Write`], and whatever `write` returns.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Error>) -> Result<(), Error> {
    let failed = |source: io::Error| Error::Write { path: path.display().to_string(), source };
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|m| !m.is_file()) {
        let mut file = BufWriter::new(OpenOptions::new().write(true).open(&target).map_err(failed)?);
        write(&mut file)?;
        return file.flush().map_err(failed);
    }
    let mut temporary = beside(&target).map_err(failed)?;
    let mut file = BufWriter::new(temporary.as_file_mut());
    write(&mut file)?;
    let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
    file.sync_all().map_err(failed)?;
    temporary.persist(&target).map_err(|e| failed(e.error))?;
    Ok(())
}

/// A file in the same directory, which is removed unless it is renamed. It is created like any other file: the
/// temporary files that `tempfile` opens itself are for their owner's eyes only, and would stay so.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().map_or_else(Default::default, |name| name.to_string_lossy());
    Builder::new().prefix(&format!(".{name}.")).suffix(".part").make_in(folder, |path| File::create_new(path))
}

/// What a file's name ends in, in small letters.
pub(crate) fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn write_text(path: &Path, text: &str) -> Result<(), Error> {
        let failed = |source| Error::Write { path: path.display().to_string(), source };
        write_whole(path, |file| file.write_all(text.as_bytes()).map_err(failed))
    }

    #[test]
    fn a_failed_run_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        write_text(&path, "before").unwrap();
        let broken = write_whole(&path, |file| {
            file.write_all(b"half").unwrap();
            Err(Error::Encode { what: "the result", reason: "it broke off".into() })
        });
        assert!(broken.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(names(folder.path()), ["result.json"]);
        write_text(&path, "after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(names(folder.path()), ["result.json"]);
    }

    #[test]
    fn messages_name_the_file_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere").join("result.json");
        let message = write_text(&path, "").unwrap_err().to_string();
        assert!(message.contains("result.json") && !message.contains(".part"), "{message}");
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
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
