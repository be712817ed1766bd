//! How a text file ends.

use std::io::Read;

use crate::error::{Error, Result};
use crate::find::detect::{Format, Packing};
use crate::find::place::Place;

/// Refuses a plain text file whose last line has no end: it may have been cut short there. Packed files tell by themselves
/// where they end.
pub(crate) fn check_end(place: &Place, format: Format) -> Result<()> {
    let (Format::Csv { packing: Packing::None, .. } | Format::JsonLines { packing: Packing::None }) = format else {
        return Ok(());
    };
    match last_byte(place)? {
        None | Some(b'\n' | b'\r') => Ok(()),
        Some(_) => Err(Error::Unended { path: place.path().into() }),
    }
}

fn last_byte(place: &Place) -> Result<Option<u8>> {
    let size = place.size()?;
    let mut last = Vec::new();
    let reader = place.reader_of(&(size.saturating_sub(1)..size))?;
    reader.take(1).read_to_end(&mut last).map_err(|e| place.unreadable("text file", e))?;
    Ok(last.first().copied())
}
