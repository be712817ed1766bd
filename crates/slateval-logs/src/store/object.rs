//! One object: what it was when it was found, and ranges of its bytes.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};

use crate::error::{RemoteError, RemoteFault};
use crate::find::Location;
use crate::find::address::Remote;
use crate::store::body::{Body, BodyError};
use crate::store::cloud::{Cloud, Pending};
use crate::store::failure::failure;
use crate::store::memory::{Memory, Taken};

/// Bytes of the first look at an object's beginning, and at its end: the header of a text file, the footer of a Parquet
/// file.
pub(crate) const LOOK: u64 = 1 << 16;

/// Bytes of an object that is fetched by one request if it has no strong tag or its server sends no parts.
const SMALL: u64 = 8 << 20;

const MEGABYTE: u64 = 1_000_000;

/// An object as it was found. Should it be another one when its bytes are fetched, they are refused.
pub(crate) struct Object {
    cloud: Arc<Cloud>,
    client: Arc<dyn ObjectStore>,
    remote: Remote,
    meta: ObjectMeta,
    shown: PathBuf,
    first: OnceLock<Kept>,
    last: OnceLock<Kept>,
    /// All of it, if it was fetched by one request.
    whole: OnceLock<Kept>,
    fetching: futures_util::lock::Mutex<()>,
    /// The server answers with the whole object when it is asked for a part.
    no_parts: AtomicBool,
    /// The memory that the user allows for whole objects.
    bodies: Arc<Memory>,
    failed: Mutex<Option<RemoteError>>,
}

/// Bytes, and the room that they take.
type Kept = (Bytes, Taken);

/// Its client knows credentials.
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Object").field(&self.shown).finish()
    }
}

