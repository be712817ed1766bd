//! The parts of a log, taken in one after the other in the order of the plan.

use std::collections::VecDeque;

use slateval::{SkipReason, Skipped, SkippedExample, Summary};

use crate::error::{Error, OnBad, Result, Tolerance, brief};
use crate::rows::{Base, Done, Faults};

/// Parts that are looked at behind the first one with a bad row, so that a log is refused for several rows at once.
const MORE_PARTS: usize = 16;

/// What is to come.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The file of each part.
    pub(crate) parts: Vec<PlannedPart>,
    pub(crate) files: Vec<PlannedFile>,
    /// Files that could not be opened, each with the number of files that stand before it.
    pub(crate) unopened: VecDeque<(usize, SkippedExample)>,
}

/// A part of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedPart {
    /// Its place among the files.
    pub(crate) file: usize,
    /// Whether the file's rows reach the total before all of its parts are read, this being the first.
    pub(crate) begins_tasks: bool,
}

/// A file that was opened.
#[derive(Debug, Clone)]
pub(crate) struct PlannedFile {
    pub(crate) name: String,
    /// Its rows, where they are known; else 0.
    pub(crate) rows: u64,
}

/// Adds up parts.
#[derive(Debug)]
pub(crate) struct Gather {
    tolerance: Tolerance,
    plan: Plan,
    total: Summary,
    /// The parts so far of a task that has more.
    task: Option<Summary>,
    /// Rows of these parts.
    task_rows: u64,
    /// That of the first file that has one.
    base: Option<Base>,
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
    pub(crate) fn new(total: Summary, tolerance: Tolerance, plan: Plan) -> Self {
        Gather {
            tolerance,
            plan,
            total,
            task: None,
            task_rows: 0,
            base: None,
            before: None,
            given_up: None,
            faults: Faults::default(),
            faulty_parts: 0,
        }
    }

    /// Takes in the part of this number, which follows those before it.
    pub(crate) fn add(&mut self, part: usize, read: Result<Done>) -> Result<()> {
        let planned = self.plan.parts.get(part).copied();
        if let Some(PlannedPart { file, begins_tasks }) = planned {
            if self.given_up == Some(file) {
                return Ok(());
            }
            self.tell_unopened(file);
            if begins_tasks && self.tolerance.bad_files == OnBad::Skip {
                self.before = Some((self.total.clone(), self.base.clone()));
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
            (self.total, self.base) = (total, base);
        }
        (self.task, self.task_rows) = (None, 0);
        self.given_up = Some(file);
        if let Some(PlannedFile { name, rows }) = self.plan.files.get(file).cloned() {
            skip_file(&mut self.total, unusable(name, error), rows);
        }
    }

    fn tell_unopened(&mut self, before: usize) {
        while self.plan.unopened.front().is_some_and(|(place, _)| *place <= before) {
            if let Some((_, example)) = self.plan.unopened.pop_front() {
                skip_file(&mut self.total, example, 0);
            }
        }
    }

    fn add_done(&mut self, mut part: Done) -> Result<()> {
        // Rows of a piece count from its first.
        part.faults.move_rows(self.task_rows);
        self.task_rows = if part.more { self.task_rows + part.rows } else { 0 };
        if self.tolerance.bad_rows == OnBad::Fail {
            self.refuse(std::mem::take(&mut part.faults))?;
        }
        if let Some(base) = part.base {
            self.base.get_or_insert_with(|| base.clone()).check(&base)?;
        }
        let mut summary = match self.task.take() {
            Some(mut task) => {
                task.merge(&part.summary)?;
                task
            }
            None => part.summary,
        };
        part.faults.tell(&mut summary);
        if part.more {
            self.task = Some(summary);
            return Ok(());
        }
        let summary = Done::complete(summary, part.input);
        // That no file is in the log twice was checked before it was read.
        Ok(self.total.merge_duplicates(&summary)?)
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
            None => Ok(self.total),
        }
    }
}

/// A file that cannot be used, and why.
pub(crate) fn unusable(file: String, error: &Error) -> SkippedExample {
    SkippedExample { file, row: None, column: None, value: Some(brief(&error.to_string())) }
}

fn skip_file(summary: &mut Summary, example: SkippedExample, rows: u64) {
    let mut skipped = Skipped::new(SkipReason::UnreadableFile, rows);
    skipped.files = 1;
    skipped.examples = vec![example];
    summary.skip(skipped);
}
