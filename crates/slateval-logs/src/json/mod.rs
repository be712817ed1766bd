//! JSON lines: one object a line.

mod objects;
mod shape;

pub(crate) use shape::is_mixed;

use std::io::{BufRead, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::error::{Error, Result, RowFault};
use crate::find::detect::{Format, Packing};
use crate::find::place::Place;
use crate::formats::batches::{BATCH, BadRows, Batches, Choose, LONGEST_LINE, Part, SAMPLE};
use crate::formats::packed::open_bytes;
use crate::json::objects::Objects;
use crate::json::shape::Shape;

/// Bytes after which a batch is closed even if it has few lines: lines may be long.
const BATCH_BYTES: usize = 16 << 20;

/// The columns of the first lines.
pub(crate) fn schema(place: &Place, packing: Packing) -> Result<Schema> {
    let (mut lines, _) = Lines::open(place, packing, &Part::Whole)?;
    if first_byte(&mut lines.bytes).map_err(|e| lines.unreadable(e))? == Some(b'[') {
        return Err(Error::JsonArray { path: place.path().into() });
    }
    let mut shape = Shape::default();
    let (mut good, mut first_bad) = (false, None);
    for row in 1..=SAMPLE as u64 {
        if !lines.next_line()? {
            break;
        }
        // A bad line is told when rows are read, together with others.
        match shape.add_line(&lines.line) {
            Ok(()) => good = true,
            Err(reason) => {
                let fault = RowFault::BadLine(reason.into());
                first_bad.get_or_insert(Error::Row { file: place.path().into(), row, fault });
            }
        }
    }
    match first_bad {
        Some(error) if !good => Err(error),
        _ => Ok(shape.schema()),
    }
}

/// The first byte that is not blank, left in place.
fn first_byte(bytes: &mut dyn BufRead) -> std::io::Result<Option<u8>> {
    loop {
        let buffer = bytes.fill_buf()?;
        let blanks = buffer.len() - buffer.trim_ascii_start().len();
        match (buffer.get(blanks).copied(), blanks) {
            (None, 0) => return Ok(None),
            (None, _) => bytes.consume(blanks),
            (Some(byte), _) => {
                bytes.consume(blanks);
                return Ok(Some(byte));
            }
        }
    }
}

pub(crate) fn open(place: &Place, packing: Packing, part: &Part, choose: Choose<'_>) -> Result<Batches> {
    let found = schema(place, packing)?;
    let chosen = choose(&found)?;
    let column = |&i: &usize| {
        let field = found.field(i);
        if chosen.labels.contains(&i) { field.clone() } else { as_numbers(field) }
    };
    let schema = Arc::new(Schema::new(chosen.columns.iter().map(column).collect::<Vec<_>>()));
    let (lines, taken) = Lines::open(place, packing, part)?;
    let first_row = part.first_row();
    let bad = BadRows::default();
    let objects = Objects::new(&schema);
    let rows = Rows { lines, row: first_row, objects, schema: schema.clone(), bad: bad.clone() };
    Ok(Batches { first_row, taken: Some(taken), bad, ..Batches::new(schema, Box::new(rows)) })
}

/// The number of rows of a part.
pub(crate) fn count(place: &Place, packing: Packing, part: &Part) -> Result<u64> {
    let (mut lines, _) = Lines::open(place, packing, part)?;
    let mut rows = 0;
    while lines.next_line()? {
        rows += 1;
    }
    Ok(rows)
}

/// A column as it is read where it holds numbers. The sample may have seen whole numbers only, or only nulls, where
/// decimals follow.
pub(crate) fn as_numbers(field: &Field) -> Field {
    let data_type = match field.data_type() {
        DataType::Int64 | DataType::Null => DataType::Float64,
        DataType::Utf8 if is_mixed(field) => DataType::Float64,
        DataType::List(item) => DataType::List(Arc::new(as_numbers(item))),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

/// The lines of a file, one at a time.
struct Lines {
    path: PathBuf,
    packing: Packing,
    bytes: Box<dyn BufRead>,
    /// The line last read.
    line: Vec<u8>,
}

impl Lines {
    fn open(place: &Place, packing: Packing, part: &Part) -> Result<(Self, Arc<AtomicU64>)> {
        let (bytes, taken) = open_bytes(place, packing, part)?;
        Ok((Lines { path: place.path().into(), packing, bytes, line: Vec::new() }, taken))
    }

    /// Reads the next line that is not blank; false at the end.
    fn next_line(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            let mut bytes = self.bytes.as_mut().take(LONGEST_LINE as u64 + 1);
            let read = bytes.read_until(b'\n', &mut self.line).map_err(|e| self.unreadable(e))?;
            if read > LONGEST_LINE {
                return Err(Error::LongLine { path: self.path.clone(), megabytes: LONGEST_LINE >> 20 });
            }
            if read == 0 || !self.line.trim_ascii().is_empty() {
                return Ok(read > 0);
            }
        }
    }

    fn unreadable(&self, error: impl ToString) -> Error {
        Error::unreadable(&self.path, Format::JsonLines { packing: self.packing }.name(), error)
    }
}

/// The rows of a file, in batches.
struct Rows {
    lines: Lines,
    schema: SchemaRef,
    /// Rows read so far.
    row: u64,
    objects: Objects,
    bad: BadRows,
}

impl Rows {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let (mut rows, mut bytes) = (0, 0);
        while rows < BATCH && bytes < BATCH_BYTES && self.lines.next_line()? {
            rows += 1;
            self.row += 1;
            bytes += self.lines.line.len();
            if let Err(fault) = self.objects.add(&self.lines.line) {
                self.bad.add(Error::Row { file: self.lines.path.clone(), row: self.row, fault });
            }
        }
        if rows == 0 {
            return Ok(None);
        }
        self.objects.take(&self.schema, rows).map(Some).map_err(|e| self.lines.unreadable(e))
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
