//! Memory that other libraries own: Arrow's C data interface, and NumPy's arrays.
//!
//! The only unsafe code of the Python package. Arrow's C structures arrive in capsules whose names say what they hold, which
//! is what the protocol asks a consumer to rely on; NumPy says where an array's memory is in `__array_interface__`. A
//! crate for either would do the same, and bring others along.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchReader, StructArray};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// Takes the stream out of a capsule that `__arrow_c_stream__` returned.
pub(crate) fn import_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<ArrowArrayStreamReader> {
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds an aligned, initialised `ArrowArrayStream` and lives as long as `capsule`.
    // What is moved out is replaced by a released one, so that it is released once.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    ArrowArrayStreamReader::try_new(stream).map_err(refuse)
}

/// Takes a batch out of the two capsules that `__arrow_c_array__` returned.
pub(crate) fn import_batch(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<RecordBatch> {
    let schema_pointer = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let pointer = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: a capsule of this name holds an aligned, initialised `ArrowSchema` and lives as long as `schema`.
    let ffi_schema = unsafe { schema_pointer.as_ref() };
    // SAFETY: a capsule of this name holds an aligned, initialised `ArrowArray` and lives as long as `array`. What is
    // moved out is replaced by a released one, so that it is released once.
    let ffi_array = unsafe { FFI_ArrowArray::from_raw(pointer.as_ptr()) };
    // SAFETY: the producer promises that the array is laid out as the schema beside it says.
    let data = unsafe { from_ffi(ffi_array, ffi_schema) }.map_err(refuse)?;
    if !matches!(data.data_type(), DataType::Struct(_)) {
        let found = data.data_type();
        return Err(PyTypeError::new_err(format!(
            "one Arrow array of type {found} is no log; pass a table or a batch"
        )));
    }
    let schema = Schema::try_from(ffi_schema).map_err(refuse)?;
    RecordBatch::from(StructArray::from(data)).with_schema(Arc::new(schema)).map_err(refuse)
}

/// A capsule for `__arrow_c_stream__`.
pub(crate) fn export_stream<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// A capsule for `__arrow_c_schema__`.
pub(crate) fn export_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).map_err(refuse)?, SCHEMA)
}

/// Keeps a Python object alive as long as its memory is in use.
struct Owner(#[expect(dead_code, reason = "held, not read")] Py<PyAny>);

impl std::panic::RefUnwindSafe for Owner {}

/// The memory of a NumPy array that is contiguous and aligned, without a copy. The array is kept alive; it must not be
/// written to while it is in use.
pub(crate) fn array_memory(array: &Bound<'_, PyAny>, address: usize, bytes: usize, align: usize) -> PyResult<Buffer> {
    if bytes == 0 {
        return Ok(Buffer::from_vec(Vec::<f64>::new()));
    }
    let pointer = NonNull::new(address as *mut u8).filter(|p| p.as_ptr().align_offset(align) == 0);
    let pointer = pointer.ok_or_else(|| PyValueError::new_err("the memory of an array is not aligned"))?;
    let owner = Arc::new(Owner(array.clone().unbind()));
    // SAFETY: the caller has read address and size from the `__array_interface__` of `array`, a contiguous NumPy array,
    // which cannot be resized while `owner` refers to it.
    Ok(unsafe { Buffer::from_custom_allocation(pointer, bytes, owner) })
}

fn refuse(error: ArrowError) -> PyErr {
    PyTypeError::new_err(format!("these Arrow data cannot be read: {error}"))
}
