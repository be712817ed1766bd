//! A log of one file, read as the command line reads it.

use std::io::Write;

use slateval::{Spec, Structure, Summary};
use slateval_logs::{Columns, Log, OnBad, OnUnknown, Result, Tolerance};

/// Memory for sums. A log that needs more is refused, which is no fault.
const MEMORY: u64 = 256 << 20;

/// Reads the bytes as a file with this ending. What can be read must come to the same when bad rows are skipped, and its
/// summary must lead back to itself.
pub fn read_log(bytes: &[u8], ending: &str) {
    let Ok(mut file) = tempfile::Builder::new().suffix(ending).tempfile() else { return };
    let Some(path) = file.path().to_str().map(str::to_owned) else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    let columns = columns(bytes);
    let strict = summarize(&path, &columns, OnBad::Fail);
    let skipping = summarize(&path, &columns, OnBad::Skip);
    let Ok(strict) = strict else { return };
    let written = strict.to_bytes();
    assert_eq!(skipping.map(|summary| summary.to_bytes()).ok().as_ref(), Some(&written), "a good row was skipped");
    assert_eq!(Summary::from_bytes(&written).map(|again| again.to_bytes()).ok(), Some(written));
}

fn summarize(path: &str, columns: &Columns, on_bad: OnBad) -> Result<Summary> {
    let tolerance =
        Tolerance { bad_rows: on_bad, bad_files: OnBad::Fail, unknown_files: OnUnknown::Warn, unended: true };
    let log = Log::open_tolerating(&[path.to_owned()], tolerance)?.with_memory(MEMORY);
    let spec = log.spec(columns, Spec::new(Structure::Auto, ["target"]))?;
    log.describe(columns, &spec)?;
    log.summarize(columns, &spec, Some(1), &|_| {})
}

/// The columns that the file seems to have: its text decides, so that a seed is a plain file.
fn columns(bytes: &[u8]) -> Columns {
    let begin = String::from_utf8_lossy(&bytes[..bytes.len().min(256)]);
    let has = |name: &str| begin.contains(name).then(|| name.to_owned());
    let mut columns = if has("slate_id").is_some() { Columns::long_default() } else { Columns::wide_default() };
    columns.by = has("device");
    columns.cluster = has("user");
    columns
}
