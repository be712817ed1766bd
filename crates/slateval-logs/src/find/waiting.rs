//! Threads that wait for servers most of the time.

use crate::error::{Error, Result};
use crate::find::place::Place;
use crate::store::AT_ONCE;

/// Does something that looks at many files side by side, on as many threads as suit where they are.
pub(crate) fn side_by_side<'a, T: Send>(
    mut places: impl Iterator<Item = &'a Place>,
    work: impl FnOnce() -> T + Send,
) -> Result<T> {
    if !places.any(|place| matches!(place, Place::Object(_))) {
        return Ok(work());
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(AT_ONCE);
    Ok(threads.build().map_err(|e| Error::Threads(e.to_string()))?.install(work))
}
