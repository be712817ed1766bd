//! Arrow arrays of any numeric type as `f64`.

use std::ops::Range;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, StringArray};
use arrow_buffer::NullBuffer;
use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use arrow_cast::cast;
use arrow_schema::DataType;
use slateval::{Block, Field};

use crate::columns::is_reward;
use crate::csv::Cell;
use crate::error::{Error, Result, RowFault, beginning};

/// Where a batch stands: for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) file: &'a Path,
    /// Rows of the file before the batch.
    pub(crate) first_row: u64,
}

impl At<'_> {
    /// The row of the file, from 1, of a row of the batch, from 0.
    pub(crate) fn row(&self, row: usize) -> u64 {
        self.first_row + row as u64 + 1
    }

    /// The error of a row of the batch that lacks a value.
    pub(crate) fn null(&self, row: usize, column: &str, item: Option<usize>, rule: &'static str) -> Error {
        self.fault(row, RowFault::NullValue { column: column.into(), item, rule })
    }

    /// The error of a row of the batch.
    pub(crate) fn fault(&self, row: usize, fault: RowFault) -> Error {
        Error::Row { file: self.file.into(), row: self.row(row), fault }
    }
}

/// A column of numbers, ready to be copied.
#[derive(Debug, Clone)]
pub(crate) enum Numbers {
    Singles(Float32Array),
    Doubles(Float64Array),
}

impl Numbers {
    /// Takes a column of a batch. Floats are taken as they are; other numbers and truth values become floats, and text, which
    /// only a CSV file's column of numbers and labels has, is parsed.
    pub(crate) fn new(array: &ArrayRef, column: &str, at: At<'_>) -> Result<Self> {
        let unreadable = |reason: String| Error::unreadable(at.file, "column", reason);
        Ok(match array.data_type() {
            DataType::Float32 => Numbers::Singles(array.as_primitive().clone()),
            DataType::Float64 => Numbers::Doubles(array.as_primitive().clone()),
            DataType::Utf8 => Numbers::Doubles(parse(array.as_string(), column, at)?),
            number if is_reward(number) => {
                let floats = cast(array, &DataType::Float64).map_err(|e| unreadable(format!("`{column}`: {e}")))?;
                Numbers::Doubles(floats.as_primitive::<Float64Type>().clone())
            }
            other => return Err(unreadable(format!("`{column}` is of type {other}, which is not a number"))),
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            Numbers::Singles(array) => array,
            Numbers::Doubles(array) => array,
        }
    }

    /// Which values are null; `None` if none is.
    pub(crate) fn nulls(&self) -> Option<&NullBuffer> {
        self.array().nulls().filter(|nulls| nulls.null_count() > 0)
    }

    /// Whether none of some values is null.
    pub(crate) fn has_all(&self, range: Range<usize>) -> bool {
        self.nulls().is_none_or(|nulls| {
            let (bits, first) = (nulls.validity(), nulls.offset() + range.start);
            UnalignedBitChunk::new(bits, first, range.len()).count_ones() == range.len()
        })
    }

    pub(crate) fn is_null(&self, index: usize) -> bool {
        self.array().is_null(index)
    }

    pub(crate) fn len(&self) -> usize {
        self.array().len()
    }

    /// Refuses nulls in a column that must not have any.
    pub(crate) fn refuse_nulls(&self, column: &str, rule: &'static str, at: At<'_>) -> Result<()> {
        first_null(self.array()).map_or(Ok(()), |row| Err(at.null(row, column, None, rule)))
    }

    /// Copies some values, whatever stands at nulls included.
    pub(crate) fn copy(&self, range: Range<usize>, out: &mut [f64]) {
        match self {
            Numbers::Singles(array) => {
                out.iter_mut().zip(&array.values()[range]).for_each(|(out, &value)| *out = f64::from(value));
            }
            Numbers::Doubles(array) => out.copy_from_slice(&array.values()[range]),
        }
    }

    /// Copies some values into a column of a block.
    pub(crate) fn fill(&self, range: Range<usize>, field: Field, block: &mut Block) {
        match self {
            Numbers::Singles(array) => block.fill_from_singles(field, &array.values()[range]),
            Numbers::Doubles(_) => self.copy(range, block.column_mut(field)),
        }
    }

    /// Copies a column of a matrix whose rows of so many values stand one behind the other in `range`.
    pub(crate) fn copy_column(&self, range: Range<usize>, width: usize, column: usize, out: &mut [f64]) {
        match self {
            Numbers::Singles(array) => copy_column(&array.values()[range], width, column, out),
            Numbers::Doubles(array) => copy_column(&array.values()[range], width, column, out),
        }
    }

    /// The values themselves, where they need no conversion.
    pub(crate) fn floats(&self, range: Range<usize>) -> Option<&[f64]> {
        match self {
            Numbers::Singles(_) => None,
            Numbers::Doubles(array) => Some(&array.values()[range]),
        }
    }

    pub(crate) fn to_vec(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.len()];
        self.copy(0..self.len(), &mut values);
        values
    }
}

