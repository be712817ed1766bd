//! A column chunk of a Parquet file, read ahead: one read of the file serves the headers and bytes of many pages.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

use crate::formats::bounded::Bounded;
use crate::formats::claims::Claims;
use crate::store::{Columns, refused};

/// Bytes read at once. Columns take turns, so what they all hold should fit into the processor's cache.
const AHEAD: u64 = 1 << 17;

/// Bytes asked for at once, where more are wanted.
const STEP: usize = 1 << 20;

/// Bytes of a page's header at most. A longer one is cut, and then the page cannot be read.
pub(crate) const HEADER: u64 = 1 << 13;

/// Where the bytes of columns are. A file may be shared by columns, but not by threads.
#[derive(Debug, Clone)]
pub(crate) enum ColumnBytes {
    File(Arc<File>),
    /// Read ahead by itself.
    Object(Arc<Columns>),
}

/// The bytes of a column chunk.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    bytes: ColumnBytes,
    /// Where the chunk ends.
    end: u64,
    claims: Arc<Claims>,
    held: Mutex<Held>,
}

/// Bytes of a file that stand at the beginning of some memory. What stands behind them was read before: memory is zeroed
/// once and not for each read.
#[derive(Debug, Default)]
struct Held {
    start: u64,
    length: usize,
    memory: Bytes,
}

impl ReadAhead {
    pub(crate) fn new(bytes: ColumnBytes, end: u64, claims: Arc<Claims>) -> Self {
        ReadAhead { bytes, end, claims, held: Mutex::default() }
    }

    /// Some bytes from `start` on, `least` or more if the chunk has them.
    fn bytes(&self, start: u64, least: u64) -> Result<Bytes> {
        match &self.bytes {
            ColumnBytes::File(file) => self.of_file(file, start, least),
            ColumnBytes::Object(columns) => columns.bytes(start, least, self.end).map_err(refused),
        }
    }

    fn of_file(&self, file: &File, start: u64, least: u64) -> Result<Bytes> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let least = least.min(self.end.saturating_sub(start));
        let end = held.start + held.length as u64;
        if start < held.start || start + least > end {
            let length = least.max(AHEAD.min(self.end.saturating_sub(start)));
            *held = std::mem::take(&mut *held).read_on(file, start, usize::try_from(length)?)?;
        }
        let from = usize::try_from(start - held.start)?;
        Ok(held.memory.slice(from.min(held.length)..held.length))
    }
}

impl Held {
    /// Holds so many bytes from `start` on instead, or fewer if the file ends before. Those that are known are not read again.
    ///
    /// Asked for in large steps: `read_to_end` begins with a few kilobytes and asks five times where this asks once. But a
    /// damaged file may tell of far more bytes than it has.
    fn read_on(self, mut file: &File, start: u64, wanted: usize) -> Result<Held> {
        let (mut memory, mut length) = self.reuse(start);
        file.seek(SeekFrom::Start(start + length as u64))?;
        while length < wanted {
            let end = wanted.min(length + STEP);
            if memory.len() < end {
                memory.resize(end, 0);
            }
            match file.read(&mut memory[length..end]) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Held { start, length, memory: memory.into() })
    }

    /// Memory to read into, and how many bytes at its beginning are those from `start` on. Memory that no page needs any more
    /// is used again: new memory would be mapped page by page.
    fn reuse(self, start: u64) -> (Vec<u8>, usize) {
        let past = start.checked_sub(self.start).and_then(|past| usize::try_from(past).ok());
        let known = past.map_or(0, |past| self.length.saturating_sub(past));
        let bytes = self.length - known..self.length;
        match self.memory.try_into_mut() {
            Ok(own) => {
                let mut own = Vec::from(own);
                own.copy_within(bytes, 0);
                (own, known)
            }
            Err(shared) => (shared[bytes].to_vec(), known),
        }
    }
}

impl Length for ReadAhead {
    fn len(&self) -> u64 {
        self.end
    }
}

impl ChunkReader for ReadAhead {
    type T = Bounded<Reader<Bytes>>;

    /// Readers ask for bytes in this way where a page's header begins, or ends if they looked at it before.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let bytes = self.bytes(start, HEADER)?;
        self.claims.admit(start, &mut &bytes[..])?;
        Ok(Bounded(bytes.reader()))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = self.bytes(start, length as u64)?;
        bytes.truncate(length);
        Ok(bytes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const LENGTH: u64 = 299_000;

    fn content() -> Vec<u8> {
        (0..300_000_u32).map(|i| (i % 251) as u8).collect()
    }

    fn ahead(content: &[u8]) -> ReadAhead {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, content).unwrap();
        let claims = Claims::of_nothing();
        ReadAhead::new(ColumnBytes::File(Arc::new(file)), LENGTH, claims)
    }

    #[test]
    fn bytes_are_those_of_the_file_wherever_they_are_asked_for() {
        let content = content();
        let places = [(0, 10), (100_000, 31_072), (131_000, 200), (5, 200_000), (100, 250_000), (298_990, 10), (7, 0)];
        for holds_all in [false, true] {
            let (ahead, mut needed) = (ahead(&content), Vec::new());
            for (start, length) in places {
                let bytes = ahead.get_bytes(start, length).unwrap();
                assert_eq!(bytes, content[start as usize..][..length]);
                let mut header = [0; 4];
                ahead.bytes(start, HEADER).unwrap().reader().read_exact(&mut header).unwrap();
                assert_eq!(header, content[start as usize..][..4]);
                if holds_all {
                    needed.push((start, bytes));
                }
            }
            assert_eq!(ahead.get_bytes(298_990, 20).unwrap().len(), 10, "the chunk ends there");
            for (start, bytes) in needed {
                assert_eq!(bytes, content[start as usize..][..bytes.len()], "it was needed all the time");
            }
        }
    }

    #[test]
    fn bytes_that_are_known_are_not_read_again() {
        let ahead = ahead(&content());
        ahead.get_bytes(10, 20).unwrap();
        let ColumnBytes::File(file) = &ahead.bytes else { unreachable!("it is one") };
        file.set_len(0).unwrap();
        let known = 1000..10 + AHEAD as usize;
        assert_eq!(ahead.get_bytes(1000, 200_000).unwrap(), content()[known], "the file has nothing more");
    }
}
