//! The batches of a Parquet file: columns of floats decoded directly, all others by the general reader.
//!
//! At the first page that [`Floats`] does not know, the general reader takes over for all columns, from the same row on.

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
use parquet::file::reader::ChunkReader;

use crate::error::{Error, Result};
use crate::find::detect::{Format, open_file};
use crate::find::place::Place;
use crate::formats::ahead::ColumnBytes;
use crate::formats::batches::BATCH;
use crate::formats::bounded::BoundedFile;
use crate::formats::claims::Claims;
use crate::formats::floats::{Float, Floats};
use crate::formats::long_lists::{BYTES_OF_A_VALUE, count_values, most_values};
use crate::formats::room::{Held, Holding};
use crate::formats::row_lengths::Lengths;
use crate::store::{self, Chunks, Columns};

/// Some columns of some row groups.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) place: Place,
    pub(crate) footer: ArrowReaderMetadata,
    /// Ascending.
    pub(crate) columns: Vec<usize>,
    pub(crate) groups: Range<usize>,
    pub(crate) held: Arc<Held>,
}

/// Reads the batches of a [`Source`].
pub(crate) struct Direct {
    source: Source,
    bytes: ColumnBytes,
    schema: SchemaRef,
    /// `None` where the general reader has the column.
    columns: Vec<Option<Column>>,
    others: Option<ParquetRecordBatchReader>,
    /// Reads all columns of the rows behind a page that is not known.
    rest: Option<ParquetRecordBatchReader>,
    done: usize,
    rows: usize,
}

enum Column {
    Single(Floats<f32>),
    Double(Floats<f64>),
}

impl Source {
    fn unreadable(&self, error: impl ToString) -> Error {
        self.too_large().unwrap_or_else(|| self.place.unreadable(Format::Parquet.name(), error))
    }

    /// The error for what was refused because it is too large.
    fn too_large(&self) -> Option<Error> {
        let name = |leaf: usize| {
            let column = self.footer.parquet_schema().get_column_root_idx(leaf);
            self.footer.schema().field(column).name().clone()
        };
        self.held.failure(self.place.path(), name)
    }

    /// The leaves of some columns.
    fn leaves(&self, columns: &[usize]) -> Vec<usize> {
        let kinds = self.footer.parquet_schema();
        (0..kinds.num_columns()).filter(|&leaf| columns.contains(&kinds.get_column_root_idx(leaf))).collect()
    }

    /// What the pages of some columns claim, for one reader of them.
    fn claims(&self, columns: &[usize]) -> Arc<Claims> {
        Claims::new(self.footer.metadata(), &self.leaves(columns), self.groups.clone(), self.held.clone())
    }

    /// Refuses lists of these columns that are too long to be decoded.
    fn check_lists(&self, bytes: &ColumnBytes, columns: &[usize]) -> Result<()> {
        let (footer, kinds) = (self.footer.metadata(), self.footer.parquet_schema());
        let has_lists = |leaf: &usize| kinds.column(*leaf).max_rep_level() > 0;
        let lists: Vec<usize> = self.leaves(columns).into_iter().filter(has_lists).collect();
        let most = |leaf: &usize| most_values(footer, *leaf, self.groups.clone()).saturating_mul(BYTES_OF_A_VALUE);
        if self.held.has_share_for(lists.iter().map(most).fold(0, u64::saturating_add)) {
            return Ok(());
        }
        let claims = self.claims(columns);
        for leaf in lists {
            let values = count_values(bytes, &claims, footer, leaf, self.groups.clone());
            let held = self.held.hold(leaf, Holding::Values, values.saturating_mul(BYTES_OF_A_VALUE));
            held.map_err(|excess| self.unreadable(excess))?;
        }
        Ok(())
    }

    /// Refuses a row group that has more or fewer values of a column than rows, as only a damaged footer says.
    fn check_groups(&self) -> Result<()> {
        let kinds = self.footer.parquet_schema();
        let has_one_a_row = |leaf: &usize| kinds.column(*leaf).max_rep_level() == 0;
        for leaf in self.leaves(&self.columns).into_iter().filter(has_one_a_row) {
            for group in &self.footer.metadata().row_groups()[self.groups.clone()] {
                let (rows, values) = (group.num_rows(), group.column(leaf).num_values());
                if rows != values {
                    let column = kinds.column(leaf).path().string();
                    return Err(
                        self.unreadable(format!("a row group of {rows} rows has {values} values of `{column}`"))
                    );
                }
            }
        }
        Ok(())
    }

    /// The bytes of all columns.
    fn bytes(&self) -> Result<ColumnBytes> {
        Ok(match &self.place {
            Place::Local(path) => ColumnBytes::File(Arc::new(open_file(path)?)),
            Place::Object(object) => {
                let ranges = store::ranges(self.footer.metadata(), &self.columns, self.groups.clone());
                ColumnBytes::Object(Arc::new(Columns::new(object.clone(), ranges)))
            }
        })
    }

