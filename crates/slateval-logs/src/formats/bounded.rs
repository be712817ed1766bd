//! Bytes behind whose end nothing can be read, and nothing be skipped.
//!
//! The `parquet` crate skips what it does not know of a page's header by copying it away, which succeeds behind the end of
//! the bytes too. A damaged header may tell of two thousand million numbers: it took minutes to skip them one by one.

use std::io::{Chain, Cursor, ErrorKind, Read, Result};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

use crate::formats::claims::Claims;

/// Fails at the end, in place of reading nothing.
#[derive(Debug)]
pub(crate) struct Bounded<R>(pub(crate) R);

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        match self.0.read(to)? {
            0 if !to.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

/// A file, or what stands for one, that is read so. What its pages claim is checked first.
#[derive(Debug)]
pub(crate) struct BoundedFile<R> {
    pub(crate) file: R,
    pub(crate) claims: Arc<Claims>,
}

/// Keeps what was read, to be read again.
struct Kept<R> {
    bytes: R,
    read: Vec<u8>,
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        let read = self.bytes.read(to)?;
        self.read.extend_from_slice(&to[..read]);
        Ok(read)
    }
}

impl<R: Length> Length for BoundedFile<R> {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl<R: ChunkReader> ChunkReader for BoundedFile<R> {
    type T = Bounded<Chain<Cursor<Vec<u8>>, R::T>>;

    /// Readers ask for bytes in this way where a page's header begins, or ends if they looked at it before.
    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let mut bytes = Kept { bytes: self.file.get_read(start)?, read: Vec::new() };
        self.claims.admit(start, &mut bytes)?;
        Ok(Bounded(Cursor::new(bytes.read).chain(bytes.bytes)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.file.get_bytes(start, length)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{copy, sink};

    use super::*;

    #[test]
    fn what_is_not_there_cannot_be_skipped() {
        let mut two = [0; 2];
        let mut bytes = Bounded(&[1, 2, 3][..]);
        bytes.read_exact(&mut two).unwrap();
        assert_eq!(two, [1, 2]);
        assert_eq!(copy(&mut bytes.by_ref().take(1), &mut sink()).unwrap(), 1);
        let behind = copy(&mut bytes.take(8), &mut sink());
        assert_eq!(behind.unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
