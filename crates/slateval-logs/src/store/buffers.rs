//! Memory for fetched bytes, used again and again: fresh memory costs more than copying into it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// Bytes that may lie idle. More is given back to the system.
const IDLE: usize = 64 << 20;

/// Memory below this is left to the allocator, which keeps it by itself.
const LEAST: usize = 1 << 18;

/// Room is not more than this many times what was asked for: a few bytes may be kept long.
const ROOMY: usize = 2;

/// Memory that nobody uses at the moment.
#[derive(Debug, Default)]
pub(crate) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    /// Room for so many bytes, with nothing in it.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize) -> Buffer {
        let mut idle = self.idle();
        let sizes = bytes..=bytes.saturating_mul(ROOMY);
        let fitting = idle.iter().enumerate().filter(|(_, held)| sizes.contains(&held.capacity()));
        let smallest = fitting.min_by_key(|(_, held)| held.capacity()).map(|(i, _)| i);
        let held = smallest.map_or_else(|| Vec::with_capacity(bytes), |i| idle.swap_remove(i));
        Buffer { held, home: self.clone() }
    }

    fn give_back(&self, mut held: Vec<u8>) {
        held.clear();
        let mut idle = self.idle();
        let kept: usize = idle.iter().map(Vec::capacity).sum();
        if held.capacity() >= LEAST && kept + held.capacity() <= IDLE {
            idle.push(held);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory that goes back where it came from when nobody reads it any more.
#[derive(Debug)]
pub(crate) struct Buffer {
    held: Vec<u8>,
    home: Arc<Buffers>,
}

impl Buffer {
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }
    pub(crate) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.held
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.home.give_back(std::mem::take(&mut self.held));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_when_its_last_reader_is_gone() {
        let buffers = Arc::new(Buffers::default());
        let mut first = buffers.take(LEAST);
        first.extend(b"some bytes");
        let place = first.as_ref().as_ptr();
        let bytes = first.into_bytes();
        let slice = bytes.slice(5..);
        drop(bytes);
        let other = buffers.take(LEAST);
        assert_ne!(other.as_ref().as_ptr(), place);
        assert_eq!(slice, "bytes");
        drop(slice);
        assert_ne!(buffers.take(100).as_ref().as_ptr(), place, "a few bytes would keep much");
        let again = buffers.take(LEAST / 2);
        assert_eq!((again.held.len(), again.as_ref().as_ptr()), (0, place));
        drop(other);
    }

    #[test]
    fn little_lies_idle() {
        let buffers = Arc::new(Buffers::default());
        let held: Vec<Buffer> = (0..3).map(|_| buffers.take(IDLE / 2)).collect();
        drop(held);
        drop(buffers.take(LEAST - 1));
        let idle: usize = buffers.idle().iter().map(Vec::capacity).sum();
        assert!(idle <= IDLE && buffers.idle().len() == 2, "{idle} bytes lie idle");
    }
}
