//! The bytes of column chunks, as the `parquet` crate's page readers ask for them: read ahead, and never more of them than a
//! page may claim.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::buf::Reader;
use bytes::{Buf, Bytes, BytesMut};
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use crate::claim::{Claim, LONGEST};
use crate::memory::Account;
use crate::{Source, Use};

/// Bytes read at once. Columns take turns, so what they all hold should fit into the processor's cache.
const AHEAD: u64 = 1 << 17;

/// Bytes asked for at once, where more are wanted.
const STEP: usize = 1 << 20;

/// Bytes in which the header of a page is as a rule.
const HEADER: u64 = 1 << 13;

/// Some columns of some row groups, as one reader meets their pages.
#[derive(Debug, Clone)]
pub(crate) struct Chunks(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    source: Arc<Source>,
    /// In the order of the file.
    chunks: Vec<Chunk>,
    /// One for each column.
    windows: Vec<Mutex<Window>>,
    account: Arc<Account>,
}

#[derive(Debug)]
struct Chunk {
    bytes: Range<u64>,
    leaf: usize,
    window: usize,
    is_packed: bool,
    /// Values that the footer tells of.
    values: u64,
    met: Mutex<Met>,
}

/// What a reader met of a chunk.
#[derive(Debug, Default)]
struct Met {
    /// Where the latest page's header begins, and where it ends.
    header: Range<u64>,
    /// The page has no bytes: where its header ends, the next one begins.
    is_empty: bool,
    /// Values of all pages.
    values: u64,
}

impl Chunks {
    pub(crate) fn new(
        source: Arc<Source>,
        footer: &ParquetMetaData,
        leaves: &[usize],
        groups: Range<usize>,
        account: Arc<Account>,
    ) -> Self {
        let chunk = |group: usize, window: usize| {
            let chunk = footer.row_group(group).column(leaves[window]);
            let (start, length) = chunk.byte_range();
            Chunk {
                bytes: start..start.saturating_add(length),
                leaf: leaves[window],
                window,
                is_packed: chunk.compression() != Compression::UNCOMPRESSED,
                values: u64::try_from(chunk.num_values()).unwrap_or(0),
                met: Mutex::default(),
            }
        };
        let windows = 0..leaves.len();
        let mut chunks: Vec<Chunk> =
            groups.flat_map(|group| windows.clone().map(move |window| chunk(group, window))).collect();
        chunks.sort_by_key(|chunk| chunk.bytes.start);
        Chunks(Arc::new(Inner { source, chunks, windows: windows.map(|_| Mutex::default()).collect(), account }))
    }

    /// The chunk that has the byte at a place.
    fn chunk(&self, at: u64) -> Result<&Chunk> {
        let next = self.0.chunks.partition_point(|chunk| chunk.bytes.end <= at);
        let chunk = self.0.chunks.get(next).filter(|chunk| chunk.bytes.contains(&at));
        chunk.ok_or_else(|| ParquetError::General("a page lies outside its column".into()))
    }

    /// Bytes of a chunk from `start` on: `least` or more, or fewer if it ends before.
    fn bytes(&self, chunk: &Chunk, start: u64, least: u64) -> Result<Bytes> {
        let left = chunk.bytes.end - start;
        match &*self.0.source {
            Source::File(file) => {
                let mut window = lock(&self.0.windows[chunk.window]);
                Ok(window.bytes(file, start, least.min(left), least.max(AHEAD).min(left))?)
            }
            Source::Fetch(fetch) => fetch(start, least.min(left)),
        }
    }

    /// Refuses a page that claims more than there may be.
    fn admit(&self, chunk: &Chunk, met: &mut Met, at: u64, claim: Claim) -> Result<()> {
        let size = if chunk.is_packed { claim.unpacked + claim.packed } else { claim.unpacked.max(claim.packed) };
        let (used, size) = if claim.is_dictionary {
            // As it is in the file, and as values.
            (Use::Dictionary, size + claim.unpacked)
        } else {
            // A reader may look at a header twice.
            if met.header.start < at {
                met.values = met.values.saturating_add(claim.values);
            }
            if met.values > chunk.values {
                let reason = "the pages of a column have more values than the footer tells of";
                return Err(ParquetError::General(reason.into()));
            }
            (Use::Page, size)
        };
        (met.header, met.is_empty) = (at..at + claim.header, claim.packed == 0);
        self.0.account.hold(chunk.leaf, used, size)
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.chunks.iter().map(|chunk| chunk.bytes.end).max().unwrap_or(0)
    }
}

impl ChunkReader for Chunks {
    type T = Bounded<Reader<Bytes>>;

