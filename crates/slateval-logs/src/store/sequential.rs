//! An object's bytes in order: a window of them at a time, the next one on its way.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::RemoteError;
use crate::store::body::Body;
use crate::store::cloud::Pending;
use crate::store::object::{LOOK, Next, Object};

/// Bytes fetched at once when a reader goes on and on.
const WINDOW: u64 = 8 << 20;

/// By how much a window is larger than the one before.
const GROWTH: u64 = 4;

/// Reads an object in order, or from where it is told to.
#[derive(Debug)]
pub(crate) struct Sequential {
    object: Arc<Object>,
    at: u64,
    /// Nothing behind this is fetched ahead.
    end: u64,
    window: Window,
    /// How many bytes to fetch next: many readers look at the first few and no more.
    size: u64,
    coming: Option<Coming>,
    /// Where the server sends no parts: the answer that the next bytes come from.
    body: Option<Body>,
}

#[derive(Debug, Default)]
struct Window {
    start: u64,
    bytes: Bytes,
}

#[derive(Debug)]
struct Coming {
    range: Range<u64>,
    next: Pending<Result<Next, RemoteError>>,
}

impl Sequential {
    pub(crate) fn new(object: Arc<Object>) -> Self {
        let end = object.size();
        Sequential { object, at: 0, end, window: Window::default(), size: LOOK, coming: None, body: None }
    }

    /// For a range that will be read to its end.
    pub(crate) fn of_range(object: Arc<Object>, range: &Range<u64>) -> Self {
        let end = range.end.min(object.size());
        Sequential { object, at: range.start, end, window: Window::default(), size: WINDOW, coming: None, body: None }
    }

    /// The bytes held from here on.
    fn held(&self) -> &[u8] {
        let from = self.at.checked_sub(self.window.start).and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| self.window.bytes.get(from..)).unwrap_or_default()
    }

    fn fill(&mut self) -> Result<(), RemoteError> {
        let follows = self.at == self.window.start + self.window.bytes.len() as u64 && self.at > 0;
        let (bytes, body) = match self.coming.take() {
            Some(coming) if coming.range.start == self.at => self.object.wait(coming.next)?,
            _ if self.at == 0 && self.size == LOOK => (self.object.first()?, self.body.take()),
            _ => self.object.wait(self.object.begin(self.next_range(self.at), self.body.take()))?,
        };
        self.body = body;
        self.window = Window { start: self.at, bytes };
        // Whoever comes back for a second window wants them all.
        if follows || self.size == WINDOW {
            let start = self.at + self.window.bytes.len() as u64;
            if start < self.end {
                let range = self.next_range(start);
                let next = self.object.begin(range.clone(), self.body.take());
                self.coming = Some(Coming { next, range });
            }
        }
        self.size = (self.size * GROWTH).min(WINDOW);
        Ok(())
    }

    fn next_range(&self, start: u64) -> Range<u64> {
        // Behind the end, only what is needed to finish a record.
        let end = if start < self.end { self.end.min(start + self.size) } else { start + LOOK };
        start..end.min(self.object.size())
    }
}

impl Read for Sequential {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.held().is_empty() && self.at < self.object.size() {
            self.fill().map_err(io::Error::other)?;
        }
        let held = self.held();
        let length = held.len().min(buffer.len());
        buffer[..length].copy_from_slice(&held[..length]);
        self.at += length as u64;
        Ok(length)
    }
}

impl Seek for Sequential {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(to) => Some(to),
            SeekFrom::End(by) => self.object.size().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the first byte"))?;
        Ok(self.at)
    }
}
