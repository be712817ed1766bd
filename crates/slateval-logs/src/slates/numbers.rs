//! Arrow arrays of any numeric type as `f64`.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow_buffer::NullBuffer;
use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use arrow_schema::DataType;
use num_traits::ToPrimitive;
use slateval::{Block, Field};

use crate::csv::Cell;
use crate::error::{Error, Result, beginning};

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
}

/// Calls a conversion for the native type of an array.
macro_rules! by_type {
    ($data_type:expr, $convert:ident, $out:ident) => {
        match $data_type {
            DataType::Float32 => $convert!(Float32Type, f64::from),
            DataType::Float64 => $convert!(Float64Type, f64::from),
            DataType::Float16 => $convert!(Float16Type, f64::from),
            DataType::Int8 => $convert!(Int8Type, f64::from),
            DataType::Int16 => $convert!(Int16Type, f64::from),
            DataType::Int32 => $convert!(Int32Type, f64::from),
            DataType::Int64 => $convert!(Int64Type, |v| v as f64),
            DataType::UInt8 => $convert!(UInt8Type, f64::from),
            DataType::UInt16 => $convert!(UInt16Type, f64::from),
            DataType::UInt32 => $convert!(UInt32Type, f64::from),
            DataType::UInt64 => $convert!(UInt64Type, |v| v as f64),
            // `Numbers::new` leaves no other type; a NaN would be refused by the summary.
            _ => $out.fill(f64::NAN),
        }
    };
}

/// A column of numbers of a native type, ready to be copied.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    array: ArrayRef,
}

impl Numbers {
    /// Takes a column of a batch. Native types are taken as they are; decimals, dictionaries and truth values become
    /// floats, and text, which only a CSV file's column of numbers and labels has, is parsed.
    pub(crate) fn new(array: &ArrayRef, column: &str, at: At<'_>) -> Result<Self> {
        let array = match array.data_type() {
            DataType::Utf8 => Arc::new(parse(array.as_string(), column, at)?) as ArrayRef,
            native if native.is_integer() || native.is_floating() => array.clone(),
            DataType::Dictionary(..) => Arc::new(look_up(array, column, at)?),
            _ => Arc::new(floats(array, column, at)?),
        };
        Ok(Numbers { array })
    }

    /// Which values are null; `None` if none is.
    pub(crate) fn nulls(&self) -> Option<&NullBuffer> {
        self.array.nulls().filter(|nulls| nulls.null_count() > 0)
    }

    /// Whether none of some values is null.
    pub(crate) fn has_all(&self, range: Range<usize>) -> bool {
        self.nulls().is_none_or(|nulls| {
            let (bits, first) = (nulls.validity(), nulls.offset() + range.start);
            UnalignedBitChunk::new(bits, first, range.len()).count_ones() == range.len()
        })
    }

    pub(crate) fn is_null(&self, index: usize) -> bool {
        self.array.is_null(index)
    }

    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// The first null, if there is one.
    pub(crate) fn first_null(&self) -> Option<usize> {
        self.nulls().and_then(|nulls| (0..nulls.len()).find(|&i| nulls.is_null(i)))
    }

    /// Copies some values, whatever stands at nulls included. The type is looked at once for all of them, so the loop
    /// is a plain conversion that the compiler vectorises.
    pub(crate) fn copy(&self, range: Range<usize>, out: &mut [f64]) {
        macro_rules! convert {
            ($kind:ty, $to:expr) => {{
                let values = &self.array.as_primitive::<$kind>().values()[range];
                out.iter_mut().zip(values).for_each(|(out, &v)| *out = $to(v));
            }};
        }
        by_type!(self.array.data_type(), convert, out)
    }

    /// Copies some values into a column of a block.
    pub(crate) fn fill(&self, range: Range<usize>, field: Field, block: &mut Block) {
        match self.array.as_primitive_opt::<Float32Type>() {
            Some(singles) => block.fill_from_singles(field, &singles.values()[range]),
            None => self.copy(range, block.column_mut(field)),
        }
    }

    /// Copies a column of a matrix whose rows of so many values stand one behind the other in `range`.
    pub(crate) fn copy_column(&self, range: Range<usize>, width: usize, column: usize, out: &mut [f64]) {
        macro_rules! convert {
            ($kind:ty, $to:expr) => {{
                let rows = self.array.as_primitive::<$kind>().values()[range].chunks_exact(width);
                out.iter_mut().zip(rows).for_each(|(out, row)| *out = $to(row[column]));
            }};
        }
        by_type!(self.array.data_type(), convert, out)
    }

    /// The values themselves, where they need no conversion.
    pub(crate) fn floats(&self, range: Range<usize>) -> Option<&[f64]> {
        Some(&self.array.as_primitive_opt::<Float64Type>()?.values()[range])
    }

    pub(crate) fn to_vec(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.len()];
        self.copy(0..self.len(), &mut values);
        values
    }
}

