//! Bytes behind whose end nothing can be read, and nothing be skipped.
//!
//! The `parquet` crate skips what it does not know of a page's header by copying it away, which succeeds behind the end of
//! the bytes too. A damaged header may tell of two thousand million numbers: it took minutes to skip them one by one.

use std::io::{ErrorKind, Read, Result};

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

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

/// A file, or what stands for one, that is read so.
#[derive(Debug)]
pub(crate) struct BoundedFile<R>(pub(crate) R);

impl<R: Length> Length for BoundedFile<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for BoundedFile<R> {
    type T = Bounded<R::T>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        self.0.get_read(start).map(Bounded)
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.0.get_bytes(start, length)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{copy, sink};

    use super::*;

    #[test]
    fn what_is_not_there_cannot_be_skipped() {
        let file = BoundedFile(Bytes::from_static(&[1, 2, 3]));
        let mut two = [0; 2];
        let mut bytes = file.get_read(0).unwrap();
        bytes.read_exact(&mut two).unwrap();
        assert_eq!(two, [1, 2]);
        assert_eq!(copy(&mut bytes.by_ref().take(1), &mut sink()).unwrap(), 1);
        let behind = copy(&mut bytes.take(8), &mut sink());
        assert_eq!(behind.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(file.get_bytes(1, 2).unwrap(), [2, 3][..]);
    }
}
