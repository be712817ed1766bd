//! Names in messages and results: of files, and of all that may be longer than anybody reads.

use std::borrow::Cow;
use std::path::Path;

use slateval::shown;

/// What summaries and results call a file: the path as text, without the secrets of an address
/// ([`slateval::redacted`]). Bytes that are no text are written as `\xff`, so that two names which differ in them stay two
/// names.
pub fn name_of(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut name = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        name.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| name.push_str(&format!("\\x{byte:02x}")));
    }
    match slateval::redacted(&name) {
        Cow::Owned(shown) => shown,
        Cow::Borrowed(_) => name,
    }
}

/// A file's name as messages show it: whatever is in the name, it stays on the line.
pub fn shown_path(path: &Path) -> String {
    shown(&name_of(path)).into_owned()
}

/// Text from a log as messages show it.
pub(crate) fn brief(text: &str) -> String {
    shown(&beginning(text)).into_owned()
}

/// Readers may quote all that they have read: the beginning says enough.
pub(crate) fn beginning(text: &str) -> String {
    const LONGEST: usize = 300;
    match text.char_indices().nth(LONGEST) {
        None => text.into(),
        // One character less, for the dots.
        Some(_) => text.chars().take(LONGEST - 1).chain(['…']).collect(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn names_that_are_no_text_stay_apart() {
        let name = |bytes: &[u8]| name_of(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(name("día/ü.csv".as_bytes()), "día/ü.csv");
        assert_eq!(name(b"a\xff.csv"), "a\\xff.csv");
        assert_ne!(name(b"a\xff"), name(b"a\xfe"));
    }
}
