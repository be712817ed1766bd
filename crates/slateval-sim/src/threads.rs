//! How many threads work.

use crate::error::{Error, Result};

/// Runs `work` where everything that is done in parallel is done on so many threads, all processors if `None`.
///
/// # Errors
/// [`Error::BadSetting`] if the threads cannot be started.
pub fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let refused = |e: rayon::ThreadPoolBuildError| Error::setting("threads", threads.unwrap_or(0), e.to_string());
    Ok(pool.map_err(refused)?.install(work))
}
