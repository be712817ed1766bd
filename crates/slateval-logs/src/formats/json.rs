//! JSON lines: one object a line.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::RecordBatch;
use arrow_json::ReaderBuilder;
use arrow_json::reader::infer_json_schema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::error::{Error, Result, brief};
use crate::formats::batches::{BATCH, Batches, Choose, Part, SAMPLE};
use crate::formats::detect::{Format, Packing};
use crate::formats::packed::open_bytes;

/// Bytes after which a batch is closed even if it has few lines: lines may be long.
const BATCH_BYTES: usize = 16 << 20;

/// The columns of the first lines.
pub(crate) fn schema(path: &Path, packing: Packing) -> Result<Schema> {
    let (mut bytes, _) = open_bytes(path, packing, &Part::Whole)?;
    let bad = |e: std::io::Error| Error::unreadable(path, Format::JsonLines { packing }.name(), e);
    if first_byte(&mut bytes).map_err(bad)? == Some(b'[') {
        return Err(Error::JsonArray { path: path.into() });
    }
    let inferred = infer_json_schema(bytes, Some(SAMPLE));
    let (schema, _) = inferred.map_err(|e| Error::unreadable(path, Format::JsonLines { packing }.name(), e))?;
    Ok(schema)
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

pub(crate) fn open(path: &Path, packing: Packing, part: &Part, choose: Choose<'_>) -> Result<Batches> {
    let found = schema(path, packing)?;
    let chosen = choose(&found)?;
    let column = |&i: &usize| {
        let field = found.field(i);
        if chosen.labels.contains(&i) { field.clone() } else { as_float(field) }
    };
    let schema = Arc::new(Schema::new(chosen.columns.iter().map(column).collect::<Vec<_>>()));
    let (lines, taken) = lines(path, packing, part, schema.clone())?;
    let first_row = part.first_row();
    Ok(Batches { schema, first_row, rows: None, taken: Some(taken), batches: Box::new(lines) })
}

/// The number of rows of a part.
pub(crate) fn count(path: &Path, packing: Packing, part: &Part) -> Result<u64> {
    let (mut lines, _) = lines(path, packing, part, Arc::new(Schema::empty()))?;
    let mut rows = 0;
    loop {
        match lines.fill().map_err(|e| lines.unreadable(e))? {
            0 => return Ok(rows),
            more => rows += more as u64,
        }
    }
}

fn lines(path: &Path, packing: Packing, part: &Part, schema: SchemaRef) -> Result<(Lines, Arc<AtomicU64>)> {
    let (bytes, taken) = open_bytes(path, packing, part)?;
    Ok((Lines { path: path.into(), bytes, schema, row: part.first_row(), buffer: Vec::new(), packing }, taken))
}

/// The sample may have seen whole numbers only, or only nulls, where decimals follow.
fn as_float(field: &Field) -> Field {
    let data_type = match field.data_type() {
        DataType::Int64 | DataType::Null => DataType::Float64,
        DataType::List(item) => DataType::List(Arc::new(as_float(item))),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

struct Lines {
    path: PathBuf,
    packing: Packing,
    bytes: Box<dyn BufRead>,
    schema: SchemaRef,
    /// Lines before this batch.
    row: u64,
    /// The lines of one batch.
    buffer: Vec<u8>,
}

impl Iterator for Lines {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let lines = match self.fill() {
            Ok(0) => return None,
            Ok(lines) => lines,
            Err(e) => return Some(Err(self.unreadable(e))),
        };
        let batch = match decode(&self.schema, &self.buffer) {
            Ok(batch) if batch.num_rows() == lines => Ok(batch),
            _ => Err(self.first_bad_line()),
        };
        self.row += lines as u64;
        Some(batch)
    }
}

impl Lines {
    fn unreadable(&self, error: std::io::Error) -> Error {
        Error::unreadable(&self.path, Format::JsonLines { packing: self.packing }.name(), error)
    }

    /// Takes the lines of the next batch; blank ones do not count.
    fn fill(&mut self) -> std::io::Result<usize> {
        self.buffer.clear();
        let mut lines = 0;
        while lines < BATCH && self.buffer.len() < BATCH_BYTES {
            let start = self.buffer.len();
            if self.bytes.read_until(b'\n', &mut self.buffer)? == 0 {
                break;
            }
            if self.buffer[start..].trim_ascii().is_empty() {
                self.buffer.truncate(start);
                continue;
            }
            if !self.buffer.ends_with(b"\n") {
                self.buffer.push(b'\n');
            }
            lines += 1;
        }
        Ok(lines)
    }

    /// Why the lines could not be read: each is read again alone, to name the one.
    fn first_bad_line(&self) -> Error {
        let lines = self.buffer.split(|&b| b == b'\n').filter(|line| !line.is_empty());
        for (i, line) in lines.enumerate() {
            let reason = match decode(&self.schema, line) {
                Ok(batch) if batch.num_rows() == 1 => continue,
                Ok(_) => "not one JSON object".to_owned(),
                Err(e) => brief(&e.to_string()),
            };
            return Error::BadLine { file: self.path.clone(), row: self.row + i as u64 + 1, reason };
        }
        let reason = "the lines cannot be read together".into();
        Error::BadLine { file: self.path.clone(), row: self.row + 1, reason }
    }
}

fn decode(schema: &SchemaRef, bytes: &[u8]) -> std::result::Result<RecordBatch, ArrowError> {
    let builder = ReaderBuilder::new(schema.clone()).with_coerce_primitive(true).with_batch_size(BATCH + 1);
    let mut decoder = builder.build_decoder()?;
    decoder.decode(bytes)?;
    let batch = decoder.flush()?;
    Ok(batch.unwrap_or_else(|| RecordBatch::new_empty(schema.clone())))
}
