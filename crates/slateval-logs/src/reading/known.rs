//! Which files of a log a summary has already.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use slateval::{Spec, Summary};

use crate::error::{Error, Result, name_of};
use crate::reading::checkpoint::Merged;
use crate::reading::gather::Gather;
use crate::reading::log::{Log, LogFile};

impl Log {
    /// Parts with the files whose rows a summary has already: they are the same by name, size and fingerprint and, where
    /// the summary [remembers its content](Log::remembering_content), by their time of change or by all of their bytes.
    /// Returns the rest of the log, which may have no files, and the files left out.
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

    /// The same, with all bytes of each local file looked at, so that the summary tells a rewritten file from the one it
    /// has: the summary remembers a hash of its content and the time of its last change.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn remembering_content(mut self) -> Result<Log> {
        self.files.par_iter_mut().try_for_each(|file| match &mut file.identity {
            Some(identity) => identity.look_at_all(&file.place),
            None => Ok(()),
        })?;
        Ok(self)
    }

    /// The same, with a summary of no rows in place of [`Error::NoRows`] and [`Error::NothingLeft`].
    pub fn allow_empty(mut self) -> Self {
        self.may_be_empty = true;
        self
    }

    /// A summary of the files that could not be opened and are left out, and of no rows.
    ///
    /// # Errors
    /// If the specification contradicts itself.
    pub fn summarize_unopened(&self, spec: &Spec) -> Result<Summary> {
        let done = Merged::nothing(Summary::new(spec.clone())?);
        Gather::new(done, self.tolerance, self.gather_plan(&[])).finish()
    }
}

fn is_known(file: &LogFile, summary: &Summary) -> Result<bool> {
    let Some(identity) = &file.identity else { return Ok(false) };
    let name = name_of(file.path());
    let inputs = summary.inputs();
    let mut parts = inputs.iter().filter(|input| input.name == name).peekable();
    if parts.peek().is_none() {
        return Ok(false);
    }
    let mut groups = BTreeSet::new();
    let mut compared = None;
    for part in parts {
        let same_content = |content| identity.has_content(&file.place, content);
        let is_same = (part.bytes, part.fingerprint) == identity.key()
            && part.content.filter(|_| part.content != compared).map_or(Ok(true), same_content)?;
        if !is_same {
            return Err(Error::OtherContent { path: file.path().into() });
        }
        compared = part.content;
        let Some(range) = &part.row_groups else { return Ok(true) };
        groups.extend(range.clone());
    }
    // Row groups without rows are not remembered.
    let rows_of_groups = file.head.row_groups.iter().flatten().enumerate();
    let filled: BTreeSet<usize> = rows_of_groups.filter(|(_, rows)| **rows > 0).map(|(group, _)| group).collect();
    all_groups(file.path(), filled.intersection(&groups).count(), filled.len())
}

/// Whether the groups of rows that a summary has are all that there are.
fn all_groups(path: &Path, known: usize, all: usize) -> Result<bool> {
    if known == all { Ok(true) } else { Err(Error::KnownInPart { path: path.into(), known, all }) }
}
