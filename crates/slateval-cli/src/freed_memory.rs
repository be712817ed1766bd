//! Memory that was freed stays with the process.
//!
//! Each part of a log needs some megabytes for its columns and sums, and frees them. The C library gives such memory back to
//! the system, which hands it out again page by page, each zeroed: that took 2 to 3 nanoseconds a row of a Parquet log.

/// Bytes of one piece of memory that are kept: more than any column or table of sums takes. Four times as many of them stay
/// free at most.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: libc::c_int = 32 << 20;

/// Variables by which users tell the C library what to keep: they know better.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SET_BY_USERS: [&str; 3] = ["GLIBC_TUNABLES", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"];

/// Asks the C library to keep freed memory for later. Called before there are other threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no safe function sets this; see above for what it brings")]
pub(crate) fn keep() {
    if SET_BY_USERS.iter().any(|name| std::env::var_os(name).is_some()) {
        return;
    }
    // SAFETY: `mallopt` takes two numbers and may be called at any time. A number that it does not like, it ignores.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, 4 * KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep() {}
