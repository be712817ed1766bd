//! The values that slates are segmented by, clustered by or told apart by.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray, UInt64Array,
};
use arrow_cast::cast;
use arrow_schema::DataType;
use slateval::{Block, Segment};

use crate::columns::{ColumnRole, Label, Place};
use crate::csv::truth;
use crate::error::{Error, Result};
use crate::slates::dictionary::Dictionary;
use crate::slates::numbers::At;
use crate::slates::times::as_text;

impl Label {
    /// The labels of a batch; `cells` says that it comes from a CSV file.
    pub(crate) fn of(&self, batch: &RecordBatch, cells: bool, file: &Path) -> Result<Labels> {
        Labels::at(&self.place, batch, cells, file)
    }

    /// Says of a row of a block what its label says.
    ///
    /// Slates without a segment are a segment of their own. Slates without a cluster are not one cluster: whether they
    /// belong together, nobody knows.
    pub(crate) fn set(&self, value: &Segment, row: usize, block: &mut Block) {
        match self.role {
            ColumnRole::Segment => block.set_segment(row, value),
            _ => block.set_cluster(row, value),
        }
    }

    /// Refuses a slate without a cluster; `row` is that of the batch.
    pub(crate) fn check(&self, value: &Segment, row: usize, at: At<'_>) -> Result<()> {
        if self.role == ColumnRole::Segment || *value != Segment::Null {
            return Ok(());
        }
        let rule = "every slate belongs to a cluster; give each such slate a cluster of its own, or drop the row if \
                    clusters are missing at random: otherwise the result is biased";
        Err(at.null(row, &self.name, None, rule))
    }
}

/// A column of labels.
#[derive(Debug)]
pub(crate) enum Labels {
    Constant(Segment),
    Bool(BooleanArray),
    Int(Int64Array),
    Large(UInt64Array),
    Text(StringArray),
    /// Long text, and dates and times written out.
    LargeText(LargeStringArray),
    TextView(StringViewArray),
    /// Cells of a CSV file: each is a truth value, a whole number or text by itself, whatever its neighbours are, so
    /// that a file's first rows do not decide over its last.
    Cells(StringArray),
    Dictionary(Dictionary),
    /// Several columns, whose values together are a label.
    Several(Vec<Labels>),
}

impl Labels {
    fn at(place: &Place, batch: &RecordBatch, cells: bool, file: &Path) -> Result<Self> {
        Ok(match place {
            Place::Column(index) => Labels::new(batch.column(*index), cells, file)?,
            Place::Constant(value) => Labels::Constant(value.clone()),
            Place::Several(places) => {
                let each = places.iter().map(|(_, place)| Labels::at(place, batch, cells, file));
                Labels::Several(each.collect::<Result<_>>()?)
            }
        })
    }

    /// Takes a column of a batch; `cells` says that it comes from a CSV file.
    pub(crate) fn new(array: &ArrayRef, cells: bool, file: &Path) -> Result<Self> {
        let unreadable = |e| Error::unreadable(file, "column of labels", e);
        Ok(match array.data_type() {
            DataType::Null => Labels::Constant(Segment::Null),
            DataType::Boolean => Labels::Bool(array.as_boolean().clone()),
            DataType::UInt64 => Labels::Large(array.as_primitive().clone()),
            whole if whole.is_integer() => {
                Labels::Int(cast(array, &DataType::Int64).map_err(unreadable)?.as_primitive().clone())
            }
            DataType::Utf8 if cells => Labels::Cells(array.as_string().clone()),
            DataType::Utf8 => Labels::Text(array.as_string().clone()),
            DataType::LargeUtf8 => Labels::LargeText(array.as_string().clone()),
            DataType::Utf8View => Labels::TextView(array.as_string_view().clone()),
            DataType::Dictionary(..) => Labels::Dictionary(Dictionary::new(array, file)?),
            _ => Labels::LargeText(as_text(array).map_err(unreadable)?),
        })
    }

    /// Reads one label into `out`, whose memory is used again.
    pub(crate) fn read(&self, row: usize, out: &mut Segment) {
        match self {
            Labels::Constant(value) => out.clone_from(value),
            Labels::Bool(array) => *out = or_null(array, row, || Segment::Bool(array.value(row))),
            Labels::Int(array) => *out = or_null(array, row, || Segment::Int(array.value(row))),
            Labels::Large(array) => *out = or_null(array, row, || large(array.value(row))),
            Labels::Text(array) if array.is_null(row) => *out = Segment::Null,
            Labels::Text(array) => set_text(array.value(row), out),
            Labels::LargeText(array) if array.is_null(row) => *out = Segment::Null,
            Labels::LargeText(array) => set_text(array.value(row), out),
            Labels::TextView(array) if array.is_null(row) => *out = Segment::Null,
            Labels::TextView(array) => set_text(array.value(row), out),
            Labels::Cells(array) if array.is_null(row) => *out = Segment::Null,
            Labels::Cells(array) => set_cell(array.value(row), out),
            Labels::Dictionary(dictionary) => dictionary.read(row, out),
            Labels::Several(columns) => {
                let mut value = Segment::Null;
                let mut text = |labels: &Labels| {
                    labels.read(row, &mut value);
                    part_of_name(&value)
                };
                *out = Segment::Text(columns.iter().map(&mut text).collect::<Vec<_>>().join(", "));
            }
        }
    }

