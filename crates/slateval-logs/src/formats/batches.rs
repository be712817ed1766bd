//! What every reader is given, and what it hands out: a choice of columns, and batches of rows.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;

use crate::error::{Error, Result};
use crate::find::place::Place;
use crate::formats::upstream_panics::caught;

/// Rows a reader hands out at once. Dictionaries of columns and bins of rewards take turns in the processor's cache, the
/// less often, the larger this is; but a batch has to have room there too.
pub(crate) const BATCH: usize = 16_384;

/// Rows from which the types of a text file's columns are guessed.
pub(crate) const SAMPLE: usize = 1000;

/// Bytes of a line, or of a record, at most. It is held in memory as a whole, so one without an end must be refused.
pub(crate) const LONGEST_LINE: usize = 64 << 20;

/// What is known of a file before its rows are read.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) schema: SchemaRef,
    pub(crate) bytes: u64,
    /// Rows of each row group; Parquet alone knows.
    pub(crate) row_groups: Option<Vec<u64>>,
}

/// What to read of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    /// Some row groups of a Parquet file.
    RowGroups(Range<usize>),
    /// A piece of a text file, which begins and ends with a record. `first_row` rows of the file stand before it; where
    /// nobody counted them, rows in messages count from the piece's first.
    Bytes {
        range: Range<u64>,
        first_row: u64,
        /// The bytes themselves, where they had to be fetched to find the piece.
        fetched: Option<Bytes>,
    },
}

impl Part {
    /// Whether the file's header is in this part.
    pub(crate) fn begins_file(&self) -> bool {
        !matches!(self, Part::Bytes { range, .. } if range.start > 0)
    }

    pub(crate) fn first_row(&self) -> u64 {
        match self {
            Part::Bytes { first_row, .. } => *first_row,
            _ => 0,
        }
    }
}

/// The batches of a file, or of a part of it.
pub(crate) struct Batches {
    /// The schema of the batches: the columns read, and no others.
    pub(crate) schema: SchemaRef,
    /// Rows of the file before the first batch.
    pub(crate) first_row: u64,
    /// Rows to come, where they are known.
    pub(crate) rows: Option<u64>,
    /// Bytes taken from the file so far, where they are counted.
    pub(crate) taken: Option<Arc<AtomicU64>>,
    pub(crate) batches: Box<dyn Iterator<Item = Result<RecordBatch>>>,
    /// Rows of the last batch that could not be read.
    pub(crate) bad: BadRows,
    /// Set behind the last batch if the file ended without the mark that ends it.
    pub(crate) cut_short: Arc<AtomicBool>,
}

impl Batches {
    /// Batches of which nothing else is known.
    pub(crate) fn new(schema: SchemaRef, batches: Box<dyn Iterator<Item = Result<RecordBatch>>>) -> Self {
        Batches {
            schema,
            first_row: 0,
            rows: None,
            taken: None,
            batches,
            bad: BadRows::default(),
            cut_short: Arc::default(),
        }
    }
}

/// Rows that a reader could not make sense of, one error each. They stand in their batch without some or all values, so
/// that the rows behind them keep their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct BadRows(Arc<Mutex<Vec<Error>>>);

impl BadRows {
    pub(crate) fn add(&self, row: Error) {
        self.lock().push(row);
    }

    /// Those that nobody has taken.
    pub(crate) fn take(&self) -> Vec<Error> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The columns to read of a file, as indices into its schema.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    /// All of them, ascending.
    pub(crate) columns: Vec<usize>,
    /// Those whose values are labels and not numbers: they keep the type they have.
    pub(crate) labels: Vec<usize>,
}

/// How the columns of a file's schema are chosen.
pub(crate) type Choose<'a> = &'a dyn Fn(&Schema) -> Result<Selection>;

/// Runs a reader on bytes that may be damaged in a way its authors did not think of, or that a server failed to send,
/// which readers take for damage.
pub(crate) fn guarded<T>(place: &Place, format: &'static str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    let read = caught(read).unwrap_or_else(|| Err(Error::Damaged { path: place.path().into(), format }));
    read.map_err(|error| place.failure().unwrap_or(error))
}

/// A reader that counts what goes through it, for progress.
#[derive(Debug)]
pub(crate) struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R> Counted<R> {
    pub(crate) fn new(inner: R) -> (Self, Arc<AtomicU64>) {
        let count = Arc::new(AtomicU64::new(0));
        (Counted { inner, count: count.clone() }, count)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
