//! Which files of a log a summary has already.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use slateval::Summary;

use crate::error::{Error, Result};
use crate::reading::log::{Log, LogFile};

impl Log {
    /// Parts with the files whose rows a summary has already: they are the same by name, size and fingerprint. Returns
    /// the rest of the log, which may have no files, and the files left out.
    ///
    /// A file that the summary has under another name stays: [`Summary::merge`] refuses it.
    ///
    /// # Errors
    /// [`Error::OtherContent`] for a file that the summary has with other content, [`Error::KnownInPart`] for one of
    /// which it has some row groups.
    pub fn without_known(mut self, summary: &Summary) -> Result<(Log, Vec<PathBuf>)> {
        let mut known = Vec::new();
        for file in &self.files {
            if is_known(file, summary)? {
                known.push(file.path().to_path_buf());
            }
        }
        self.files.retain(|file| !known.iter().any(|known| known == file.path()));
        self.paths.retain(|path| !known.contains(path));
        Ok((self, known))
    }
}

fn is_known(file: &LogFile, summary: &Summary) -> Result<bool> {
    let Some(identity) = &file.identity else { return Ok(false) };
    let name = file.path().display().to_string();
    let inputs = summary.inputs();
    let mut parts = inputs.iter().filter(|input| input.name == name).peekable();
    if parts.peek().is_none() {
        return Ok(false);
    }
    let mut groups = BTreeSet::new();
    for part in parts {
        if (part.bytes, part.fingerprint) != identity.key() {
            return Err(Error::OtherContent { path: file.path().into() });
        }
        let Some(range) = &part.row_groups else { return Ok(true) };
        groups.extend(range.clone());
    }
    all_groups(file.path(), groups.len(), file.head.row_groups.as_ref().map_or(0, Vec::len))
}

/// Whether the groups of rows that a summary has are all that there are.
fn all_groups(path: &Path, known: usize, all: usize) -> Result<bool> {
    if known == all { Ok(true) } else { Err(Error::KnownInPart { path: path.into(), known, all }) }
}
