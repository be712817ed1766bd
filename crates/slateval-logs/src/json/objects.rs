//! The wanted members of JSON objects, straight into columns; others are passed over.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, NullArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{RowFault, brief};
use crate::json::shape::not_an_object;

/// The rows of a batch.
#[derive(Debug)]
pub(crate) struct Objects {
    names: Names,
    columns: Vec<Column>,
}

/// The members that are wanted, and their places.
#[derive(Debug)]
struct Names {
    in_order: Vec<String>,
    places: HashMap<String, usize>,
}

#[derive(Debug)]
enum Column {
    Number(Float64Builder),
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Text(StringBuilder),
    List {
        items: ListBuilder<Float64Builder>,
        /// The items of one list.
        row: Vec<f64>,
    },
    /// Nulls only; so many.
    Nothing(usize),
}

impl Objects {
    pub(crate) fn new(schema: &Schema) -> Self {
        let in_order: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let places = in_order.iter().cloned().zip(0..).collect();
        let columns = schema.fields().iter().map(|field| Column::new(field.data_type())).collect();
        Objects { names: Names { in_order, places }, columns }
    }

    /// Adds the object of a line; says what is wrong with it. A row is added in any case: what cannot be read is null.
    pub(crate) fn add(&mut self, line: &[u8]) -> Result<(), RowFault> {
        let mut json = serde_json::Deserializer::from_slice(line);
        let cells = json.deserialize_map(Line(&self.names)).and_then(|cells| json.end().map(|()| cells));
        let cells = match cells {
            Ok(cells) => cells,
            Err(error) => {
                self.columns.iter_mut().for_each(Column::add_null);
                return Err(RowFault::BadLine(not_an_object(&error).into()));
            }
        };
        let mut fault = None;
        for ((column, cell), name) in self.columns.iter_mut().zip(cells).zip(&self.names.in_order) {
            let text = cell.map_or("null", RawValue::get);
            if let Err(wanted) = column.add(text) {
                column.add_null();
                fault.get_or_insert_with(|| match column {
                    Column::Number(_) => {
                        let value = brief(text.trim_matches('"')).into();
                        RowFault::NotANumber { column: name.as_str().into(), value, of: None }
                    }
                    _ => {
                        RowFault::BadLine(format!("`{}` is {}, which is not {wanted}", brief(name), brief(text)).into())
                    }
                });
            }
        }
        fault.map_or(Ok(()), Err)
    }

    /// The batch of so many rows; the next object is the first of another one.
    pub(crate) fn take(&mut self, schema: &SchemaRef, rows: usize) -> Result<RecordBatch, ArrowError> {
        let arrays = self.columns.iter_mut().map(Column::take).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(schema.clone(), arrays, &options)
    }
}

impl Names {
    /// The place of a member. Lines mostly have the same order, so the name behind the last one found is tried first.
    fn find(&self, name: &str, next: usize) -> Option<usize> {
        match self.in_order.get(next) {
            Some(expected) if expected == name => Some(next),
            _ => self.places.get(name).copied(),
        }
    }
}

/// Finds the wanted members in a line's object. One that is there twice is refused: nothing tells which is meant.
struct Line<'a>(&'a Names);

impl<'de> Visitor<'de> for Line<'_> {
    type Value = Vec<Option<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut cells = vec![None; self.0.in_order.len()];
        let mut next = 0;
        while let Some(Name(name)) = map.next_key()? {
            match self.0.find(&name, next) {
                Some(place) if cells[place].is_some() => {
                    return Err(M::Error::custom(format_args!("`{}` is there twice", self.0.in_order[place])));
                }
                Some(place) => {
                    cells[place] = Some(map.next_value()?);
                    next = place + 1;
                }
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(cells)
    }
}