    /// Readers ask for bytes in this way where a page's header begins, or ends if they looked at it before. They get a copy of
    /// the header: they still have it when they ask for the page, and would keep the memory that the page should be read into.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let chunk = self.chunk(start)?;
        let mut met = lock(&chunk.met);
        if met.header.end == start && !met.is_empty {
            return Ok(Bounded(Bytes::new().reader()));
        }
        let mut bytes = self.bytes(chunk, start, HEADER)?;
        let mut claim = Claim::read(&mut &bytes[..]);
        if claim.is_err() && bytes.len() as u64 >= HEADER {
            bytes = self.bytes(chunk, start, LONGEST)?;
            claim = Claim::read(&mut &bytes[..]);
        }
        let claim = claim?;
        self.admit(chunk, &mut met, start, claim)?;
        // More than the header: a damaged one may be longer for another reader.
        let length = bytes.len().min(HEADER.max(claim.header) as usize);
        Ok(Bounded(Bytes::copy_from_slice(&bytes[..length]).reader()))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if length == 0 {
            return Ok(Bytes::new());
        }
        let mut bytes = self.bytes(self.chunk(start)?, start, length as u64)?;
        if bytes.len() < length {
            let reason = format!("Expected to read {length} bytes, read only {}", bytes.len());
            return Err(ParquetError::EOF(reason));
        }
        bytes.truncate(length);
        Ok(bytes)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fails at the end, in place of reading nothing.
///
/// The `parquet` crate skips what it does not know of a page's header by copying it away, which succeeds behind the end of
/// the bytes too. A damaged header may tell of two thousand million numbers: it took minutes to skip them one by one.
#[derive(Debug)]
pub(crate) struct Bounded<R>(R);

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.0.read(to)? {
            0 if !to.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

/// Bytes of a file that stand at the beginning of some memory. Memory is zeroed when it grows, and used again.
#[derive(Debug, Default)]
struct Window {
    start: u64,
    length: usize,
    memory: Bytes,
}

impl Window {
    /// Bytes from `start` on, `least` or more if the file has them. If it has to be read, `wanted` bytes are.
    fn bytes(&mut self, file: &File, start: u64, least: u64, wanted: u64) -> Result<Bytes> {
        if start < self.start || start + least > self.start + self.length as u64 {
            *self = std::mem::take(self).read_on(file, start, usize::try_from(wanted)?)?;
        }
        let from = usize::try_from(start - self.start)?;
        Ok(self.memory.slice(from.min(self.length)..self.length))
    }

    /// Holds `wanted` bytes from `start` on instead, or fewer if the file ends before. Known bytes are not read again.
    ///
    /// Asked for in large steps, but not at once: a damaged file may tell of far more bytes than it has.
    fn read_on(self, mut file: &File, start: u64, wanted: usize) -> io::Result<Window> {
        let (mut memory, mut length) = self.reuse(start, wanted);
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
                Err(error) => return Err(error),
            }
        }
        Ok(Window { start, length, memory: memory.freeze() })
    }

    /// Memory to read into, and how many bytes at its beginning are those from `start` on. It is the same memory, unless a page
    /// still needs it: new memory would be mapped page by page.
    fn reuse(self, start: u64, wanted: usize) -> (BytesMut, usize) {
        let past = start.checked_sub(self.start).and_then(|past| usize::try_from(past).ok());
        let known = self.length - past.map_or(self.length, |past| past.min(self.length));
        let bytes = self.length - known..self.length;
        let memory = self.memory.try_into_mut().map(|mut own| {
            own.copy_within(bytes.clone(), 0);
            own
        });
        let memory = memory.unwrap_or_else(|shared| {
            let mut new = BytesMut::with_capacity(wanted.min(STEP));
            new.extend_from_slice(&shared[bytes]);
            new
        });
        (memory, known)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{Write, copy, sink};

    use super::*;
    use crate::Unlimited;

    const LENGTH: u64 = 299_000;

    fn content() -> Vec<u8> {
        (0..300_000_u32).map(|i| (i % 251) as u8).collect()
    }

    /// One chunk of a file.
    fn chunks(content: &[u8]) -> Chunks {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        let met = Mutex::default();
        let chunk = Chunk { bytes: 0..LENGTH, leaf: 0, window: 0, is_packed: false, values: 0, met };
        let (source, account) = (Arc::new(Source::File(file)), Arc::new(Account::new(Arc::new(Unlimited))));
        Chunks(Arc::new(Inner { source, chunks: vec![chunk], windows: vec![Mutex::default()], account }))
    }

    #[test]
    fn bytes_are_those_of_the_file_wherever_they_are_asked_for() {
        let content = content();
        let places = [(0, 10), (100_000, 31_072), (131_000, 200), (5, 200_000), (100, 250_000), (298_990, 10), (7, 0)];
        for holds_all in [false, true] {
            let (chunks, mut needed) = (chunks(&content), Vec::new());
            for (start, length) in places {
                let bytes = chunks.get_bytes(start, length).unwrap();
                assert_eq!(bytes, content[start as usize..][..length]);
                let header = chunks.bytes(&chunks.0.chunks[0], start, HEADER).unwrap();
                assert_eq!(header[..4], content[start as usize..][..4]);
                if holds_all {
                    needed.push((start, bytes));
                }
            }
            assert!(chunks.get_bytes(298_990, 20).is_err(), "the chunk ends there");
            for (start, bytes) in needed {
                assert_eq!(bytes, content[start as usize..][..bytes.len()], "it was needed all the time");
            }
        }
    }

    #[test]
    fn bytes_that_are_known_are_not_read_again() {
        let chunks = chunks(&content());
        chunks.get_bytes(10, 20).unwrap();
        let Source::File(file) = &*chunks.0.source else { unreachable!("it is one") };
        file.set_len(0).unwrap();
        let known = 1000..10 + AHEAD as usize;
        let bytes = chunks.bytes(&chunks.0.chunks[0], 1000, 200_000).unwrap();
        assert_eq!(bytes, content()[known], "the file has nothing more");
    }

    #[test]
    fn memory_is_used_again_unless_a_page_needs_it() {
        let chunks = chunks(&content());
        let read = |start| chunks.get_bytes(start, 130_000).unwrap();
        let first = read(0);
        let place = first.as_ptr();
        drop(first);
        let second = read(140_000);
        assert_eq!(second.as_ptr(), place);
        assert_ne!(read(0).as_ptr(), place);
        assert_eq!(second, content()[140_000..270_000]);
    }

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
