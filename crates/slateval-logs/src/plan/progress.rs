//! How far reading has come.

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

/// Adds up what all threads have read.
pub(crate) struct Meter<'a> {
    rows: AtomicU64,
    bytes: AtomicU64,
    watch: &'a (dyn Fn(Progress) -> ControlFlow<()> + Sync),
}

impl<'a> Meter<'a> {
    /// Goes on from what was read before.
    pub(crate) fn new(before: Progress, watch: &'a (dyn Fn(Progress) -> ControlFlow<()> + Sync)) -> Self {
        Meter { rows: AtomicU64::new(before.rows), bytes: AtomicU64::new(before.bytes), watch }
    }

    /// Takes in some rows and bytes more; says whether to go on.
    pub(crate) fn add(&self, rows: u64, bytes: u64) -> ControlFlow<()> {
        let rows = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        (self.watch)(Progress { rows, bytes })
    }
}
