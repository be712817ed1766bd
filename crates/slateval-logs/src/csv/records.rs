//! The records of a CSV file, cell by cell, into columns.
//!
//! A record ends with a line feed, a carriage return or both, and blank lines are none. How quotes are read is said in
//! [`Quotes`].

use std::borrow::Cow;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use memchr::{memchr, memchr_iter, memchr2};

use crate::csv::cell::Cell;
use crate::csv::quotes::Quotes;
use crate::error::{Error, Result, RowFault, brief};
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
    Number { name: String, values: Float64Builder },
    Text(StringBuilder),
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
        let (cells, wanted) = (self.cells_of(record), self.columns.len());
        let added = if cells == wanted { self.add_cells(record) } else { Err(self.uneven(cells)) };
        if let Err(fault) = added {
            self.bad.add(fault);
        }
        self.count += 1;
    }

    /// How many cells a record has.
    fn cells_of(&self, record: &[u8]) -> usize {
        if memchr(b'"', record).is_none() {
            return 1 + memchr_iter(self.delimiter, record).count();
        }
        let (mut at, mut cells) = (0, 0);
        while at <= record.len() {
            (at, cells) = (cell_at(record, at, self.delimiter).1 + 1, cells + 1);
        }
        cells
    }

    /// A record that has another number of cells than the header: all its values are missing.
    fn uneven(&mut self, cells: usize) -> Error {
        self.columns.iter_mut().for_each(Column::add_null);
        let wanted = self.columns.len();
        let found = if cells > wanted { format!("more than {wanted}") } else { cells.to_string() };
        self.bad_record(format!("{found} cells, and the header has {wanted}"))
    }

    /// Adds each cell to its column; says what is wrong with the first that cannot be read.
    fn add_cells(&mut self, record: &[u8]) -> Result<()> {
        let (mut at, mut result) = (0, Ok(()));
        for index in 0..self.columns.len() {
            at = 1 + self.columns[index].add_number(record, at, self.delimiter).unwrap_or_else(|| {
                let (cell, end) = cell_at(record, at, self.delimiter);
                let added = self.add_cell(index, &cell);
                if result.is_ok() {
                    result = added;
                }
                end
            });
        }
        result
    }

    /// Adds what a cell holds to its column. A cell that cannot be read is a missing value.
    fn add_cell(&mut self, index: usize, cell: &[u8]) -> Result<()> {
        let text = str::from_utf8(cell);
        match &mut self.columns[index] {
            Column::Skip => {}
            Column::Number { name, values } => {
                let found = text.map_or(Cell::Other, Cell::read);
                values.append_option(if let Cell::Number(number) = found { Some(number) } else { None });
                if found == Cell::Other {
                    let value = brief(String::from_utf8_lossy(cell).trim()).into();
                    let column = name.as_str().into();
                    return Err(self.fault(RowFault::NotANumber { column, value, of: None }));
                }
            }
            Column::Text(texts) => {
                // A cell without text is a missing value.
                texts.append_option(text.ok().filter(|text| !text.is_empty()));
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

    /// The error of the row that is being read.
    fn fault(&self, fault: RowFault) -> Error {
        Error::Row { file: self.path.clone(), row: self.row(), fault }
    }

    fn bad_record(&self, reason: String) -> Error {
        self.fault(RowFault::BadRecord(reason.into()))
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
            Use::Number(name) => Column::Number { name: name.clone(), values: Float64Builder::with_capacity(BATCH) },
            Use::Text => Column::Text(StringBuilder::new()),
        }
    }

    /// Adds the cell that begins at `at` if this is a column of numbers, and the cell one without blanks and quotes. Returns
    /// where it ends.
    fn add_number(&mut self, record: &[u8], at: usize, delimiter: u8) -> Option<usize> {
        let Column::Number { values, .. } = self else { return None };
        let (number, length) = fast_float2::parse_partial(&record[at..]).ok()?;
        let end = at + length;
        (end == record.len() || record[end] == delimiter).then(|| {
            values.append_value(number);
            end
        })
    }

    fn add_null(&mut self) {
        match self {
            Column::Skip => {}
            Column::Number { values, .. } => values.append_null(),
            Column::Text(texts) => texts.append_null(),
        }
    }

    fn take(&mut self) -> Option<ArrayRef> {
        match self {
            Column::Skip => None,
            Column::Number { values, .. } => Some(Arc::new(values.finish())),
            Column::Text(texts) => Some(Arc::new(texts.finish())),
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
