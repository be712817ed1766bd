//! The bytes of an object whose server sends no parts of it: one answer with all of them.

use std::ops::Range;

use bytes::{Buf, Bytes};
use futures_util::stream::{BoxStream, TryStreamExt};

/// An answer that is read from its first byte on.
pub(crate) struct Body {
    chunks: BoxStream<'static, object_store::Result<Bytes>>,
    /// What is left of the last chunk.
    rest: Bytes,
    at: u64,
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body at byte {}", self.at)
    }
}

/// An answer that has another length than the object.
#[derive(Debug)]
pub(crate) enum BodyError {
    Request(object_store::Error),
    TooShort,
    TooLong,
}

impl Body {
    pub(crate) fn new(chunks: BoxStream<'static, object_store::Result<Bytes>>) -> Self {
        Body { chunks, rest: Bytes::new(), at: 0 }
    }

    /// Whether it has not come beyond a byte yet.
    pub(crate) fn has(&self, byte: u64) -> bool {
        self.at <= byte
    }

    /// Reads a range into a buffer, and passes over what stands before it. With the object's last byte, the answer has to
    /// end.
    pub(crate) async fn read(&mut self, range: &Range<u64>, size: u64, out: &mut Vec<u8>) -> Result<(), BodyError> {
        while self.at < range.end {
            if self.rest.is_empty() {
                self.rest = self.next().await?.ok_or(BodyError::TooShort)?;
            }
            let end = if self.at < range.start { range.start } else { range.end };
            let length = usize::try_from(end - self.at).map_or(self.rest.len(), |left| left.min(self.rest.len()));
            if self.at >= range.start {
                out.extend_from_slice(&self.rest[..length]);
            }
            self.rest.advance(length);
            self.at += length as u64;
        }
        let ends = range.end < size || (self.rest.is_empty() && self.next().await?.is_none());
        if ends { Ok(()) } else { Err(BodyError::TooLong) }
    }

    /// The next chunk with something in it.
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            match self.chunks.try_next().await.map_err(BodyError::Request)? {
                Some(chunk) if chunk.is_empty() => {}
                other => return Ok(other),
            }
        }
    }
}
