//! Files: found by paths and patterns, told apart by name or first bytes, and each read as a schema and a run of record
//! batches.

mod ahead;
mod batches;
mod cell;
mod csv;
mod detect;
mod direct;
mod discover;
mod ending;
mod floats;
mod guess;
mod hybrid;
mod identity;
mod ipc;
mod ipc_claims;
mod json;
mod json_objects;
mod json_shape;
mod packed;
mod parquet;
mod pieces;
mod records;

use std::path::Path;
use std::sync::Arc;

use arrow_schema::Schema;

pub(crate) use batches::{Batches, Head, Part, Selection, guarded};
pub(crate) use cell::{Cell, truth};
pub(crate) use detect::{Format, STDIN, begins_with};
pub(crate) use discover::{files, partitions};
pub(crate) use ending::check_end;
pub(crate) use identity::Identity;
pub(crate) use ipc::StandardInput;
pub(crate) use parquet::Footers;
pub(crate) use pieces::{PIECE, Pieces};

use crate::error::Result;
use batches::{Choose, SAMPLE};
use detect::cannot_open;

/// Reads a file's schema and size.
pub(crate) fn head(path: &Path, format: Format) -> Result<Head> {
    let bytes = std::fs::metadata(path).map_err(|e| cannot_open(path, &e))?.len();
    let plain = |schema: Schema| Head { schema: Arc::new(schema), bytes, row_groups: None };
    match format {
        Format::Parquet => parquet::head(path, bytes),
        Format::Csv { delimiter, packing } => csv::schema(path, delimiter, packing, SAMPLE).map(plain),
        Format::JsonLines { packing } => json::schema(path, packing).map(plain),
        Format::IpcFile => ipc::file_schema(path).map(plain),
        Format::IpcStream => ipc::stream_schema(path).map(plain),
    }
}

/// Opens a file, or a part of it, for its rows.
pub(crate) fn open(path: &Path, format: Format, part: &Part, footers: &Footers, choose: Choose<'_>) -> Result<Batches> {
    match format {
        Format::Parquet => parquet::open(path, part, footers, choose),
        Format::Csv { delimiter, packing } => csv::open(path, delimiter, packing, part, choose),
        Format::JsonLines { packing } => json::open(path, packing, part, choose),
        Format::IpcFile => ipc::open_file(path, choose),
        Format::IpcStream => ipc::open_stream(path, choose),
    }
}

/// Counts the rows of a plain text file that begin before a byte at which a record begins.
pub(crate) fn rows_before(path: &Path, format: Format, byte: u64) -> Result<u64> {
    let part = Part::Bytes { range: 0..byte, first_row: 0 };
    match format {
        Format::Csv { delimiter, packing } => csv::count(path, delimiter, packing, &part),
        Format::JsonLines { packing } => json::count(path, packing, &part),
        _ => Ok(0),
    }
}
