//! The bytes of some columns of a Parquet file, fetched in steps: all that the next rows need at once, several requests
//! in flight, and the step after it on its way.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::buf::Reader;
use bytes::{Buf, Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::{self, TryStreamExt};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use crate::error::RemoteError;
use crate::store::cloud::Pending;
use crate::store::object::Object;

/// Bytes of a step. Three steps are in memory: the one before, which a slower column may still read, the present one and
/// the next.
const STEP: u64 = 16 << 20;

/// Bytes between two ranges that are cheaper to fetch along than to ask for by another request.
const GAP: u64 = 1 << 14;

/// Bytes of one request at most, unless one range has more.
const REQUEST: u64 = 8 << 20;

/// Bytes given at least to a reader that does not say how many it needs.
const UNSAID: u64 = 1 << 13;

/// Requests in flight at once.
const REQUESTS: usize = 8;

/// Where the bytes of some columns are, row group by row group.
pub(crate) type ColumnRanges = Vec<Vec<Range<u64>>>;

/// The bytes of some columns.
#[derive(Debug)]
pub(crate) struct Columns {
    object: Arc<Object>,
    /// In the order of the file.
    parts: Vec<Part>,
    steps: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Clone)]
struct Part {
    range: Range<u64>,
    /// Where the column ends in its row group.
    end: u64,
    step: usize,
}

type Fetched = Vec<(usize, Bytes)>;

#[derive(Debug)]
struct Held {
    /// For each part.
    bytes: Vec<Option<Bytes>>,
    coming: Option<(usize, Pending<Result<Fetched, RemoteError>>)>,
}

impl Columns {
    pub(crate) fn new(object: Arc<Object>, ranges: ColumnRanges) -> Self {
        let (parts, steps) = cut(ranges);
        let held = Mutex::new(Held { bytes: vec![None; parts.len()], coming: None });
        Columns { object, parts, steps, held }
    }

    /// A footer needs no columns.
    pub(crate) fn none(object: Arc<Object>) -> Self {
        Columns::new(object, Vec::new())
    }

    /// Bytes from `start` on, `least` or more if they are there before `end`.
    pub(crate) fn bytes(self: &Arc<Self>, start: u64, least: u64, end: u64) -> Result<Bytes, RemoteError> {
        let within = |end: u64| least.min(end.saturating_sub(start));
        let first = self.parts.partition_point(|part| part.range.end <= start);
        let Some(part) = self.parts.get(first).filter(|part| part.range.contains(&start)) else {
            return self.outside(start..start + within(end.min(self.object.size())));
        };
        let least = within(end.min(part.end));
        let offset = usize::try_from(start - part.range.start).unwrap_or(usize::MAX);
        let bytes = self.part(first)?;
        let own = bytes.slice(offset.min(bytes.len())..);
        if own.len() as u64 >= least {
            return Ok(own);
        }
        // A page that is cut in two.
        let mut joined = BytesMut::from(own.as_ref());
        for (i, part) in self.parts.iter().enumerate().skip(first + 1) {
            if joined.len() as u64 >= least || part.range.start != start + joined.len() as u64 {
                break;
            }
            joined.extend_from_slice(&self.part(i)?);
        }
        Ok(joined.freeze())
    }

    /// Bytes that belong to none of the columns, such as a footer's.
    fn outside(&self, range: Range<u64>) -> Result<Bytes, RemoteError> {
        let last = self.object.last()?;
        match range.start.checked_sub(self.object.size() - last.len() as u64) {
            Some(from) => {
                let slice = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(last.len());
                Ok(last.slice(slice(from)..slice(from + (range.end - range.start))))
            }
            None => self.object.fetch(range),
        }
    }

    /// The bytes of a part, with all others of its step.
    fn part(self: &Arc<Self>, part: usize) -> Result<Bytes, RemoteError> {
        let mut held = self.held();
        if let Some(bytes) = &held.bytes[part] {
            return Ok(bytes.clone());
        }
        let step = self.parts[part].step;
        let pending = match held.coming.take() {
            Some((coming, pending)) if coming == step => pending,
            _ => self.begin(step),
        };
        for (i, bytes) in self.object.wait(pending)? {
            held.bytes[i] = Some(bytes);
        }
        for (i, part) in self.parts.iter().enumerate() {
            if part.step + 1 < step {
                held.bytes[i] = None;
            }
        }
        if step + 1 < self.steps {
            held.coming = Some((step + 1, self.begin(step + 1)));
        }
        Ok(held.bytes[part].clone().unwrap_or_default())
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, step: usize) -> Pending<Result<Fetched, RemoteError>> {
        let wanted = self.parts.iter().enumerate().filter(|(_, part)| part.step == step);
        let requests = together(wanted.map(|(i, part)| (i, part.range.clone())));
        let object = self.object.clone();
        self.object.cloud().begin(async move {
            let fetched: Vec<Fetched> = stream::iter(requests)
                .map(|request| {
                    let object = object.clone();
                    async move { request.fetch(&object).await }
                })
                .buffer_unordered(REQUESTS)
                .try_collect()
                .await?;
            Ok(fetched.into_iter().flatten().collect())
        })
    }
}

