//! Memory that several objects share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that may be held together.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) most: u64,
    held: AtomicU64,
}

/// Bytes that are held, and given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    memory: Arc<Memory>,
    bytes: u64,
}

impl Memory {
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Arc::new(Memory { most, held: AtomicU64::new(0) })
    }

    /// So many bytes more, if there is room for them.
    pub(crate) fn take(self: &Arc<Self>, bytes: u64) -> Option<Taken> {
        let room = |held: u64| held.checked_add(bytes).filter(|&held| held <= self.most);
        self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok()?;
        Some(Taken { memory: self.clone(), bytes })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.memory.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
