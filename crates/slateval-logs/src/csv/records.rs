//! The records of a CSV file, cell by cell, into columns.
//!
//! A record ends with a line feed, a carriage return or both, and blank lines are none. How quotes are read is said in
//! [`Quotes`].

use std::borrow::Cow;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer};
use arrow_schema::{Schema, SchemaRef};
use memchr::{memchr, memchr2};

use crate::csv::cell::Cell;
use crate::csv::quotes::Quotes;
use crate::error::{Error, Result, brief};
use crate::formats::batches::{BATCH, BadRows, LONGEST_LINE};

const NAME: &str = "CSV file";

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
    bytes: R,
    quotes: Quotes,
    rows: Rows,
    schema: SchemaRef,
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
    bad: BadRows,
}

#[derive(Debug)]
enum Column {
    Skip,
    Number { name: String, values: Vec<f64>, valid: NullBufferBuilder },
    Text { ends: Vec<i32>, bytes: Vec<u8> },
}

impl<R: BufRead> Records<R> {
    /// Records of which no column is used yet.
    pub(crate) fn new(path: &Path, bytes: R, delimiter: u8) -> Self {
        let (path, columns, bad) = (path.into(), Vec::new(), BadRows::default());
        let rows = Rows { path, delimiter, columns, first_row: 0, count: 0, text: 0, bad };
        Records { bytes, quotes: Quotes::new(Some(delimiter)), rows, schema: Arc::new(Schema::empty()) }
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

    /// Reads the header: the cells of the first record. An empty file has none. A quote that is never closed holds the
    /// rest of the file.
    pub(crate) fn header(&mut self) -> Result<Vec<String>> {
        let mut record = Vec::new();
        if !self.read_record(&mut record)? {
            return Ok(Vec::new());
        }
        let (mut names, mut at) = (Vec::new(), 0);
        while at <= record.len() {
            let (cell, end) = cell_at(&record, at, self.rows.delimiter);
            let name = str::from_utf8(&cell).map_err(|_| self.rows.unreadable("the header is not UTF-8 text"))?;
            // People put blanks behind the commas of a header.
            names.push(name.trim().to_owned());
            at = end + 1;
        }
        Ok(names)
    }

    /// The next records, up to so many.
    pub(crate) fn take_rows(&mut self, most: usize) -> Result<RecordBatch> {
        let mut record = Vec::new();
        while self.rows.count < most && self.rows.text < BATCH_BYTES && self.read_record(&mut record)? {
            self.check_quotes()?;
            self.rows.add(&record);
        }
        self.rows.take(&self.schema)
    }

    /// Reads the next record that is not blank, its line end left out; false at the end of the file.
    fn read_record(&mut self, record: &mut Vec<u8>) -> Result<bool> {
        record.clear();
        self.quotes = Quotes::new(Some(self.rows.delimiter));
        loop {
            let bytes = self.bytes.fill_buf().map_err(|e| self.rows.unreadable(e))?;
            if bytes.is_empty() {
                return Ok(!record.is_empty());
            }
            let end = memchr2(b'\n', b'\r', bytes);
            let taken = end.map_or(bytes.len(), |end| end + 1);
            self.quotes.pass(&bytes[..taken]);
            record.extend_from_slice(&bytes[..taken]);
            self.bytes.consume(taken);
            if record.len() > LONGEST_LINE {
                return Err(Error::LongLine { path: self.rows.path.clone(), megabytes: LONGEST_LINE >> 20 });
            }
            if end.is_some() && !self.quotes.are_open() {
                record.pop();
                if !record.is_empty() {
                    return Ok(true);
                }
            }
        }
    }

    /// Refuses quotes of the last record that leave open where records end.
    fn check_quotes(&self) -> Result<()> {
        let fault = if self.quotes.are_stray() {
            "text follows a quote that closes a cell; a quote is missing, or there is one too many, and which rows lie \
             between them cannot be told"
        } else if self.quotes.are_open() {
            "a quote opens a cell, and nothing closes it"
        } else {
            return Ok(());
        };
        Err(self.rows.unreadable(format!("row {}: {fault}", self.rows.row())))
    }
}

impl<R: BufRead> Iterator for Records<R> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take_rows(BATCH).map(|batch| (batch.num_rows() > 0).then_some(batch)).transpose()
    }
}

impl Rows {
    /// Adds a record. One that cannot be read stands there without some or all values.
    fn add(&mut self, record: &[u8]) {
        let (mut at, mut cells, mut fault) = (0, 0, None);
        while at <= record.len() && cells < self.columns.len() {
            let end = self.columns[cells].add_number(record, at, self.delimiter).unwrap_or_else(|| {
                let (cell, end) = cell_at(record, at, self.delimiter);
                fault = fault.take().or(self.add_cell(cells, &cell).err());
                end
            });
            (at, cells) = (end + 1, cells + 1);
        }
        let more = at <= record.len();
        if more || cells < self.columns.len() {
            let (more, wanted) = (if more { "more than " } else { "" }, self.columns.len());
            fault = Some(self.bad_record(format!("{more}{cells} cells, and the header has {wanted}")));
            self.columns.iter_mut().for_each(|column| column.blank(self.count));
        }
        fault.into_iter().for_each(|fault| self.bad.add(fault));
        self.count += 1;
    }

