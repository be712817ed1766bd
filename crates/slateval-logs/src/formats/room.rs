//! How much of a log may be in memory at a time while it is read.
//!
//! A file of some kilobytes may claim gigabytes: equal values pack well. Readers ask here before they make room for what a
//! page or a message claims.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, megabytes};

/// The memory that all readers of a log share.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    /// Bytes that one reader may hold.
    most: u64,
    /// Bytes that every reader may hold whatever the others do.
    share: u64,
    turn: Arc<Turn>,
}

/// The right to hold more than a share. One reader has it at a time, so that the number of threads never decides whether a
/// file can be read.
#[derive(Debug, Default)]
struct Turn {
    is_taken: Mutex<bool>,
    given_back: Condvar,
}

impl Turn {
    fn take(&self) {
        let mut is_taken = self.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *is_taken {
            is_taken = self.given_back.wait(is_taken).unwrap_or_else(PoisonError::into_inner);
        }
        *is_taken = true;
    }

    fn give_back(&self) {
        *self.is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.given_back.notify_one();
    }
}

impl Room {
    /// Readers on `threads` threads hold at most `bytes` bytes together.
    pub(crate) fn new(bytes: u64, threads: usize) -> Self {
        let most = bytes / 2;
        Room { most, share: most / threads.max(1) as u64, turn: Arc::default() }
    }

    /// Bytes that one reader may hold.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// What one reader holds: nothing so far.
    pub(crate) fn reader(&self) -> Arc<Held> {
        Arc::new(Held { room: self.clone(), state: Mutex::default() })
    }
}

/// What is held of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holding {
    /// The page or message being read, as it is in the file and unpacked.
    Page,
    Dictionary,
    /// The values of a batch.
    Values,
}

/// The memory that one reader holds.
#[derive(Debug)]
pub(crate) struct Held {
    room: Room,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bytes: BTreeMap<(usize, Holding), u64>,
    has_turn: bool,
    refused: Option<Excess>,
}

/// More than a reader may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{needed} bytes of memory are needed, and {most} are allowed")]
pub(crate) struct Excess {
    /// The column that needs most of it.
    column: usize,
    needed: u64,
    most: u64,
}

impl Held {
    /// Holds so many bytes of a column in place of those before. Waits for its turn if they are more than a share; refuses
    /// if they are more than there may be.
    pub(crate) fn hold(&self, column: usize, what: Holding, bytes: u64) -> Result<(), Excess> {
        let mut state = self.state();
        state.bytes.insert((column, what), bytes);
        let needed = state.bytes.values().fold(0_u64, |sum, &bytes| sum.saturating_add(bytes));
        if needed > self.room.most {
            let excess = Excess { column: state.largest(), needed, most: self.room.most };
            return Err(*state.refused.get_or_insert(excess));
        }
        if needed > self.room.share && !state.has_turn {
            state.has_turn = true;
            self.room.turn.take();
        }
        Ok(())
    }

    /// Whether so many bytes more are within a share.
    pub(crate) fn has_share_for(&self, bytes: u64) -> bool {
        let held = self.state().bytes.values().fold(bytes, |sum, &bytes| sum.saturating_add(bytes));
        held <= self.room.share
    }

    /// The error for what was refused, if something was. Readers of formats take it for damage.
    pub(crate) fn failure(&self, path: &Path, column: impl FnOnce(usize) -> String) -> Option<Error> {
        let Excess { column: index, needed, most } = self.state().refused?;
        let (needed, limit) = (megabytes(needed), most / 1_000_000);
        Some(Error::TooLargeToRead { path: path.into(), column: column(index), needed, limit })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn largest(&self) -> usize {
        let mut columns: BTreeMap<usize, u64> = BTreeMap::new();
        for ((column, _), bytes) in &self.bytes {
            let sum = columns.entry(*column).or_default();
            *sum = sum.saturating_add(*bytes);
        }
        columns.into_iter().max_by_key(|(_, bytes)| *bytes).map_or(0, |(column, _)| column)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.state().has_turn {
            self.room.turn.give_back();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_more_than_may_be_held_is_refused_by_its_largest_column() {
        let held = Room::new(2_000_000_000, 4).reader();
        held.hold(3, Holding::Page, 600_000_000).unwrap();
        held.hold(1, Holding::Page, 300_000_000).unwrap();
        held.hold(1, Holding::Page, 400_000_000).unwrap();
        assert!(held.failure(Path::new("a"), |_| String::new()).is_none());
        assert_eq!(held.hold(2, Holding::Values, 1).unwrap_err().column, 3);
        let error = held.failure(Path::new("a.parquet"), |column| format!("c{column}")).unwrap().to_string();
        assert!(error.contains("a.parquet: column `c3`") && error.contains("1001 MB"), "{error}");
    }

    #[test]
    fn readers_of_much_take_turns() {
        let room = Room::new(2000, 2);
        let (first, small) = (room.reader(), room.reader());
        first.hold(0, Holding::Page, 900).unwrap();
        small.hold(0, Holding::Page, 500).unwrap();
        let second = room.reader();
        let waiting = std::thread::spawn(move || second.hold(0, Holding::Page, 900).unwrap());
        std::thread::sleep(Duration::from_millis(20));
        assert!(!waiting.is_finished());
        drop(first);
        waiting.join().unwrap();
    }
}
