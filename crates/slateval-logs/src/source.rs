//! Any file as a schema and a run of record batches.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use crate::discover::{Format, cannot_open};
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::{ipc, json, parquet_file, text};

/// Rows a reader hands out at once; measured to read best.
pub(crate) const BATCH: usize = 8192;

/// Rows from which the types of a text file's columns are guessed.
pub(crate) const SAMPLE: usize = 1000;

/// What is known of a file before its rows are read.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) schema: SchemaRef,
    pub(crate) bytes: u64,
    /// Rows of each row group; Parquet alone knows.
    pub(crate) row_groups: Option<Vec<u64>>,
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
}

/// How the columns of a file's schema are chosen.
pub(crate) type Choose<'a> = &'a dyn Fn(&Schema) -> Result<Layout>;

impl Format {
    /// Whether numbers come as text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Format::Csv { .. })
    }
}

/// Reads a file's schema and size.
pub(crate) fn head(path: &Path, format: Format) -> Result<Head> {
    let bytes = std::fs::metadata(path).map_err(|e| cannot_open(path, &e))?.len();
    let plain = |schema: Schema| Head { schema: Arc::new(schema), bytes, row_groups: None };
    match format {
        Format::Parquet => parquet_file::head(path, bytes),
        Format::Csv { delimiter, packing } => text::csv_schema(path, delimiter, packing, SAMPLE).map(plain),
        Format::JsonLines { packing } => json::schema(path, packing).map(plain),
        Format::IpcFile => ipc::file_schema(path).map(plain),
        Format::IpcStream => ipc::stream_schema(path).map(plain),
    }
}

/// Opens a file for its rows, or those of some row groups.
pub(crate) fn open(
    path: &Path,
    format: Format,
    row_groups: Option<Range<usize>>,
    footers: &parquet_file::Footers,
    choose: Choose<'_>,
) -> Result<Batches> {
    match format {
        Format::Parquet => parquet_file::open(path, row_groups, footers, choose),
        Format::Csv { delimiter, packing } => text::open_csv(path, delimiter, packing, choose),
        Format::JsonLines { packing } => json::open(path, packing, choose),
        Format::IpcFile => ipc::open_file(path, choose),
        Format::IpcStream => ipc::open_stream(path, choose),
    }
}

/// Runs a reader on bytes that may be damaged in a way its authors did not think of.
pub(crate) fn guarded<T>(path: &Path, format: &'static str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(Error::unreadable(path, format, "the reader broke off in the middle")))
}

pub(crate) fn open_file(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| cannot_open(path, &e))
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
