//! A file of any format, read as a schema and a run of record batches.

pub(crate) mod batches;
mod ending;
pub(crate) mod packed;
pub(crate) mod room;
mod upstream_panics;

use std::sync::Arc;

use arrow_schema::Schema;

pub(crate) use crate::parquet::Footers;
pub(crate) use batches::{Batches, Head, Part, Selection, guarded};
pub(crate) use ending::check_end;
pub(crate) use room::Room;

use crate::error::Result;
use crate::find::{Format, Place};
use crate::{csv, ipc, json, parquet};
use batches::{Choose, SAMPLE};

/// Reads a file's schema and size.
pub(crate) fn head(place: &Place, format: Format) -> Result<Head> {
    let bytes = place.size()?;
    let plain = |schema: Schema| Head { schema: Arc::new(schema), bytes, row_groups: None };
    match format {
        Format::Parquet => parquet::head(place, bytes),
        Format::Csv { delimiter, packing } => csv::schema(place, delimiter, packing, SAMPLE).map(plain),
        Format::JsonLines { packing } => json::schema(place, packing).map(plain),
        Format::IpcFile => ipc::file_schema(place).map(plain),
        Format::IpcStream => ipc::stream_schema(place).map(plain),
    }
}

/// Opens a file, or a part of it, for its rows.
pub(crate) fn open(
    place: &Place,
    format: Format,
    part: &Part,
    footers: &Footers,
    room: &Room,
    choose: Choose<'_>,
) -> Result<Batches> {
    match format {
        Format::Parquet => parquet::open(place, part, footers, room, choose),
        Format::Csv { delimiter, packing } => csv::open(place, delimiter, packing, part, choose),
        Format::JsonLines { packing } => json::open(place, packing, part, choose),
        Format::IpcFile => ipc::open_file(place, room, choose),
        Format::IpcStream => ipc::open_stream(place, room, choose),
    }
}

/// Counts the rows of a plain text file that begin before a byte at which a record begins.
pub(crate) fn rows_before(place: &Place, format: Format, byte: u64) -> Result<u64> {
    let part = Part::Bytes { range: 0..byte, first_row: 0, fetched: None };
    match format {
        Format::Csv { delimiter, packing } => csv::count(place, delimiter, packing, &part),
        Format::JsonLines { packing } => json::count(place, packing, &part),
        _ => Ok(0),
    }
}
