//! A build without object storage: there are no objects, so whatever would read one can never be called.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use bytes::buf::Reader;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use crate::error::{RemoteError, RemoteFault, Result};
use crate::find::Location;
use crate::find::address::Remote;
use crate::find::candidates::Objects;

/// Files that are looked at at once: there are none.
pub(crate) const AT_ONCE: usize = 1;

/// Refuses the first address.
pub(crate) fn find(remotes: &[Remote], _: u64) -> Result<Vec<Result<Objects>>> {
    remotes.first().map_or(Ok(Vec::new()), |remote| Err(not_built(remote).into()))
}

/// Refuses the address.
pub(crate) fn object(remote: &Remote, _: u64) -> Result<Arc<Object>> {
    Err(not_built(remote).into())
}

fn not_built(remote: &Remote) -> RemoteError {
    RemoteFault::NotBuilt.at(remote.name())
}

#[derive(Debug)]
pub(crate) enum Object {}

impl Object {
    pub(crate) fn path(&self) -> &Path {
        match *self {}
    }

    pub(crate) fn location(&self) -> Location {
        match *self {}
    }

    pub(crate) fn size(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn tag(&self) -> Option<&str> {
        match *self {}
    }

    pub(crate) fn version(&self) -> String {
        match *self {}
    }

    pub(crate) fn sends_no_parts(&self) -> bool {
        match *self {}
    }

    pub(crate) fn prepare_seeking(self: &Arc<Self>) -> std::result::Result<(), RemoteError> {
        match **self {}
    }

    pub(crate) fn failure(&self) -> Option<RemoteError> {
        match *self {}
    }
}

#[derive(Debug)]
pub(crate) struct Sequential(Arc<Object>);

impl Sequential {
    pub(crate) fn new(object: Arc<Object>) -> Self {
        Sequential(object)
    }

    pub(crate) fn of_range(object: Arc<Object>, _: &Range<u64>) -> Self {
        Sequential(object)
    }
}

impl Read for Sequential {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self.0 {}
    }
}

impl Seek for Sequential {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        match *self.0 {}
    }
}

#[derive(Debug)]
pub(crate) struct Columns(Arc<Object>);

impl Columns {
    pub(crate) fn new(object: Arc<Object>, _: Vec<Vec<Range<u64>>>) -> Self {
        Columns(object)
    }

    pub(crate) fn none(object: Arc<Object>) -> Self {
        Columns(object)
    }

    pub(crate) fn bytes(self: &Arc<Self>, _: u64, _: u64, _: u64) -> std::result::Result<Bytes, RemoteError> {
        match *self.0 {}
    }
}

pub(crate) fn ranges(_: &ParquetMetaData, _: &[usize], _: Range<usize>) -> Vec<Vec<Range<u64>>> {
    Vec::new()
}

#[derive(Debug)]
pub(crate) struct Chunks(pub(crate) Arc<Columns>);

impl Length for Chunks {
    fn len(&self) -> u64 {
        match *self.0.0 {}
    }
}

impl ChunkReader for Chunks {
    type T = Reader<Bytes>;

    fn get_read(&self, _: u64) -> ParquetResult<Self::T> {
        match *self.0.0 {}
    }

    fn get_bytes(&self, _: u64, _: usize) -> ParquetResult<Bytes> {
        match *self.0.0 {}
    }
}

pub(crate) fn refused(error: RemoteError) -> ParquetError {
    ParquetError::External(Box::new(error))
}
