//! Any Python object with Arrow data, or an iterator of them, as one run of record batches.

use std::sync::Mutex;

use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator};

use crate::errors::raise;
use crate::ffi;

/// Record batches from Python. They are asked for with the interpreter released; producers that need it take it.
pub(crate) struct Source {
    /// What has not been looked at.
    objects: Py<PyIterator>,
    open: Option<Open>,
    schema: SchemaRef,
    /// What Python raised while batches were asked for.
    raised: Mutex<Option<PyErr>>,
}

enum Open {
    Stream(Box<ArrowArrayStreamReader>),
    Batch(RecordBatch),
}

impl Source {
    /// Opens the first object, for its schema. `names` are columns that exist and were not asked for: messages list them.
    pub(crate) fn new(objects: &Bound<'_, PyAny>, names: &[String]) -> PyResult<Self> {
        let objects = objects.try_iter()?;
        let first = objects
            .clone()
            .next()
            .ok_or_else(|| raise("NoRowsError", "there are no rows: the data end before their first batch"))??;
        let open = Open::new(&first)?;
        let mut fields: Vec<_> = open.schema().fields().iter().cloned().collect();
        let unknown = names.iter().filter(|name| open.schema().index_of(name).is_err());
        fields.extend(unknown.map(|name| Field::new(name, arrow_schema::DataType::Null, true).into()));
        let schema = SchemaRef::new(Schema::new(fields));
        Ok(Source { objects: objects.unbind(), open: Some(open), schema, raised: Mutex::new(None) })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// What Python raised, if it did.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.raised.lock().ok()?.take()
    }

    fn next_object(&mut self) -> Option<Result<Open, ArrowError>> {
        let opened = Python::attach(|py| -> PyResult<Option<Open>> {
            let next = self.objects.bind(py).clone().next().transpose()?;
            next.map(|object| Open::new(&object)).transpose()
        });
        match opened {
            Ok(open) => open.map(Ok),
            Err(error) => {
                let text = error.to_string();
                if let Ok(mut raised) = self.raised.lock() {
                    raised.get_or_insert(error);
                }
                Some(Err(ArrowError::ExternalError(text.into())))
            }
        }
    }
}

impl Iterator for Source {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.open.take() {
                Some(Open::Batch(batch)) => return Some(Ok(batch)),
                Some(Open::Stream(mut stream)) => {
                    if let Some(batch) = stream.next() {
                        self.open = Some(Open::Stream(stream));
                        return Some(batch);
                    }
                }
                None => match self.next_object()? {
                    Ok(open) => self.open = Some(open),
                    Err(error) => return Some(Err(error)),
                },
            }
        }
    }
}

impl Open {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if object.hasattr("__arrow_c_stream__")? {
            let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
            return Ok(Open::Stream(Box::new(ffi::import_stream(&capsule)?)));
        }
        if object.hasattr("__arrow_c_array__")? {
            type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);
            let (schema, array): Capsules<'_> = object.call_method0("__arrow_c_array__")?.extract()?;
            return Ok(Open::Batch(ffi::import_batch(&schema, &array)?));
        }
        let kind = object.get_type().name()?;
        Err(PyTypeError::new_err(format!("a {kind} holds no Arrow data: it has no __arrow_c_stream__")))
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Open::Stream(stream) => stream.schema(),
            Open::Batch(batch) => batch.schema(),
        }
    }
}
