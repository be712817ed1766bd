//! The table of CDFs as Parquet.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;

use crate::Error;
use crate::cdf::{COLUMNS, Row};

/// The rows as a file. They are asked for once for each column.
pub(crate) fn encode<'a, I: Iterator<Item = Row<'a>>>(rows: impl Fn() -> I) -> Result<Vec<u8>, Error> {
    let encode = |e: &dyn ToString| Error::Encode { what: "the CDF", reason: e.to_string() };
    let numbers = |of: fn(Row<'a>) -> Option<f64>| Arc::new(rows().map(of).collect::<Float64Array>()) as ArrayRef;
    let arrays: [(ArrayRef, bool); 7] = [
        (Arc::new(rows().map(|row| Some(row.policy)).collect::<StringArray>()), false),
        (Arc::new(rows().map(|row| row.segment).collect::<StringArray>()), true),
        (numbers(|row| Some(row.reward)), false),
        (numbers(|row| Some(row.raw)), false),
        (numbers(|row| Some(row.estimate)), false),
        (numbers(|row| row.lower), true),
        (numbers(|row| row.upper), true),
    ];
    let columns = COLUMNS.into_iter().zip(arrays).map(|(name, (array, nullable))| (name, array, nullable));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(|e| encode(&e))?;
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).map_err(|e| encode(&e))?;
    writer.write(&batch).map_err(|e| encode(&e))?;
    writer.close().map_err(|e| encode(&e))?;
    Ok(bytes)
}
