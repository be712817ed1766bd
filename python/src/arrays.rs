//! NumPy arrays as Arrow columns, without a copy.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyList, PyString};

use crate::ffi;

/// A name; a C-contiguous array of 64-bit or 32-bit floats or 64-bit integers with one or two dimensions, or a list of
/// labels; and the bytes of a mask with a 1 for every value that is missing.
pub(crate) type Given<'py> = (String, Bound<'py, PyAny>, Option<Bound<'py, PyBytes>>);

/// One batch of the arrays. Two dimensions become a column of lists of one length.
pub(crate) fn table(columns: Vec<Given<'_>>) -> PyResult<RecordBatch> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
    for (name, given, mask) in columns {
        let array = match given.cast::<PyList>() {
            Ok(labels) => labels_of(&name, labels)?,
            Err(_) => numbers_of(&given, mask.as_ref())?,
        };
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(refuse)
}

fn refuse(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A column of an array's numbers.
pub(crate) fn numbers_of(array: &Bound<'_, PyAny>, mask: Option<&Bound<'_, PyBytes>>) -> PyResult<ArrayRef> {
    let interface = array.getattr("__array_interface__")?;
    let kind: String = interface.get_item("typestr")?.extract()?;
    let shape: Vec<usize> = interface.get_item("shape")?.extract()?;
    let (address, _): (usize, bool) = interface.get_item("data")?.extract()?;
    let strides = interface.call_method1("get", ("strides",))?;
    if !strides.is_none() {
        return Err(PyValueError::new_err("the array is not contiguous"));
    }
    let values: usize = shape.iter().product();
    let native = if cfg!(target_endian = "little") { '<' } else { '>' };
    let size = match kind.strip_prefix(native) {
        Some("f8" | "i8") => 8,
        Some("f4") => 4,
        _ => return Err(PyTypeError::new_err(format!("arrays of type {kind} are not read"))),
    };
    let memory = ffi::array_memory(array, address, values * size, size)?;
    let nulls = mask.map(|mask| nulls(mask.as_bytes(), values)).transpose()?.flatten();
    let flat: ArrayRef = match &kind[1..] {
        "f8" => Arc::new(Float64Array::new(ScalarBuffer::new(memory, 0, values), nulls)),
        "f4" => Arc::new(Float32Array::new(ScalarBuffer::new(memory, 0, values), nulls)),
        _ => Arc::new(Int64Array::new(ScalarBuffer::new(memory, 0, values), nulls)),
    };
    match shape[..] {
        [_] => Ok(flat),
        [rows, slots] => {
            let size = i32::try_from(slots).map_err(|_| PyValueError::new_err("the array has too many columns"))?;
            let item = Arc::new(Field::new_list_field(flat.data_type().clone(), true));
            let list = FixedSizeListArray::try_new_with_length(item, size, flat, None, rows);
            Ok(Arc::new(list.map_err(refuse)?))
        }
        _ => Err(PyValueError::new_err(format!("an array of shape {shape:?} is neither one column nor one per slot"))),
    }
}

/// What is left out, if anything is.
fn nulls(mask: &[u8], values: usize) -> PyResult<Option<NullBuffer>> {
    if mask.len() != values {
        return Err(PyValueError::new_err("a mask must have the shape of its array"));
    }
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(values, |i| mask[i] == 0));
    Ok(Some(nulls).filter(|nulls| nulls.null_count() > 0))
}

/// Labels of slates: all of them whole numbers, all truth values, or all text; `None` where there is none.
fn labels_of(name: &str, labels: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let is = |of: fn(&Bound<'_, PyAny>) -> bool| labels.iter().all(|label| label.is_none() || of(&label));
    if is(|label| label.is_instance_of::<PyBool>()) {
        return Ok(Arc::new(BooleanArray::from(labels.extract::<Vec<Option<bool>>>()?)));
    }
    if is(|label| label.is_instance_of::<PyInt>() && !label.is_instance_of::<PyBool>()) {
        return Ok(Arc::new(Int64Array::from(labels.extract::<Vec<Option<i64>>>()?)));
    }
    if is(|label| label.is_instance_of::<PyString>()) {
        return Ok(Arc::new(StringArray::from(labels.extract::<Vec<Option<String>>>()?)));
    }
    Err(PyTypeError::new_err(format!(
        "`{name}` holds values of different kinds; pass whole numbers, truth values or text, and None for none"
    )))
}
