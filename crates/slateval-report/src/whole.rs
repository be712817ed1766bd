//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

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
    let path = target.as_path();
    let temporary = Temporary(temporary_name(path));
    let mut file = BufWriter::new(File::create(&temporary.0).map_err(failed)?);
    write(&mut file)?;
    let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
    file.sync_all().map_err(failed)?;
    fs::rename(&temporary.0, path).map_err(failed)
}

/// What a file's name ends in, in small letters.
pub(crate) fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase)
}

fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().map_or_else(Default::default, |name| name.to_string_lossy());
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// A file that is removed unless it was renamed.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing to remove; after a failure there is nobody to tell.
        let _ = fs::remove_file(&self.0);
    }
}
