//! Arrow IPC: files, streams, and standard input.

use std::io::{BufReader, Read, Stdin, stdin};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};

use crate::discover::{Format, STDIN};
use crate::error::{Error, Result};
use crate::source::{self, Batches, Choose, Counted};

fn bad(path: &Path, format: Format) -> impl Fn(ArrowError) -> Error + 'static {
    let path: PathBuf = path.into();
    move |e| Error::unreadable(&path, format.name(), e)
}

pub(crate) fn file_schema(path: &Path) -> Result<Schema> {
    let file = BufReader::new(source::open_file(path)?);
    let reader = FileReader::try_new(file, None).map_err(bad(path, Format::IpcFile))?;
    Ok(reader.schema().as_ref().clone())
}

pub(crate) fn stream_schema(path: &Path) -> Result<Schema> {
    let file = BufReader::new(source::open_file(path)?);
    Ok(stream(path, file, None)?.schema().as_ref().clone())
}

fn stream<R: Read>(path: &Path, reader: R, columns: Option<Vec<usize>>) -> Result<StreamReader<R>> {
    StreamReader::try_new(reader, columns).map_err(bad(path, Format::IpcStream))
}

pub(crate) fn open_file(path: &Path, choose: Choose<'_>) -> Result<Batches> {
    let bad = bad(path, Format::IpcFile);
    let schema = file_schema(path)?;
    let indices = choose(&schema)?.indices();
    let projected = schema.project(&indices).map_err(&bad)?;
    let (file, taken) = Counted::new(source::open_file(path)?);
    let reader = FileReader::try_new(BufReader::new(file), Some(indices)).map_err(&bad)?;
    let batches = Box::new(reader.map(move |batch| batch.map_err(&bad)));
    Ok(Batches { schema: projected.into(), first_row: 0, rows: None, taken: Some(taken), batches })
}

pub(crate) fn open_stream(path: &Path, choose: Choose<'_>) -> Result<Batches> {
    if path == Path::new(STDIN) {
        return Input::open()?.batches(choose);
    }
    let bad = bad(path, Format::IpcStream);
    let schema = stream_schema(path)?;
    let indices = choose(&schema)?.indices();
    let projected = schema.project(&indices).map_err(&bad)?;
    let (file, taken) = Counted::new(source::open_file(path)?);
    let reader = stream(path, BufReader::new(file), Some(indices))?;
    let batches = Box::new(reader.map(move |batch| batch.map_err(&bad)));
    Ok(Batches { schema: projected.into(), first_row: 0, rows: None, taken: Some(taken), batches })
}

/// Standard input, opened: its schema has been read and cannot be read again.
pub(crate) struct Input(StreamReader<BufReader<Stdin>>);

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Input")
    }
}

impl Input {
    pub(crate) fn open() -> Result<Self> {
        stream(Path::new(STDIN), BufReader::new(stdin()), None).map(Input)
    }

    pub(crate) fn schema(&self) -> Schema {
        self.0.schema().as_ref().clone()
    }

    pub(crate) fn batches(self, choose: Choose<'_>) -> Result<Batches> {
        let bad = bad(Path::new(STDIN), Format::IpcStream);
        let indices = choose(&self.0.schema())?.indices();
        let projected = self.0.schema().project(&indices).map_err(&bad)?;
        let narrow = move |batch: std::result::Result<RecordBatch, ArrowError>| {
            batch.and_then(|batch| batch.project(&indices)).map_err(&bad)
        };
        Ok(Batches {
            schema: projected.into(),
            first_row: 0,
            rows: None,
            taken: None,
            batches: Box::new(self.0.map(narrow)),
        })
    }
}
