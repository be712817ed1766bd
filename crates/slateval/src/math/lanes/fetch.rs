//! Memory that will be needed soon.

/// Asks for the cache line at an address to be brought nearer. Nothing is read, so that any address will do.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn fetch<T>(at: *const T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has the instruction, and it does nothing where there is no memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn fetch<T>(_at: *const T) {}