/// A member's name, copied only where something in it is escaped.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl Column {
    fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Null => Column::Nothing(0),
            DataType::Boolean => Column::Bool(BooleanBuilder::new()),
            DataType::Int64 => Column::Int(Int64Builder::new()),
            DataType::Float64 => Column::Number(Float64Builder::new()),
            DataType::List(item) => {
                let items = ListBuilder::new(Float64Builder::new()).with_field(item.clone());
                Column::List { items, row: Vec::new() }
            }
            // Columns of other types are not chosen.
            _ => Column::Text(StringBuilder::new()),
        }
    }

    /// Adds a value, given as it stands in the line; else says what it should have been.
    fn add(&mut self, json: &str) -> Result<(), &'static str> {
        let null = json == "null";
        match self {
            _ if null => self.add_null(),
            Column::Number(values) => values.append_value(number(json).ok_or("a number")?),
            Column::Bool(values) => values.append_value(json.parse().map_err(|_| "true or false")?),
            Column::Int(values) => values.append_value(whole(json).ok_or("a whole number")?),
            Column::Text(values) => {
                let text = text(json).filter(|text| values.values_slice().len() + text.len() < i32::MAX as usize);
                values.append_value(text.ok_or("text")?);
            }
            Column::List { items, row } => add_list(json, items, row).ok_or("a list of numbers")?,
            Column::Nothing(_) => return Err("null, as all before it"),
        }
        Ok(())
    }

    fn add_null(&mut self) {
        match self {
            Column::Number(values) => values.append_null(),
            Column::Bool(values) => values.append_null(),
            Column::Int(values) => values.append_null(),
            Column::Text(values) => values.append_null(),
            Column::List { items, .. } => items.append(false),
            Column::Nothing(rows) => *rows += 1,
        }
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Column::Number(values) => Arc::new(values.finish()),
            Column::Bool(values) => Arc::new(values.finish()),
            Column::Int(values) => Arc::new(values.finish()),
            Column::Text(values) => Arc::new(values.finish()),
            Column::List { items, .. } => Arc::new(items.finish()),
            Column::Nothing(rows) => Arc::new(NullArray::new(std::mem::take(rows))),
        }
    }
}

/// A number, or text that holds one.
fn number(json: &str) -> Option<f64> {
    fast_float2::parse(scalar(json)?.trim()).ok()
}

/// A whole number, or text that holds one; `2e3` and `5.0` are whole.
fn whole(json: &str) -> Option<i64> {
    let text = scalar(json)?;
    let float = || text.trim().parse().ok().filter(|f: &f64| f.fract() == 0.0 && f.abs() < 2_f64.powi(63));
    text.trim().parse().ok().or_else(|| float().map(|f| f as i64))
}

/// Text; numbers and truth values are taken as they are written.
fn text(json: &str) -> Option<Cow<'_, str>> {
    if matches!(json, "true" | "false") { Some(json.into()) } else { scalar(json) }
}

/// What text holds, or a number as it is written.
fn scalar(json: &str) -> Option<Cow<'_, str>> {
    match json.as_bytes() {
        [b'"', ..] if json.contains('\\') => serde_json::from_str::<String>(json).ok().map(Cow::Owned),
        [b'"', .., b'"'] => Some(json[1..json.len() - 1].into()),
        [b'-' | b'0'..=b'9', ..] => Some(json.into()),
        _ => None,
    }
}

fn add_list(json: &str, items: &mut ListBuilder<Float64Builder>, row: &mut Vec<f64>) -> Option<()> {
    row.clear();
    if plain_list(json.as_bytes(), row).is_some() {
        items.values().append_slice(row);
    } else {
        for item in serde_json::from_str::<Vec<&RawValue>>(json).ok()? {
            match item.get() {
                "null" => items.values().append_null(),
                other => items.values().append_value(number(other)?),
            }
        }
    }
    items.append(true);
    Some(())
}