    /// The general reader for some columns, from a row on.
    fn general(&self, bytes: &ColumnBytes, columns: &[usize], row: usize) -> Result<ParquetRecordBatchReader> {
        self.check_lists(bytes, columns)?;
        match bytes {
            // A file of its own: columns that share one take turns to move about in it.
            ColumnBytes::File(_) => self.general_of(open_file(self.place.path())?, columns, row),
            ColumnBytes::Object(bytes) => self.general_of(Chunks(bytes.clone()), columns, row),
        }
    }

    fn general_of<R: ChunkReader + 'static>(
        &self,
        file: R,
        columns: &[usize],
        row: usize,
    ) -> Result<ParquetRecordBatchReader> {
        let file = BoundedFile { file, claims: self.claims(columns) };
        let mask = ProjectionMask::roots(self.footer.parquet_schema(), columns.iter().copied());
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.footer.clone())
            .with_projection(mask)
            .with_row_groups(self.groups.clone().collect())
            .with_offset(row)
            .with_batch_size(BATCH)
            .build()
            .map_err(|e| self.unreadable(e))
    }

    /// A column of floats, or of lists of them.
    fn floats(&self, column: usize, bytes: &ColumnBytes, claims: &Arc<Claims>) -> Option<Column> {
        let data_type = self.footer.schema().field(column).data_type();
        match item_type(data_type) {
            DataType::Float32 => self.leaf(column, bytes, claims).map(Column::Single),
            DataType::Float64 => self.leaf(column, bytes, claims).map(Column::Double),
            _ => None,
        }
    }

    fn leaf<T: Float>(&self, column: usize, bytes: &ColumnBytes, claims: &Arc<Claims>) -> Option<Floats<T>> {
        let [leaf] = self.leaves(&[column])[..] else { return None };
        Floats::new(bytes.clone(), claims.clone(), self.footer.metadata().clone(), leaf, self.groups.clone())
    }
}

impl Direct {
    /// Reads `rows` rows, which must be those of the row groups.
    pub(crate) fn new(source: Source, schema: SchemaRef, rows: u64) -> Result<Self> {
        source.check_groups()?;
        let bytes = source.bytes()?;
        let claims = source.claims(&source.columns);
        let columns: Vec<Option<Column>> = source.columns.iter().map(|&i| source.floats(i, &bytes, &claims)).collect();
        let others = source.columns.iter().zip(&columns).filter(|(_, column)| column.is_none());
        let others: Vec<usize> = others.map(|(&i, _)| i).collect();
        let others = if others.is_empty() { None } else { Some(source.general(&bytes, &others, 0)?) };
        let rows = usize::try_from(rows).map_err(|e| source.unreadable(e))?;
        Ok(Direct { source, bytes, schema, columns, others, rest: None, done: 0, rows })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let rows = BATCH.min(self.rows - self.done);
        if self.rest.is_none() && rows > 0 {
            if let Some(batch) = self.direct(rows)? {
                self.done += rows;
                return Ok(Some(batch));
            }
            if let Some(error) = self.source.too_large() {
                return Err(error);
            }
            self.rest = Some(self.source.general(&self.bytes, &self.source.columns, self.done)?);
        }
        let Some(rest) = &mut self.rest else { return Ok(None) };
        rest.next().transpose().map_err(|e| self.source.unreadable(e))
    }

    /// The next rows, unless a page is not known.
    fn direct(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        let others = match &mut self.others {
            None => None,
            Some(others) => others.next().transpose().map_err(|e| self.source.unreadable(e))?,
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
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options);
        batch.map(Some).map_err(|e| self.source.unreadable(e))
    }
}

impl Iterator for Direct {
    type Item = Result<RecordBatch>;

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
    use crate::formats::room::Room;

    const ROWS: usize = 20_000;

    /// How many rows of a column are decoded directly, after all rows were read and compared.
    fn direct_rows(values: Float32Array) -> usize {
        let column: ArrayRef = Arc::new(values);
        let batch = RecordBatch::try_from_iter_with_nullable([("x", column.clone(), true)]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let footer = ArrowReaderMetadata::load(&File::open(&path).unwrap(), ArrowReaderOptions::new()).unwrap();
        let source =
            Source { place: path.into(), footer, columns: vec![0], groups: 0..1, held: Room::new(1 << 30, 1).reader() };
        let mut direct = Direct::new(source, batch.schema(), ROWS as u64).unwrap();
        let mut row = 0;
        for read in direct.by_ref() {
            let read = read.unwrap();
            assert_eq!(read.column(0), &column.slice(row, read.num_rows()));
            row += read.num_rows();
        }
        assert_eq!(row, ROWS);
        direct.done
    }

    #[test]
    fn the_general_reader_goes_on_where_a_page_is_not_known() {
        let value = |row: usize| (row % 997) as f32;
        assert_eq!(direct_rows((0..ROWS).map(|row| Some(value(row))).collect()), ROWS);
        assert_eq!(direct_rows((0..ROWS).map(|row| (row % 2 > 0).then(|| value(row))).collect()), 0);
    }
}
