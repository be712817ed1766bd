//! Where the bytes of a file are: on this machine, or in object storage.

use std::fmt::Debug;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, RemoteError, RemoteFault, Result};
use crate::find::address::Address;
use crate::find::detect::{STDIN, cannot_open, open_file};
use crate::find::location::Location;
use crate::store::{self, Object, Sequential};

/// A file of a log, found.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Local(PathBuf),
    Object(Arc<Object>),
}

impl Place {
    /// The file that a task names. An object that can only be fetched as a whole may take `memory` bytes.
    pub(crate) fn at(location: &Location, memory: u64) -> Result<Place> {
        match Address::of(location)? {
            Address::Remote(remote) => Ok(Place::Object(store::object(&remote, memory)?)),
            Address::Local(path) => Ok(Place::Local(path)),
        }
    }

    /// What messages and results call it.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Place::Local(path) => path,
            Place::Object(object) => object.path(),
        }
    }

    /// What finds it again: see [`Place::at`].
    pub(crate) fn location(&self) -> Location {
        match self {
            Place::Local(path) => path.into(),
            Place::Object(object) => object.location(),
        }
    }

    /// What a server says that changes with an object's content, if it says so.
    pub(crate) fn tag(&self) -> Option<&str> {
        match self {
            Place::Local(_) => None,
            Place::Object(object) => object.tag(),
        }
    }

    pub(crate) fn is_standard_input(&self) -> bool {
        matches!(self, Place::Local(path) if path == Path::new(STDIN))
    }

    pub(crate) fn size(&self) -> Result<u64> {
        match self {
            Place::Local(path) => Ok(std::fs::metadata(path).map_err(|e| cannot_open(path, &e))?.len()),
            Place::Object(object) => Ok(object.size()),
        }
    }

    /// Whether its bytes come from the first to the last and in no other order, as some web servers send them.
    pub(crate) fn is_sent_whole(&self) -> bool {
        matches!(self, Place::Object(object) if object.sends_no_parts())
    }

    /// Its bytes, for a reader that goes to and fro.
    pub(crate) fn seeking_reader(&self) -> Result<Reader> {
        if let Place::Object(object) = self {
            object.prepare_seeking()?;
        }
        self.reader()
    }

    /// Its bytes, from the first on.
    pub(crate) fn reader(&self) -> Result<Reader> {
        match self {
            Place::Local(path) => Ok(Box::new(open_file(path)?)),
            Place::Object(object) => Ok(Box::new(Sequential::new(object.clone()))),
        }
    }

    /// Its bytes from a place on, all of which will be read up to the end of the range, and hardly any behind it.
    pub(crate) fn reader_of(&self, range: &Range<u64>) -> Result<Reader> {
        let mut reader = match self {
            Place::Local(_) => self.reader()?,
            Place::Object(object) => Box::new(Sequential::of_range(object.clone(), range)) as Reader,
        };
        reader.seek(SeekFrom::Start(range.start)).map_err(|e| self.unreadable("text file", e))?;
        Ok(reader)
    }

    /// An error of whoever read it: what a server failed with, if it did, or else that the content is not as it should be.
    pub(crate) fn unreadable(&self, format: &'static str, reason: impl ToString) -> Error {
        self.failure().unwrap_or_else(|| Error::unreadable(self.path(), format, reason))
    }

    /// Why its bytes could not be fetched. Readers of formats take this for damage.
    pub(crate) fn failure(&self) -> Option<Error> {
        match self {
            Place::Local(_) => None,
            Place::Object(object) => object.failure().map(|failure| match failure {
                RemoteError { fault: RemoteFault::Changed, .. } => Error::Changed { path: self.path().into() },
                other => Error::Remote(other),
            }),
        }
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Self {
        Place::Local(path)
    }
}

/// The bytes of a file, one after the other.
pub(crate) type Reader = Box<dyn ReadAndSeek>;

/// Both traits in one, for a box has room for one.
pub(crate) trait ReadAndSeek: Read + Seek + Debug + Send {}

impl<T: Read + Seek + Debug + Send> ReadAndSeek for T {}
