//! The bytes of text files, plain or packed.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};
use crate::formats::batches::Counted;
use crate::formats::detect::{Packing, open_file};

/// The unpacked bytes of a text file without a byte order mark, and the count of packed bytes taken.
pub(crate) fn open_bytes(path: &Path, packing: Packing) -> Result<(Box<dyn BufRead>, Arc<AtomicU64>)> {
    let (file, taken) = Counted::new(open_file(path)?);
    let file = BufReader::with_capacity(1 << 16, file);
    let unpacked: Box<dyn Read> = match packing {
        Packing::None => Box::new(file),
        Packing::Gzip => Box::new(MultiGzDecoder::new(file)),
        Packing::Zstd => {
            let decoder = zstd::stream::read::Decoder::with_buffer(file);
            Box::new(decoder.map_err(|e| Error::unreadable(path, "zstd file", e))?)
        }
    };
    let mut bytes = BufReader::with_capacity(1 << 16, unpacked);
    // Spreadsheets begin their UTF-8 with a mark that would become part of the first column's name.
    let start = bytes.fill_buf().map_err(|e| Error::unreadable(path, "text file", e))?;
    if start.starts_with(b"\xef\xbb\xbf") {
        bytes.consume(3);
    }
    Ok((Box::new(bytes), taken))
}
