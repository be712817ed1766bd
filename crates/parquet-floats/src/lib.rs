//! Parquet as record batches: columns of floats are decoded here, all others by the [`parquet`] crate.
//!
//! Most columns of a log are floats without nulls, or lists of them, stored plainly or with a dictionary. Such pages need
//! little: levels that are only compared, and places in a dictionary that are looked up. Whatever else a page has, the
//! `parquet` crate's Arrow reader takes over, from the same row on, so every file that it reads is read here too, with the
//! same values.
//!
//! ```
//! use std::{fs::File, sync::Arc};
//!
//! use arrow_array::{ArrayRef, Float32Array, RecordBatch};
//! use parquet::arrow::{ArrowWriter, arrow_reader::ArrowReaderMetadata};
//! use parquet_floats::{Request, Source, open};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log.parquet");
//! let values: ArrayRef = Arc::new(Float32Array::from(vec![0.5, 0.25, 0.5]));
//! let batch = RecordBatch::try_from_iter([("reward", values)])?;
//! let mut writer = ArrowWriter::try_new(File::create(&path)?, batch.schema(), None)?;
//! writer.write(&batch)?;
//! writer.close()?;
//!
//! let file = File::open(&path)?;
//! let footer = ArrowReaderMetadata::load(&file, Default::default())?;
//! let mut batches = open(Request::new(Source::File(file), footer))?;
//! assert_eq!(batches.next().transpose()?, Some(batch));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Damaged files
//!
//! A file of some kilobytes may claim gigabytes. What a page claims is checked against the footer, and admitted by
//! [`Memory`], before room is made for it. The `parquet` crate may panic on a damaged file; this crate's own code does not.

mod batches;
mod bits;
mod chunks;
mod claim;
mod column;
mod levels;
mod long_lists;
mod memory;
mod numbers;
mod pages;
mod row_lengths;
mod unpack;

use std::error::Error as StdError;
use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::ArrowError;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::errors::ParquetError;

pub use batches::Batches;

/// Opens some columns of some row groups of a file.
///
/// # Errors
///
/// If the footer contradicts itself, or a first page claims more memory than there may be.
pub fn open(request: Request) -> Result<Batches, Error> {
    Batches::new(request)
}

/// What to read of a file.
#[derive(Debug)]
pub struct Request {
    /// Where the file's bytes come from.
    pub source: Source,
    /// The file's footer. Its schema may ask for other types than the file's own, as far as the `parquet` crate has them.
    pub footer: ArrowReaderMetadata,
    /// Columns of the schema, ascending.
    pub columns: Vec<usize>,
    /// Row groups of the file.
    pub row_groups: Range<usize>,
    /// Rows of a batch; the last one has fewer.
    pub batch_rows: usize,
    /// Admits memory.
    pub memory: Arc<dyn Memory>,
    /// Has the `parquet` crate decode all columns. Pages are checked as otherwise.
    pub library_only: bool,
}

impl Request {
    /// All columns of all rows, in whatever memory it takes.
    pub fn new(source: Source, footer: ArrowReaderMetadata) -> Self {
        let columns = (0..footer.schema().fields().len()).collect();
        let row_groups = 0..footer.metadata().num_row_groups();
        let memory = Arc::new(Unlimited);
        Request { source, footer, columns, row_groups, batch_rows: 16_384, memory, library_only: false }
    }
}

/// Bytes of a file from a place on: as many as are asked for or more, or fewer if the file ends before.
pub type Fetch = dyn Fn(u64, u64) -> Result<Bytes, ParquetError> + Send + Sync;

/// Where the bytes of a file come from.
pub enum Source {
    /// A file on this machine. Its position is moved: it must not be shared with other readers.
    File(File),
    /// Anything else, such as object storage. It should read ahead by itself.
    Fetch(Box<Fetch>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(file) => f.debug_tuple("File").field(file).finish(),
            Source::Fetch(_) => f.write_str("Fetch"),
        }
    }
}

/// What memory of a column is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// The page being read, as it is in the file and unpacked.
    Page,
    /// The dictionary of the pages being read.
    Dictionary,
    /// The values of a batch.
    Values,
}

/// Admits the memory that a reader needs, before it is allocated.
pub trait Memory: fmt::Debug + Send + Sync {
    /// Admits this number of bytes for one use of a leaf column, in place of the number before.
    ///
    /// # Errors
    ///
    /// If that is too much. The reader stops with [`Error::Memory`].
    fn hold(&self, leaf: usize, used: Use, bytes: u64) -> Result<(), Box<dyn StdError + Send + Sync>>;

    /// Whether this number of bytes, beside those that are held, needs no closer look.
    fn has_room_for(&self, bytes: u64) -> bool;
}

/// Admits everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unlimited;

impl Memory for Unlimited {
    fn hold(&self, _: usize, _: Use, _: u64) -> Result<(), Box<dyn StdError + Send + Sync>> {
        Ok(())
    }

    fn has_room_for(&self, _: u64) -> bool {
        true
    }
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A row group has more or fewer values of a column than rows, as only a damaged footer says.
    #[error("a row group of {rows} rows has {values} values of `{column}`")]
    OutOfStep {
        /// The path of the column in the file's schema.
        column: String,
        /// Rows of the row group.
        rows: i64,
        /// Values of the column.
        values: i64,
    },
    /// [`Memory::hold`] refused.
    #[error("{0}")]
    Memory(#[source] Box<dyn StdError + Send + Sync>),
    /// A page, or bytes that could not be had.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// Values that do not become a batch.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
