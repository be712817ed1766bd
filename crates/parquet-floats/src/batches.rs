//! The batches of a Parquet file: columns of floats decoded directly, all others by the general reader.
//!
//! At the first page that [`Floats`] does not know, the general reader takes over for all columns, from the same row on.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, FixedSizeListArray, Float32Array, Float64Array, LargeListArray, ListArray, OffsetSizeTrait, RecordBatch,
    RecordBatchOptions,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::chunks::Chunks;
use crate::column::{Float, Floats};
use crate::long_lists::{BYTES_OF_A_VALUE, count_values, most_values};
use crate::memory::Account;
use crate::row_lengths::Lengths;
use crate::{Error, Request, Source, Use};

/// The batches of a [`Request`].
pub struct Batches {
    input: Input,
    schema: SchemaRef,
    /// `None` where the general reader has the column.
    columns: Vec<Option<Column>>,
    others: Option<ParquetRecordBatchReader>,
    /// Reads all columns of the rows behind a page that is not known.
    rest: Option<ParquetRecordBatchReader>,
    done: usize,
    rows: usize,
}

impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").field("input", &self.input).field("done", &self.done).finish_non_exhaustive()
    }
}

/// Some columns of some row groups.
#[derive(Debug)]
struct Input {
    source: Arc<Source>,
    footer: ArrowReaderMetadata,
    columns: Vec<usize>,
    row_groups: Range<usize>,
    batch_rows: usize,
    account: Arc<Account>,
}

enum Column {
    Single(Floats<f32>),
    Double(Floats<f64>),
}

impl Input {
    /// Why memory was refused, if it was, or else another error.
    fn error(&self, error: impl Into<Error>) -> Error {
        self.account.refusal().unwrap_or_else(|| error.into())
    }

    /// The leaves of some columns.
    fn leaves(&self, columns: &[usize]) -> Vec<usize> {
        let kinds = self.footer.parquet_schema();
        (0..kinds.num_columns()).filter(|&leaf| columns.contains(&kinds.get_column_root_idx(leaf))).collect()
    }

    /// The bytes of some columns, for one reader of them.
    fn chunks(&self, columns: &[usize]) -> Chunks {
        let (footer, account) = (self.footer.metadata(), self.account.clone());
        Chunks::new(self.source.clone(), footer, &self.leaves(columns), self.row_groups.clone(), account)
    }

    /// Refuses lists of these columns that are too long to be decoded.
    fn check_lists(&self, columns: &[usize]) -> Result<(), Error> {
        let (footer, kinds) = (self.footer.metadata(), self.footer.parquet_schema());
        let has_lists = |leaf: &usize| kinds.column(*leaf).max_rep_level() > 0;
        let lists: Vec<usize> = self.leaves(columns).into_iter().filter(has_lists).collect();
        let (rows, groups) = (self.batch_rows, self.row_groups.clone());
        let most = |leaf: &usize| most_values(footer, *leaf, groups.clone(), rows).saturating_mul(BYTES_OF_A_VALUE);
        if self.account.has_room_for(lists.iter().map(most).fold(0, u64::saturating_add)) {
            return Ok(());
        }
        let chunks = self.chunks(columns);
        for leaf in lists {
            let values = count_values(&chunks, footer, leaf, groups.clone(), rows);
            let held = self.account.hold(leaf, Use::Values, values.saturating_mul(BYTES_OF_A_VALUE));
            held.map_err(|e| self.error(e))?;
        }
        Ok(())
    }

    /// Refuses a row group that has more or fewer values of a column than rows, as only a damaged footer says.
    fn check_groups(&self) -> Result<(), Error> {
        let kinds = self.footer.parquet_schema();
        let has_one_a_row = |leaf: &usize| kinds.column(*leaf).max_rep_level() == 0;
        for leaf in self.leaves(&self.columns).into_iter().filter(has_one_a_row) {
            for group in &self.footer.metadata().row_groups()[self.row_groups.clone()] {
                let (rows, values) = (group.num_rows(), group.column(leaf).num_values());
                if rows != values {
                    return Err(Error::OutOfStep { column: kinds.column(leaf).path().string(), rows, values });
                }
            }
        }
        Ok(())
    }

    /// The general reader for some columns, from a row on.
    fn general(&self, columns: &[usize], row: usize) -> Result<ParquetRecordBatchReader, Error> {
        self.check_lists(columns)?;
        let mask = ProjectionMask::roots(self.footer.parquet_schema(), columns.iter().copied());
        let mut reader = ParquetRecordBatchReaderBuilder::new_with_metadata(self.chunks(columns), self.footer.clone())
            .with_projection(mask)
            .with_row_groups(self.row_groups.clone().collect())
            .with_batch_size(self.batch_rows);
        // An offset of 0 would have it read a damaged file in another way.
        if row > 0 {
            reader = reader.with_offset(row);
        }
        reader.build().map_err(|e| self.error(e))
    }

    /// A column of floats, or of lists of them.
    fn floats(&self, column: usize, chunks: &Chunks) -> Option<Column> {
        let data_type = self.footer.schema().field(column).data_type();
        match item_type(data_type) {
            DataType::Float32 => self.leaf(column, chunks).map(Column::Single),
            DataType::Float64 => self.leaf(column, chunks).map(Column::Double),
            _ => None,
        }
    }

    fn leaf<T: Float>(&self, column: usize, chunks: &Chunks) -> Option<Floats<T>> {
        let [leaf] = self.leaves(&[column])[..] else { return None };
        let (footer, account) = (self.footer.metadata().clone(), self.account.clone());
        Floats::new(chunks.clone(), account, footer, leaf, self.row_groups.clone())
    }
}

