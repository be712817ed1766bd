//! Parts done in any order, merged in the order of the plan.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use slateval::Summary;

use crate::error::{Error, Result};
use crate::plan::checkpoint::Keeper;
use crate::plan::gather::Gather;
use crate::slates::{Budget, Done};

/// Merges the parts of a plan while workers produce them. A worker that is too far ahead of the merging waits, so that
/// only a few parts are in memory, however long the plan.
pub(crate) struct Merge<'a> {
    state: Mutex<State<'a>>,
    moved: Condvar,
    /// How far the tasks begun may be ahead of the tasks merged, if there is memory for it.
    ahead: usize,
    budget: Budget,
}

/// How soon those who wait look again whether there is memory: how much a part takes is known once it is read. Its first rows
/// tell, which is soon for a file on this machine; so they look often at first, and later less and less.
const LOOK_FIRST: Duration = Duration::from_micros(100);
const LOOK_LATER: Duration = Duration::from_millis(5);

struct State<'a> {
    workers: usize,
    begun: usize,
    waiting: BTreeMap<usize, Result<Done>>,
    /// What is merged: a beginning of the plan.
    gather: Gather,
    /// Keeps what is merged, from time to time.
    keeper: Option<Keeper<'a>>,
    failed: Option<Error>,
}

impl<'a> Merge<'a> {
    /// Goes on from what is gathered already.
    pub(crate) fn new(gather: Gather, keeper: Option<Keeper<'a>>, ahead: usize, budget: Budget) -> Self {
        let begun = gather.done().units;
        let state = State { workers: 0, begun, waiting: BTreeMap::new(), gather, keeper, failed: None };
        Merge { state: Mutex::new(state), moved: Condvar::new(), ahead: ahead.max(1), budget }
    }

    /// Takes tasks until there are none left or one has failed. Meant to be called by every worker.
    pub(crate) fn work(&self, tasks: usize, part: &(dyn Fn(usize) -> Result<Done> + Sync)) {
        self.lock().workers += 1;
        let mut is_used = false;
        while let Some(task) = self.begin(tasks, is_used) {
            self.run(task, || part(task));
            is_used = true;
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
        let state = self.wait_while(|state| task >= state.merged() + self.ahead());
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

    /// The next task, for a worker that has done one before, or not. One that has not goes if there is memory for fewer
    /// workers: what it frees would stay with it, and others could not use it.
    fn begin(&self, tasks: usize, is_used: bool) -> Option<usize> {
        let mut state = self.wait_while(|state| state.begun < tasks && state.begun >= state.merged() + self.ahead());
        if !is_used && self.budget.is_known() && state.workers > self.ahead() {
            state.workers -= 1;
            return None;
        }
        if state.failed.is_some() || state.begun >= tasks {
            return None;
        }
        state.begun += 1;
        Some(state.begun - 1)
    }

    /// How many tasks may be begun and not merged at this moment.
    fn ahead(&self) -> usize {
        self.budget.parts(self.ahead)
    }

    /// Waits as long as nothing has failed and something holds.
    fn wait_while(&self, holds: impl Fn(&State<'a>) -> bool) -> MutexGuard<'_, State<'a>> {
        let mut state = self.lock();
        let mut patience = LOOK_FIRST;
        while state.failed.is_none() && holds(&state) {
            let waited = self.moved.wait_timeout(state, patience);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            patience = LOOK_LATER.min(patience * 2);
        }
        state
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
        if let Some(mut keeper) = state.keeper.filter(|_| state.gather.can_be_resumed()) {
            keeper.keep(state.gather.done())?;
        }
        state.gather.finish()
    }
}

impl State<'_> {
    /// Takes a part, and merges it and those that waited for it. The error kept is that of the earliest task, for no
    /// later part is looked at before it.
    fn take(&mut self, task: usize, part: Result<Done>) {
        self.waiting.insert(task, part);
        while self.failed.is_none()
            && let Some(part) = self.waiting.remove(&self.merged())
        {
            if let Err(error) = self.gather.add(part).and_then(|()| self.keep_if_due()) {
                self.failed = Some(error);
            }
        }
    }

    /// How many parts are merged.
    fn merged(&self) -> usize {
        self.gather.done().units
    }

    fn keep_if_due(&mut self) -> Result<()> {
        match &mut self.keeper {
            Some(keeper) if self.gather.can_be_resumed() => keeper.keep_if_due(self.gather.done()),
            _ => Ok(()),
        }
    }
}
