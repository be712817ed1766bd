//! A column chunk of a Parquet file, read ahead: one read of the file serves the headers and bytes of many pages.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

use crate::formats::store::{Columns, refused};

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
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    start: u64,
    bytes: Bytes,
}

impl ReadAhead {
    pub(crate) fn new(bytes: ColumnBytes, end: u64) -> Self {
        ReadAhead { bytes, end, held: Mutex::default() }
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
        let end = held.start + held.bytes.len() as u64;
        if start < held.start || start + least > end {
            let length = least.max(AHEAD.min(self.end.saturating_sub(start)));
            let spare = std::mem::take(&mut held.bytes).try_into_mut().unwrap_or_default();
            let bytes = read_again(file, start, length, spare.into())?;
            *held = Held { start, bytes };
        }
        let from = usize::try_from(start - held.start)?;
        Ok(held.bytes.slice(from.min(held.bytes.len())..))
    }
}

/// So many bytes, or fewer if the file ends before. Memory that no page needs any more is used again: new memory would be
/// mapped page by page.
///
/// Asked for in large steps: `read_to_end` begins with a few kilobytes and asks five times where this asks once. But a damaged
/// file may tell of far more bytes than it has.
fn read_again(mut file: &File, start: u64, length: u64, mut into: Vec<u8>) -> Result<Bytes> {
    let length = usize::try_from(length)?;
    file.seek(SeekFrom::Start(start))?;
    let mut read = 0;
    while read < length {
        into.resize(length.min(read + STEP), 0);
        match file.read(&mut into[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    into.truncate(read);
    Ok(into.into())
}

impl Length for ReadAhead {
    fn len(&self) -> u64 {
        self.end
    }
}

impl ChunkReader for ReadAhead {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(self.bytes(start, HEADER)?.reader())
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

    #[test]
    fn bytes_are_those_of_the_file_wherever_they_are_asked_for() {
        let content: Vec<u8> = (0..300_000_u32).map(|i| (i % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &content).unwrap();
        let ahead = ReadAhead::new(ColumnBytes::File(Arc::new(file)), 299_000);
        for (start, length) in [(0, 10), (100_000, 31_072), (131_000, 200), (5, 200_000), (298_990, 10), (7, 0)] {
            assert_eq!(ahead.get_bytes(start, length).unwrap(), content[start as usize..][..length]);
            let mut header = [0; 4];
            ahead.get_read(start).unwrap().read_exact(&mut header).unwrap();
            assert_eq!(header, content[start as usize..][..4]);
        }
        assert_eq!(ahead.get_bytes(298_990, 20).unwrap().len(), 10, "the chunk ends there");
    }
}
