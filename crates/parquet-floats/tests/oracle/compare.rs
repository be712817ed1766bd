//! Reads a file with this crate and with the `parquet` crate's Arrow reader, and compares every value.

use std::error::Error as StdError;
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};

use arrow_array::RecordBatch;
use bytes::Bytes;
use bytes::buf::Reader;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};
use parquet_floats::{Error, Memory, Request, Source, Use, open};

/// Bytes of memory for one use of a column. A damaged file may claim gigabytes, and the other reader would take them.
const MOST: u64 = 1 << 26;

/// Why this crate refuses some damaged files that the other reader reads: they contradict themselves.
const STRICTER: [&str; 4] = [
    "more values than the footer tells of",
    "a page lies outside its column",
    "the header of a page makes no sense",
    "failed to fill whole buffer",
];

/// What to read of a file.
#[derive(Debug, Clone)]
pub struct Part {
    /// All, if none are named.
    pub columns: Option<Vec<usize>>,
    /// All, if none are named.
    pub row_groups: Option<Range<usize>>,
    pub batch_rows: usize,
}

impl Part {
    pub fn all(batch_rows: usize) -> Self {
        Part { columns: None, row_groups: None, batch_rows }
    }
}

/// Reads a part of a file in both ways, and panics if they differ. Returns the rows; `None` if the file is refused.
///
/// A file that this crate reads must be read by the other one too, with the same values. A file that the other one reads may
/// be refused only because it contradicts itself, or claims much memory.
pub fn compare(bytes: &Bytes, part: &Part) -> Option<usize> {
    let footer = quietly(|| ArrowReaderMetadata::load(bytes, Default::default()).ok()).flatten()?;
    let own = own(sources(bytes), &footer, part);
    if let Err(Some(Error::Memory(_) | Error::OutOfStep { .. })) = own {
        return None;
    }
    let library = quietly(|| library(bytes, &footer, part)).unwrap_or_else(|| Err("a panic".into()));
    match (own, library) {
        (Ok(own), Ok(library)) => {
            assert_eq!(own.len(), library.len(), "batches");
            for (batch, (own, library)) in own.iter().zip(&library).enumerate() {
                assert_eq!(own.schema().fields(), library.schema().fields());
                for (column, (own, library)) in own.columns().iter().zip(library.columns()).enumerate() {
                    assert!(own == library, "batch {batch}, column {column}:\n{own:?}\n{library:?}");
                }
            }
            Some(own.iter().map(RecordBatch::num_rows).sum())
        }
        (Err(_), Err(_)) => None,
        (Ok(_), Err(error)) => panic!("this crate reads what the other one refuses: {error}"),
        (Err(error), Ok(_)) => {
            let text = error.map_or("a panic".into(), |error| error.to_string());
            assert!(STRICTER.iter().any(|reason| text.contains(reason)), "only this crate refuses: {text}");
            None
        }
    }
}

/// This crate; `None` stands for a panic of the `parquet` crate.
fn own(source: Source, footer: &ArrowReaderMetadata, part: &Part) -> Result<Vec<RecordBatch>, Option<Error>> {
    let mut request = Request { batch_rows: part.batch_rows, ..Request::new(source, footer.clone()) };
    request.memory = Arc::new(Limit);
    request.columns = part.columns.clone().unwrap_or(request.columns);
    request.row_groups = part.row_groups.clone().unwrap_or(request.row_groups);
    quietly(|| open(request)?.collect::<Result<_, Error>>()).ok_or(None)?.map_err(Some)
}

fn library(bytes: &Bytes, footer: &ArrowReaderMetadata, part: &Part) -> Result<Vec<RecordBatch>, Box<dyn StdError>> {
    let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(Whole(bytes.clone()), footer.clone())
        .with_batch_size(part.batch_rows);
    if let Some(columns) = &part.columns {
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        builder = builder.with_projection(mask);
    }
    if let Some(groups) = &part.row_groups {
        builder = builder.with_row_groups(groups.clone().collect());
    }
    Ok(builder.build()?.collect::<Result<_, _>>()?)
}

/// A file, or memory that stands for one: both in turns.
fn sources(bytes: &Bytes) -> Source {
    if bytes.len().is_multiple_of(2)
        && let Ok(mut file) = tempfile::tempfile()
        && file.write_all(bytes).is_ok()
    {
        return Source::File(file);
    }
    let bytes = bytes.clone();
    Source::Fetch(Box::new(move |start, least| {
        let start = usize::try_from(start)?.min(bytes.len());
        let length = usize::try_from(least)?.min(bytes.len() - start);
        Ok(bytes.slice(start..start + length))
    }))
}

/// Runs a reader; `None` if the `parquet` crate, or one that it uses, panics. A panic of this crate goes on.
fn quietly<T>(read: impl FnOnce() -> T) -> Option<T> {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if panic.location().is_none_or(|place| !place.file().contains(".cargo")) {
                before(panic);
            }
        }));
    });
    catch_unwind(AssertUnwindSafe(read)).ok()
}

#[derive(Debug)]
struct Limit;

impl Memory for Limit {
    fn hold(&self, _: usize, _: Use, bytes: u64) -> Result<(), Box<dyn StdError + Send + Sync>> {
        if bytes > MOST { Err("too much".into()) } else { Ok(()) }
    }

    fn has_room_for(&self, bytes: u64) -> bool {
        bytes < MOST
    }
}

/// A file behind whose end nothing can be read: the other reader skips bytes there for minutes.
struct Whole(Bytes);

struct Rest(Reader<Bytes>);

impl Read for Rest {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.0.read(to)? {
            0 if !to.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

impl Length for Whole {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

impl ChunkReader for Whole {
    type T = Rest;

    fn get_read(&self, start: u64) -> ParquetResult<Rest> {
        Ok(Rest(self.0.get_read(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.0.get_bytes(start, length)
    }
}
