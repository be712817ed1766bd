//! The rows of a file, or of a part of it, added up batch by batch: what the two formats of rows have in common.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use slateval::{Accumulator, Block, Spec};

use crate::columns::Layout;
use crate::error::{Error, Result, RowFault};
use crate::slates::budget::Budget;
use crate::slates::done::Done;
use crate::slates::faults::Faults;
use crate::slates::long::LongSlates;
use crate::slates::numbers::At;
use crate::slates::wide;
use crate::survey::Survey;

/// Adds up batches of rows.
#[derive(Debug)]
pub(crate) struct Rows {
    to: Intake,
    /// The slates of a log with one row per slot.
    long: Option<LongSlates>,
    /// Rows seen, bad ones included.
    seen: u64,
}

/// What slates are added to, and where they come from.
#[derive(Debug)]
pub(super) struct Intake {
    pub(super) file: Arc<Path>,
    pub(super) layout: Arc<Layout>,
    /// Whether cells are text (CSV).
    pub(super) text: bool,
    pub(super) block: Block,
    pub(super) faults: Faults,
    pub(super) survey: Arc<Survey>,
    sums: Accumulator,
    budget: Budget,
    /// Slots of the longest slate, and segments, that there is memory for.
    checked: (usize, usize),
}

impl Rows {
    pub(crate) fn new(
        file: PathBuf,
        layout: Arc<Layout>,
        text: bool,
        spec: &Spec,
        budget: Budget,
        survey: Arc<Survey>,
    ) -> Result<Self> {
        if let Some(slots) = layout.slot_columns() {
            budget.foresee(spec, slots);
        }
        let long = layout.keys.clone().map(LongSlates::new);
        let (file, block, sums) = (file.into(), Block::new(spec), Accumulator::new(spec.clone())?);
        let (faults, checked) = (Faults::default(), (0, 0));
        let to = Intake { file, layout, text, block, faults, survey, sums, budget, checked };
        Ok(Rows { to, long, seen: 0 })
    }

    /// Adds a batch that stands behind `first_row` rows of its file, without the rows that its reader could not read
    /// and without those that no slate can be. Both are kept as faults; in long format they spoil their slates.
    pub(crate) fn add(&mut self, batch: &RecordBatch, first_row: u64, unread: Vec<Error>) -> Result<()> {
        self.seen += batch.num_rows() as u64;
        let mut start = 0;
        for error in unread {
            let row = error.row().map_or(0, |row| row.saturating_sub(first_row + 1) as usize);
            let row = row.clamp(start, batch.num_rows());
            self.add_range(batch, start..row, first_row)?;
            start = (row + 1).min(batch.num_rows());
            self.leave_out(batch, row, error)?;
        }
        self.add_range(batch, start..batch.num_rows(), first_row)
    }

    /// Adds some rows of a batch. Bad ones are looked for only where there are some, by halves.
    fn add_range(&mut self, batch: &RecordBatch, rows: Range<usize>, first_row: u64) -> Result<()> {
        let slice = batch.slice(rows.start, rows.len());
        let file = self.to.file.clone();
        let at = At { file: &file, first_row: first_row + rows.start as u64 };
        let (added, result) = match &mut self.long {
            None => wide::add(&mut self.to, &slice, at),
            Some(long) => (0, long.add(&mut self.to, &slice, at)),
        };
        let Err(error) = result else { return Ok(()) };
        if error.bad_row().is_none() {
            return Err(error);
        }
        let left = rows.start + added..rows.end;
        if left.len() <= 1 {
            return self.leave_out(batch, left.start, error);
        }
        let middle = left.start + left.len() / 2;
        self.add_range(batch, left.start..middle, first_row)?;
        self.add_range(batch, middle..left.end, first_row)
    }

    fn leave_out(&mut self, batch: &RecordBatch, row: usize, error: Error) -> Result<()> {
        let error = self.to.layout.explained(error);
        match &mut self.long {
            None => self.to.faults.add(error),
            Some(long) => long.spoil(&mut self.to, batch, row, error),
        }
    }

    /// The bad rows so far.
    pub(crate) fn faults(&mut self) -> Result<&Faults> {
        if let Some(long) = self.long.as_mut().filter(|_| !self.to.faults.is_empty()) {
            long.flush(&mut self.to)?;
        }
        Ok(&self.to.faults)
    }

    /// Goes on with batches that have their columns here.
    pub(crate) fn relayout(&mut self, layout: &Arc<Layout>) {
        self.to.layout = layout.clone();
        if let (Some(long), Some(keys)) = (&mut self.long, &layout.keys) {
            long.rekey(keys);
        }
    }

    pub(crate) fn finish(mut self) -> Result<Done> {
        let base = match self.long {
            None => None,
            Some(long) => long.finish(&mut self.to)?,
        };
        Ok(Done { base, ..Done::of_rows(self.to.sums.finish().into(), self.seen, self.to.faults) })
    }
}

impl Intake {
    /// Refuses slates of so many slots if their sums may take too much memory.
    pub(super) fn check_room(&mut self, slots: usize) -> Result<()> {
        self.budget.check_more(&self.sums, slots, &mut self.checked)
    }

    /// Adds the slates of the block, all or none. `label` gives a hash of what a row is labelled with.
    pub(super) fn add_block(&mut self, label: impl FnMut(usize) -> u64) -> Result<(), slateval::Error> {
        let added = self.sums.add(&self.block);
        match added {
            Ok(()) => self.survey.see(&self.block, self.layout.contents(), label),
            Err(_) => self.faults.see(&self.block, self.layout.contents()),
        }
        added
    }

    /// Turns a refusal of the accumulator into one that names file, column and row.
    pub(super) fn explain(&self, error: slateval::Error, row_of: impl FnOnce(usize) -> u64) -> Error {
        match error {
            slateval::Error::BadValue { row, field, value, .. } => {
                let (column, item) = self.layout.name_of(field);
                let fault = RowFault::BadValue { column: column.into(), item, value, field };
                Error::Row { file: self.file.to_path_buf(), row: row_of(row), fault }
            }
            other => Error::Core(other),
        }
    }
}
