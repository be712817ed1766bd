//! A short queue between one thread that makes work and others that do it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A queue that holds so many items at most.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    moved: Condvar,
    most: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    closed: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(most: usize) -> Self {
        let state = State { items: VecDeque::new(), closed: false };
        Queue { state: Mutex::new(state), moved: Condvar::new(), most: most.max(1) }
    }

    /// Puts an item in, or gives it back if there was no room for so long.
    pub(crate) fn put(&self, item: T, patience: Duration) -> Option<T> {
        let full = |state: &mut State<T>| state.items.len() >= self.most;
        let waited = self.moved.wait_timeout_while(self.lock(), patience, full);
        let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            return Some(item);
        }
        state.items.push_back(item);
        self.moved.notify_all();
        None
    }

    /// Waits for an item; none once the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<T> {
        let nothing = |state: &mut State<T>| state.items.is_empty() && !state.closed;
        let mut state = self.moved.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
        let item = state.items.pop_front();
        self.moved.notify_all();
        item
    }

    /// Says that no more will come.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.moved.notify_all();
    }

    /// Throws away what has not been taken.
    pub(crate) fn clear(&self) {
        self.lock().items.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
