//! How far reading has come.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much of a log has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Rows read so far.
    pub rows: u64,
    /// Bytes of the files read so far; [`Log::bytes`](crate::Log::bytes) at the end.
    pub bytes: u64,
}

/// The part of a task that is done.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// So many bytes.
    Bytes(u64),
    /// So many rows of so many.
    Rows(u64, u64),
    Whole,
}

/// Adds up what all threads have read.
pub(crate) struct Meter<'a> {
    rows: AtomicU64,
    bytes: AtomicU64,
    watch: &'a (dyn Fn(Progress) -> ControlFlow<()> + Sync),
}

/// One task's part in it.
pub(crate) struct TaskMeter<'a> {
    meter: &'a Meter<'a>,
    /// The bytes the task stands for.
    share: u64,
    done: Cell<u64>,
}

impl<'a> Meter<'a> {
    /// Goes on from what was read before.
    pub(crate) fn new(before: Progress, watch: &'a (dyn Fn(Progress) -> ControlFlow<()> + Sync)) -> Self {
        Meter { rows: AtomicU64::new(before.rows), bytes: AtomicU64::new(before.bytes), watch }
    }

    pub(crate) fn task(&'a self, share: u64) -> TaskMeter<'a> {
        TaskMeter { meter: self, share, done: Cell::new(0) }
    }
}

impl TaskMeter<'_> {
    pub(crate) fn add(&self, rows: u64, part: Part) -> ControlFlow<()> {
        let done = match part {
            Part::Bytes(bytes) => bytes.min(self.share),
            Part::Rows(done, all) => (u128::from(self.share) * u128::from(done) / u128::from(all.max(1))) as u64,
            Part::Whole => self.share,
        };
        let more = done.saturating_sub(self.done.get());
        self.done.set(self.done.get() + more);
        let rows = self.meter.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        let bytes = self.meter.bytes.fetch_add(more, Ordering::Relaxed) + more;
        (self.meter.watch)(Progress { rows, bytes })
    }
}
