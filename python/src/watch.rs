//! Long work that Ctrl-C ends and a progress bar follows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often signals are looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// What a thread tells of its work, and is told.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) stop: AtomicBool,
    pub(crate) rows: AtomicU64,
    /// All rows, where they are known; 0 otherwise.
    pub(crate) total: AtomicU64,
}

/// Calls `progress(rows, total)`, if there is anybody to be told.
pub(crate) fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, rows: u64, total: u64) -> PyResult<()> {
    if let Some(progress) = progress {
        progress.call1(py, (rows, (total > 0).then_some(total)))?;
    }
    Ok(())
}

/// Does work on a thread of its own, with the interpreter released, while this one listens for signals. After one the
/// work is told to stop, and not waited for.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(Arc<Shared>) -> T + Send + 'static,
) -> PyResult<T> {
    let shared = Arc::new(Shared::default());
    let (sender, mut receiver) = channel();
    let own = shared.clone();
    let thread = std::thread::Builder::new().name("slateval".into());
    let spawned = thread.spawn(move || {
        // Nobody listens any more after Ctrl-C.
        let _ = sender.send(work(own));
    });
    spawned.map_err(|e| PyRuntimeError::new_err(format!("cannot start a thread: {e}")))?;
    loop {
        let received;
        (received, receiver) = py.detach(move || (receiver.recv_timeout(PATIENCE), receiver));
        let (rows, total) = (shared.rows.load(Ordering::Relaxed), shared.total.load(Ordering::Relaxed));
        let listened = match received {
            Ok(done) => return tell(py, progress, rows, total).map(|()| done),
            Err(RecvTimeoutError::Timeout) => py.check_signals().and_then(|()| tell(py, progress, rows, total)),
            Err(RecvTimeoutError::Disconnected) => {
                Err(PyRuntimeError::new_err("slateval broke off: a defect, please report it"))
            }
        };
        if let Err(error) = listened {
            shared.stop.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}
