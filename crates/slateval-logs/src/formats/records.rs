//! The records of a CSV file, cell by cell, into columns.
//!
//! A record ends with a line feed, a carriage return or both, and blank lines are none. A cell that begins with a quote
//! ends with the next single quote, and may hold anything; two quotes in it stand for one. Quotes elsewhere are text.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{Schema, SchemaRef};
use memchr::{memchr, memchr3};

use crate::error::{Error, Result, brief};
use crate::formats::batches::{BATCH, BadRows, LONGEST_LINE};
use crate::formats::cell::Cell;

const NAME: &str = "CSV file";

/// Bytes taken from the file at once; more for a record that is longer.
const BUFFER: usize = 1 << 18;

/// Bytes of text after which a batch is closed even if it has few rows: cells may be long.
const BATCH_BYTES: usize = 16 << 20;

/// What becomes of a column of the file.
#[derive(Debug, Clone)]
pub(crate) enum Use {
    Skip,
    /// A column of numbers, by its name.
    Number(String),
    Text,
}

/// Reads records in batches of the columns used.
#[derive(Debug)]
pub(crate) struct Records<R> {
    schema: SchemaRef,
    bytes: R,
    buffer: Vec<u8>,
    /// The part of the buffer that is still to be read.
    start: usize,
    filled: usize,
    ended: bool,
    rows: Rows,
}

/// The rows of a batch, column by column.
#[derive(Debug)]
struct Rows {
    path: PathBuf,
    delimiter: u8,
    /// Of each column of the file.
    columns: Vec<Column>,
    /// Rows of the file before this batch.
    first_row: u64,
    count: usize,
    /// Bytes of text.
    text: usize,
    /// What a quoted cell holds.
    unquoted: Vec<u8>,
    /// What is wrong with the record that is being read.
    fault: Option<Error>,
    bad: BadRows,
}

#[derive(Debug)]
enum Column {
    Skip,
    Number { name: String, values: Vec<f64>, nulls: Vec<usize> },
    Text { ends: Vec<i32>, bytes: Vec<u8> },
}

impl<R: Read> Records<R> {
    /// Records of which no column is used yet.
    pub(crate) fn new(path: &Path, bytes: R, delimiter: u8) -> Self {
        let rows = Rows {
            path: path.into(),
            delimiter,
            columns: Vec::new(),
            first_row: 0,
            count: 0,
            text: 0,
            unquoted: Vec::new(),
            fault: None,
            bad: BadRows::default(),
        };
        let schema = Arc::new(Schema::empty());
        Records { schema, bytes, buffer: vec![0; BUFFER], start: 0, filled: 0, ended: false, rows }
    }

    /// Says what becomes of each column of the file; `schema` has those that are used.
    pub(crate) fn using(mut self, uses: &[Use], schema: SchemaRef) -> Self {
        self.rows.columns = uses.iter().map(Column::new).collect();
        self.schema = schema;
        self
    }

    /// The schema of the batches.
    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Where rows are told that could not be read.
    pub(crate) fn bad_rows(&self) -> BadRows {
        self.rows.bad.clone()
    }

    /// Counts rows from here on, for messages.
    pub(crate) fn after(mut self, first_row: u64) -> Self {
        self.rows.first_row = first_row;
        self
    }

    /// Reads the header: the cells of the first record. An empty file has none.
    pub(crate) fn header(&mut self) -> Result<Vec<String>> {
        loop {
            let bytes = &self.buffer[self.start..self.filled];
            if let Some((cells, end)) = record(bytes, self.rows.delimiter, self.ended) {
                self.start += end;
                return cells.into_iter().map(|cell| self.name(cell)).collect();
            }
            if self.ended {
                return Ok(Vec::new());
            }
            self.fill()?;
        }
    }

    fn name(&self, cell: Vec<u8>) -> Result<String> {
        let bad = |_| Error::unreadable(&self.rows.path, NAME, "the header is not UTF-8 text");
        // People put blanks behind the commas of a header.
        String::from_utf8(cell).map(|name| name.trim().to_owned()).map_err(bad)
    }

