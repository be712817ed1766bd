//! What the messages of an Arrow file or stream claim, checked before anybody makes room for it.
//!
//! Arrow has no checksums. Its reader believes the lengths that a message states and allocates that much, so that one
//! flipped bit would end the program.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_ipc::{BodyCompression, Message, RecordBatch, root_as_footer, root_as_message};

use crate::formats::batches::LONGEST_LINE;
use crate::ipc::limit::Limit;

/// Bytes of a message's description at most.
const LONGEST_DESCRIPTION: usize = LONGEST_LINE;

/// Bytes that one compressed byte can stand for: a block of 128 KB takes four bytes in zstd; lz4 reaches 255.
const MOST_RATIO: u64 = 1 << 15;

/// Bytes of a compressed buffer that hold its length before compression.
const CLAIM: u64 = 8;

const MARKER: [u8; 4] = [0xff; 4];

fn odd(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// A stream whose messages are looked at as a whole before they are handed on.
#[derive(Debug)]
pub(crate) struct CheckedStream<R> {
    inner: R,
    message: Cursor<Vec<u8>>,
    ended: bool,
    watch: Watch,
}

/// What the reader of a stream and its owner share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    /// What messages may take, once it is known which columns are read.
    pub(crate) limit: Arc<OnceLock<Limit>>,
    cut_short: Arc<AtomicBool>,
}

impl Watch {
    /// Set when the stream has ended without its end mark.
    pub(crate) fn cut_short(&self) -> Arc<AtomicBool> {
        self.cut_short.clone()
    }
}

impl<R: Read> CheckedStream<R> {
    pub(crate) fn new(inner: R, watch: Watch) -> Self {
        CheckedStream { inner, message: Cursor::default(), ended: false, watch }
    }

    fn next_message(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        let mut length = self.take(4, &mut bytes)?;
        if length == Some(MARKER) {
            length = self.take(4, &mut bytes)?;
        }
        // Nothing more, or a length of 0, ends a stream. The latter is its end mark.
        if length.is_none() {
            self.watch.cut_short.store(true, Ordering::Relaxed);
            // A part of the mark would be taken for a message that is cut short.
            bytes.clear();
        }
        let Some(length) = length.map(i32::from_le_bytes).filter(|&length| length != 0) else {
            self.ended = true;
            self.message = Cursor::new(bytes);
            return Ok(());
        };
        let length = usize::try_from(length).ok().filter(|&length| length <= LONGEST_DESCRIPTION);
        let length = length.ok_or_else(|| odd("a message has a description of impossible length"))?;
        let start = bytes.len();
        self.extend(length as u64, &mut bytes)?;
        let message = root_as_message(&bytes[start..]).map_err(|e| odd(&format!("a message is none: {e}")))?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| odd("a message has a negative length"))?;
        let limit = self.watch.limit.clone();
        check_buffers(message, body, limit.get(), |_| Ok(None))?;
        let mut content = Vec::new();
        self.extend(body, &mut content)?;
        check_buffers(message, body, limit.get(), |at| {
            Ok(content.get(at..).and_then(|bytes| bytes.first_chunk().copied()))
        })?;
        bytes.append(&mut content);
        self.message = Cursor::new(bytes);
        Ok(())
    }

    /// Four bytes, if there are any more.
    fn take(&mut self, count: u64, bytes: &mut Vec<u8>) -> io::Result<Option<[u8; 4]>> {
        let start = bytes.len();
        self.inner.by_ref().take(count).read_to_end(bytes)?;
        Ok(bytes[start..].first_chunk().copied())
    }

    /// So many bytes more. Room is made as they come.
    fn extend(&mut self, count: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        let read = self.inner.by_ref().take(count).read_to_end(bytes)? as u64;
        if read < count { Err(odd("it ends in the middle of a message")) } else { Ok(()) }
    }
}

impl<R: Read> Read for CheckedStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.message.read(buffer)?;
        if read > 0 || buffer.is_empty() || self.ended {
            return Ok(read);
        }
        self.next_message()?;
        self.message.read(buffer)
    }
}

/// Refuses a file whose messages claim what cannot be. A file without a footer that can be read is for its reader to
/// refuse.
pub(crate) fn check_file(file: &mut (impl Read + Seek), limit: Option<&Limit>) -> io::Result<()> {
    let size = file.seek(SeekFrom::End(0))?;
    let tail = read_at(file, size.saturating_sub(10), 10)?;
    let Some(length) = tail.first_chunk().map(|bytes| i32::from_le_bytes(*bytes)) else { return Ok(()) };
    let length = u64::try_from(length).ok().filter(|&length| length.saturating_add(10) <= size);
    let length = length.ok_or_else(|| odd("its footer is longer than the file"))?;
    let footer = read_at(file, size - 10 - length, length)?;
    let Ok(footer) = root_as_footer(&footer) else { return Ok(()) };
    for block in footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten() {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()].map(u64::try_from);
        let [Ok(at), Ok(description), Ok(body)] = parts else { return Err(odd("a message has a negative length")) };
        let end = at.checked_add(description).and_then(|end| end.checked_add(body)).filter(|&end| end <= size);
        if end.is_none() || description as usize > LONGEST_DESCRIPTION {
            return Err(odd("a message lies outside the file"));
        }
        let bytes = read_at(file, at, description)?;
        let start = if bytes.starts_with(&MARKER) { 8 } else { 4 };
        let message = root_as_message(bytes.get(start..).unwrap_or_default());
        let message = message.map_err(|e| odd(&format!("a message is none: {e}")))?;
        check_buffers(message, body, limit, |place| {
            Ok(read_at(file, at + description + place as u64, CLAIM)?.first_chunk().copied())
        })?;
    }
    Ok(())
}

fn read_at(file: &mut (impl Read + Seek), at: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.by_ref().take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Refuses compressed buffers that claim more than their bytes can hold, or more than there may be. `claim` reads eight bytes
/// of the body.
fn check_buffers(
    message: Message<'_>,
    body: u64,
    limit: Option<&Limit>,
    mut claim: impl FnMut(usize) -> io::Result<Option<[u8; CLAIM as usize]>>,
) -> io::Result<()> {
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let Some(batch): Option<RecordBatch<'_>> = message.header_as_record_batch().or(dictionary) else { return Ok(()) };
    let compression: Option<BodyCompression<'_>> = batch.compression();
    let mut sizes = Vec::new();
    for buffer in batch.buffers().into_iter().flatten() {
        let (Ok(at), Ok(length)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length())) else {
            return Err(odd("a buffer has a negative length"));
        };
        if at.checked_add(length).is_none_or(|end| end > body) {
            return Err(odd("a buffer lies outside its message"));
        }
        sizes.push((length, 0));
        if compression.is_none() || length < CLAIM {
            continue;
        }
        let claimed = claim(at as usize)?.map_or(0, i64::from_le_bytes);
        // -1 says that the buffer is not compressed.
        let most = (length - CLAIM).saturating_mul(MOST_RATIO);
        if claimed < -1 || u64::try_from(claimed).is_ok_and(|claimed| claimed > most) {
            return Err(odd(&format!("{length} compressed bytes claim to hold {claimed}")));
        }
        if let Some(last) = sizes.last_mut() {
            last.1 = u64::try_from(claimed).unwrap_or(0);
        }
    }
    let Some(limit) = limit else { return Ok(()) };
    match message.header_as_dictionary_batch() {
        Some(dictionary) => limit.hold_dictionary(dictionary.id(), &sizes),
        None => limit.hold_batch(&sizes, batch.variadicBufferCounts().into_iter().flatten()),
    }
    .map_err(io::Error::other)
}
