//! CSV and TSV, plain or packed. Cells stay text here; numbers are parsed where they are used, so that a cell that is
//! none can be named by row and column.

use std::path::Path;
use std::sync::Arc;

use arrow_csv::ReaderBuilder;
use arrow_csv::reader::Format as Csv;
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::error::{Error, Result};
use crate::formats::batches::{BATCH, Batches, Choose};
use crate::formats::detect::{Format, Packing};
use crate::formats::packed::open_bytes;

fn bad(path: &Path, delimiter: u8, packing: Packing) -> impl Fn(ArrowError) -> Error + 'static {
    let path = path.to_owned();
    move |e| Error::unreadable(&path, Format::Csv { delimiter, packing }.name(), e)
}

/// The columns of the header, with types guessed from the first `sample` rows.
pub(crate) fn schema(path: &Path, delimiter: u8, packing: Packing, sample: usize) -> Result<Schema> {
    let (bytes, _) = open_bytes(path, packing)?;
    let format = Csv::default().with_header(true).with_delimiter(delimiter);
    let (schema, _) = format.infer_schema(bytes, Some(sample)).map_err(bad(path, delimiter, packing))?;
    Ok(trimmed(&schema))
}

/// People put blanks behind the commas of a header.
fn trimmed(schema: &Schema) -> Schema {
    let field = |f: &Arc<Field>| f.as_ref().clone().with_name(f.name().trim());
    Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())
}

pub(crate) fn open(path: &Path, delimiter: u8, packing: Packing, choose: Choose<'_>) -> Result<Batches> {
    let bad = bad(path, delimiter, packing);
    let header = schema(path, delimiter, packing, 0)?;
    let text = |f: &Arc<Field>| f.as_ref().clone().with_data_type(DataType::Utf8);
    let schema = Schema::new(header.fields().iter().map(text).collect::<Vec<_>>());
    let indices = choose(&schema)?.columns;
    let projected = schema.project(&indices).map_err(&bad)?;
    let (bytes, taken) = open_bytes(path, packing)?;
    let reader = ReaderBuilder::new(schema.into())
        .with_header(true)
        .with_delimiter(delimiter)
        .with_projection(indices)
        .with_batch_size(BATCH)
        .build_buffered(bytes)
        .map_err(&bad)?;
    let batches = Box::new(reader.map(move |batch| batch.map_err(&bad)));
    Ok(Batches { schema: projected.into(), first_row: 0, rows: None, taken: Some(taken), batches })
}
