//! CSV and TSV, plain or packed: columns of numbers become numbers, and columns of labels stay text.

mod cell;
mod guess;
mod pieces;
mod quotes;
mod records;

pub(crate) use cell::{Cell, truth};
pub(crate) use pieces::{PIECE, Pieces};

use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Field, Schema};

use crate::csv::guess::Guess;
use crate::csv::records::{Records, Use};
use crate::error::{Error, Result};
use crate::find::detect::Packing;
use crate::find::place::Place;
use crate::formats::batches::{Batches, Choose, Part};
use crate::formats::packed::open_bytes;

/// Columns that a header may have. A table that was written transposed has as many as it should have rows.
const MOST_COLUMNS: usize = 100_000;

/// The columns of the header, with types guessed from the first `sample` rows.
pub(crate) fn schema(place: &Place, delimiter: u8, packing: Packing, sample: usize) -> Result<Schema> {
    let (records, header) = begin(place, delimiter, packing)?;
    let columns = header.fields().len();
    let rows = records.using(&vec![Use::Text; columns], header.clone().into()).take_rows(sample)?;
    let guessed = |i: usize| {
        let guess = Guess::of(rows.column(i).as_string::<i32>().iter().flatten());
        header.field(i).clone().with_data_type(guess.data_type())
    };
    Ok(Schema::new((0..columns).map(guessed).collect::<Vec<_>>()))
}

/// The records behind the header, and the header: every column is text.
fn begin(place: &Place, delimiter: u8, packing: Packing) -> Result<(Records<Bytes>, Schema)> {
    let (bytes, _) = open_bytes(place, packing, &Part::Whole)?;
    let mut records = Records::new(place.path(), bytes, delimiter);
    let names = records.header()?;
    if names.len() > MOST_COLUMNS {
        return Err(Error::TooManyColumns { path: place.path().into(), columns: names.len(), limit: MOST_COLUMNS });
    }
    let text = |name: String| Field::new(name, DataType::Utf8, true);
    let header = Schema::new(names.into_iter().map(text).collect::<Vec<_>>());
    Ok((records, header))
}

/// A column used as number and as label stays text: numbers are parsed from it where they are used.
pub(crate) fn open(place: &Place, delimiter: u8, packing: Packing, part: &Part, choose: Choose<'_>) -> Result<Batches> {
    let (_, header) = begin(place, delimiter, packing)?;
    let chosen = choose(&header)?;
    let used = |i: usize| match (chosen.columns.contains(&i), chosen.labels.contains(&i)) {
        (false, _) => Use::Skip,
        (true, true) => Use::Text,
        (true, false) => Use::Number(header.field(i).name().clone()),
    };
    let uses: Vec<Use> = (0..header.fields().len()).map(used).collect();
    let as_read = |&i: &usize| match uses[i] {
        Use::Number(_) => header.field(i).clone().with_data_type(DataType::Float64),
        _ => header.field(i).clone(),
    };
    let schema = Schema::new(chosen.columns.iter().map(as_read).collect::<Vec<_>>());
    let (records, taken) = records(place, delimiter, packing, part, &uses, schema)?;
    let (schema, first_row, bad) = (records.schema(), part.first_row(), records.bad_rows());
    Ok(Batches { first_row, taken: Some(taken), bad, ..Batches::new(schema, Box::new(records)) })
}

/// The number of rows of a part.
pub(crate) fn count(place: &Place, delimiter: u8, packing: Packing, part: &Part) -> Result<u64> {
    let (_, header) = begin(place, delimiter, packing)?;
    let uses = vec![Use::Skip; header.fields().len()];
    let (records, _) = records(place, delimiter, packing, part, &uses, Schema::empty())?;
    records.map(|batch| batch.map(|batch| batch.num_rows() as u64)).sum()
}

type Bytes = Box<dyn BufRead>;

fn records(
    place: &Place,
    delimiter: u8,
    packing: Packing,
    part: &Part,
    uses: &[Use],
    schema: Schema,
) -> Result<(Records<Bytes>, Arc<AtomicU64>)> {
    let (bytes, taken) = open_bytes(place, packing, part)?;
    let mut records = Records::new(place.path(), bytes, delimiter);
    if part.begins_file() {
        records.header()?;
    }
    Ok((records.using(uses, schema.into()).after(part.first_row()), taken))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn schema_of(text: &[u8]) -> Result<Schema> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        schema(&path.into(), b',', Packing::None, 1000)
    }

    /// The columns that Arrow's own reader finds; blanks around their names do not count.
    fn schema_by_arrow(text: &[u8]) -> Schema {
        let format = arrow_csv::reader::Format::default().with_header(true);
        let (schema, _) = format.infer_schema(text, Some(1000)).unwrap();
        let trimmed = |f: &Arc<Field>| f.as_ref().clone().with_name(f.name().trim());
        Schema::new(schema.fields().iter().map(trimmed).collect::<Vec<_>>())
    }

    #[test]
    fn columns_are_those_of_arrows_reader() {
        let names: Vec<String> = (0..100_000).map(|i| format!("column {i}")).collect();
        let values = vec!["0.5"; names.len()].join(",");
        let long = format!("{}\n{values}\n", names.join(","));
        for text in [
            "",
            "\n\n",
            "a",
            "a,b",
            "a,b\n",
            "a, b ,\tc\n1,x,\n",
            "\r\n\na,b\r\n1,0.5\r\n2,\r\n",
            "a,b\r1,2\r",
            "a,a,,\n1,true,2024-01-01,\n",
            "\"a\",\"b,c\",\"d \"\"e\"\"\"\n1,2,3\n",
            "\"a\nb\",c\n\"1\n2\",3\n",
            "a\"b\",\"c\"d\n1,2\n",
            "a,\"b\n1,2\n",
            "é,b\n\"1\",\"x\"\n",
            &long,
        ] {
            let shown: String = text.chars().take(50).collect();
            assert_eq!(schema_of(text.as_bytes()).unwrap(), schema_by_arrow(text.as_bytes()), "{shown:?}");
        }
    }

    #[test]
    fn damaged_headers_and_open_quotes_are_refused() {
        let error = schema_of(b"a,\xff\n1,2\n").unwrap_err().to_string();
        assert!(error.contains("a.csv") && error.contains("the header is not UTF-8 text"), "{error}");
        let error = schema_of(b"a,b\n1,2\n1,\"2\n").unwrap_err().to_string();
        assert!(error.contains("row 2: a quote opens a cell, and nothing closes it"), "{error}");
        // A row of another length is told when rows are read.
        assert!(schema_of(b"a,b\n1,2\n1,2,3\n").is_ok());
        let many = vec!["x"; MOST_COLUMNS + 1].join(",");
        let error = schema_of(format!("{many}\n").as_bytes()).unwrap_err().to_string();
        assert!(error.contains("100001 columns, more than the 100000 that are read"), "{error}");
    }
}