/// The items of a list that has plain numbers only.
fn plain_list(json: &[u8], items: &mut Vec<f64>) -> Option<()> {
    let mut rest = json.strip_prefix(b"[")?.trim_ascii_start();
    while !rest.starts_with(b"]") {
        let (number, length) = fast_float2::parse_partial(rest).ok()?;
        items.push(number);
        rest = rest[length..].trim_ascii_start();
        match rest.first()? {
            b',' => rest = rest[1..].trim_ascii_start(),
            b']' => {}
            _ => return None,
        }
    }
    Some(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use arrow_schema::Field;
    use slateval_testing::Random;

    use super::*;
    use crate::error::Error as LogError;

    fn list() -> DataType {
        DataType::List(Arc::new(Field::new_list_field(DataType::Float64, true)))
    }

    fn schema(data_type: DataType) -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new("x", data_type, true)]))
    }

    fn read(schema: &SchemaRef, lines: &[String]) -> Result<RecordBatch, String> {
        let mut objects = Objects::new(schema);
        let fault = |fault: RowFault| LogError::Row { file: "x".into(), row: 1, fault }.to_string();
        lines.iter().try_for_each(|line| objects.add(line.as_bytes())).map_err(fault)?;
        Ok(objects.take(schema, lines.len()).unwrap())
    }

    /// What Arrow's own reader makes of the lines.
    fn read_by_arrow(schema: &SchemaRef, lines: &[String]) -> Option<RecordBatch> {
        let builder =
            arrow_json::ReaderBuilder::new(schema.clone()).with_coerce_primitive(true).with_batch_size(lines.len() + 1);
        let mut decoder = builder.build_decoder().unwrap();
        decoder.decode(lines.join("\n").as_bytes()).ok()?;
        decoder.flush().ok()?
    }

    fn lines(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| format!("{{\"other\": [{{\"x\": 7}}], \"x\": {value}, \"y\": \"}}\"}}")).collect()
    }

    #[test]
    fn values_are_those_of_arrows_reader() {
        let mut numbers: Vec<String> = ["null", "0", "-0.0", "1e-3", "2E+2", "\"0.5\"", "\" 7 \"", "1e400", "\"-inf\""]
            .map(str::to_owned)
            .to_vec();
        let mut random = Random::new(1);
        for _ in 0..5000 {
            let state = random.bits();
            numbers.push((state >> (state % 64)).to_string());
            numbers.push(f64::from_bits(state >> 2).to_string());
            numbers.push(format!("{:e}", (state >> 11) as f64 / (1_u64 << 53) as f64));
        }
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
        let lists =
            ["null", "[]", "[ 1 , 0.25,3e1 ]", "[null, 1]", "[\"0.5\", \"1\"]", "[0.1,0.123456789012345678901]"];
        let texts = ["\"a\"", "null", "\"\\u00e9\\n\\\"\"", "\"\"", "1.50", "-3", "true", "false", "1e5", "\"é\""];
        let whole = ["1", "null", "-5", "\"12\"", "2e3", "5.0", "9223372036854775807", "-9223372036854775808"];
        for (data_type, values) in [
            (DataType::Float64, numbers.as_slice()),
            (DataType::Boolean, &["true", "null", "false"]),
            (DataType::Int64, &whole),
            (DataType::Utf8, &texts),
            (list(), &lists),
            (DataType::Null, &["null", "null"]),
        ] {
            let (schema, lines) = (schema(data_type.clone()), lines(values));
            assert_eq!(read(&schema, &lines).ok(), read_by_arrow(&schema, &lines), "{data_type}");
        }
    }

    #[test]
    fn what_arrows_reader_refuses_is_refused() {
        let not_numbers = ["true", "\"\"", "\"x\"", "[1]", "{}", "\"1e\"", "nan"];
        for (data_type, values) in [
            (DataType::Float64, not_numbers.as_slice()),
            (DataType::Boolean, &["1", "\"true\"", "[]"]),
            (DataType::Int64, &["true", "1e300", "\"x\"", "9223372036854775808", "[]"]),
            (DataType::Utf8, &["[]", "{}", "\"\\ud800\""]),
            (list(), &["1", "{}", "[true]", "[[1]]", "[\"x\"]", "\"[1]\""]),
            (DataType::Null, &["1", "[]"]),
        ] {
            for value in values {
                let (schema, lines) = (schema(data_type.clone()), lines(&[value]));
                assert!(read(&schema, &lines).is_err(), "{value} as {data_type}");
                assert_eq!(read_by_arrow(&schema, &lines), None, "{value} as {data_type}");
            }
        }
        // Arrow's reader takes these, which are not JSON.
        let float = DataType::Float64;
        for (data_type, value) in [(float.clone(), "1."), (float, "01"), (list(), "[1,]"), (list(), "[1 2]")] {
            let error = read(&schema(data_type), &lines(&[value])).unwrap_err();
            assert!(error.contains("row 1: not one JSON object: "), "{value}: {error}");
        }
        // It would cut off the decimals.
        let error = read(&schema(DataType::Int64), &lines(&["1.5"])).unwrap_err();
        assert!(error.contains("`x` is 1.5, which is not a whole number"), "{error}");
    }

    #[test]
    fn members_come_in_any_order_and_may_be_missing_but_not_doubled() {
        let fields = ["a", "b", "c\n"].map(|name| Field::new(name, DataType::Float64, true));
        let schema: SchemaRef = Arc::new(Schema::new(fields.to_vec()));
        let lines = ["{\"a\": 1, \"b\": 2, \"c\\n\": 3}", "{\"\\u0063\\n\": 6, \"a\": 4}", "{}\r\n"];
        let lines = lines.map(str::to_owned);
        assert_eq!(read(&schema, &lines).ok(), read_by_arrow(&schema, &lines));
        let error = read(&schema, &["{\"b\": 1, \"x\": 1, \"x\": 2, \"b\": 2}".to_owned()]).unwrap_err();
        assert!(error.contains("`b` is there twice"), "{error}");
    }
}