    /// Adds what a cell holds to its column. A cell that cannot be read is a missing value.
    fn add_cell(&mut self, index: usize, cell: &[u8]) -> Result<()> {
        let (row, text) = (self.row(), str::from_utf8(cell));
        match &mut self.columns[index] {
            Column::Skip => {}
            Column::Number { name, values, valid } => {
                let found = text.map_or(Cell::Other, Cell::read);
                let number = if let Cell::Number(number) = found { Some(number) } else { None };
                values.push(number.unwrap_or_default());
                valid.append(number.is_some());
                if found == Cell::Other {
                    let value = brief(String::from_utf8_lossy(cell).trim());
                    return Err(Error::NotANumber {
                        file: self.path.clone(),
                        row,
                        column: name.clone(),
                        value,
                        of: None,
                    });
                }
            }
            Column::Text { ends, bytes } => {
                bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
                // The text of a batch has some megabytes more than a line at most.
                ends.push(bytes.len() as i32);
                self.text += cell.len();
                text.map_err(|_| self.bad_record(format!("a cell in column {} is not UTF-8 text", index + 1)))?;
            }
        }
        Ok(())
    }

    /// The row that is being read.
    fn row(&self) -> u64 {
        self.first_row + self.count as u64 + 1
    }

    fn bad_record(&self, reason: String) -> Error {
        Error::BadRecord { file: self.path.clone(), row: self.row(), reason }
    }

    fn unreadable(&self, reason: impl ToString) -> Error {
        Error::unreadable(&self.path, NAME, reason)
    }

    /// The batch, and room for the next one.
    fn take(&mut self, schema: &SchemaRef) -> Result<RecordBatch> {
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().filter_map(Column::take).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options);
        self.first_row += self.count as u64;
        (self.count, self.text) = (0, 0);
        batch.map_err(|e| self.unreadable(e))
    }
}

impl Column {
    fn new(wanted: &Use) -> Self {
        match wanted {
            Use::Skip => Column::Skip,
            Use::Number(name) => {
                let (name, values) = (name.clone(), Vec::with_capacity(BATCH));
                Column::Number { name, values, valid: NullBufferBuilder::new(BATCH) }
            }
            Use::Text => Column::Text { ends: vec![0], bytes: Vec::new() },
        }
    }

    /// Adds the cell that begins at `at` if this is a column of numbers, and the cell one without blanks and quotes. Returns
    /// where it ends.
    fn add_number(&mut self, record: &[u8], at: usize, delimiter: u8) -> Option<usize> {
        let Column::Number { values, valid, .. } = self else { return None };
        let (number, length) = fast_float2::parse_partial(&record[at..]).ok()?;
        let end = at + length;
        (end == record.len() || record[end] == delimiter).then(|| {
            values.push(number);
            valid.append_non_null();
            end
        })
    }

    /// Makes the value of the last row a missing one, whether the row has one already or not.
    fn blank(&mut self, row: usize) {
        match self {
            Column::Skip => {}
            Column::Number { values, valid, .. } => {
                values.resize(row, 0.0);
                valid.truncate(row);
                values.push(0.0);
                valid.append_null();
            }
            Column::Text { ends, bytes } => {
                ends.truncate(row + 1);
                bytes.truncate(ends[row] as usize);
                ends.push(ends[row]);
            }
        }
    }

    fn take(&mut self) -> Option<ArrayRef> {
        match self {
            Column::Skip => None,
            Column::Number { values, valid, .. } => {
                let values = std::mem::replace(values, Vec::with_capacity(BATCH));
                Some(Arc::new(Float64Array::new(values.into(), valid.finish())))
            }
            Column::Text { ends, bytes } => {
                let ends = std::mem::replace(ends, vec![0]);
                // A cell without text is a missing value.
                let valid: Vec<bool> = ends.windows(2).map(|end| end[0] < end[1]).collect();
                let valid = Some(NullBuffer::from(valid)).filter(|valid| valid.null_count() > 0);
                let bytes = Buffer::from_vec(std::mem::take(bytes));
                Some(Arc::new(StringArray::new(OffsetBuffer::new(ends.into()), bytes, valid)))
            }
        }
    }
}

/// What the cell holds that begins at `at`, quotes left out, and where the cell ends.
fn cell_at(record: &[u8], at: usize, delimiter: u8) -> (Cow<'_, [u8]>, usize) {
    let length_to = |byte, from: usize| {
        let rest = &record[from.min(record.len())..];
        memchr(byte, rest).unwrap_or(rest.len())
    };
    if record.get(at) != Some(&b'"') {
        let end = at + length_to(delimiter, at);
        return (record[at..end].into(), end);
    }
    let mut quote = at + 1 + length_to(b'"', at + 1);
    let mut text = Cow::Borrowed(&record[at + 1..quote]);
    // Two quotes stand for one: the text goes on with the second.
    while record.get(quote + 1) == Some(&b'"') {
        let next = quote + 2 + length_to(b'"', quote + 2);
        text.to_mut().extend_from_slice(&record[quote + 1..next]);
        quote = next;
    }
    let behind = record.len().min(quote + 1);
    let end = behind + length_to(delimiter, behind);
    // Only a header can have text behind the closing quote: rows with some are refused.
    if behind < end {
        text.to_mut().extend_from_slice(&record[behind..end]);
    }
    (text, end)
}