/// The first null, if there is one.
pub(crate) fn first_null(array: &dyn Array) -> Option<usize> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
    (0..nulls.len()).find(|&i| nulls.is_null(i))
}

fn copy_column<T: Copy + Into<f64>>(values: &[T], width: usize, column: usize, out: &mut [f64]) {
    out.iter_mut().zip(values.chunks_exact(width)).for_each(|(out, row)| *out = row[column].into());
}

/// The cells of a CSV file's column that holds labels too.
fn parse(cells: &StringArray, column: &str, at: At<'_>) -> Result<Float64Array> {
    let number = |(row, cell): (usize, Option<&str>)| match Cell::read(cell.unwrap_or("")) {
        Cell::Number(number) => Ok(Some(number)),
        Cell::Blank => Ok(None),
        Cell::Other => {
            let value = beginning(cell.unwrap_or("").trim()).into();
            Err(at.fault(row, RowFault::NotANumber { column: column.into(), value, of: None }))
        }
    };
    cells.iter().enumerate().map(number).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        BooleanArray, Decimal32Array, Decimal64Array, Decimal128Array, Decimal256Array, DictionaryArray, Float32Array,
        NullArray, PrimitiveArray, UInt64Array,
    };
    use arrow_buffer::i256;

    use super::*;

    fn numbers(array: impl Array + 'static) -> Result<Numbers> {
        let array: ArrayRef = Arc::new(array);
        Numbers::new(&array, "x", At { file: Path::new("log.csv"), first_row: 10 })
    }

    fn values(array: impl Array + 'static) -> Vec<f64> {
        numbers(array).unwrap().to_vec()
    }

    #[test]
    fn every_numeric_type_becomes_the_same_number() {
        assert_eq!(values(Float32Array::from(vec![0.5, 2.0])), [0.5, 2.0]);
        assert_eq!(values(UInt64Array::from(vec![0, 7])), [0.0, 7.0]);
        assert_eq!(values(BooleanArray::from(vec![true, false])), [1.0, 0.0]);
        let decimals = Decimal128Array::from(vec![25, 10]).with_precision_and_scale(5, 2).unwrap();
        assert_eq!(values(decimals), [0.25, 0.1]);
        let keys: PrimitiveArray<Int32Type> = vec![1, 0, 1].into();
        let dictionary = DictionaryArray::new(keys, Arc::new(Float32Array::from(vec![0.25, 0.75])));
        assert_eq!(values(dictionary), [0.75, 0.25, 0.75]);
        assert_eq!(values(StringArray::from(vec!["1e-1", " 2 ", "true"])), [0.1, 2.0, 1.0]);
    }

    #[test]
    fn every_kind_of_null_is_null() {
        let whole = |values: Vec<Option<i32>>| numbers(PrimitiveArray::<Int32Type>::from(values)).unwrap();
        assert_eq!(first_null(whole(vec![Some(3), None, Some(-7)]).array()), Some(1));
        assert_eq!(first_null(numbers(NullArray::new(3)).unwrap().array()), Some(0));
        assert_eq!(first_null(numbers(BooleanArray::from(vec![Some(true), None])).unwrap().array()), Some(1));
        // A key may be null, and so may be the value that it stands for.
        let keys: PrimitiveArray<Int32Type> = vec![Some(2), None, Some(0), Some(1)].into();
        let items = Arc::new(Float32Array::from(vec![Some(0.25), None, Some(0.1)]));
        let dictionary = numbers(DictionaryArray::new(keys, items)).unwrap();
        assert_eq!([0, 1, 2, 3].map(|row| dictionary.is_null(row)), [false, true, false, true]);
        let keys: PrimitiveArray<Int32Type> = vec![None, None].into();
        let empty = numbers(DictionaryArray::new(keys, Arc::new(Float32Array::from(Vec::<f32>::new())))).unwrap();
        assert!(empty.is_null(0) && empty.is_null(1));
    }

    /// The number is divided by the power of ten, both as floats; a negative scale multiplies.
    #[test]
    fn decimals_are_divided_by_their_power_of_ten() {
        let whole = [0, 1, -1, 3, 7, 10, 33, 99_999, -123_456_789, 999_999_999];
        for scale in [-3, 0, 1, 5, 9] {
            let power = 10_f64.powi(i32::from(scale));
            let check = |array: &dyn Array, wanted: &dyn Fn(i32) -> f64| {
                let array = arrow_array::make_array(array.to_data());
                let own = Numbers::new(&array, "x", At { file: Path::new("log.parquet"), first_row: 0 }).unwrap();
                let bits = |value: f64| value.to_bits();
                let wanted: Vec<u64> = whole.iter().map(|&v| bits(wanted(v) / power)).collect();
                assert_eq!(own.to_vec().into_iter().map(bits).collect::<Vec<_>>(), wanted, "{array:?}");
            };
            let small = Decimal32Array::from(whole.to_vec()).with_precision_and_scale(9, scale).unwrap();
            check(&small, &f64::from);
            let wide = |v: i32| i64::from(v) * 987_654_321;
            let array: Decimal64Array = whole.iter().map(|&v| Some(wide(v))).collect();
            check(&array.with_precision_and_scale(18, scale).unwrap(), &|v| wide(v) as f64);
            let wider = |v: i32| i128::from(v) * 987_654_321_987_654_321_987_654_321;
            let array: Decimal128Array = whole.iter().map(|&v| Some(wider(v))).collect();
            check(&array.with_precision_and_scale(38, scale).unwrap(), &|v| wider(v) as f64);
            let array: Decimal256Array = whole.iter().map(|&v| Some(i256::from_i128(wider(v)))).collect();
            check(&array.with_precision_and_scale(76, scale).unwrap(), &|v| wider(v) as f64);
        }
    }

    #[test]
    fn a_column_of_a_matrix_is_copied() {
        let matrix = numbers(Float32Array::from(vec![9.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0])).unwrap();
        let mut column = [0.0; 2];
        matrix.copy_column(1..7, 3, 1, &mut column);
        assert_eq!(column, [1.0, 4.0]);
    }

    #[test]
    fn blank_cells_are_null_and_words_are_an_error() {
        let column = numbers(StringArray::from(vec![Some("1"), Some(" "), None])).unwrap();
        assert_eq!((first_null(column.array()), column.is_null(2), column.len()), (Some(1), true, 3));
        let error = numbers(StringArray::from(vec!["1", "n/a"])).unwrap_err().to_string();
        assert!(error.contains("log.csv, row 12: `x` is `n/a`, which is not a number"), "{error}");
    }
}