    /// The next records, up to so many.
    pub(crate) fn take_rows(&mut self, most: usize) -> Result<RecordBatch> {
        while self.rows.count < most && self.rows.text < BATCH_BYTES && self.next_record()? {}
        self.rows.take(&self.schema)
    }

    /// Reads a record; false at the end of the file.
    fn next_record(&mut self) -> Result<bool> {
        loop {
            match self.rows.add(&self.buffer[..self.filled], self.start, self.ended)? {
                Step::Record { end } => {
                    self.start = end;
                    return Ok(true);
                }
                Step::Incomplete if self.ended => return Ok(false),
                Step::Incomplete => self.fill()?,
            }
        }
    }

    /// Takes more bytes from the file behind those that are left. The buffer grows by doubling, so that a record that
    /// is looked at again and again while it grows costs no more than twice its length.
    fn fill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.start = 0;
        if self.filled > LONGEST_LINE {
            return Err(Error::LongLine { path: self.rows.path.clone(), megabytes: LONGEST_LINE >> 20 });
        }
        if self.filled > self.buffer.len() / 2 {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        while self.filled < self.buffer.len() && !self.ended {
            let more = self.bytes.read(&mut self.buffer[self.filled..]);
            let more = more.map_err(|e| Error::unreadable(&self.rows.path, NAME, e))?;
            self.filled += more;
            self.ended = more == 0;
        }
        Ok(())
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take_rows(BATCH).map(|batch| (batch.num_rows() > 0).then_some(batch)).transpose()
    }
}

enum Step {
    /// A record was added; the next one begins here or behind blank lines.
    Record { end: usize },
    /// The bytes end before the record does, or there is none.
    Incomplete,
}

impl Rows {
    /// Adds the record that begins at `at`. `ended` says that no bytes follow.
    fn add(&mut self, bytes: &[u8], mut at: usize, ended: bool) -> Result<Step> {
        while matches!(bytes.get(at), Some(b'\n' | b'\r')) {
            at += 1;
        }
        if at == bytes.len() {
            return Ok(Step::Incomplete);
        }
        let last = self.columns.len().saturating_sub(1);
        for column in 0..self.columns.len() {
            let Some(end) = self.cell(column, bytes, at, ended)? else { return Ok(self.undo()) };
            if end == bytes.len() && !ended {
                return Ok(self.undo());
            }
            at = end + 1;
            let more = bytes.get(end) == Some(&self.delimiter);
            if more != (column < last) {
                let Some(end) = self.pass_cells(bytes, end, ended)? else { return Ok(self.undo()) };
                self.replace_by_blanks(self.wrong_number_of_cells(column + 1, more));
                at = end + 1;
                break;
            }
        }
        if let Some(fault) = self.fault.take() {
            self.bad.add(fault);
        }
        self.count += 1;
        Ok(Step::Record { end: at.min(bytes.len()) })
    }

    /// Passes over the cells behind one that ends here; returns where the record ends, if it does.
    fn pass_cells(&mut self, bytes: &[u8], mut end: usize, ended: bool) -> Result<Option<usize>> {
        while bytes.get(end) == Some(&self.delimiter) {
            let Some((next, _)) = self.cell_at(bytes, end + 1, ended)? else { return Ok(None) };
            end = next;
        }
        Ok((ended || end < bytes.len()).then_some(end))
    }

    /// A record without values in place of the one that is being read, and why.
    fn replace_by_blanks(&mut self, fault: Error) {
        self.undo();
        self.fault = Some(fault);
        self.columns.iter_mut().for_each(Column::push_blank);
    }

    /// Adds a cell to its column; returns where it ends, if it does.
    fn cell(&mut self, column: usize, bytes: &[u8], at: usize, ended: bool) -> Result<Option<usize>> {
        if let Column::Number { values, .. } = &mut self.columns[column]
            && let Ok((number, length)) = fast_float2::parse_partial(&bytes[at..])
            && bytes.get(at + length).is_some_and(|&b| b == self.delimiter || b == b'\n' || b == b'\r')
        {
            values.push(number);
            return Ok(Some(at + length));
        }
        let Some((end, quoted)) = self.cell_at(bytes, at, ended)? else { return Ok(None) };
        // The last of the bytes may be the first of a number, or of a character.
        if end == bytes.len() && !ended {
            return Ok(None);
        }
        let unquoted = std::mem::take(&mut self.unquoted);
        self.push(column, if quoted { &unquoted } else { &bytes[at..end] });
        self.unquoted = unquoted;
        Ok(Some(end))
    }

