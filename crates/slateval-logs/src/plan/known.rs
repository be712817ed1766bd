//! Which files of a log a summary has already.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use slateval::{Input, Spec, Summary};

use crate::error::{Error, Result, name_of};
use crate::find::{Identity, Place};
use crate::plan::checkpoint::Merged;
use crate::plan::gather::Gather;
use crate::plan::log::{Log, LogFile, Unopened};
use crate::plan::tasks::ignoring;

impl Log {
    /// Parts with the files whose rows a summary has already: they are the same by name, size and fingerprint and, where
    /// the summary [remembers its content](Log::remembering_content), by their time of change or by all of their bytes.
    /// Returns the rest of the log, which may have no files, and the files left out.
    ///
    /// A copy of a file that the summary has stays: [`Summary::merge`] refuses it.
    ///
    /// # Errors
    /// For a file that the summary has with other content, also if it cannot be opened any more;
    /// and for one of which it has some row groups.
    pub fn without_known(mut self, summary: &Summary) -> Result<(Log, Vec<PathBuf>)> {
        let parts = Parts::of(summary);
        let (mut known, mut files, mut unopened) = (Vec::new(), Vec::new(), Vec::new());
        for file in self.files {
            match parts.have(&file)? {
                true => known.push(file.path().to_path_buf()),
                false => files.push(file),
            }
        }
        for file in self.unopened {
            match parts.have_unopened(&file)? {
                true => known.push(file.place.path().to_path_buf()),
                false => unopened.push(file),
            }
        }
        self.paths = files.iter().map(|file| file.path().into()).collect();
        (self.files, self.unopened) = (files, unopened);
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

    /// A summary of no rows: of the files that could not be opened or are no logs, and are left out.
    ///
    /// # Errors
    /// If the specification contradicts itself.
    pub fn summarize_unopened(&self, spec: &Spec) -> Result<Summary> {
        let done = Merged::nothing(Summary::new(spec.clone())?);
        let unopened = Gather::new(done, self.tolerance, self.gather_plan(&[])).finish()?;
        Ok(ignoring(unopened, &self.ignored))
    }
}

/// The inputs of a summary: a file may be there in several parts.
struct Parts<'a> {
    by_name: HashMap<&'a str, Vec<&'a Input>>,
    /// Names of files by where they are now: `log` and `./log` are one file.
    by_place: HashMap<PathBuf, &'a str>,
}

impl<'a> Parts<'a> {
    fn of(summary: &'a Summary) -> Self {
        let mut by_name: HashMap<&str, Vec<&Input>> = HashMap::new();
        for input in summary.inputs() {
            by_name.entry(&input.name).or_default().push(input);
        }
        let place = |name: &&'a str| Some((std::fs::canonicalize(name).ok()?, *name));
        let by_place = by_name.keys().filter_map(place).collect();
        Parts { by_name, by_place }
    }

    /// The parts of a file, under the name it has now or under another one.
    fn of_file(&self, path: &Path, name: &str) -> Option<&[&'a Input]> {
        let here = || self.by_place.get(&std::fs::canonicalize(path).ok()?).copied();
        Some(self.by_name.get(name).or_else(|| self.by_name.get(here()?))?.as_slice())
    }

    /// Whether all rows of a file are there.
    fn have(&self, file: &LogFile) -> Result<bool> {
        let Some(identity) = &file.identity else { return Ok(false) };
        let Some(parts) = self.of_file(file.path(), &name_of(file.path())) else { return Ok(false) };
        let parts = of_object(parts, identity, &file.place);
        check_content(&parts, identity, &file.place)?;
        let Some(ranges) = parts.iter().map(|part| part.row_groups.clone()).collect::<Option<Vec<_>>>() else {
            return Ok(true);
        };
        let groups: BTreeSet<usize> = ranges.into_iter().flatten().collect();
        // Row groups without rows are not remembered.
        let rows_of_groups = file.head.row_groups.iter().flatten().enumerate();
        let filled: BTreeSet<usize> = rows_of_groups.filter(|(_, rows)| **rows > 0).map(|(group, _)| group).collect();
        all_groups(file.path(), filled.intersection(&groups).count(), filled.len())
    }

    /// Whether rows of a file that cannot be opened today are there: it was read with more tolerance.
    fn have_unopened(&self, file: &Unopened) -> Result<bool> {
        let Some(parts) = self.of_file(file.place.path(), &file.example.file) else { return Ok(false) };
        check_content(parts, &Identity::of(&file.place)?, &file.place)?;
        Ok(true)
    }
}

/// The parts of this very object, where there are any: objects whose addresses differ in what follows `?` have one name.
fn of_object<'a>(parts: &[&'a Input], identity: &Identity, place: &Place) -> Vec<&'a Input> {
    let is_own = |part: &&'a Input| place.tag().is_some() && (part.bytes, part.fingerprint) == identity.key();
    let own: Vec<&Input> = parts.iter().copied().filter(is_own).collect();
    if own.is_empty() { parts.to_vec() } else { own }
}

/// Refuses a file that is no longer what it was when these parts of it were read.
fn check_content(parts: &[&Input], identity: &Identity, place: &Place) -> Result<()> {
    let mut compared = None;
    for part in parts {
        let same_content = |content| identity.has_content(place, content);
        let is_same = (part.bytes, part.fingerprint) == identity.key()
            && part.content.filter(|_| part.content != compared).map_or(Ok(true), same_content)?;
        if !is_same {
            let what = "a file of this name is in it already, with other content; put the earlier file back, or make the \
                        summary again from all its logs";
            return Err(Error::refused(place.path(), what));
        }
        compared = part.content;
    }
    Ok(())
}

/// Whether the groups of rows that a summary has are all that there are.
fn all_groups(path: &Path, known: usize, all: usize) -> Result<bool> {
    if known == all {
        return Ok(true);
    }
    let what = format!(
        "{known} of its {all} row groups are in it already; add the others with a plan of tasks, or make the summary again \
         from all its logs"
    );
    Err(Error::refused(path, what))
}
