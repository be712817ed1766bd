//! Summary files that get past their checksum, and what is done with those that can be read.

use slateval::{Band, Settings, Summary};

/// Bytes before the header: the magic word, the version and the header's length.
const PREAMBLE: usize = 20;
const CHECKSUM: usize = 4;

/// The bytes with the header's length and the checksum put right: otherwise hardly any change would get past them, and
/// nothing behind them would be reached. The header is the first JSON value behind the preamble.
pub fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() < PREAMBLE + CHECKSUM {
        return bytes;
    }
    let end = bytes.len() - CHECKSUM;
    let mut values = serde_json::Deserializer::from_slice(&bytes[PREAMBLE..end]).into_iter::<serde::de::IgnoredAny>();
    if let Some(Ok(_)) = values.next() {
        let length = values.byte_offset() as u64;
        bytes[12..PREAMBLE].copy_from_slice(&length.to_le_bytes());
    }
    let checksum = crc32fast::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Asks a summary that could be read for its answers. They may be refused; nothing may panic.
pub fn evaluate(summary: &Summary) {
    let mut settings = Settings::default();
    settings.band = Band::None;
    settings.threads = Some(1);
    let _ = summary.evaluate(&settings);
}
