//! Panics of other people's readers on damaged files.
//!
//! Such a panic is an error of the file, told as one. The message that a panic prints by itself would tell of a fault in this
//! program. A panic of this crate's own code is such a fault, and is printed.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside [`caught`].
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// The file names of this crate begin like this.
const OWN: &str = file!().split_at(file!().len() - "formats/upstream_panics.rs".len()).0;

/// The folder of the decoder, which is ours too.
const DECODER: &str = "parquet-floats";

/// Runs a reader; `None` if it panics.
pub(crate) fn caught<T>(read: impl FnOnce() -> T) -> Option<T> {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // The process may be another program's, such as Python's: its hook hears of everything else.
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !is_upstream(panic) {
                before(panic);
            }
        }));
    });
    let outer = READS.replace(true);
    let read = catch_unwind(AssertUnwindSafe(read));
    READS.set(outer);
    read.ok()
}

fn is_upstream(panic: &PanicHookInfo<'_>) -> bool {
    let is_own = |file: &str| file.starts_with(OWN) || file.contains(DECODER);
    READS.get() && panic.location().is_none_or(|place| !is_own(place.file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_files_are_known() {
        assert!(file!().starts_with(OWN) && OWN.ends_with("src/"), "{OWN}");
        assert_eq!(caught(|| 5), Some(5));
        assert!(!READS.get());
    }
}
