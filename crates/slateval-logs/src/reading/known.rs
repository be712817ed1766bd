//! Which files of a log a summary has already.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use slateval::{Input, Spec, Summary};

use crate::error::{Error, Result, name_of};
use crate::formats::Identity;
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
        let inputs = Inputs::of(summary);
        for file in &self.files {
            if inputs.have(file)? {
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

/// The files that a summary has.
struct Inputs<'a> {
    by_name: HashMap<&'a str, Vec<&'a Input>>,
    /// Names of files by where they are now: `log` and `./log` are one file.
    by_place: HashMap<PathBuf, &'a str>,
}

impl<'a> Inputs<'a> {
    fn of(summary: &'a Summary) -> Self {
        let mut by_name: HashMap<&str, Vec<&Input>> = HashMap::new();
        for input in summary.inputs() {
            by_name.entry(&input.name).or_default().push(input);
        }
        let place = |name: &&'a str| Some((std::fs::canonicalize(name).ok()?, *name));
        let by_place = by_name.keys().filter_map(place).collect();
        Inputs { by_name, by_place }
    }

    /// The parts of a file, under the name it has now or under another one.
    fn parts(&self, file: &Path) -> &[&'a Input] {
        let here = || self.by_place.get(&std::fs::canonicalize(file).ok()?).copied();
        let own = self.by_name.get(name_of(file).as_str());
        own.or_else(|| self.by_name.get(here()?)).map_or(&[], Vec::as_slice)
    }

    fn have(&self, file: &LogFile) -> Result<bool> {
        match (&file.identity, self.parts(file.path())) {
            (None, _) | (_, []) => Ok(false),
            (Some(identity), parts) => is_same(file, identity, parts),
        }
    }
}

/// Whether a file is the one that a summary has under its name.
fn is_same(file: &LogFile, identity: &Identity, parts: &[&Input]) -> Result<bool> {
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
    all_groups(file.path(), groups.len(), file.head.row_groups.as_ref().map_or(0, Vec::len))
}

/// Whether the groups of rows that a summary has are all that there are.
fn all_groups(path: &Path, known: usize, all: usize) -> Result<bool> {
    if known == all { Ok(true) } else { Err(Error::KnownInPart { path: path.into(), known, all }) }
}