    /// Labels the rows of a block, which begin at `start`. All rows of a batch go through the same block.
    pub(crate) fn assign(&mut self, label: &Label, start: usize, at: At<'_>, block: &mut Block) -> Result<()> {
        match (label.role, self) {
            (ColumnRole::Segment, Labels::Dictionary(dictionary)) => dictionary.set_segments(start, block),
            (ColumnRole::Segment, Labels::Text(texts)) if texts.null_count() == 0 => {
                (0..block.rows()).for_each(|row| block.set_segment_text(row, texts.value(start + row)));
            }
            (_, labels) => {
                let mut value = Segment::Null;
                for row in 0..block.rows() {
                    labels.read(start + row, &mut value);
                    label.check(&value, start + row, at)?;
                    label.set(&value, row, block);
                }
            }
        }
        Ok(())
    }
}

/// A value as part of a name that several columns make. Text that could be mistaken for something else is quoted, so that
/// no two combinations of values have one name.
fn part_of_name(value: &Segment) -> String {
    match value {
        Segment::Null => "null".to_owned(),
        Segment::Text(text) if text.contains([',', '"']) || ["null", "true", "false"].contains(&text.as_str()) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        other => other.to_string(),
    }
}

fn or_null(array: &dyn Array, row: usize, value: impl FnOnce() -> Segment) -> Segment {
    if array.is_null(row) { Segment::Null } else { value() }
}

fn large(value: u64) -> Segment {
    i64::try_from(value).map_or_else(|_| Segment::Text(value.to_string()), Segment::Int)
}

fn set_text(text: &str, out: &mut Segment) {
    match out {
        Segment::Text(old) => {
            old.clear();
            old.push_str(text);
        }
        _ => *out = Segment::Text(text.to_owned()),
    }
}

fn set_cell(cell: &str, out: &mut Segment) {
    match (whole_number(cell), truth(cell)) {
        (Some(number), _) => *out = Segment::Int(number),
        (_, Some(truth)) => *out = Segment::Bool(truth),
        _ => set_text(cell, out),
    }
}

/// A whole number as one writes it: `007` and `+7` are labels that happen to consist of digits.
fn whole_number(cell: &str) -> Option<i64> {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit()) && (!digits.starts_with('0') || cell == "0");
    if plain { cell.parse().ok() } else { None }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int8Type;
    use arrow_array::{Date32Array, DictionaryArray, Int32Array, UInt8Array};

    use super::*;

    fn labels(array: impl Array + 'static, cells: bool) -> Vec<Segment> {
        let array: ArrayRef = Arc::new(array);
        let labels = Labels::new(&array, cells, Path::new("log")).unwrap();
        let mut out = Segment::Null;
        let read = |i| {
            labels.read(i, &mut out);
            out.clone()
        };
        (0..array.len()).map(read).collect()
    }

    fn text(value: &str) -> Segment {
        Segment::Text(value.into())
    }

    #[test]
    fn kinds_of_text_are_one() {
        let values = vec![Some("a"), None, Some("b"), Some("a")];
        let wanted = [text("a"), Segment::Null, text("b"), text("a")];
        assert_eq!(labels(StringArray::from(values.clone()), false), wanted);
        assert_eq!(labels(LargeStringArray::from(values.clone()), false), wanted);
        assert_eq!(labels(StringViewArray::from(values.clone()), false), wanted);
        assert_eq!(labels(DictionaryArray::<Int8Type>::from_iter(values), false), wanted);
    }

    #[test]
    fn whole_numbers_stay_numbers_and_dates_become_text() {
        assert_eq!(labels(UInt8Array::from(vec![3, 250]), false), [Segment::Int(3), Segment::Int(250)]);
        assert_eq!(labels(Int32Array::from(vec![Some(-3), None]), false), [Segment::Int(-3), Segment::Null]);
        let large = [Segment::Int(1), text("18446744073709551615")];
        assert_eq!(labels(UInt64Array::from(vec![1, u64::MAX]), false), large);
        assert_eq!(labels(Date32Array::from(vec![0, 1]), false), [text("1970-01-01"), text("1970-01-02")]);
    }

    #[test]
    fn no_two_combinations_of_values_have_one_name() {
        let column = |values: Vec<Option<&str>>| Labels::Text(StringArray::from(values));
        let first = column(vec![Some("a, b"), Some("a"), Some("null"), None, Some("say \"a\"")]);
        let second = column(vec![Some("c"), Some("b, c"), Some("x"), Some("x"), Some("x")]);
        let labels = Labels::Several(vec![first, second]);
        let mut out = Segment::Null;
        let names: Vec<String> = (0..5)
            .map(|row| {
                labels.read(row, &mut out);
                out.to_string()
            })
            .collect();
        let wanted = ["\"a, b\", c", "a, \"b, c\"", "\"null\", x", "null, x", "\"say \"\"a\"\"\", x"];
        assert_eq!(names, wanted);
    }

    #[test]
    fn cells_are_typed_one_by_one() {
        let cells = StringArray::from(vec![Some("12"), Some("007"), Some("-3"), Some("true"), Some("x"), None]);
        let wanted = [Segment::Int(12), text("007"), Segment::Int(-3), Segment::Bool(true), text("x"), Segment::Null];
        assert_eq!(labels(cells, true), wanted);
    }
}
