//! The pages of column chunks, unpacked.
//!
//! The `parquet` crate's reader finds pages, checks them, and unpacks them into memory that is new and zeroed for each
//! page. Snappy, the usual packing, is unpacked here instead: into memory that is used again, or not at all where a page
//! did not become shorter and its bytes stand in the file as they are.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use parquet::basic::Compression;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::SerializedPageReader;
use snap::raw::{Decoder, decompress_len};

use crate::chunks::Chunks;

/// Snappy's bytes become at most so many times as many: three of them repeat up to 64 others.
const MOST_TIMES: usize = 22;

/// The pages of one column chunk after the other.
#[derive(Default)]
pub(crate) struct Pages {
    chunk: Option<SerializedPageReader<Chunks>>,
    /// The pages of the chunk come packed.
    is_snappy: bool,
    decoder: Decoder,
    /// Memory of a page that nobody needs any more.
    spare: BytesMut,
}

impl Pages {
    /// Goes on with a column chunk.
    pub(crate) fn open(&mut self, bytes: Chunks, chunk: &ColumnChunkMetaData, rows: usize) -> Option<()> {
        self.is_snappy = chunk.compression() == Compression::SNAPPY;
        let pages = if self.is_snappy {
            // A reader that knows of no packing checks the bytes and hands them out as they are.
            let chunk = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build().ok()?;
            SerializedPageReader::new(Arc::new(bytes), &chunk, rows, None)
        } else {
            SerializedPageReader::new(Arc::new(bytes), chunk, rows, None)
        };
        self.chunk = Some(pages.ok()?);
        Some(())
    }

    /// The next page of the chunk, or none behind its last; `None` if the page cannot be read.
    pub(crate) fn next(&mut self) -> Option<Option<Page>> {
        let Some(chunk) = &mut self.chunk else { return Some(None) };
        let Some(mut page) = chunk.get_next_page().ok()? else { return Some(None) };
        if self.is_snappy {
            self.unpack(&mut page)?;
        }
        Some(Some(page))
    }

    /// Takes the memory of a page back, unless others need it.
    pub(crate) fn recycle(&mut self, page: Page) {
        let (Page::DataPage { buf, .. } | Page::DataPageV2 { buf, .. } | Page::DictionaryPage { buf, .. }) = page;
        if let Ok(spare) = buf.try_into_mut()
            && spare.len() > self.spare.len()
        {
            self.spare = spare;
        }
    }

    fn unpack(&mut self, page: &mut Page) -> Option<()> {
        match page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => *buf = self.unpacked(buf, 0)?,
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed: true, .. } => {
                let levels = def_levels_byte_len.checked_add(*rep_levels_byte_len)?;
                *buf = self.unpacked(buf, levels as usize)?;
            }
            Page::DataPageV2 { .. } => {}
        }
        Some(())
    }

    /// Unpacks bytes, all but the first few.
    fn unpacked(&mut self, bytes: &Bytes, first: usize) -> Option<Bytes> {
        let packed = bytes.get(first..)?;
        let length = decompress_len(packed).ok()?;
        if first == 0 && literal(packed) == Some(length) {
            return Some(bytes.slice(bytes.len() - length..));
        }
        // A damaged length must not claim all memory that there is.
        if length > packed.len().saturating_mul(MOST_TIMES) {
            return None;
        }
        let mut unpacked = std::mem::take(&mut self.spare);
        unpacked.resize(first + length, 0);
        unpacked[..first].copy_from_slice(&bytes[..first]);
        if length > 0 && self.decoder.decompress(packed, &mut unpacked[first..]).ok()? != length {
            return None;
        }
        Some(unpacked.freeze())
    }
}

