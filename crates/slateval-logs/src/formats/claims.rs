//! What the pages of some column chunks claim, checked before anybody makes room for it.

use std::io::Read;
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
    met: Mutex<Met>,
}

/// What a reader met of a chunk.
#[derive(Debug, Default)]
struct Met {
    /// Where the latest page's header begins, and where it ends.
    header: Range<u64>,
    /// Values of all pages.
    values: u64,
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

    /// Refuses a page that claims more than there may be. `bytes` are those from `at` on: a page's header, or what follows
    /// a header that was met before, where a reader had looked at it first.
    pub(crate) fn admit(&self, at: u64, bytes: &mut impl Read) -> Result<()> {
        let odd = |reason: &str| Err(ParquetError::General(reason.into()));
        let next = self.chunks.partition_point(|chunk| chunk.bytes.end <= at);
        let Some(chunk) = self.chunks.get(next).filter(|chunk| chunk.bytes.contains(&at)) else {
            return odd("a page lies outside its column");
        };
        let mut met = chunk.met.lock().unwrap_or_else(PoisonError::into_inner);
        if met.header.end == at {
            return Ok(());
        }
        let claim = Claim::read(bytes)?;
        let size = if chunk.is_packed { claim.unpacked + claim.packed } else { claim.unpacked.max(claim.packed) };
        let held = if claim.is_dictionary {
            // As it is in the file, and as values.
            self.held.hold(chunk.column, Holding::Dictionary, size + claim.unpacked)
        } else {
            // A reader may look at a header twice.
            if met.header.start < at {
                met.values = met.values.saturating_add(claim.values);
            }
            if met.values > chunk.values {
                return odd("the pages of a column have more values than the footer tells of");
            }
            self.held.hold(chunk.column, Holding::Page, size)
        };
        met.header = at..at + claim.header;
        held.map_err(|excess| ParquetError::External(Box::new(excess)))
    }
}
