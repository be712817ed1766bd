//! The parts of a log, taken in one after the other in the order of the plan.

use std::collections::VecDeque;

use slateval::{SkipReason, Skipped, SkippedExample, Summary};

use crate::error::{Error, OnBad, Result, Tolerance, beginning};
use crate::plan::checkpoint::Merged;
use crate::slates::{Base, Done, Faults};

/// Parts that are looked at behind the first one with a bad row, so that a log is refused for several rows at once.
const MORE_PARTS: usize = 16;

/// What is to come.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The file of each part.
    pub(crate) parts: Vec<PlannedPart>,
    /// Of each file that was opened: its name, and its rows where they are known, else 0.
    pub(crate) files: Vec<(String, u64)>,
    /// Files that could not be opened, each with the number of files that stand before it.
    pub(crate) unopened: VecDeque<(usize, SkippedExample)>,
}

/// A part of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedPart {
    /// Its place among the files.
    pub(crate) file: usize,
    /// Whether the file's rows reach the total before all of its parts are read.
    pub(crate) by_tasks: bool,
}

/// Adds up parts.
#[derive(Debug)]
pub(crate) struct Gather {
    tolerance: Tolerance,
    plan: Plan,
    done: Merged,
    /// What there was before the file that is being read, to go back to if it turns out to be bad.
    before: Option<(Summary, Option<Base>)>,
    /// The file that was given up last.
    given_up: Option<usize>,
    /// Bad rows that the log is refused for.
    faults: Faults,
    /// Parts with and behind those rows.
    faulty_parts: usize,
}

impl Gather {
    /// Goes on from what is done already.
    pub(crate) fn new(done: Merged, tolerance: Tolerance, mut plan: Plan) -> Self {
        // An earlier reading has told of files that could not be opened.
        if let Some(last) = done.units.checked_sub(1).and_then(|last| plan.parts.get(last)) {
            plan.unopened.retain(|(place, _)| *place > last.file);
        }
        Gather { tolerance, plan, done, before: None, given_up: None, faults: Faults::default(), faulty_parts: 0 }
    }

    /// The sums so far.
    pub(crate) fn done(&self) -> &Merged {
        &self.done
    }

    /// Whether a reading can go on from the sums alone: no bad row waits to be told, and where a bad file is left out as
    /// a whole, none has been begun.
    pub(crate) fn can_be_resumed(&self) -> bool {
        let file = |part: usize| self.plan.parts.get(part).map(|part| part.file);
        let between_files = self.done.units.checked_sub(1).and_then(file) != file(self.done.units);
        self.faults.is_empty() && (self.tolerance.bad_files == OnBad::Fail || between_files)
    }

    /// Takes in the next part.
    pub(crate) fn add(&mut self, read: Result<Done>) -> Result<()> {
        self.add_next(read)?;
        self.done.units += 1;
        Ok(())
    }

    fn add_next(&mut self, read: Result<Done>) -> Result<()> {
        let planned = self.plan.parts.get(self.done.units).copied();
        let before = self.done.units.checked_sub(1).and_then(|before| self.plan.parts.get(before)).copied();
        if let Some(PlannedPart { file, by_tasks }) = planned {
            if self.given_up == Some(file) {
                return Ok(());
            }
            self.tell_unopened(file);
            if before.is_none_or(|before| before.file != file) {
                // What was there before another file is no place to go back to.
                let kept = by_tasks && self.tolerance.bad_files == OnBad::Skip;
                self.before = kept.then(|| (self.done.total.clone(), self.done.base.clone()));
            }
        }
        match (read.and_then(|done| self.add_done(done)), planned) {
            (Err(error), Some(part)) if self.tolerance.bad_files == OnBad::Skip && error.is_bad_file() => {
                self.give_up(part.file, &error);
                Ok(())
            }
            (added, _) => added,
        }
    }

    /// Leaves out a file, with what came of its parts so far.
    fn give_up(&mut self, file: usize, error: &Error) {
        if let Some((total, base)) = self.before.take() {
            (self.done.total, self.done.base) = (total, base);
        }
        (self.done.task, self.done.task_rows) = (None, 0);
        self.given_up = Some(file);
        if let Some((name, rows)) = self.plan.files.get(file).cloned() {
            skip_file(&mut self.done.total, unusable(name, error), rows);
        }
    }

    fn tell_unopened(&mut self, before: usize) {
        while self.plan.unopened.front().is_some_and(|(place, _)| *place <= before) {
            if let Some((_, example)) = self.plan.unopened.pop_front() {
                skip_file(&mut self.done.total, example, 0);
            }
        }
    }

    fn add_done(&mut self, mut part: Done) -> Result<()> {
        // Rows of a piece count from its first.
        part.faults.move_rows(self.done.task_rows);
        self.done.task_rows = if part.more { self.done.task_rows + part.rows } else { 0 };
        if self.tolerance.bad_rows == OnBad::Fail {
            self.refuse(std::mem::take(&mut part.faults))?;
        }
        if let (Some(input), Some(base)) = (&mut part.input, &part.base) {
            input.first_position = Some(base.first);
        }
        if let Some(base) = part.base {
            self.done.base.get_or_insert_with(|| base.clone()).check(&base)?;
        }
        let mut summary = match self.done.task.take() {
            Some(mut task) => {
                task.merge(&part.summary)?;
                task
            }
            None => part.summary,
        };
        part.faults.tell(&mut summary);
        if part.more {
            self.done.task = Some(summary);
            return Ok(());
        }
        let summary = Done::complete(summary, part.input);
        // That no file is in the log twice was checked before it was read.
        Ok(self.done.total.absorb(summary)?)
    }

    /// Refuses the log for its bad rows, once enough of them or enough parts have been seen.
    fn refuse(&mut self, faults: Faults) -> Result<()> {
        if self.faults.is_empty() && faults.is_empty() {
            return Ok(());
        }
        self.faults.append(faults);
        self.faulty_parts += 1;
        if self.faults.are_enough() || self.faulty_parts > MORE_PARTS {
            return std::mem::take(&mut self.faults).into_error(true).map_or(Ok(()), Err);
        }
        Ok(())
    }

    /// The summary of all parts.
    pub(crate) fn finish(mut self) -> Result<Summary> {
        self.tell_unopened(usize::MAX);
        match self.faults.into_error(false) {
            Some(error) => Err(error),
            None => Ok(self.done.total),
        }
    }
}

/// A file that cannot be used, and why.
pub(crate) fn unusable(file: String, error: &Error) -> SkippedExample {
    SkippedExample { file, row: None, column: None, value: Some(beginning(&error.to_string())) }
}

fn skip_file(summary: &mut Summary, example: SkippedExample, rows: u64) {
    let mut skipped = Skipped::new(SkipReason::UnreadableFile, rows);
    skipped.files = 1;
    skipped.examples = vec![example];
    summary.skip(skipped);
}