/// Cuts row groups into parts and steps: small row groups share a step, and large ones have several, each with the same
/// share of every column.
fn cut(ranges: ColumnRanges) -> (Vec<Part>, usize) {
    let (mut parts, mut step, mut filled) = (Vec::new(), 0, 0);
    for group in ranges {
        let bytes: u64 = group.iter().map(|range| range.end - range.start).sum();
        if filled > 0 && filled + bytes > STEP {
            (step, filled) = (step + 1, 0);
        }
        let count = bytes.div_ceil(STEP).max(1);
        for range in group {
            let length = (range.end - range.start).div_ceil(count).max(1);
            let own = (0..count).map(|i| {
                let place = |i: u64| (range.start + i * length).min(range.end);
                (i, place(i)..place(i + 1))
            });
            parts.extend(own.filter(|(_, range)| !range.is_empty()).map(|(i, part)| Part {
                range: part,
                end: range.end,
                step: step + i as usize,
            }));
        }
        filled += bytes;
        if count > 1 {
            (step, filled) = (step + count as usize, 0);
        }
    }
    parts.sort_by_key(|part| part.range.start);
    let steps = parts.iter().map(|part| part.step + 1).max().unwrap_or(0);
    (parts, steps)
}

/// Parts that one request fetches.
struct Request {
    range: Range<u64>,
    parts: Vec<(usize, Range<u64>)>,
}

impl Request {
    async fn fetch(self, object: &Object) -> Result<Fetched, RemoteError> {
        let bytes = object.get(self.range.clone()).await?;
        let place = |byte: u64| usize::try_from(byte - self.range.start).unwrap_or(usize::MAX);
        Ok(self.parts.iter().map(|(i, range)| (*i, bytes.slice(place(range.start)..place(range.end)))).collect())
    }
}

/// Requests for parts in the order of the file: neighbours go together.
fn together(parts: impl Iterator<Item = (usize, Range<u64>)>) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    for (i, range) in parts {
        match requests.last_mut() {
            Some(last) if range.start <= last.range.end + GAP && range.end <= last.range.start + REQUEST => {
                last.range.end = last.range.end.max(range.end);
                last.parts.push((i, range));
            }
            _ => requests.push(Request { range: range.clone(), parts: vec![(i, range)] }),
        }
    }
    requests
}

/// Where the bytes of some columns of some row groups are.
pub(crate) fn ranges(footer: &ParquetMetaData, columns: &[usize], groups: Range<usize>) -> ColumnRanges {
    let kinds = footer.file_metadata().schema_descr();
    let wanted = |leaf: &usize| columns.contains(&kinds.get_column_root_idx(*leaf));
    let leaves: Vec<usize> = (0..kinds.num_columns()).filter(wanted).collect();
    let range = |group: usize, leaf: usize| {
        let (start, length) = footer.row_group(group).column(leaf).byte_range();
        start..start + length
    };
    groups.map(|group| leaves.iter().map(|&leaf| range(group, leaf)).collect()).collect()
}

/// Columns as the general reader asks for them.
#[derive(Debug)]
pub(crate) struct Chunks(pub(crate) Arc<Columns>);

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.object.size()
    }
}

impl ChunkReader for Chunks {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(self.0.bytes(start, UNSAID, u64::MAX).map_err(refused)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let mut bytes = self.0.bytes(start, length as u64, u64::MAX).map_err(refused)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF(format!("{length} bytes were expected at byte {start}")));
        }
        bytes.truncate(length);
        Ok(bytes)
    }
}

pub(crate) fn refused(error: RemoteError) -> ParquetError {
    ParquetError::External(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_row_groups_share_a_step_and_large_ones_have_several() {
        let (parts, steps) = cut(vec![vec![4..10, 20..30], vec![40..50, 60..70]]);
        assert_eq!((parts.len(), steps), (4, 1));
        let large = 4 * STEP;
        let (parts, steps) =
            cut(vec![vec![4..10], vec![10..10 + large, 10 + large..20 + large], vec![90 + large..95 + large]]);
        assert_eq!(parts.iter().map(|part| part.range.end - part.range.start).sum::<u64>(), 6 + large + 10 + 5);
        assert!(parts.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        assert_eq!((parts[0].step, parts.last().map(|part| part.step)), (0, Some(6)));
        assert_eq!(steps, 7);
        for step in 1..6 {
            let own = parts.iter().filter(|part| part.step == step);
            assert!(own.map(|part| part.range.end - part.range.start).sum::<u64>() <= STEP + 2);
        }
    }

    #[test]
    fn neighbours_are_fetched_together() {
        let ranges = [0..10, 10..20, 30 + GAP..40 + GAP, 41 + GAP..REQUEST + GAP, 2 * REQUEST..5 * REQUEST];
        let requests = together(ranges.into_iter().enumerate());
        let found: Vec<Vec<usize>> =
            requests.iter().map(|request| request.parts.iter().map(|(i, _)| *i).collect()).collect();
        assert_eq!(found, [vec![0, 1], vec![2, 3], vec![4]]);
    }
}