    /// Where a cell ends, if it does, and whether what it holds is in `unquoted`.
    fn cell_at(&mut self, bytes: &[u8], at: usize, ended: bool) -> Result<Option<(usize, bool)>> {
        if bytes.get(at) != Some(&b'"') {
            return Ok(Some((unquoted_end(bytes, at, self.delimiter), false)));
        }
        self.unquoted.clear();
        match unquote(bytes, at + 1, self.delimiter, &mut self.unquoted) {
            Quoted::Ends(end) if ended || end < bytes.len() => Ok(Some((end, true))),
            Quoted::Open if ended => {
                let reason = format!("row {}: a quote opens a cell, and nothing closes it", self.row());
                Err(Error::unreadable(&self.path, NAME, reason))
            }
            Quoted::Stray(_) => {
                let reason = format!(
                    "row {}: text follows a quote that closes a cell; a quote is missing, or there is one too many, and \
                     which rows lie between them cannot be told",
                    self.row()
                );
                Err(Error::unreadable(&self.path, NAME, reason))
            }
            _ => Ok(None),
        }
    }

    /// The row that is being read.
    fn row(&self) -> u64 {
        self.first_row + self.count as u64 + 1
    }

    /// Adds what a cell holds, quotes left out, to its column.
    fn push(&mut self, index: usize, cell: &[u8]) {
        let row = self.row();
        let fault = match &mut self.columns[index] {
            Column::Skip => return,
            Column::Number { name, values, .. } => match std::str::from_utf8(cell).map_or(Cell::Other, Cell::read) {
                Cell::Number(number) => return values.push(number),
                Cell::Blank => None,
                Cell::Other => {
                    let value = brief(String::from_utf8_lossy(cell).trim());
                    Some(Error::NotANumber { file: self.path.clone(), row, column: name.clone(), value, of: None })
                }
            },
            Column::Text { ends, bytes } => {
                let end = i32::try_from(bytes.len() + cell.len());
                if let (Ok(end), Ok(_)) = (end, std::str::from_utf8(cell)) {
                    bytes.extend_from_slice(cell);
                    ends.push(end);
                    self.text += cell.len();
                    return;
                }
                let reason = format!("a cell in column {} is not UTF-8 text", index + 1);
                Some(Error::BadRecord { file: self.path.clone(), row, reason })
            }
        };
        self.columns[index].push_blank();
        self.fault = self.fault.take().or(fault);
    }

    /// Takes back the cells of a record that is not whole.
    fn undo(&mut self) -> Step {
        self.fault = None;
        for column in &mut self.columns {
            match column {
                Column::Skip => {}
                Column::Number { values, nulls, .. } => {
                    values.truncate(self.count);
                    nulls.retain(|&row| row < self.count);
                }
                Column::Text { ends, bytes } => {
                    ends.truncate(self.count + 1);
                    bytes.truncate(ends.last().map_or(0, |&end| end as usize));
                }
            }
        }
        Step::Incomplete
    }

    fn wrong_number_of_cells(&self, cells: usize, more: bool) -> Error {
        let more = if more { "more than " } else { "" };
        let reason = format!("{more}{cells} cells, and the header has {}", self.columns.len());
        Error::BadRecord { file: self.path.clone(), row: self.row(), reason }
    }

    /// The batch, and room for the next one.
    fn take(&mut self, schema: &SchemaRef) -> Result<RecordBatch> {
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().filter_map(Column::take).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options);
        self.first_row += self.count as u64;
        (self.count, self.text) = (0, 0);
        batch.map_err(|e| Error::unreadable(&self.path, NAME, e))
    }
}

impl Column {
    fn new(wanted: &Use) -> Self {
        match wanted {
            Use::Skip => Column::Skip,
            Use::Number(name) => {
                Column::Number { name: name.clone(), values: Vec::with_capacity(BATCH), nulls: Vec::new() }
            }
            Use::Text => Column::Text { ends: vec![0], bytes: Vec::new() },
        }
    }

