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

use crate::question::binning::Binning;
use crate::question::error::{Error, Result};
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::summary::Summary;
use crate::summary::bins::Bins;
use crate::summary::cell::Cell;
use crate::summary::check::{Fault, Section, Sound, all_finite, segments_add_up};
use crate::summary::header::{CellHeader, Contents, Header, SegmentHeader};
use crate::summary::index::Shared;
use crate::summary::sums::Sums;
use crate::summary::tally::Tally;

const MAGIC: &[u8; 8] = b"SLATEVAL";
const VERSION: u32 = 6;
/// The first version that is read. From it on, every version stays readable: what a later one changes is brought up to
/// date after the checksum has been checked. Of an earlier one, sums are missing.
const OLDEST: u32 = 6;
pub(crate) const PREAMBLE: usize = MAGIC.len() + 4 + 8;
pub(crate) const CHECKSUM: usize = 4;
/// Numbers in the bins of one segment: 2 GB.
const MOST_NUMBERS: usize = 1 << 28;

impl Summary {
    /// Whether some bytes begin as those of a summary do.
    pub fn is_summary(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// The summary as bytes: versioned, checksummed, self-describing.
    ///
    /// ```
    /// use slateval::{Spec, Structure, Summary};
    /// let summary = Summary::new(Spec::new(Structure::Product, ["new"]))?;
    /// let again = Summary::from_bytes(&summary.to_bytes())?;
    /// assert_eq!(again.spec(), summary.spec());
    /// # Ok::<(), slateval::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        let mut write = |cell: &Cell| {
            let bins = write_cell(cell, &mut payload);
            CellHeader { rows: cell.rows, slots: cell.slots, resolution: cell.bins.resolution(), bins }
        };
        let whole = self.sums.whole.as_ref().map(&mut write);
        let segment =
            |(value, cell): (&Segment, &Cell)| SegmentHeader { value: value.clone().into(), cell: write(cell) };
        let segments = self.sums.segments.iter().map(segment).collect();
        let header = Header::new(self.spec(), whole, segments, &self.inputs(), &self.history);
        let header = header.skipping(&self.skipped).ignoring(&self.ignored).to_json();
        let mut bytes = Vec::with_capacity(PREAMBLE + header.len() + payload.len() + CHECKSUM);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(&payload);
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// The summary that [`to_bytes`](Summary::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are something else, cut short, changed, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Summary> {
        let (header, payload) = open(bytes)?;
        let contents = Header::parse(header).map_err(|why| broken(&format!("its header is odd: {why}")))?;
        contents.check()?;
        let mut reader = Reader { bytes: payload };
        let mut sums = Sums::new(contents.spec)?;
        let spec = &sums.spec;
        if let Some(header) = &contents.whole {
            expect_room(spec, header, reader.bytes.len() / 8)?;
            let empty = Cell::of_log(spec, header.slots);
            let cell = read_cell(empty, spec.cell_binning(), header, &mut reader);
            sums.whole = Some(cell.map_err(|refusal| refusal.into_error(spec, None))?);
        }
        let count = contents.segments.len();
        for segment in contents.segments {
            expect_room(spec, &segment.cell, reader.bytes.len() / 8)?;
            let empty = Cell::of_segment(spec, count, segment.cell.slots);
            let name = segment.value.into();
            let cell = read_cell(empty, spec.segment_binning(count), &segment.cell, &mut reader);
            let cell = cell.map_err(|refusal| refusal.into_error(spec, Some(&name)))?;
            if sums.segments.insert(name, cell).is_some() {
                return Err(broken("a segment is in it twice"));
            }
        }
        if !reader.bytes.is_empty() {
            return Err(broken("it is longer than its header says"));
        }
        if let Some(whole) = &sums.whole {
            let segments: Vec<&Cell> = sums.segments.values().collect();
            segments_add_up(whole, &segments).map_err(|fault| broken(&fault.in_words(spec, None)))?;
        }
        let mut summary = Summary::from(sums);
        contents.inputs.into_iter().for_each(|input| summary.inputs.add(input));
        summary.skipped = contents.skipped;
        summary.ignored = contents.ignored;
        summary.history = contents.history;
        Ok(summary)
    }
}

/// Why a cell was not read.
enum Refusal {
    /// The bytes are not those of a cell.
    Bytes(Error),
    /// They are, and the numbers are those of no log.
    Numbers(Fault),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Bytes(error)
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Refusal::Numbers(fault)
    }
}

impl Refusal {
    fn into_error(self, spec: &Spec, segment: Option<&Segment>) -> Error {
        match self {
            Refusal::Bytes(error) => error,
            Refusal::Numbers(fault) => broken(&fault.in_words(spec, segment)),
        }
    }
}

impl Contents {
    /// Refuses segments that are not those of the log.
    fn check(&self) -> Result<()> {
        let sum = |rows: u64, segment: &SegmentHeader| rows.checked_add(segment.cell.rows);
        let rows = self.segments.iter().try_fold(0, sum);
        let whole = self.whole.as_ref().map_or(0, |whole| whole.rows);
        let expected = if self.spec.by.is_some() { whole } else { 0 };
        if rows != Some(expected) || self.segments.len() > Summary::SEGMENTS {
            return Err(broken("its segments are not those of its log"));
        }
        if self.inputs.iter().any(|input| input.rows > whole) {
            return Err(broken("a file of its log has more rows than the log"));
        }
        Ok(())
    }
}

pub(crate) fn broken(why: &str) -> Error {
    Error::Format(why.into())
}

