//! What the pages of some column chunks claim, checked before anybody makes room for it.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;

use crate::formats::page_header::Claim;
use crate::formats::room::{Held, Holding};

/// The pages of some columns of some row groups, as one reader meets them.
#[derive(Debug)]
pub(crate) struct Claims {
    /// In the order of the file.
    chunks: Vec<Chunk>,
    held: Arc<Held>,
}

#[derive(Debug)]
struct Chunk {
    bytes: Range<u64>,
    column: usize,
    is_packed: bool,
    /// Values that the footer tells of.
    values: u64,
    /// Where the page begins that was met last, and the values of all pages up to it.
    met: Mutex<(u64, u64)>,
}

impl Claims {
    /// `columns` are leaves of the schema.
    pub(crate) fn new(footer: &ParquetMetaData, columns: &[usize], groups: Range<usize>, held: Arc<Held>) -> Arc<Self> {
        let chunk = |group: usize, column: usize| {
            let chunk = footer.row_group(group).column(column);
            let (start, length) = chunk.byte_range();
            Chunk {
                bytes: start..start.saturating_add(length),
                column,
                is_packed: chunk.compression() != Compression::UNCOMPRESSED,
                values: u64::try_from(chunk.num_values()).unwrap_or(0),
                met: Mutex::default(),
            }
        };
        let mut chunks: Vec<Chunk> =
            groups.flat_map(|group| columns.iter().map(move |&column| chunk(group, column))).collect();
        chunks.sort_by_key(|chunk| chunk.bytes.start);
        Arc::new(Claims { chunks, held })
    }

    #[cfg(test)]
    pub(crate) fn of_nothing() -> Arc<Self> {
        Arc::new(Claims { chunks: Vec::new(), held: crate::formats::room::Room::new(0, 1).reader() })
    }

    pub(crate) fn held(&self) -> &Arc<Held> {
        &self.held
    }

    /// Refuses a page that claims more than there may be. Its header begins at `at`, with these bytes.
    pub(crate) fn admit(&self, at: u64, header: &[u8]) -> Result<()> {
        let odd = |reason: &str| Err(ParquetError::General(reason.into()));
        let next = self.chunks.partition_point(|chunk| chunk.bytes.end <= at);
        let Some(chunk) = self.chunks.get(next).filter(|chunk| chunk.bytes.contains(&at)) else {
            return odd("a page lies outside its column");
        };
        // A header of another make is for its reader to refuse.
        let Some(claim) = Claim::of(header) else { return Ok(()) };
        let bytes = if chunk.is_packed { claim.unpacked + claim.packed } else { claim.unpacked.max(claim.packed) };
        let held = if claim.is_dictionary {
            // As it is in the file, and as values.
            self.held.hold(chunk.column, Holding::Dictionary, bytes + claim.unpacked)
        } else {
            if !chunk.expects(at, claim.values) {
                return odd("the pages of a column have more values than the footer tells of");
            }
            self.held.hold(chunk.column, Holding::Page, bytes)
        };
        held.map_err(|excess| ParquetError::External(Box::new(excess)))
    }
}

impl Chunk {
    /// Counts the values of a page, unless it was met before.
    fn expects(&self, at: u64, values: u64) -> bool {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        if met.0 < at {
            *met = (at, met.1.saturating_add(values));
        }
        met.1 <= self.values
    }
}
