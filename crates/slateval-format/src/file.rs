//! Summaries as bytes, version 6.
//! See docs/methods.md, section 3.7.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `SLATEVAL` |
//! | 4 | version, little-endian as all numbers |
//! | 8 | length of the header |
//! | … | header: JSON with the specification and the shape of the whole log and of each segment, readable by anyone |
//! | … | for the whole log and each segment: numbers as 64-bit floats, bin keys as 64-bit integers |
//! | 4 | CRC-32 of all that precedes |

use slateval_stats::sums::{CellKind, CellParts, Parts};
use slateval_stats::{Error, Result, Segment, Spec, Sums};

use crate::header::{CellHeader, Contents, Header, SegmentHeader};
use crate::provenance::Provenance;

const MAGIC: &[u8; 8] = b"SLATEVAL";
const VERSION: u32 = 6;
/// The first version that is read. From it on, every version stays readable: what a later one changes is brought up to
/// date after the checksum has been checked. Of an earlier one, sums are missing.
const OLDEST: u32 = 6;
const PREAMBLE: usize = MAGIC.len() + 4 + 8;
const CHECKSUM: usize = 4;
/// Bytes of a number.
const NUMBER: usize = 8;

/// Whether some bytes begin as those of a summary do.
pub fn is_summary(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Sums, and where their rows came from, as bytes.
pub fn to_bytes(sums: &Sums, provenance: &Provenance) -> Vec<u8> {
    let Parts { spec, whole, segments } = sums.parts();
    let mut payload = Vec::new();
    let mut write = |cell: CellParts| {
        write_cell(&cell, &mut payload);
        CellHeader::new(&cell)
    };
    let whole = whole.map(&mut write);
    let segment = |(value, cell): (Segment, CellParts)| SegmentHeader { value: value.into(), cell: write(cell) };
    let segments = segments.into_iter().map(segment).collect();
    let header = Header::new(&spec, whole, segments, provenance).to_json();
    let mut bytes = Vec::with_capacity(PREAMBLE + header.len() + payload.len() + CHECKSUM);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(&payload);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// What [`to_bytes`] wrote.
///
/// # Errors
/// [`Error::Format`] if the bytes are something else, cut short, changed, or of another version.
pub fn from_bytes(bytes: &[u8]) -> Result<(Sums, Provenance)> {
    let (header, payload) = open(bytes)?;
    let contents = Header::parse(header).map_err(|why| broken(&format!("its header is odd: {why}")))?;
    contents.check()?;
    let Contents { spec, whole, segments, provenance } = contents;
    let mut reader = Reader { bytes: payload };
    let whole = whole.map(|header| reader.cell(&spec, CellKind::Whole, header)).transpose()?;
    let kind = CellKind::Segment(segments.len());
    let segment = |SegmentHeader { value, cell }| Ok((value.into(), reader.cell(&spec, kind, cell)?));
    let segments = segments.into_iter().map(segment).collect::<Result<_>>()?;
    if !reader.bytes.is_empty() {
        return Err(broken("it is longer than its header says"));
    }
    Ok((Sums::from_parts(Parts { spec, whole, segments })?, provenance))
}

impl Contents {
    /// Refuses segments that are not those of the log.
    fn check(&self) -> Result<()> {
        let sum = |rows: u64, segment: &SegmentHeader| rows.checked_add(segment.cell.rows);
        let rows = self.segments.iter().try_fold(0, sum);
        let whole = self.whole.as_ref().map_or(0, |whole| whole.rows);
        let expected = if self.spec.by.is_some() { whole } else { 0 };
        if rows != Some(expected) || self.segments.len() > Sums::SEGMENTS {
            return Err(broken("its segments are not those of its log"));
        }
        if self.provenance.inputs().iter().any(|input| input.rows > whole) {
            return Err(broken("a file of its log has more rows than the log"));
        }
        Ok(())
    }
}

fn broken(why: &str) -> Error {
    Error::Format(why.into())
}

/// Checks everything that does not need the header, and cuts it out.
fn open(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    if !bytes.starts_with(MAGIC) {
        return Err(broken("it does not begin with SLATEVAL, as every saved summary does"));
    }
    if bytes.len() < PREAMBLE + CHECKSUM {
        return Err(broken("it is cut short"));
    }
    let version = u32::from_le_bytes(bytes[8..12].try_into().unwrap_or_default());
    if version < OLDEST {
        return Err(broken(&format!(
            "it is of version {version}, and this slateval reads version {OLDEST} and later ones: make it again from its \
             log, or read it with {}",
            writer(bytes)
        )));
    }
    if version > VERSION {
        return Err(broken(&format!(
            "it is of version {version}, and slateval {} reads versions up to {VERSION}: read it with {} or newer",
            env!("CARGO_PKG_VERSION"),
            writer(bytes)
        )));
    }
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    if crc32fast::hash(content).to_le_bytes() != checksum {
        return Err(broken("its checksum does not match: it was cut short or changed; write it again"));
    }
    let length = u64::from_le_bytes(content[12..PREAMBLE].try_into().unwrap_or_default());
    let body = &content[PREAMBLE..];
    let length = usize::try_from(length).ok().filter(|&length| length <= body.len());
    Ok(body.split_at(length.ok_or_else(|| broken("it is cut short"))?))
}

/// The slateval that wrote a file of whatever version: all begin alike.
fn writer(bytes: &[u8]) -> String {
    let length = bytes[12..PREAMBLE].try_into().map(u64::from_le_bytes).ok();
    let length = length.and_then(|length| usize::try_from(length).ok());
    let header = length.and_then(|length| bytes[PREAMBLE..].get(..length));
    header.and_then(Header::writer).unwrap_or_else(|| "the slateval that wrote it".to_owned())
}

/// Writes the origin, the range, each occupied bin and all other sums.
fn write_cell(cell: &CellParts, out: &mut Vec<u8>) {
    let mut number = |x: f64| out.extend_from_slice(&x.to_le_bytes());
    [cell.origin, cell.range.0, cell.range.1].into_iter().for_each(&mut number);
    let width = cell.bins.len() / cell.keys.len().max(1);
    for (key, sums) in cell.keys.iter().zip(cell.bins.chunks_exact(width.max(1))) {
        out.extend_from_slice(&key.to_le_bytes());
        sums.iter().for_each(|sum| out.extend_from_slice(&sum.to_le_bytes()));
    }
    cell.others.iter().for_each(|sum| out.extend_from_slice(&sum.to_le_bytes()));
}

/// Refuses a shape that needs more numbers than there are, before any room is made for it.
fn expect_room(spec: &Spec, header: &CellHeader, numbers: usize) -> Result<()> {
    // Every policy has a triangle of at least slots^2 / 2 sums: a file that holds it bounds the number of slots.
    let triangle = header.slots.checked_mul(header.slots).map(|square| square / 2);
    let needed = triangle.and_then(|t| t.checked_mul(spec.policies.len())).and_then(|t| t.checked_add(header.bins));
    match needed {
        Some(needed) if needed <= numbers => Ok(()),
        _ => Err(broken("it is cut short")),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn take(&mut self) -> Result<[u8; 8]> {
        let (first, rest) = self.bytes.split_first_chunk::<8>().ok_or_else(|| broken("it is cut short"))?;
        self.bytes = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<f64> {
        self.take().map(f64::from_le_bytes)
    }

    fn integer(&mut self) -> Result<i64> {
        self.take().map(i64::from_le_bytes)
    }

    fn numbers(&mut self, count: usize, to: &mut Vec<f64>) -> Result<()> {
        if count > self.bytes.len() / NUMBER {
            return Err(broken("it is cut short"));
        }
        to.reserve(count);
        (0..count).try_for_each(|_| self.number().map(|number| to.push(number)))
    }

    /// The numbers of a cell of this shape.
    fn cell(&mut self, spec: &Spec, kind: CellKind, header: CellHeader) -> Result<CellParts> {
        expect_room(spec, &header, self.bytes.len() / NUMBER)?;
        let bins = header.bins;
        let size = kind.size(spec, header.slots, bins);
        let mut cell = header.into_parts();

        cell.origin = self.number()?;
        cell.range = (self.number()?, self.number()?);
        for _ in 0..bins {
            cell.keys.push(self.integer()?);
            self.numbers(size.bin, &mut cell.bins)?;
        }
        self.numbers(size.others, &mut cell.others)?;
        Ok(cell)
    }
}
