//! Arrow IPC: files, streams, and standard input.

use std::io::{BufRead, BufReader, Read, Stdin, stdin};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};

use crate::error::{Error, Result, brief};
use crate::formats::batches::{BadRows, Batches, Choose, Counted};
use crate::formats::detect::{Format, STDIN};
use crate::formats::ipc_claims::{CheckedStream, check_file};
use crate::formats::place::{Place, Reader};

fn bad(place: &Place, format: Format) -> impl Fn(ArrowError) -> Error + 'static {
    let place = place.clone();
    move |e| place.unreadable(format.name(), e)
}

pub(crate) fn file_schema(place: &Place) -> Result<Schema> {
    let (reader, _) = file(place, None)?;
    Ok(reader.schema().as_ref().clone())
}

type Input = BufReader<Counted<Reader>>;

/// The reader of a file that claims nothing impossible, and the count of bytes taken.
fn file(place: &Place, columns: Option<Vec<usize>>) -> Result<(FileReader<Input>, Arc<AtomicU64>)> {
    let mut file = place.reader()?;
    check_file(&mut file).map_err(|e| place.unreadable(Format::IpcFile.name(), e))?;
    let (file, taken) = Counted::new(file);
    let reader = FileReader::try_new(BufReader::new(file), columns).map_err(bad(place, Format::IpcFile))?;
    Ok((reader, taken))
}

pub(crate) fn stream_schema(place: &Place) -> Result<Schema> {
    let file = BufReader::new(place.reader()?);
    Ok(stream(place, file, None)?.schema().as_ref().clone())
}

fn stream<R: Read>(place: &Place, reader: R, columns: Option<Vec<usize>>) -> Result<StreamReader<CheckedStream<R>>> {
    StreamReader::try_new(CheckedStream::new(reader), columns).map_err(bad(place, Format::IpcStream))
}

pub(crate) fn open_file(place: &Place, choose: Choose<'_>) -> Result<Batches> {
    let bad = bad(place, Format::IpcFile);
    let schema = file_schema(place)?;
    let indices = choose(&schema)?.columns;
    let projected = schema.project(&indices).map_err(&bad)?;
    let (reader, taken) = file(place, Some(indices))?;
    let batches = Box::new(reader.map(move |batch| batch.map_err(&bad)));
    Ok(Batches {
        schema: projected.into(),
        first_row: 0,
        rows: None,
        taken: Some(taken),
        batches,
        bad: BadRows::default(),
    })
}

pub(crate) fn open_stream(place: &Place, choose: Choose<'_>) -> Result<Batches> {
    if place.is_standard_input() {
        return StandardInput::open()?.batches(choose);
    }
    let bad = bad(place, Format::IpcStream);
    let schema = stream_schema(place)?;
    let indices = choose(&schema)?.columns;
    let projected = schema.project(&indices).map_err(&bad)?;
    let (file, taken) = Counted::new(place.reader()?);
    let reader = stream(place, BufReader::new(file), Some(indices))?;
    let batches = Box::new(reader.map(move |batch| batch.map_err(&bad)));
    Ok(Batches {
        schema: projected.into(),
        first_row: 0,
        rows: None,
        taken: Some(taken),
        batches,
        bad: BadRows::default(),
    })
}

/// Refuses input that cannot be a stream by its first bytes. The reader would take text for a length, and wait for as
/// many bytes.
fn check_stream(reader: &mut impl BufRead) -> Result<()> {
    let refuse = |reason: String| Err(Error::NotAStream { reason });
    match reader.fill_buf() {
        Err(e) => refuse(brief(&e.to_string())),
        Ok([]) => refuse("it is empty".into()),
        // The continuation marker; before Arrow 0.15 a length, which was less than 16 MB.
        Ok([0xff, 0xff, 0xff, 0xff, ..] | [_, _, _, 0, ..]) => Ok(()),
        Ok([_, _, _, _, ..]) => refuse("its first bytes are those of something else".into()),
        // Less than four bytes in a pipe so far: the reader waits for more.
        Ok(_) => Ok(()),
    }
}

/// Standard input, opened: its schema has been read and cannot be read again.
pub(crate) struct StandardInput(StreamReader<CheckedStream<BufReader<Stdin>>>);

impl std::fmt::Debug for StandardInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StandardInput")
    }
}

impl StandardInput {
    pub(crate) fn open() -> Result<Self> {
        let mut reader = BufReader::new(stdin());
        check_stream(&mut reader)?;
        let reader = StreamReader::try_new(CheckedStream::new(reader), None);
        reader.map(StandardInput).map_err(|e| Error::NotAStream { reason: brief(&e.to_string()) })
    }

    pub(crate) fn schema(&self) -> Schema {
        self.0.schema().as_ref().clone()
    }

    pub(crate) fn batches(self, choose: Choose<'_>) -> Result<Batches> {
        let bad = bad(&Place::Local(STDIN.into()), Format::IpcStream);
        let indices = choose(&self.0.schema())?.columns;
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
            bad: BadRows::default(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_must_be_a_stream() {
        for text in ["", "reward,mu_1,pi_1\n", "PAR1....", "ARROW1.."] {
            let message = check_stream(&mut text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains("`-` reads an Arrow IPC stream"), "{message}");
        }
        let mut bytes = Vec::new();
        arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &Schema::empty()).unwrap().finish().unwrap();
        check_stream(&mut bytes.as_slice()).unwrap();
    }
}
