//! The bytes of text files, plain or packed.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bytes::Buf;
use flate2::read::MultiGzDecoder;

use crate::error::Result;
use crate::find::detect::Packing;
use crate::find::place::Place;
use crate::formats::batches::{Counted, Part};

/// Spreadsheets begin their UTF-8 with a mark that would become part of the first column's name.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The unpacked bytes of a text file, or of a part of a plain one, without a byte order mark, and the count of packed
/// bytes taken.
pub(crate) fn open_bytes(place: &Place, packing: Packing, part: &Part) -> Result<(Box<dyn BufRead>, Arc<AtomicU64>)> {
    let file: Box<dyn Read> = match part {
        Part::Bytes { fetched: Some(bytes), .. } => Box::new(bytes.clone().reader()),
        Part::Bytes { range, .. } => Box::new(place.reader_of(range)?.take(range.end.saturating_sub(range.start))),
        _ => Box::new(place.reader()?),
    };
    let (file, taken) = Counted::new(file);
    let file = BufReader::with_capacity(1 << 16, file);
    let unpacked: Box<dyn Read> = match packing {
        Packing::None => Box::new(file),
        Packing::Gzip => Box::new(MultiGzDecoder::new(file)),
        Packing::Zstd => {
            let decoder = zstd::stream::read::Decoder::with_buffer(file);
            Box::new(decoder.map_err(|e| place.unreadable("zstd file", e))?)
        }
    };
    let mut bytes = BufReader::with_capacity(1 << 16, unpacked);
    let start = bytes.fill_buf().map_err(|e| place.unreadable("text file", e))?;
    if part.begins_file() && start.starts_with(MARK) {
        bytes.consume(MARK.len());
    }
    Ok((Box::new(bytes), taken))
}