    /// Adds a missing value.
    fn push_blank(&mut self) {
        match self {
            Column::Skip => {}
            Column::Number { values, nulls, .. } => {
                nulls.push(values.len());
                values.push(0.0);
            }
            Column::Text { ends, .. } => ends.extend(ends.last().copied()),
        }
    }

    fn take(&mut self) -> Option<ArrayRef> {
        match self {
            Column::Skip => None,
            Column::Number { values, nulls, .. } => {
                let values = std::mem::replace(values, Vec::with_capacity(BATCH));
                let nulls = validity(values.len(), &std::mem::take(nulls));
                Some(Arc::new(Float64Array::new(values.into(), nulls)))
            }
            Column::Text { ends, bytes } => {
                let ends = std::mem::replace(ends, vec![0]);
                // A cell without text is a missing value.
                let empty = ends.windows(2).enumerate().filter(|(_, end)| end[0] == end[1]).map(|(row, _)| row);
                let nulls = validity(ends.len() - 1, &empty.collect::<Vec<_>>());
                let bytes = Buffer::from_vec(std::mem::take(bytes));
                Some(Arc::new(StringArray::new(OffsetBuffer::new(ends.into()), bytes, nulls)))
            }
        }
    }
}

/// The rows that are not null, if some are.
fn validity(rows: usize, nulls: &[usize]) -> Option<NullBuffer> {
    if nulls.is_empty() {
        return None;
    }
    let mut valid = vec![true; rows];
    nulls.iter().for_each(|&row| valid[row] = false);
    Some(valid.into())
}

/// The cells of the first record, quotes left out, and where the next one begins; `None` if the record is not whole.
fn record(bytes: &[u8], delimiter: u8, ended: bool) -> Option<(Vec<Vec<u8>>, usize)> {
    let mut at = bytes.iter().position(|b| !matches!(b, b'\n' | b'\r'))?;
    let mut cells = Vec::new();
    loop {
        let mut cell = Vec::new();
        let end = if bytes.get(at) == Some(&b'"') {
            match unquote(bytes, at + 1, delimiter, &mut cell) {
                Quoted::Ends(end) => end,
                // A quote that nobody closes holds the rest of the file.
                Quoted::Open => bytes.len(),
                // Told when rows are read.
                Quoted::Stray(at) => {
                    let end = unquoted_end(bytes, at, delimiter);
                    cell.extend_from_slice(&bytes[at..end]);
                    end
                }
            }
        } else {
            let end = unquoted_end(bytes, at, delimiter);
            cell.extend_from_slice(&bytes[at..end]);
            end
        };
        cells.push(cell);
        match bytes.get(end) {
            None if !ended => return None,
            Some(&b) if b == delimiter => at = end + 1,
            _ => return Some((cells, bytes.len().min(end + 1))),
        }
    }
}

/// Where a cell without quotes ends.
fn unquoted_end(bytes: &[u8], at: usize, delimiter: u8) -> usize {
    memchr3(delimiter, b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |length| at + length)
}

/// How a quoted cell ends in some bytes.
enum Quoted {
    /// Here, unless it is the last of the bytes and more follow.
    Ends(usize),
    /// It does not.
    Open,
    /// A quote closes it, and text follows: a quote is missing somewhere, or there is one too many.
    Stray(usize),
}

/// What stands in a quoted cell, whose text begins at `at`.
fn unquote(bytes: &[u8], mut at: usize, delimiter: u8, out: &mut Vec<u8>) -> Quoted {
    loop {
        let Some(length) = memchr(b'"', &bytes[at..]) else {
            out.extend_from_slice(&bytes[at..]);
            return Quoted::Open;
        };
        out.extend_from_slice(&bytes[at..at + length]);
        at += length + 1;
        match bytes.get(at) {
            Some(b'"') => {
                out.push(b'"');
                at += 1;
            }
            Some(&b) if b == delimiter || b == b'\n' || b == b'\r' => return Quoted::Ends(at),
            Some(_) => return Quoted::Stray(at),
            None => return Quoted::Ends(at),
        }
    }
}