impl Batches {
    pub(crate) fn new(request: Request) -> Result<Self, Error> {
        let Request { source, footer, columns, row_groups, batch_rows, memory, library_only } = request;
        let schema = Arc::new(footer.schema().project(&columns)?);
        let groups = &footer.metadata().row_groups()[row_groups.clone()];
        let rows = groups.iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).sum();
        let account = Arc::new(Account::new(memory));
        let input = Input { source: Arc::new(source), footer, columns, row_groups, batch_rows, account };
        input.check_groups()?;
        let chunks = input.chunks(&input.columns);
        let columns: Vec<Option<Column>> =
            input.columns.iter().map(|&i| if library_only { None } else { input.floats(i, &chunks) }).collect();
        let others = input.columns.iter().zip(&columns).filter(|(_, column)| column.is_none());
        let others: Vec<usize> = others.map(|(&i, _)| i).collect();
        let others = if others.is_empty() { None } else { Some(input.general(&others, 0)?) };
        Ok(Batches { input, schema, columns, others, rest: None, done: 0, rows })
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        let rows = self.input.batch_rows.min(self.rows - self.done);
        if self.rest.is_none() && rows > 0 {
            if let Some(batch) = self.direct(rows)? {
                self.done += rows;
                return Ok(Some(batch));
            }
            if let Some(error) = self.input.account.refusal() {
                return Err(error);
            }
            self.rest = Some(self.input.general(&self.input.columns, self.done)?);
        }
        let Some(rest) = &mut self.rest else { return Ok(None) };
        rest.next().transpose().map_err(|e| self.input.error(e))
    }

    /// The next rows, unless a page is not known.
    fn direct(&mut self, rows: usize) -> Result<Option<RecordBatch>, Error> {
        let others = match &mut self.others {
            None => None,
            Some(others) => others.next().transpose().map_err(|e| self.input.error(e))?,
        };
        if others.as_ref().is_some_and(|others| others.num_rows() != rows) {
            return Ok(None);
        }
        let mut others = others.iter().flat_map(|others| others.columns());
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (column, field) in self.columns.iter_mut().zip(self.schema.fields()) {
            let array = match column {
                Some(column) => column.read(rows, field.data_type()),
                None => others.next().cloned(),
            };
            match array {
                Some(array) => arrays.push(array),
                None => return Ok(None),
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?))
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

impl Column {
    fn read(&mut self, rows: usize, data_type: &DataType) -> Option<ArrayRef> {
        let (values, lengths): (ArrayRef, Lengths) = match self {
            Column::Single(floats) => {
                let (values, lengths) = floats.read(rows)?;
                (Arc::new(Float32Array::new(values.into(), None)), lengths)
            }
            Column::Double(floats) => {
                let (values, lengths) = floats.read(rows)?;
                (Arc::new(Float64Array::new(values.into(), None)), lengths)
            }
        };
        in_rows(values, &lengths, data_type).ok().flatten()
    }
}

/// The values of rows as the column's type has them.
fn in_rows(
    values: ArrayRef,
    lengths: &Lengths,
    data_type: &DataType,
) -> std::result::Result<Option<ArrayRef>, ArrowError> {
    Ok(Some(match data_type {
        DataType::List(item) if i32::try_from(values.len()).is_ok() => {
            Arc::new(ListArray::try_new(item.clone(), offsets(lengths), values, None)?)
        }
        DataType::LargeList(item) => Arc::new(LargeListArray::try_new(item.clone(), offsets(lengths), values, None)?),
        DataType::FixedSizeList(item, size) if lengths.of_all() == usize::try_from(*size).ok() => {
            Arc::new(FixedSizeListArray::try_new(item.clone(), *size, values, None)?)
        }
        DataType::Float32 | DataType::Float64 => values,
        _ => return Ok(None),
    }))
}

fn offsets<O: OffsetSizeTrait>(lengths: &Lengths) -> OffsetBuffer<O> {
    match lengths.of_all() {
        Some(length) => OffsetBuffer::from_repeated_length(length, lengths.rows()),
        None => OffsetBuffer::from_lengths(lengths.iter()),
    }
}

/// The type of a column's values, those of its lists if it has lists.
fn item_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => item.data_type(),
        other => other,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::File;

    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ArrowReaderOptions;

    use super::*;

    const ROWS: usize = 20_000;

    /// How many rows of a column are decoded directly, after all rows were read and compared. With the library alone, none are.
    fn direct_rows(values: Float32Array) -> usize {
        let column: ArrayRef = Arc::new(values);
        let batch = RecordBatch::try_from_iter_with_nullable([("x", column.clone(), true)]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let read = |library_only| {
            let file = File::open(&path).unwrap();
            let footer = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).unwrap();
            let request = Request { library_only, ..Request::new(Source::File(file), footer) };
            let (mut batches, mut row) = (Batches::new(request).unwrap(), 0);
            for read in batches.by_ref() {
                let read = read.unwrap();
                assert_eq!(read.column(0), &column.slice(row, read.num_rows()));
                row += read.num_rows();
            }
            assert_eq!(row, ROWS);
            (batches.done, batches.columns[0].is_some())
        };
        assert!(!read(true).1);
        read(false).0
    }

    #[test]
    fn the_general_reader_goes_on_where_a_page_is_not_known() {
        let value = |row: usize| (row % 997) as f32;
        assert_eq!(direct_rows((0..ROWS).map(|row| Some(value(row))).collect()), ROWS);
        assert_eq!(direct_rows((0..ROWS).map(|row| (row % 2 > 0).then(|| value(row))).collect()), 0);
    }
}