/// Checks everything that does not need the header, and cuts it out.
pub(crate) fn open(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
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

/// Writes the origin, the range, each occupied bin and each policy's sums. Returns the number of bins.
fn write_cell(cell: &Cell, out: &mut Vec<u8>) -> usize {
    let mut number = |x: f64| out.extend_from_slice(&x.to_le_bytes());
    number(cell.origin);
    let (lo, hi) = cell.bins.range().unwrap_or((0.0, 0.0));
    number(lo);
    number(hi);
    let occupied: Vec<(i64, u32)> =
        cell.bins.ascending().into_iter().filter(|&(_, row)| cell.table.row(row)[Shared::Rows.place()] > 0.0).collect();
    let places = cell.layout.places();
    for &(key, row) in &occupied {
        out.extend_from_slice(&key.to_le_bytes());
        let sums = cell.table.row(row);
        places.iter().for_each(|&place| out.extend_from_slice(&sums[place].to_le_bytes()));
    }
    for policy in &cell.policies {
        let sums = policy.moments.sums.iter().copied().chain(policy.tally.to_numbers());
        sums.for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
    }
    let cross = cell.cross.iter().flat_map(|cross| &cross.sums);
    cross.for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
    if let Some(groups) = &cell.clusters {
        let features = groups.features.iter().flatten();
        let by_bin = occupied.iter().flat_map(|&(_, row)| groups.table.row(row));
        features.chain(by_bin).for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
    }
    occupied.len()
}

/// Fills a cell without rows.
fn read_cell(
    mut cell: Cell,
    binning: Binning,
    header: &CellHeader,
    reader: &mut Reader<'_>,
) -> std::result::Result<Cell, Refusal> {
    cell.rows = header.rows;
    cell.origin = reader.number()?;
    let range = (reader.number()?, reader.number()?);
    let mut keys = Vec::with_capacity(header.bins);
    let mut sums = Vec::with_capacity(header.bins);
    let places = cell.layout.places();
    for _ in 0..header.bins {
        keys.push(reader.integer()?);
        sums.push(reader.numbers(places.len())?);
    }
    sums.iter().try_for_each(|sums| all_finite(Section::Bins, sums))?;
    check_bins(binning, header, range, &keys, &sums)?;
    // The middle of rewards, rounded to a whole number.
    if !cell.origin.is_finite() || cell.origin.abs() > range.0.abs().max(range.1.abs()) + 0.5 {
        return Err(Fault::new(Section::Rewards, "their origin lies outside of them").into());
    }
    let (bins, rows) = Bins::restore(binning, header.resolution, Some(range), &keys);
    if !bins.suit_range() {
        return Err(Fault::new(Section::Bins, "they are not as wide as their rewards need").into());
    }
    cell.bins = bins;
    if cell.bins.table_rows().saturating_mul(cell.table.width) > MOST_NUMBERS {
        return Err(broken("its bins would not fit into memory").into());
    }
    cell.table.resize(cell.bins.table_rows());
    for (&row, sums) in rows.iter().zip(sums) {
        let to = cell.table.row_mut(row);
        places.iter().zip(sums).for_each(|(&place, sum)| to[place] = sum);
    }
    for (p, policy) in cell.policies.iter_mut().enumerate() {
        policy.moments.sums = reader.finite(Section::Moments, policy.moments.sums.len())?;
        let tally = reader.numbers(Tally::numbers(header.slots, cell.kept.basis.len()))?;
        policy.tally = Tally::from_numbers(header.slots, &tally).map_err(|fault| fault.of_policy(p))?;
    }
    for cross in &mut cell.cross {
        cross.sums = reader.finite(Section::Baseline, cross.rows * cross.columns)?;
    }
    if let Some(groups) = &mut cell.clusters {
        for features in &mut groups.features {
            *features = reader.finite(Section::Clusters, features.len())?;
        }
        groups.table.resize(cell.bins.table_rows());
        for row in rows {
            let sums = reader.finite(Section::Clusters, groups.table.width)?;
            groups.table.row_mut(row).copy_from_slice(&sums);
        }
    }
    cell.check()?;
    Ok(cell)
}

/// Refuses bins that no log can have filled, whoever wrote the file.
fn check_bins(binning: Binning, header: &CellHeader, range: (f64, f64), keys: &[i64], sums: &[Vec<f64>]) -> Sound {
    let fits = header.resolution.fits(binning, keys);
    let ascending = keys.is_sorted_by(|a, b| a < b);
    // What is shared comes first in a bin.
    let rows: f64 = sums.iter().map(|sums| sums[Shared::Rows.place()]).sum();
    let ordered = |(key, sums): (&i64, &Vec<f64>)| {
        let (min, max) = (sums[Shared::Least.place()], -sums[Shared::MinusMost.place()]);
        header.resolution.has(*key, (min, max))
            && sums[Shared::Rows.place()] >= 1.0
            && range.0 <= min
            && min <= max
            && max <= range.1
    };
    let whole = !keys.is_empty() && rows == header.rows as f64 && range.0.is_finite() && range.1.is_finite();
    if fits && ascending && whole && keys.iter().zip(sums).all(ordered) {
        Ok(())
    } else {
        Err(Fault::new(Section::Bins, "their keys, rows and rewards do not fit each other"))
    }
}

/// Refuses a shape that needs more numbers than there are, before any room is made for it.
pub(crate) fn expect_room(spec: &Spec, header: &CellHeader, numbers: usize) -> Result<()> {
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

    fn numbers(&mut self, count: usize) -> Result<Vec<f64>> {
        (0..count).map(|_| self.number()).collect()
    }

    /// Numbers of a section, none of which is infinite or none.
    fn finite(&mut self, section: Section, count: usize) -> std::result::Result<Vec<f64>, Refusal> {
        let numbers = self.numbers(count)?;
        all_finite(section, &numbers)?;
        Ok(numbers)
    }
}
