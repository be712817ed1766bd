//! Summaries as compressed bytes, for pickles and parts of a log.

use crate::errors::{Failure, raise};
use pyo3::prelude::*;

/// Fast, and within a few percent of the smallest.
const LEVEL: i32 = 3;

/// A summary, compressed.
pub(crate) fn compress(summary: &slateval::Summary) -> PyResult<Vec<u8>> {
    zstd::bulk::compress(&summary.to_bytes(), LEVEL)
        .map_err(|e| raise("InputError", &format!("cannot compress a summary: {e}")))
}

/// Whether bytes begin as [`compress`] makes them begin: with zstd's mark.
pub(crate) fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// The summary that was compressed.
pub(crate) fn decompress(bytes: &[u8]) -> PyResult<slateval::Summary> {
    let bytes = zstd::stream::decode_all(bytes)
        .map_err(|e| raise("InputError", &format!("this is no pickled summary: {e}")))?;
    Ok(slateval::Summary::from_bytes(&bytes).map_err(Failure::from)?)
}
