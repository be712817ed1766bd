//! CSV and TSV, plain or packed: columns of numbers become numbers, and columns of labels stay text.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_csv::reader::Format as Csv;
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::error::{Error, Result};
use crate::formats::batches::{Batches, Choose, Part};
use crate::formats::detect::{Format, Packing};
use crate::formats::packed::open_bytes;
use crate::formats::records::{Records, Use};

fn bad(path: &Path, delimiter: u8, packing: Packing) -> impl Fn(ArrowError) -> Error + 'static {
    let path = path.to_owned();
    move |e| Error::unreadable(&path, Format::Csv { delimiter, packing }.name(), e)
}

/// The columns of the header, with types guessed from the first `sample` rows.
pub(crate) fn schema(path: &Path, delimiter: u8, packing: Packing, sample: usize) -> Result<Schema> {
    let (bytes, _) = open_bytes(path, packing, &Part::Whole)?;
    let format = Csv::default().with_header(true).with_delimiter(delimiter);
    let (schema, _) = format.infer_schema(bytes, Some(sample)).map_err(bad(path, delimiter, packing))?;
    Ok(trimmed(&schema))
}

/// People put blanks behind the commas of a header.
fn trimmed(schema: &Schema) -> Schema {
    let field = |f: &Arc<Field>| f.as_ref().clone().with_name(f.name().trim());
    Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())
}

/// A column used as number and as label stays text: numbers are parsed from it where they are used.
pub(crate) fn open(path: &Path, delimiter: u8, packing: Packing, part: &Part, choose: Choose<'_>) -> Result<Batches> {
    let header = schema(path, delimiter, packing, 0)?;
    let text = |f: &Arc<Field>| f.as_ref().clone().with_data_type(DataType::Utf8);
    let header = Schema::new(header.fields().iter().map(text).collect::<Vec<_>>());
    let chosen = choose(&header)?;
    let used = |i: usize| match (chosen.columns.contains(&i), chosen.labels.contains(&i)) {
        (false, _) => Use::Skip,
        (true, true) => Use::Text,
        (true, false) => Use::Number(header.field(i).name().clone()),
    };
    let uses: Vec<Use> = (0..header.fields().len()).map(used).collect();
    let as_read = |&i: &usize| match uses[i] {
        Use::Number(_) => header.field(i).clone().with_data_type(DataType::Float64).with_nullable(true),
        _ => header.field(i).clone().with_nullable(true),
    };
    let schema = Schema::new(chosen.columns.iter().map(as_read).collect::<Vec<_>>());
    let (records, taken) = records(path, delimiter, packing, part, &uses, schema)?;
    let (schema, first_row) = (records.schema(), part.first_row());
    Ok(Batches { schema, first_row, rows: None, taken: Some(taken), batches: Box::new(records) })
}

/// The number of rows of a part.
pub(crate) fn count(path: &Path, delimiter: u8, packing: Packing, part: &Part) -> Result<u64> {
    let header = schema(path, delimiter, packing, 0)?;
    let uses = vec![Use::Skip; header.fields().len()];
    let (records, _) = records(path, delimiter, packing, part, &uses, Schema::empty())?;
    records.map(|batch| batch.map(|batch| batch.num_rows() as u64)).sum()
}

type Bytes = Box<dyn BufRead>;

fn records(
    path: &Path,
    delimiter: u8,
    packing: Packing,
    part: &Part,
    uses: &[Use],
    schema: Schema,
) -> Result<(Records<Bytes>, Arc<AtomicU64>)> {
    let (bytes, taken) = open_bytes(path, packing, part)?;
    let mut records = Records::new(path, bytes, delimiter, uses, schema.into()).after(part.first_row());
    if part.begins_file() {
        records.skip_header()?;
    }
    Ok((records, taken))
}
