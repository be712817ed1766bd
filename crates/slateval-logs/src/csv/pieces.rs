//! Text files cut into pieces at the ends of records, so that threads can share a file.
//!
//! Piece `i` has the records that begin in bytes `i * size .. (i + 1) * size`. Where a record begins depends on all
//! quotes before it: a line may end inside a cell. So pieces are found one after the other, each from the end of the
//! one before, by looking at quotes and line ends alone, which takes a small part of the time that reading takes. Of an
//! object, the bytes of a piece are kept for whoever asked for it: they are fetched once.

use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use memchr::memchr;

use crate::csv::quotes::Quotes;
use crate::error::Result;
use crate::find::detect::{Format, Packing};
use crate::find::place::{Place, Reader};
use crate::formats::batches::Part;
use crate::formats::packed::MARK;

/// Bytes of a piece: some ten thousand rows, so that what a piece costs by itself does not count.
pub(crate) const PIECE: u64 = 16 << 20;

/// Bytes looked at at once.
const BLOCK: usize = 1 << 18;

/// The pieces of one file.
#[derive(Debug)]
pub(crate) struct Pieces {
    place: Place,
    /// What separates cells where quotes have a meaning (CSV).
    delimiter: Option<u8>,
    size: u64,
    count: usize,
    found: Mutex<Found>,
}

#[derive(Debug)]
struct Found {
    /// Where each piece begins that was looked for.
    starts: Vec<u64>,
    file: Option<Reader>,
}

impl Pieces {
    /// The pieces of a file of so many bytes, if it is text that can be cut: packed files are read from the beginning, and so
    /// are files of servers that send no parts.
    pub(crate) fn of(place: &Place, format: Format, bytes: u64, size: u64) -> Option<Pieces> {
        let delimiter = match format {
            Format::Csv { delimiter, packing: Packing::None } => Some(delimiter),
            Format::JsonLines { packing: Packing::None } => None,
            _ => return None,
        };
        let count = usize::try_from(bytes.div_ceil(size)).ok().filter(|&count| count > 1 && !place.is_sent_whole())?;
        let found = Mutex::new(Found { starts: vec![0], file: None });
        Some(Pieces { place: place.clone(), delimiter, size, count, found })
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// A piece, which begins and ends with a record; the last one goes on to the end of the file.
    pub(crate) fn part(&self, piece: usize) -> Result<Part> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let last = if piece + 1 == self.count { piece } else { piece + 1 };
        let mut fetched = None;
        while found.starts.len() <= last {
            let passed = self.find_next(&mut found)?;
            fetched = passed.filter(|_| found.starts.len() == piece + 2);
        }
        let range = found.starts[piece]..found.starts.get(piece + 1).copied().unwrap_or(u64::MAX);
        Ok(Part::Bytes { range, first_row: 0, fetched })
    }

    /// Finds the beginning of the next piece: the first record that begins at its first byte or behind it. Returns the
    /// bytes before it, if they were fetched.
    fn find_next(&self, found: &mut Found) -> Result<Option<Bytes>> {
        let file = match &mut found.file {
            Some(file) => file,
            // The last piece is read by whoever asks for it.
            none => none.insert(self.place.reader_of(&(0..self.size * (self.count as u64 - 1)))?),
        };
        let wanted = self.size * found.starts.len() as u64;
        let start = found.starts.last().copied().unwrap_or(0);
        let mut passed = matches!(self.place, Place::Object(_)).then(Vec::new);
        let next = next_record(file, start, wanted, self.delimiter, &mut passed);
        let next = next.map_err(|e| self.place.unreadable("text file", e))?;
        found.starts.push(next);
        let length = usize::try_from(next - start).unwrap_or(usize::MAX);
        Ok(passed.map(|mut passed| {
            passed.truncate(length);
            passed.into()
        }))
    }
}

