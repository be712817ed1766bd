//! Arrow IPC: files, streams, and standard input.

mod claims;
mod limit;

use std::io::{self, BufRead, BufReader, Read, Stdin, stdin};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};

use crate::error::{Error, Result, brief};
use crate::find::detect::{Format, STDIN};
use crate::find::place::{Place, Reader};
use crate::formats::batches::{Batches, Choose, Counted};
use crate::formats::room::Room;
use crate::ipc::claims::{CheckedStream, Watch, check_file};
use crate::ipc::limit::Limit;

fn bad(place: &Place, format: Format) -> impl Fn(ArrowError) -> Error + 'static {
    let place = place.clone();
    move |e| place.unreadable(format.name(), e)
}

/// The same for a reader that may have been refused memory.
fn bad_or_large(place: &Place, format: Format, limit: &Limit) -> impl Fn(ArrowError) -> Error + 'static {
    let (place, limit) = (place.clone(), limit.clone());
    move |e| limit.error(&place, || place.unreadable(format.name(), e))
}

pub(crate) fn file_schema(place: &Place) -> Result<Schema> {
    let (reader, _) = file(place, None, None)?;
    Ok(reader.schema().as_ref().clone())
}

type Input = BufReader<Counted<Reader>>;

/// The reader of a file that claims nothing impossible, and the count of bytes taken.
fn file(
    place: &Place,
    columns: Option<Vec<usize>>,
    limit: Option<&Limit>,
) -> Result<(FileReader<Input>, Arc<AtomicU64>)> {
    let mut file = place.seeking_reader()?;
    let unreadable = |e: io::Error| place.unreadable(Format::IpcFile.name(), e);
    check_file(&mut file, limit).map_err(|e| match limit {
        Some(limit) => limit.error(place, || unreadable(e)),
        None => unreadable(e),
    })?;
    let (file, taken) = Counted::new(file);
    let reader = FileReader::try_new(BufReader::new(file), columns).map_err(bad(place, Format::IpcFile))?;
    Ok((reader, taken))
}

pub(crate) fn stream_schema(place: &Place) -> Result<Schema> {
    let file = BufReader::new(place.reader()?);
    Ok(stream(place, file, None, Watch::default())?.schema().as_ref().clone())
}

fn stream<R: Read>(
    place: &Place,
    reader: R,
    columns: Option<Vec<usize>>,
    watch: Watch,
) -> Result<StreamReader<CheckedStream<R>>> {
    StreamReader::try_new(CheckedStream::new(reader, watch), columns).map_err(bad(place, Format::IpcStream))
}

pub(crate) fn open_file(place: &Place, room: &Room, choose: Choose<'_>) -> Result<Batches> {
    let schema = Arc::new(file_schema(place)?);
    let indices = choose(&schema)?.columns;
    let projected = schema.project(&indices).map_err(bad(place, Format::IpcFile))?;
    let limit = Limit::new(schema, indices.clone(), room);
    let bad = bad_or_large(place, Format::IpcFile, &limit);
    let (reader, taken) = file(place, Some(indices), Some(&limit))?;
    let batches = Box::new(reader.map(move |batch| batch.map_err(&bad)));
    Ok(Batches { taken: Some(taken), ..Batches::new(projected.into(), batches) })
}

pub(crate) fn open_stream(place: &Place, room: &Room, choose: Choose<'_>) -> Result<Batches> {
    if place.is_standard_input() {
        return StandardInput::open()?.batches(room, choose);
    }
    let schema = Arc::new(stream_schema(place)?);
    let indices = choose(&schema)?.columns;
    let projected = schema.project(&indices).map_err(bad(place, Format::IpcStream))?;
    let (file, taken) = Counted::new(place.reader()?);
    let watch = Watch::default();
    let limit = watch.limit.get_or_init(|| Limit::new(schema, indices.clone(), room));
    let bad = bad_or_large(place, Format::IpcStream, limit);
    let reader = stream(place, BufReader::new(file), Some(indices), watch.clone())?;
    let batches = Box::new(reader.map(move |batch| batch.map_err(&bad)));
    Ok(Batches { taken: Some(taken), cut_short: watch.cut_short(), ..Batches::new(projected.into(), batches) })
}

/// Refuses input that cannot be a stream by its first bytes. The reader would take text for a length, and wait for as
/// many bytes.
fn check_stream(reader: &mut impl BufRead) -> Result<()> {
    match reader.fill_buf() {
        Err(e) => Err(no_stream(e)),
        Ok([]) => Err(no_stream("it is empty")),
        // The continuation marker; before Arrow 0.15 a length, which was less than 16 MB.
        Ok([0xff, 0xff, 0xff, 0xff, ..] | [_, _, _, 0, ..]) => Ok(()),
        Ok([_, _, _, _, ..]) => Err(no_stream("its first bytes are those of something else")),
        // Less than four bytes in a pipe so far: the reader waits for more.
        Ok(_) => Ok(()),
    }
}

fn no_stream(reason: impl ToString) -> Error {
    let reason = brief(&reason.to_string());
    let what = format!(
        "standard input is not an Arrow IPC stream: {reason}; `-` reads an Arrow IPC stream and nothing else: save other \
         formats to a file and read that"
    );
    Error::Refused(what.into())
}

/// Standard input, opened: its schema has been read and cannot be read again.
pub(crate) struct StandardInput {
    reader: StreamReader<CheckedStream<BufReader<Stdin>>>,
    watch: Watch,
}

impl std::fmt::Debug for StandardInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StandardInput")
    }
}

impl StandardInput {
    pub(crate) fn open() -> Result<Self> {
        let mut reader = BufReader::new(stdin());
        check_stream(&mut reader)?;
        let watch = Watch::default();
        let reader = StreamReader::try_new(CheckedStream::new(reader, watch.clone()), None).map_err(no_stream)?;
        Ok(StandardInput { reader, watch })
    }

    pub(crate) fn schema(&self) -> Schema {
        self.reader.schema().as_ref().clone()
    }

    pub(crate) fn batches(self, room: &Room, choose: Choose<'_>) -> Result<Batches> {
        let place = Place::Local(STDIN.into());
        let schema = self.reader.schema();
        let indices = choose(&schema)?.columns;
        let projected = schema.project(&indices).map_err(bad(&place, Format::IpcStream))?;
        // The reader was made before it was known which columns are wanted, and unpacks them all.
        let all = (0..schema.fields().len()).collect();
        let limit = self.watch.limit.get_or_init(|| Limit::new(schema, all, room));
        let bad = bad_or_large(&place, Format::IpcStream, limit);
        let narrow = move |batch: std::result::Result<RecordBatch, ArrowError>| {
            batch.and_then(|batch| batch.project(&indices)).map_err(&bad)
        };
        let batches = Box::new(self.reader.map(narrow));
        Ok(Batches { cut_short: self.watch.cut_short(), ..Batches::new(projected.into(), batches) })
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
