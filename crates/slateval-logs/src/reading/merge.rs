//! Parts done in any order, merged in the order of the plan.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use slateval::Summary;

use crate::error::{Error, Result};
use crate::reading::checkpoint::{Keeper, Merged};
use crate::rows::Done;

/// Merges the parts of a plan while workers produce them. A worker that is too far ahead of the merging waits, so that
/// only a few parts are in memory, however long the plan.
pub(crate) struct Merge<'a> {
    state: Mutex<State<'a>>,
    moved: Condvar,
    /// How far the tasks begun may be ahead of the tasks merged.
    ahead: usize,
}

struct State<'a> {
    begun: usize,
    waiting: BTreeMap<usize, Result<Done>>,
    /// What is merged: a beginning of the plan.
    done: Merged,
    /// Keeps what is merged, from time to time.
    keeper: Option<Keeper<'a>>,
    failed: Option<Error>,
}

impl<'a> Merge<'a> {
    /// Goes on from what is done already.
    pub(crate) fn new(done: Merged, keeper: Option<Keeper<'a>>, ahead: usize) -> Self {
        let state = State { begun: done.units, waiting: BTreeMap::new(), done, keeper, failed: None };
        Merge { state: Mutex::new(state), moved: Condvar::new(), ahead: ahead.max(1) }
    }

    /// Takes tasks until there are none left or one has failed. Meant to be called by every worker.
    pub(crate) fn work(&self, tasks: usize, part: &(dyn Fn(usize) -> Result<Done> + Sync)) {
        while let Some(task) = self.begin(tasks) {
            self.run(task, || part(task));
        }
    }

    /// Does a task, and merges what comes of it when its turn comes.
    pub(crate) fn run(&self, task: usize, part: impl FnOnce() -> Result<Done>) {
        let panic = match catch_unwind(AssertUnwindSafe(part)) {
            Ok(part) => {
                self.lock().take(task, part);
                None
            }
            Err(panic) => {
                self.lock().failed = Some(Error::Threads("one of them panicked".into()));
                Some(panic)
            }
        };
        self.moved.notify_all();
        // A defect of ours; but those who wait for this part must not wait for ever.
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Waits until a task may begin that was handed out elsewhere; false if an earlier one has failed.
    pub(crate) fn admit(&self, task: usize) -> bool {
        let too_far = |state: &mut State| state.failed.is_none() && task >= state.done.units + self.ahead;
        let state = self.moved.wait_while(self.lock(), too_far).unwrap_or_else(PoisonError::into_inner);
        state.failed.is_none()
    }

    /// Ends it all, with this error unless there is one already.
    pub(crate) fn fail(&self, error: Error) {
        self.lock().failed.get_or_insert(error);
        self.moved.notify_all();
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.lock().failed.is_some()
    }

    fn begin(&self, tasks: usize) -> Option<usize> {
        let too_far = |state: &mut State| {
            state.failed.is_none() && state.begun < tasks && state.begun >= state.done.units + self.ahead
        };
        let mut state = self.moved.wait_while(self.lock(), too_far).unwrap_or_else(PoisonError::into_inner);
        if state.failed.is_some() || state.begun >= tasks {
            return None;
        }
        state.begun += 1;
        Some(state.begun - 1)
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn finish(self) -> Result<Summary> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(failed) = state.failed {
            return Err(failed);
        }
        // What comes after the reading may fail too.
        state.keeper.map_or(Ok(()), |mut keeper| keeper.keep(&state.done))?;
        Ok(state.done.total)
    }
}

impl State<'_> {
    /// Takes a part, and merges it and those that waited for it. The error kept is that of the earliest task, for no
    /// later part is looked at before it.
    fn take(&mut self, task: usize, part: Result<Done>) {
        self.waiting.insert(task, part);
        while self.failed.is_none()
            && let Some(part) = self.waiting.remove(&self.done.units)
        {
            if let Err(error) = part.and_then(|part| self.add(part)) {
                self.failed = Some(error);
            }
        }
    }

    fn add(&mut self, part: Done) -> Result<()> {
        self.done.add(part)?;
        self.keeper.as_mut().map_or(Ok(()), |keeper| keeper.keep_if_due(&self.done))
    }
}

impl Merged {
    /// Merges the next part of the plan.
    fn add(&mut self, part: Done) -> Result<()> {
        if let Some(base) = part.base {
            self.base.get_or_insert_with(|| base.clone()).check(&base)?;
        }
        let summary = match self.task.take() {
            Some(mut task) => {
                task.merge(&part.summary)?;
                task
            }
            None => part.summary,
        };
        if part.more {
            self.task = Some(summary);
        } else {
            // That no file is in the log twice was checked before it was read.
            self.total.merge_duplicates(&Done::complete(summary, part.input))?;
        }
        self.units += 1;
        Ok(())
    }
}
