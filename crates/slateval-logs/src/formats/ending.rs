//! How a text file ends.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Error, Result};
use crate::formats::detect::{Format, Packing, open_file};

/// Refuses a plain text file whose last line has no end: it may have been cut short there. Packed files tell by themselves
/// where they end.
pub(crate) fn check_end(path: &Path, format: Format) -> Result<()> {
    let (Format::Csv { packing: Packing::None, .. } | Format::JsonLines { packing: Packing::None }) = format else {
        return Ok(());
    };
    match last_byte(path)? {
        None | Some(b'\n' | b'\r') => Ok(()),
        Some(_) => Err(Error::Unended { path: path.into() }),
    }
}

fn last_byte(path: &Path) -> Result<Option<u8>> {
    let mut file = open_file(path)?;
    let bad = |e| Error::unreadable(path, "text file", e);
    let length = file.seek(SeekFrom::End(0)).map_err(bad)?;
    file.seek(SeekFrom::Start(length.saturating_sub(1))).map_err(bad)?;
    let mut last = Vec::new();
    file.take(1).read_to_end(&mut last).map_err(bad)?;
    Ok(last.first().copied())
}
