//! The memory that a reader asks for.

use std::sync::{Arc, Mutex, PoisonError};

use parquet::errors::{ParquetError, Result};

use crate::{Error, Memory, Use};

/// A reader's memory. It remembers a refusal: the `parquet` crate makes text of errors.
#[derive(Debug)]
pub(crate) struct Account {
    memory: Arc<dyn Memory>,
    refusal: Mutex<Option<Box<dyn std::error::Error + Send + Sync>>>,
}

impl Account {
    pub(crate) fn new(memory: Arc<dyn Memory>) -> Self {
        Account { memory, refusal: Mutex::default() }
    }

    pub(crate) fn hold(&self, leaf: usize, used: Use, bytes: u64) -> Result<()> {
        self.memory.hold(leaf, used, bytes).map_err(|error| {
            let text = error.to_string();
            *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            ParquetError::General(text)
        })
    }

    pub(crate) fn has_room_for(&self, bytes: u64) -> bool {
        self.memory.has_room_for(bytes)
    }

    /// Why memory was refused, if it was.
    pub(crate) fn refusal(&self) -> Option<Error> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).take().map(Error::Memory)
    }
}