/// Where the first record begins at or behind `wanted`; one begins at `start`. Copies what it passes, if that is wanted.
fn next_record(
    file: &mut Reader,
    start: u64,
    wanted: u64,
    delimiter: Option<u8>,
    passed: &mut Option<Vec<u8>>,
) -> std::io::Result<u64> {
    let mut at = start;
    let mut quotes = Quotes::new(delimiter);
    let mut block = vec![0; BLOCK];
    let mut copy = |bytes: &[u8]| {
        if let Some(passed) = passed {
            passed.extend_from_slice(bytes);
        }
    };
    file.seek(SeekFrom::Start(at))?;
    while at < wanted {
        let length = usize::try_from(wanted - at).map_or(BLOCK, |left| left.min(BLOCK));
        let read = file.read(&mut block[..length])?;
        if read == 0 {
            return Ok(at);
        }
        copy(&block[..read]);
        let mark = if at == 0 && block[..read].starts_with(MARK) { MARK.len() } else { 0 };
        quotes.pass(&block[mark..read]);
        at += read as u64;
    }
    // A record may have ended with the last byte.
    while !quotes.at_line_end() {
        let read = file.read(&mut block)?;
        if read == 0 {
            break;
        }
        copy(&block[..read]);
        at += pass_line(&mut quotes, &block[..read]) as u64;
    }
    Ok(at)
}

/// Goes on behind the first line end outside quotes, or behind all bytes; returns how many that are.
fn pass_line(quotes: &mut Quotes, bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr(b'\n', &bytes[at..]) {
        quotes.pass(&bytes[at..=at + found]);
        at += found + 1;
        if quotes.at_line_end() {
            return at;
        }
    }
    quotes.pass(&bytes[at..]);
    bytes.len()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Where records begin, by a reader that looks at one byte after the other.
    fn record_starts(text: &[u8]) -> Vec<u64> {
        let mut starts = vec![0];
        let (mut quoted, mut fresh, mut at) = (false, true, 0);
        while at < text.len() {
            match (text[at], quoted) {
                (b'"', true) if text.get(at + 1) == Some(&b'"') => at += 1,
                (b'"', true) => quoted = false,
                (b'"', false) if fresh => quoted = true,
                (b'\n', false) => starts.push(at as u64 + 1),
                _ => {}
            }
            fresh = !quoted && matches!(text[at], b',' | b'\n' | b'\r');
            at += 1;
        }
        starts
    }

    fn check(text: &str) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        let starts = record_starts(text.as_bytes());
        let end = text.len() as u64;
        for size in 1..end {
            let format = Format::Csv { delimiter: b',', packing: Packing::None };
            let pieces = Pieces::of(&path.clone().into(), format, end, size).unwrap();
            let range = |i: usize| match pieces.part(i).unwrap() {
                Part::Bytes { range, .. } => range,
                other => panic!("{other:?}"),
            };
            // The last piece first: threads may come in any order.
            let ranges: Vec<_> = (0..pieces.count()).rev().map(range).collect();
            for (i, range) in ranges.iter().rev().enumerate() {
                let first = starts.iter().copied().find(|&s| s >= size * i as u64).unwrap_or(end);
                assert_eq!(range.start, first, "piece {i} of {size} bytes of {text:?}");
            }
            assert!(ranges.windows(2).all(|pair| pair[1].end == pair[0].start));
            assert_eq!(ranges[0].end, u64::MAX);
        }
    }

    #[test]
    fn pieces_begin_where_records_do() {
        check("a,b\n1,2\n3,4\n5,6\n");
        check("a,b\r\n1,2\r\n\r\n3,4");
        check("\"a\",b\n\"1\n2\",\"\"\n\"\"\"\n\",3\n\"x\"\"\n\"\"\",\"\n\"\n4,5\n");
        // Quotes inside a cell that does not begin with one are text.
        check("a,b\n5\" pipe,1\nx\"y\"z,\"q\"\"\n\"r\n\"\"\"\"\"\n\",2\n7,8\n");
        // A quote that is never closed.
        check("a,b\n1,2\n\"3,4\n5,6\n");
    }

    #[test]
    fn packed_and_small_files_stay_whole() {
        let of = |format, bytes| Pieces::of(&PathBuf::from("a").into(), format, bytes, 10);
        assert!(of(Format::Csv { delimiter: b',', packing: Packing::Gzip }, 100).is_none());
        assert!(of(Format::Parquet, 100).is_none());
        assert!(of(Format::JsonLines { packing: Packing::None }, 10).is_none());
        assert_eq!(of(Format::JsonLines { packing: Packing::None }, 11).unwrap().count(), 2);
    }
}