/// How many bytes stand at the end as they are, if all before them is the total length and the mark of one literal:
/// nothing was found that repeats.
fn literal(packed: &[u8]) -> Option<usize> {
    let total = 1 + packed.iter().position(|byte| byte & 0x80 == 0)?;
    let (&mark, rest) = packed.get(total..)?.split_first()?;
    // The lowest two bits are the kind, the others the length less one, or how many bytes of it follow.
    let (kind, short) = (mark & 3, usize::from(mark >> 2));
    let (length, rest) = match short.checked_sub(59) {
        None | Some(0) => (short, rest),
        Some(bytes) => {
            let (length, rest) = rest.split_at_checked(bytes)?;
            (length.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
    };
    (kind == 0 && length + 1 == rest.len()).then_some(rest.len())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use slateval_testing::Random;
    use snap::raw::Encoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Bytes {
        Encoder::new().compress_vec(bytes).unwrap().into()
    }

    /// Bytes in which nothing repeats.
    fn various(count: usize) -> Vec<u8> {
        let mut random = Random::new(1);
        (0..count).map(|_| (random.bits() >> 56) as u8).collect()
    }

    #[test]
    fn pages_become_what_they_were() {
        let mut pages = Pages::default();
        for count in [0, 1, 59, 60, 61, 62, 256, 257, 4000, 65_536, 65_537, 200_000] {
            let repeating: Vec<u8> = (0..count).map(|i| (i / 40 % 7) as u8).collect();
            for bytes in [various(count), repeating] {
                assert_eq!(pages.unpacked(&packed(&bytes), 0).unwrap(), bytes, "{count} bytes");
                let behind_levels: Bytes = [&[7, 8, 9], &packed(&bytes)[..]].concat().into();
                let unpacked = pages.unpacked(&behind_levels, 3).unwrap();
                assert_eq!(unpacked, [&[7, 8, 9], &bytes[..]].concat(), "{count} bytes");
            }
        }
    }

    #[test]
    fn bytes_that_do_not_repeat_are_not_copied() {
        for count in [1, 60, 61, 300, 60_000] {
            let packed = packed(&various(count));
            let unpacked = Pages::default().unpacked(&packed, 0).unwrap();
            assert!(packed.as_ptr_range().contains(&unpacked.as_ptr()), "{count} bytes");
        }
    }

    #[test]
    fn memory_is_used_again() {
        let mut pages = Pages::default();
        let page = |buf| Page::DictionaryPage {
            buf,
            num_values: 0,
            encoding: parquet::basic::Encoding::PLAIN,
            is_sorted: false,
        };
        let unpacked = pages.unpacked(&packed(&[1; 5000]), 0).unwrap();
        let place = unpacked.as_ptr();
        pages.recycle(page(unpacked.clone()));
        assert!(pages.spare.is_empty(), "somebody needs it");
        pages.recycle(page(unpacked));
        let next = pages.unpacked(&packed(&[2; 4000]), 0).unwrap();
        assert_eq!((next.as_ptr(), &next[..]), (place, &[2; 4000][..]));
    }

    #[test]
    fn damaged_pages_give_nothing() {
        let mut pages = Pages::default();
        let whole = packed(&[1; 100]);
        assert_eq!(pages.unpacked(&whole.slice(..whole.len() - 1), 0), None, "an end that is missing");
        assert_eq!(pages.unpacked(&whole, whole.len() + 1), None, "levels that are missing");
        assert_eq!(pages.unpacked(&Bytes::from_static(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0]), 0), None, "too long");
        assert_eq!(pages.unpacked(&Bytes::from_static(&[0x80]), 0), None, "a length that is missing");
        assert_eq!(pages.unpacked(&Bytes::from_static(&[5, 63 << 2, 1]), 0), None, "a mark that is cut off");
        assert_eq!(pages.unpacked(&Bytes::from_static(&[5, 2 << 2, 1, 2, 3]), 0), None, "lengths that differ");
        assert_eq!(pages.unpacked(&Bytes::from_static(&[3, 2 << 2, 1, 2, 3]), 0).unwrap(), [1, 2, 3][..]);
    }
}
