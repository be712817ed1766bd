//! One object: what it was when it was found, and ranges of its bytes.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore};

use crate::error::RemoteError;
use crate::formats::address::Remote;
use crate::formats::location::Location;
use crate::formats::store::cloud::{Cloud, Pending};
use crate::formats::store::failure::failure;

/// Bytes of the first look at an object's beginning, and at its end: the header of a text file, the footer of a Parquet
/// file.
pub(crate) const LOOK: u64 = 1 << 16;

/// An object as it was found. Should it be another one when its bytes are fetched, they are refused.
pub(crate) struct Object {
    cloud: Arc<Cloud>,
    client: Arc<dyn ObjectStore>,
    remote: Remote,
    meta: ObjectMeta,
    shown: PathBuf,
    first: OnceLock<Bytes>,
    last: OnceLock<Bytes>,
    failed: Mutex<Option<RemoteError>>,
}

/// Its client knows credentials.
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Object").field(&self.shown).finish()
    }
}

impl Object {
    pub(crate) fn new(cloud: Arc<Cloud>, client: Arc<dyn ObjectStore>, remote: Remote, meta: ObjectMeta) -> Self {
        let shown = remote.shown();
        let (first, last) = (OnceLock::new(), OnceLock::new());
        Object { cloud, client, remote, meta, shown, first, last, failed: Mutex::new(None) }
    }

    /// What messages call it.
    pub(crate) fn path(&self) -> &Path {
        &self.shown
    }

    /// What finds it again.
    pub(crate) fn location(&self) -> Location {
        self.remote.location()
    }

    pub(crate) fn size(&self) -> u64 {
        self.meta.size
    }

    /// Its tag, if the server gives one.
    pub(crate) fn tag(&self) -> Option<&str> {
        self.meta.e_tag.as_deref().map(bare)
    }

    /// What becomes another text when somebody writes the object anew.
    pub(crate) fn version(&self) -> String {
        match self.tag() {
            Some(tag) => tag.into(),
            None => self.meta.last_modified.timestamp_micros().to_string(),
        }
    }

    /// Why bytes could not be fetched, if they could not.
    pub(crate) fn failure(&self) -> Option<RemoteError> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins to fetch some bytes.
    pub(crate) fn begin(self: &Arc<Self>, range: Range<u64>) -> Pending<Result<Bytes, RemoteError>> {
        let object = self.clone();
        self.cloud.begin(async move { object.get(range).await })
    }

    /// Waits for bytes.
    pub(crate) fn wait<T>(&self, pending: Pending<Result<T, RemoteError>>) -> Result<T, RemoteError> {
        self.go_on()?;
        let found = pending.wait().unwrap_or_else(|| Err(self.broken_off("the thread that read it is gone")));
        found.inspect_err(|error| {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.clone());
        })
    }

    /// Fetches some bytes.
    pub(crate) fn fetch(self: &Arc<Self>, range: Range<u64>) -> Result<Bytes, RemoteError> {
        self.go_on()?;
        self.wait(self.begin(range))
    }

    /// One failure is enough: readers that try once more would be waited for twice.
    fn go_on(&self) -> Result<(), RemoteError> {
        self.failure().map_or(Ok(()), Err)
    }

    /// The first bytes, at most [`LOOK`] of them.
    pub(crate) fn first(self: &Arc<Self>) -> Result<Bytes, RemoteError> {
        let length = self.size().min(LOOK);
        self.kept(&self.first, 0..length)
    }

    /// The last bytes, at most [`LOOK`] of them.
    pub(crate) fn last(self: &Arc<Self>) -> Result<Bytes, RemoteError> {
        if self.size() <= LOOK {
            return self.first();
        }
        self.kept(&self.last, self.size() - LOOK..self.size())
    }

    fn kept(self: &Arc<Self>, kept: &OnceLock<Bytes>, range: Range<u64>) -> Result<Bytes, RemoteError> {
        if let Some(bytes) = kept.get() {
            return Ok(bytes.clone());
        }
        let bytes = self.fetch(range)?;
        self.keep(kept, &bytes);
        Ok(bytes)
    }

    fn keep(&self, kept: &OnceLock<Bytes>, bytes: &Bytes) {
        let length = bytes.len() as u64;
        if self.cloud.take_room(length) && kept.set(bytes.clone()).is_err() {
            self.cloud.give_back(length);
        }
    }

    pub(crate) fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    pub(crate) async fn get(&self, range: Range<u64>) -> Result<Bytes, RemoteError> {
        if let Some(bytes) = self.known(&range) {
            return Ok(bytes);
        }
        let refused = |error: object_store::Error| failure(&self.remote, &error);
        let options = GetOptions { range: Some(GetRange::Bounded(range.clone())), ..GetOptions::default() };
        let found = self.client.get_opts(&self.meta.location, options).await.map_err(refused)?;
        if !self.is_same(&found.meta) {
            return Err(RemoteError::Changed { address: self.shown.display().to_string() });
        }
        let wanted = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut buffer = self.cloud.buffers.take(wanted);
        let mut chunks = found.into_stream();
        while let Some(chunk) = chunks.try_next().await.map_err(refused)? {
            if chunk.len() > wanted - buffer.len() {
                return Err(self.broken_off("the server sent more bytes than it was asked for"));
            }
            buffer.extend(&chunk);
        }
        match buffer.len() == wanted {
            true => Ok(buffer.into_bytes()),
            false => Err(self.broken_off("the server sent fewer bytes than it was asked for")),
        }
    }

    /// Bytes that a look has found already: often a small file is in it whole.
    fn known(&self, range: &Range<u64>) -> Option<Bytes> {
        let within = |kept: &Bytes, start: u64| {
            let place = |byte: u64| usize::try_from(byte.checked_sub(start)?).ok();
            let place = place(range.start)?..place(range.end)?;
            (place.end <= kept.len()).then(|| kept.slice(place))
        };
        let first = self.first.get().and_then(|kept| within(kept, 0));
        let last = || self.last.get().and_then(|kept| within(kept, self.size() - kept.len() as u64));
        if range.is_empty() { Some(Bytes::new()) } else { first.or_else(last) }
    }

    fn is_same(&self, now: &ObjectMeta) -> bool {
        let same = match (&self.meta.e_tag, &now.e_tag) {
            (Some(was), Some(now)) => bare(was) == bare(now),
            _ => self.meta.last_modified == now.last_modified,
        };
        same && self.meta.size == now.size
    }

    fn broken_off(&self, reason: &str) -> RemoteError {
        RemoteError::BrokenOff { address: self.shown.display().to_string(), reason: reason.into() }
    }
}

/// A tag without quotes: lists have them without, or with, where answers have them with.
fn bare(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"')
}

impl Drop for Object {
    fn drop(&mut self) {
        let kept = [&self.first, &self.last].into_iter().filter_map(OnceLock::get);
        self.cloud.give_back(kept.map(|bytes| bytes.len() as u64).sum());
    }
}