impl Object {
    pub(crate) fn new(
        cloud: Arc<Cloud>,
        client: Arc<dyn ObjectStore>,
        remote: Remote,
        meta: ObjectMeta,
        bodies: Arc<Memory>,
    ) -> Self {
        Object {
            cloud,
            client,
            meta,
            shown: remote.shown(),
            remote,
            first: OnceLock::new(),
            last: OnceLock::new(),
            whole: OnceLock::new(),
            fetching: futures_util::lock::Mutex::default(),
            no_parts: AtomicBool::new(false),
            bodies,
            failed: Mutex::new(None),
        }
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

    /// Whether its server is known to send the whole of it whatever it is asked for.
    pub(crate) fn sends_no_parts(&self) -> bool {
        self.no_parts.load(Ordering::Relaxed)
    }

    /// Begins to fetch some bytes of an object that is read in order: see [`Object::get_next`].
    pub(crate) fn begin(self: &Arc<Self>, range: Range<u64>, body: Option<Body>) -> Pending<Result<Next, RemoteError>> {
        let object = self.clone();
        self.cloud.begin(async move { object.get_next(range, body).await })
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
        let object = self.clone();
        self.wait(self.cloud.begin(async move { object.get(range).await }))
    }

    /// Fetches all of it if its server sends no parts, for readers that go to and fro.
    pub(crate) fn prepare_seeking(self: &Arc<Self>) -> Result<(), RemoteError> {
        self.first()?;
        if self.sends_no_parts() && self.whole.get().is_none() { self.fetch(0..self.size()).map(drop) } else { Ok(()) }
    }

    /// One failure is enough: readers that try once more would be waited for twice.
    fn go_on(&self) -> Result<(), RemoteError> {
        self.failure().map_or(Ok(()), Err)
    }

    /// The first bytes, at most [`LOOK`] of them.
    pub(crate) fn first(self: &Arc<Self>) -> Result<Bytes, RemoteError> {
        if let Some((bytes, _)) = self.first.get() {
            return Ok(bytes.clone());
        }
        self.go_on()?;
        let (bytes, _) = self.wait(self.begin(0..self.size().min(LOOK), None))?;
        self.keep(&self.first, &bytes);
        Ok(bytes)
    }

    /// The last bytes, at most [`LOOK`] of them.
    pub(crate) fn last(self: &Arc<Self>) -> Result<Bytes, RemoteError> {
        if self.size() <= LOOK {
            return self.first();
        }
        if let Some((bytes, _)) = self.last.get() {
            return Ok(bytes.clone());
        }
        let bytes = self.fetch(self.size() - LOOK..self.size())?;
        self.keep(&self.last, &bytes);
        Ok(bytes)
    }

    fn keep(&self, kept: &OnceLock<Kept>, bytes: &Bytes) {
        if let Some(room) = self.cloud.kept.take(bytes.len() as u64) {
            kept.get_or_init(|| (bytes.clone(), room));
        }
    }

    pub(crate) fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    /// Some bytes, wherever they are. Where the server sends no parts, the whole object is fetched and kept.
    pub(crate) async fn get(&self, range: Range<u64>) -> Result<Bytes, RemoteError> {
        match self.part(&range).await? {
            Some(bytes) => Ok(bytes),
            None => self.whole(None).await.map(|whole| slice(&whole, &range)),
        }
    }

    /// Some bytes of an object that is read in order, and where the server sends no parts, what is left of its answer: it is
    /// for the bytes that come next.
    pub(crate) async fn get_next(
        &self,
        range: Range<u64>,
        body: Option<Body>,
    ) -> Result<(Bytes, Option<Body>), RemoteError> {
        if let Some(bytes) = self.part(&range).await? {
            return Ok((bytes, body));
        }
        let mut body = match body.filter(|body| body.has(range.start)) {
            Some(body) => body,
            None => Body::new(self.ask(GetOptions::default()).await?.into_stream()),
        };
        let bytes = self.read(&mut body, &range).await?;
        if range.end == self.size() {
            // Whether a text ends with a line feed is asked when all of it was read.
            self.keep(&self.last, &Bytes::copy_from_slice(&bytes[bytes.len().saturating_sub(1)..]));
        }
        Ok((bytes, Some(body)))
    }

    /// Some bytes; `None` if the server sends no parts.
    async fn part(&self, range: &Range<u64>) -> Result<Option<Bytes>, RemoteError> {
        if let Some(bytes) = self.known(range) {
            return Ok(Some(bytes));
        }
        // Without a strong tag, nothing but its time and its size would tell that it is another one in the middle of reading.
        if (!self.has_strong_tag() || self.sends_no_parts())
            && let Some(whole) = self.small().await
        {
            return whole.map(|whole| Some(slice(&whole, range)));
        }
        if self.sends_no_parts() {
            return Ok(None);
        }
        let options = GetOptions { range: Some(GetRange::Bounded(range.clone())), ..GetOptions::default() };
        let found = match self.client.get_opts(&self.meta.location, options).await {
            Err(object_store::Error::NotSupported { .. }) if self.remote.scheme.is_web() => {
                self.no_parts.store(true, Ordering::Relaxed);
                return self.small().await.transpose().map(|whole| whole.map(|whole| slice(&whole, range)));
            }
            found => self.same(found)?,
        };
        let mut part = Body::new(found.into_stream());
        let length = range.end - range.start;
        self.read_of(&mut part, &(0..length), length).await.map(Some)
    }

    /// All bytes of a small object, if there is room for them.
    async fn small(&self) -> Option<Result<Bytes, RemoteError>> {
        let room = Some(self.size()).filter(|&size| size <= SMALL).and_then(|size| self.cloud.kept.take(size))?;
        Some(self.whole(Some(room)).await)
    }

    async fn ask(&self, options: GetOptions) -> Result<GetResult, RemoteError> {
        self.same(self.client.get_opts(&self.meta.location, options).await)
    }

    /// Refuses the answer for another object than the one that was found.
    fn same(&self, found: object_store::Result<GetResult>) -> Result<GetResult, RemoteError> {
        let found = found.map_err(|error| failure(&self.remote, &error))?;
        match self.is_same(&found.meta) {
            true => Ok(found),
            false => Err(self.fault(RemoteFault::Changed)),
        }
    }

    /// All bytes, fetched by one request into this room, or into that which the user allows.
    async fn whole(&self, room: Option<Taken>) -> Result<Bytes, RemoteError> {
        let _alone = self.fetching.lock().await;
        if let Some((whole, _)) = self.whole.get() {
            return Ok(whole.clone());
        }
        let size = self.size();
        let too_large = || {
            let [needed, limit] = [size.div_ceil(MEGABYTE), self.bodies.most / MEGABYTE];
            self.fault(RemoteFault::WholeTooLarge { needed, limit })
        };
        let room = room.or_else(|| self.bodies.take(size)).ok_or_else(too_large)?;
        let found = self.ask(GetOptions::default()).await?;
        let bytes = self.read(&mut Body::new(found.into_stream()), &(0..size)).await?;
        Ok(self.whole.get_or_init(|| (bytes, room)).0.clone())
    }

    async fn read(&self, body: &mut Body, range: &Range<u64>) -> Result<Bytes, RemoteError> {
        self.read_of(body, range, self.size()).await
    }

    /// Reads a range of an answer of so many bytes.
    async fn read_of(&self, body: &mut Body, range: &Range<u64>, size: u64) -> Result<Bytes, RemoteError> {
        let wanted = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut buffer = Vec::with_capacity(wanted);
        match body.read(range, size, &mut buffer).await {
            Ok(()) => Ok(buffer.into()),
            Err(BodyError::TooLong) => Err(self.broken_off("the server sent more bytes than it was asked for")),
            Err(BodyError::TooShort) => Err(self.broken_off("the server sent fewer bytes than it was asked for")),
            Err(BodyError::Request(error)) => Err(match failure(&self.remote, &error) {
                // The client tried to go on in the middle.
                RemoteError { fault: RemoteFault::NoRanges, .. } => {
                    self.broken_off("the connection was cut, and the server sends no parts")
                }
                other => other,
            }),
        }
    }

    /// Bytes that a look has found already: often a small file is in it whole.
    fn known(&self, range: &Range<u64>) -> Option<Bytes> {
        let within = |kept: &Bytes, start: u64| {
            let place = |byte: u64| usize::try_from(byte.checked_sub(start)?).ok();
            let place = place(range.start)?..place(range.end)?;
            (place.end <= kept.len()).then(|| kept.slice(place))
        };
        if let Some((whole, _)) = self.whole.get() {
            return within(whole, 0);
        }
        let first = self.first.get().and_then(|(kept, _)| within(kept, 0));
        let last = || self.last.get().and_then(|(kept, _)| within(kept, self.size() - kept.len() as u64));
        if range.is_empty() { Some(Bytes::new()) } else { first.or_else(last) }
    }

    fn is_same(&self, now: &ObjectMeta) -> bool {
        let same_time = self.meta.last_modified == now.last_modified;
        let same = match (&self.meta.e_tag, &now.e_tag) {
            // A weak tag may stay the same for other bytes.
            (Some(was), Some(now)) => bare(was) == bare(now) && (is_strong(was) && is_strong(now) || same_time),
            _ => same_time,
        };
        same && self.meta.size == now.size
    }

    fn has_strong_tag(&self) -> bool {
        self.meta.e_tag.as_deref().is_some_and(is_strong)
    }

    fn broken_off(&self, reason: &str) -> RemoteError {
        self.fault(RemoteFault::BrokenOff { reason: reason.into() })
    }

    fn fault(&self, fault: RemoteFault) -> RemoteError {
        fault.at(self.shown.display().to_string())
    }
}

/// The bytes of a range, and the answer that the next ones come from.
pub(crate) type Next = (Bytes, Option<Body>);

fn slice(whole: &Bytes, range: &Range<u64>) -> Bytes {
    let place = |byte: u64| usize::try_from(byte).map_or(whole.len(), |byte| byte.min(whole.len()));
    whole.slice(place(range.start)..place(range.end))
}

/// Whether a tag is another one for any other bytes.
fn is_strong(tag: &str) -> bool {
    !tag.starts_with("W/")
}

/// A tag without quotes: lists have them without, or with, where answers have them with.
fn bare(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"')
}
