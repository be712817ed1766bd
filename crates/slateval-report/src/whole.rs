//! Files that appear whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use slateval_files::WholeFile;

use crate::Error;

/// Writes a file under a temporary name beside its own, then renames it: a reader never sees half of it, and a failed
/// run leaves what was there before. A link is followed; what is no file (a pipe, a device) is written to as it is.
///
/// # Errors
/// [`Error::Write`], and whatever `write` returns.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Error>) -> Result<(), Error> {
    let failed = |source: io::Error| Error::Write { path: path.display().to_string(), source };
    let mut file = WholeFile::create(path).map_err(failed)?;
    write(&mut file)?;
    file.commit().map_err(failed)
}

/// What a file's name ends in, in small letters.
pub(crate) fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

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
}
