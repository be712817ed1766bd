//! Files that were found, and which of them are logs.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;
use slateval::{IgnoreReason, IgnoredFile};

use crate::error::{Error, Result, name_of};
use crate::find::contents::Contents;
use crate::find::detect::Format;
use crate::find::place::Place;
use crate::find::waiting::side_by_side;
use crate::store::Object;

/// How a file came to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// It was named, or fits a pattern: it has to be a log.
    Name,
    /// It is in a directory that was searched: it may be something else.
    Directory,
}

/// Objects that were found by one address.
pub(crate) type Objects = Vec<(Arc<Object>, By)>;

/// Files that were found, in the order in which they are read.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    files: Vec<Candidate>,
    /// What they were found by: a path, a directory or a pattern. Each of them must lead to a log.
    sources: Vec<PathBuf>,
}

#[derive(Debug)]
struct Candidate {
    place: Place,
    by: By,
    /// Its place among the sources.
    source: usize,
}

/// Files sorted out.
#[derive(Debug, Default)]
pub(crate) struct SortedOut {
    pub(crate) logs: Vec<Place>,
    /// Files of directories that are no logs.
    pub(crate) ignored: Vec<IgnoredFile>,
}

impl Candidates {
    /// Files that were found by something.
    pub(crate) fn add(&mut self, source: PathBuf, files: impl IntoIterator<Item = (Place, By)>) {
        let number = self.sources.len();
        self.sources.push(source);
        self.files.extend(files.into_iter().map(|(place, by)| Candidate { place, by, source: number }));
    }

    /// Tells logs from other files, by their names or by their first bytes.
    pub(crate) fn sort_out(self) -> Result<SortedOut> {
        let Candidates { files, sources } = self;
        let unknown = |file: &&Candidate| file.by == By::Directory && Format::of_name(file.place.path()).is_none();
        let looked_at: Vec<&Candidate> = files.iter().filter(unknown).collect();
        let look = || looked_at.par_iter().map(|file| contents(&file.place)).collect::<Vec<_>>();
        let mut found = side_by_side(looked_at.iter().map(|file| &file.place), look)?.into_iter();
        let mut sorted: Vec<SortedOut> = sources.iter().map(|_| SortedOut::default()).collect();
        for file in files {
            let told = if unknown(&&file) { found.next() } else { None };
            let own = &mut sorted[file.source];
            match told.transpose()? {
                Some(Contents::Other(reason)) => {
                    own.ignored.push(IgnoredFile { name: name_of(file.place.path()), reason });
                }
                None | Some(Contents::Log(_)) => own.logs.push(file.place),
            }
        }
        let mut all = SortedOut::default();
        for (path, own) in sources.into_iter().zip(sorted) {
            if own.logs.is_empty() {
                return Err(Error::NoLogs { path, ignored: own.ignored });
            }
            all.logs.extend(own.logs);
            all.ignored.extend(own.ignored);
        }
        Ok(all)
    }
}

/// What a file of a directory holds. A server that fails is an error: it says nothing about the file.
fn contents(place: &Place) -> Result<Contents> {
    match place {
        Place::Object(_) => Contents::of(place),
        Place::Local(path) => Ok(match fs::metadata(path) {
            // A pipe would be waited for.
            Ok(file) if !file.is_file() => Contents::Other(IgnoreReason::NotAFile),
            _ => Contents::of(place).unwrap_or(Contents::Other(IgnoreReason::Unreadable)),
        }),
    }
}
