//! Whether standard output was closed when the program was started, as by `slateval show FILE >&-`.
//!
//! Before `main`, Rust opens `/dev/null` in place of a closed standard output: a result would be lost without a word. So this
//! looks at standard output earlier, where the system lets a program do so.

/// Whether what is printed would be lost.
pub(crate) fn is_lost() -> bool {
    #[cfg(target_os = "linux")]
    return linux::WAS_CLOSED.load(std::sync::atomic::Ordering::Relaxed);
    #[cfg(not(target_os = "linux"))]
    return false;
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    // SAFETY: the loader calls each function of this section once, before `main` and on the only thread. `look` needs nothing
    // that Rust sets up before `main`: it makes one system call and stores a flag.
    #[used]
    #[unsafe(link_section = ".init_array")]
    #[expect(unsafe_code, reason = "nothing else runs before standard output is replaced")]
    static LOOK: extern "C" fn() = look;

    #[expect(unsafe_code, reason = "no safe function asks about a file that may be closed")]
    extern "C" fn look() {
        // SAFETY: `F_GETFD` reads the flags of a file by its number, and fails where no such file is open.
        let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
        WAS_CLOSED.store(is_closed, Ordering::Relaxed);
    }
}
