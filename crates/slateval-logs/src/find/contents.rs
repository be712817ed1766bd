//! What a file holds, told by its first bytes: for files whose names do not tell.

use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom};

use serde_json::{Map, Value};
use slateval::IgnoreReason;

use crate::error::Result;
use crate::find::detect::{Format, Packing};
use crate::find::place::Place;
use crate::formats::batches::Part;
use crate::formats::packed::open_bytes;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    Log(Format),
    /// Something else, or nothing that can be told.
    Other(IgnoreReason),
}

/// First bytes that tell a format by themselves. A stream of Arrow's begins with its continuation marker.
const BEGINNINGS: [(&[u8], Contents); 14] = [
    (b"PAR1", Contents::Log(Format::Parquet)),
    (b"ARROW1", Contents::Log(Format::IpcFile)),
    (&[0xff; 4], Contents::Log(Format::IpcStream)),
    (b"PARE", Contents::Other(IgnoreReason::EncryptedParquet)),
    (b"BZh", Contents::Other(IgnoreReason::Bzip2)),
    (b"\xfd7zXZ\0", Contents::Other(IgnoreReason::Xz)),
    (b"\x04\x22\x4d\x18", Contents::Other(IgnoreReason::Lz4)),
    (b"\xff\x06\0\0sNaPpY", Contents::Other(IgnoreReason::Snappy)),
    (b"PK\x03\x04", Contents::Other(IgnoreReason::Zip)),
    (b"ORC", Contents::Other(IgnoreReason::Orc)),
    (b"Obj\x01", Contents::Other(IgnoreReason::Avro)),
    (b"SEQ\x06", Contents::Other(IgnoreReason::SequenceFile)),
    (b"SLATEVAL", Contents::Other(IgnoreReason::Summary)),
    (b"SLATEWRK", Contents::Other(IgnoreReason::Summary)),
];

/// The longest of them.
const LONGEST: u64 = 10;

/// Unpacked bytes that are looked at for lines of JSON.
const LOOK: u64 = 1 << 16;

impl Contents {
    /// Looks at a file's first bytes, and into those of packed text. A text file is a log only if its first lines are
    /// objects of JSON that are alike: text of other kinds may be CSV, a manifest or a remark for readers.
    pub(crate) fn of(place: &Place) -> Result<Contents> {
        let start = first_bytes(place, LONGEST)?;
        match Contents::of_beginning(&start) {
            Some(Contents::Log(Format::Parquet)) => return end_of(place, Format::Parquet, b"PAR1"),
            Some(Contents::Log(Format::IpcFile)) => return end_of(place, Format::IpcFile, b"ARROW1"),
            Some(contents) => return Ok(contents),
            None => {}
        }
        let packing = match start.as_slice() {
            [] => return Ok(Contents::Other(IgnoreReason::Empty)),
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ => Packing::None,
        };
        let text = unpacked(place, packing)?;
        Ok(match (is_text(&text), packing) {
            (true, _) if has_json_lines(&text) => Contents::Log(Format::JsonLines { packing }),
            (true, Packing::None) => Contents::Other(IgnoreReason::Text),
            (true, _) => Contents::Other(IgnoreReason::PackedText),
            (false, Packing::None) => Contents::Other(IgnoreReason::UnknownContents),
            (false, _) => Contents::Other(IgnoreReason::Packed),
        })
    }

    /// What the first bytes tell by themselves.
    pub(crate) fn of_beginning(start: &[u8]) -> Option<Contents> {
        BEGINNINGS.into_iter().find(|(beginning, _)| start.starts_with(beginning)).map(|(_, contents)| contents)
    }
}

pub(crate) fn first_bytes(place: &Place, count: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    place.reader()?.take(count).read_to_end(&mut bytes).map_err(|e| place.unreadable("file", e))?;
    Ok(bytes)
}