/// Values that are no native numbers, as floats.
fn floats(array: &ArrayRef, column: &str, at: At<'_>) -> Result<Float64Array> {
    /// The number is divided by the power of ten, both as floats; a negative scale multiplies.
    macro_rules! decimals {
        ($kind:ty, $scale:expr, $to:expr) => {{
            let power = 10_f64.powi(i32::from(*$scale));
            array.as_primitive::<$kind>().unary(|v| $to(v) / power)
        }};
    }
    Ok(match array.data_type() {
        DataType::Null => Float64Array::new_null(array.len()),
        DataType::Boolean => zeros_and_ones(array.as_boolean()),
        DataType::Decimal32(_, scale) => decimals!(Decimal32Type, scale, f64::from),
        DataType::Decimal64(_, scale) => decimals!(Decimal64Type, scale, |v| v as f64),
        DataType::Decimal128(_, scale) => decimals!(Decimal128Type, scale, |v| v as f64),
        DataType::Decimal256(_, scale) => {
            decimals!(Decimal256Type, scale, |v: arrow_buffer::i256| v.to_f64().unwrap_or(f64::NAN))
        }
        other => {
            let reason = format!("`{column}` is of type {other}, which is not a number");
            return Err(Error::unreadable(at.file, "column", reason));
        }
    })
}

fn zeros_and_ones(array: &BooleanArray) -> Float64Array {
    let values: Vec<f64> = array.values().iter().map(|truth| f64::from(u8::from(truth))).collect();
    Float64Array::new(values.into(), array.nulls().cloned())
}

/// The numbers that the keys of a dictionary stand for.
fn look_up(array: &ArrayRef, column: &str, at: At<'_>) -> Result<Float64Array> {
    let dictionary = array.as_any_dictionary();
    let values = Numbers::new(dictionary.values(), column, at)?.to_vec();
    if values.is_empty() {
        return Ok(Float64Array::new_null(array.len()));
    }
    let numbers: Vec<f64> = dictionary.normalized_keys().into_iter().map(|key| values[key]).collect();
    // A key may be null, and so may be the value that it stands for.
    Ok(Float64Array::new(numbers.into(), array.logical_nulls()))
}

/// The cells of a CSV file's column that holds labels too.
fn parse(cells: &StringArray, column: &str, at: At<'_>) -> Result<Float64Array> {
    let number = |(row, cell): (usize, Option<&str>)| match Cell::read(cell.unwrap_or("")) {
        Cell::Number(number) => Ok(Some(number)),
        Cell::Blank => Ok(None),
        Cell::Other => Err(Error::NotANumber {
            file: at.file.into(),
            row: at.row(row),
            column: column.into(),
            value: beginning(cell.unwrap_or("").trim()),
            of: None,
        }),
    };
    cells.iter().enumerate().map(number).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{
        Decimal32Array, Decimal64Array, Decimal128Array, Decimal256Array, DictionaryArray, Float32Array, NullArray,
        PrimitiveArray, UInt64Array,
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

    /// Checks that a column becomes what Arrow's cast makes of it, to the last bit.
    fn check_cast(array: impl Array + 'static) {
        let array: ArrayRef = Arc::new(array);
        let own = Numbers::new(&array, "x", At { file: Path::new("log.parquet"), first_row: 0 }).unwrap();
        let cast = arrow_cast::cast(&array, &DataType::Float64).unwrap();
        let wanted = cast.as_primitive::<Float64Type>();
        for row in 0..array.len() {
            assert_eq!(own.is_null(row), wanted.is_null(row), "{row} of {array:?}");
            let same = own.to_vec()[row].to_bits() == wanted.value(row).to_bits();
            assert!(same || wanted.is_null(row), "{row} of {array:?}");
        }
    }

    #[test]
    fn floats_are_those_of_arrows_cast() {
        let whole = [0, 1, -1, 3, 7, 10, 33, 99_999, -123_456_789, 999_999_999];
        let some = |place: usize| !place.is_multiple_of(4);
        for scale in [-3, 0, 1, 5, 9] {
            let values = || whole.into_iter().enumerate().map(|(i, v)| some(i).then_some(v));
            check_cast(values().collect::<Decimal32Array>().with_precision_and_scale(9, scale).unwrap());
            let wide = values().map(|v| v.map(|v| i64::from(v) * 987_654_321));
            check_cast(wide.collect::<Decimal64Array>().with_precision_and_scale(18, scale).unwrap());
            let wider = || values().map(|v| v.map(|v| i128::from(v) * 987_654_321_987_654_321_987_654_321));
            check_cast(wider().collect::<Decimal128Array>().with_precision_and_scale(38, scale).unwrap());
            let square = wider().map(|v| v.map(|v| i256::from_i128(v).wrapping_mul(i256::from_i128(v))));
            check_cast(square.collect::<Decimal256Array>().with_precision_and_scale(76, scale).unwrap());
        }
        check_cast(BooleanArray::from(vec![Some(true), None, Some(false)]).slice(1, 2));
        check_cast(NullArray::new(3));
        let keys: PrimitiveArray<Int32Type> = vec![Some(2), None, Some(0), Some(1)].into();
        let values = Arc::new(Float32Array::from(vec![Some(0.25), None, Some(0.1)]));
        check_cast(DictionaryArray::new(keys.clone(), values).slice(1, 3));
        let values = Arc::new(Decimal128Array::from(vec![1, 2, 3]).with_precision_and_scale(5, 1).unwrap());
        check_cast(DictionaryArray::new(keys, values));
        let nulls: PrimitiveArray<Int32Type> = vec![None, None].into();
        check_cast(DictionaryArray::new(nulls, Arc::new(Float32Array::from(Vec::<f32>::new()))));
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
        assert_eq!((column.first_null(), column.is_null(2), column.len()), (Some(1), true, 3));
        let error = numbers(StringArray::from(vec!["1", "n/a"])).unwrap_err().to_string();
        assert!(error.contains("log.csv, row 12: `x` is `n/a`, which is not a number"), "{error}");
    }
}
