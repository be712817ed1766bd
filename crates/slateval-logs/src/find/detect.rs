//! What format a file has: by its name, or by its first bytes.

use std::fs::File;
use std::path::Path;

use crate::error::{Error, Result};
use crate::find::contents::{Contents, first_bytes};
use crate::find::place::Place;

/// The path that stands for standard input.
pub(crate) const STDIN: &str = "-";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Parquet,
    Csv { delimiter: u8, packing: Packing },
    JsonLines { packing: Packing },
    IpcFile,
    IpcStream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Parquet => "Parquet file",
            Format::Csv { .. } => "CSV file",
            Format::JsonLines { .. } => "file of JSON lines",
            Format::IpcFile => "Arrow IPC file",
            Format::IpcStream => "Arrow IPC stream",
        }
    }

    /// Whether numbers come as text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Format::Csv { .. })
    }

    /// The format that a file's name promises.
    pub(crate) fn of_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let (name, packing) = match name.rsplit_once('.') {
            Some((rest, "gz" | "gzip")) => (rest, Packing::Gzip),
            Some((rest, "zst" | "zstd")) => (rest, Packing::Zstd),
            _ => (name.as_str(), Packing::None),
        };
        match (name.rsplit_once('.')?.1, packing) {
            ("csv", _) => Some(Format::Csv { delimiter: b',', packing }),
            ("tsv", _) => Some(Format::Csv { delimiter: b'\t', packing }),
            ("jsonl" | "ndjson" | "json", _) => Some(Format::JsonLines { packing }),
            ("parquet" | "pq", Packing::None) => Some(Format::Parquet),
            ("arrow" | "ipc" | "feather", Packing::None) => Some(Format::IpcFile),
            ("arrows", Packing::None) => Some(Format::IpcStream),
            _ => None,
        }
    }

    /// The format of a file: by name, then by its first bytes. Arrow files and streams are told apart by their bytes
    /// alone, for people give both the same ending.
    pub(crate) fn detect(place: &Place) -> Result<Format> {
        if place.is_standard_input() {
            return Ok(Format::IpcStream);
        }
        match Format::of_name(place.path()) {
            Some(named @ (Format::IpcFile | Format::IpcStream)) => {
                match Contents::of_beginning(&first_bytes(place, 6)?) {
                    Some(Contents::Log(told)) => Ok(told),
                    _ => Ok(named),
                }
            }
            Some(named) => Ok(named),
            None => match Contents::of(place)? {
                Contents::Log(told) => Ok(told),
                Contents::Other(reason) => Err(Error::UnknownFormat { path: place.path().into(), reason }),
            },
        }
    }
}

/// Whether these are a file's first bytes; standard input is left alone. Of an object, the first bytes are fetched only
/// if its name does not tell what it is.
pub(crate) fn begins_with(place: &Place, bytes: &[u8]) -> bool {
    let is_told = matches!(place, Place::Object(_)) && Format::of_name(place.path()).is_some();
    !is_told && !place.is_standard_input() && first_bytes(place, bytes.len() as u64).is_ok_and(|start| start == bytes)
}

pub(crate) fn cannot_open(path: &Path, error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::NoSuchFile { path: path.into() },
        _ => Error::unreadable(path, "file", error),
    }
}

pub(crate) fn open_file(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| cannot_open(path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let of = |name: &str| Format::of_name(Path::new(name));
        assert_eq!(of("a/b.PARQUET"), Some(Format::Parquet));
        assert_eq!(of("b.csv.gz"), Some(Format::Csv { delimiter: b',', packing: Packing::Gzip }));
        assert_eq!(of("b.tsv.zst"), Some(Format::Csv { delimiter: b'\t', packing: Packing::Zstd }));
        assert_eq!(of("b.csv.gzip"), of("b.csv.gz"));
        assert_eq!(of("b.ndjson"), Some(Format::JsonLines { packing: Packing::None }));
        assert_eq!(of("b.parquet.gz"), None);
        assert_eq!(of("parquet"), None);
    }
}