/// A file of this format if it ends like one. Its end is not its beginning.
fn end_of(place: &Place, format: Format, mark: &[u8]) -> Result<Contents> {
    let unreadable = |error: std::io::Error| place.unreadable("file", error);
    let (mut file, mut end) = (place.seeking_reader()?, Vec::new());
    let length = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
    file.seek(SeekFrom::Start(length.saturating_sub(mark.len() as u64))).map_err(unreadable)?;
    file.read_to_end(&mut end).map_err(unreadable)?;
    let is_whole = length >= 2 * mark.len() as u64 && end == mark;
    Ok(if is_whole { Contents::Log(format) } else { Contents::Other(IgnoreReason::Unfinished) })
}

/// The first bytes, unpacked: none of a file that only begins like a packed one.
fn unpacked(place: &Place, packing: Packing) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = open_bytes(place, packing, &Part::Whole).map(|(bytes, _)| bytes.take(LOOK).read_to_end(&mut text));
    match (read, place.failure()) {
        (_, Some(failure)) => Err(failure),
        // Bytes that came before a fault tell as much as others.
        _ => Ok(text),
    }
}

/// Whether the first two lines are objects of JSON with the same names.
fn has_json_lines(text: &[u8]) -> bool {
    let names = |line: &[u8]| {
        let object: Option<Map<String, Value>> = serde_json::from_slice(line).ok();
        object.map(|object| object.into_iter().map(|(name, _)| name).collect::<BTreeSet<_>>())
    };
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let [first, second] = [lines.next(), lines.next()].map(|line| line.and_then(names));
    first.is_some() && first == second
}

/// Whether these are the first bytes of text. The last character may be cut.
fn is_text(bytes: &[u8]) -> bool {
    let whole = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    whole && !bytes.is_empty() && !bytes.contains(&0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Write;

    use super::*;

    fn of(bytes: &[u8]) -> Contents {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        Contents::of(&file.path().to_path_buf().into()).unwrap()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn first_bytes_tell_formats() {
        assert_eq!(of(b"PAR1...PAR1"), Contents::Log(Format::Parquet));
        assert_eq!(of(b"PAR1..."), Contents::Other(IgnoreReason::Unfinished));
        assert_eq!(of(b"ARROW1...ARROW1"), Contents::Log(Format::IpcFile));
        assert_eq!(of(b"ARROW1"), Contents::Other(IgnoreReason::Unfinished));
        assert_eq!(of(b"\xff\x06\0\0sNaPpY..."), Contents::Other(IgnoreReason::Snappy));
        assert_eq!(of(b"BZh91AY"), Contents::Other(IgnoreReason::Bzip2));
        assert_eq!(of(b""), Contents::Other(IgnoreReason::Empty));
        assert_eq!(of(&[7, 0, 1]), Contents::Other(IgnoreReason::UnknownContents));
        assert!(BEGINNINGS.iter().all(|(beginning, _)| beginning.len() as u64 <= LONGEST));
    }

    #[test]
    fn text_is_a_log_only_if_it_is_lines_of_json() {
        let lines = b"{\"reward\": 1}\n{\"reward\": 2}\n";
        let json = |packing| Contents::Log(Format::JsonLines { packing });
        assert_eq!(of(lines), json(Packing::None));
        assert_eq!(of(&gzip(lines)), json(Packing::Gzip));
        assert_eq!(of(&zstd::encode_all(&lines[..], 0).unwrap()), json(Packing::Zstd));
        let manifests = [&b"{\"version\": 1}\n"[..], b"{\"version\": 1}\n{\"file\": 2}\n", b"{\n  \"a\": 1\n}\n"];
        for text in [&b"reward,mu_1\n1,0.5\n"[..], "Read me, J\u{fc}rgen\n".as_bytes()].into_iter().chain(manifests) {
            assert_eq!(of(text), Contents::Other(IgnoreReason::Text));
            assert_eq!(of(&gzip(text)), Contents::Other(IgnoreReason::PackedText));
        }
        assert_eq!(of(&gzip(b"PAR1\0PAR1")), Contents::Other(IgnoreReason::Packed));
        assert_eq!(of(b"\x1f\x8bno gzip"), Contents::Other(IgnoreReason::Packed));
    }
}
