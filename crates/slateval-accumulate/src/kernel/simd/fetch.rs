//! Memory that will be needed soon.

/// Bytes of a cache line, on most machines.
const LINE: usize = 64;

/// Asks for the cache lines of some items to be brought nearer, from one on. Nothing is read: there may be fewer items.
#[inline(always)]
pub(crate) fn fetch<T>(items: &[T], from: usize, count: usize) {
    let first = items.as_ptr().wrapping_add(from).cast::<u8>();
    for byte in (0..count * size_of::<T>()).step_by(LINE) {
        fetch_line(first.wrapping_add(byte));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(unsafe_code, reason = "the instruction is wanted by name: see docs/performance.md for what it brings")]
fn fetch_line(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has the instruction, and it does nothing where there is no memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn fetch_line(_at: *const u8) {}
