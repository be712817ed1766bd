//! A table that any Arrow library can take without a copy.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use slateval::shown;

use crate::arrays::{self, Given};
use crate::ffi;

/// A table in memory; `pyarrow.table(t)`, `polars.DataFrame(t)` or any other Arrow library takes it without a copy.
#[pyclass(frozen, module = "slateval._slateval")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Table { schema, batches }
    }

    pub(crate) fn of(batch: RecordBatch) -> Self {
        Table { schema: batch.schema(), batches: vec![batch] }
    }
}

#[pymethods]
impl Table {
    /// A table of NumPy arrays and lists, by name: see `arrays.rs`.
    #[staticmethod]
    fn from_arrays(columns: Vec<Given<'_>>) -> PyResult<Self> {
        arrays::table(columns).map(Table::of)
    }

    #[staticmethod]
    fn from_ipc(bytes: &[u8]) -> PyResult<Self> {
        let bad = |e: ArrowError| PyValueError::new_err(format!("not a table: {e}"));
        let reader = StreamReader::try_new(bytes, None).map_err(bad)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(bad)?;
        Ok(Table { schema, batches })
    }

    fn to_ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bad = |e: ArrowError| PyValueError::new_err(e.to_string());
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::try_new(&mut bytes, &self.schema).map_err(bad)?;
        self.batches.iter().try_for_each(|batch| writer.write(batch)).map_err(bad)?;
        writer.finish().map_err(bad)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Table>().getattr("from_ipc")?, (self.to_ipc(py)?,)))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer ignore what it cannot give.
        drop(requested_schema);
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        ffi::export_stream(py, Box::new(RecordBatchIterator::new(batches, self.schema.clone())))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        ffi::export_schema(py, &self.schema)
    }

    fn __len__(&self) -> usize {
        self.num_rows()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    /// A column of numbers as the bytes of 64-bit floats, NaN for nulls.
    fn column_bytes<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let index = self.schema.index_of(name).map_err(|_| {
            PyKeyError::new_err(format!("there is no column {name:?}, only {}", shown(&self.column_names().join(", "))))
        })?;
        let mut bytes = Vec::with_capacity(8 * self.num_rows());
        for batch in &self.batches {
            let column = to_floats(batch.column(index))?;
            let column = column.as_primitive::<Float64Type>();
            for value in column {
                bytes.extend_from_slice(&value.unwrap_or(f64::NAN).to_ne_bytes());
            }
        }
        Ok(PyBytes::new(py, &bytes))
    }

    fn __repr__(&self) -> String {
        format!("<slateval.Table: {} rows, columns {}>", self.num_rows(), shown(&self.column_names().join(", ")))
    }
}

fn to_floats(column: &Arc<dyn Array>) -> PyResult<Arc<dyn Array>> {
    use arrow_array::types::{Int32Type, Int64Type};
    let floats = |values: Vec<Option<f64>>| Arc::new(arrow_array::Float64Array::from(values)) as Arc<dyn Array>;
    match column.data_type() {
        DataType::Float64 => Ok(column.clone()),
        DataType::Int32 => Ok(floats(column.as_primitive::<Int32Type>().iter().map(|v| v.map(f64::from)).collect())),
        DataType::Int64 => Ok(floats(column.as_primitive::<Int64Type>().iter().map(|v| v.map(|v| v as f64)).collect())),
        other => Err(PyTypeError::new_err(format!("a column of type {other} does not become numbers"))),
    }
}
