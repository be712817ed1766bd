//! Rows of a file, or of a part of it, that cannot be used.

use std::collections::BTreeMap;

use slateval::{Block, Field, SkipReason, Skipped, Summary};

use crate::error::{Error, Likeness, Result, RowFault, numbers_text, texts_text};
use crate::survey::Contents;

/// Bad rows, counted by reason; the first ones are kept.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    counts: BTreeMap<SkipReason, u64>,
    first: Vec<Error>,
    /// Whether the targets' propensities in blocks with bad rows all lie in (0, 1], as those of the policy that wrote a log
    /// do; none before such a block was seen.
    targets_are_positive: Option<bool>,
}

/// A target that shows something else than what was logged does so more often than in one of so many rows. Rarer zeros may
/// come from rounding.
const COMMON: u64 = 100;

impl Faults {
    /// Rows that are named.
    pub(crate) const NAMED: usize = 20;

    /// Takes in a row of the same file, in any order: the first rows are kept. Errors that are not about one row are
    /// handed back.
    pub(crate) fn add(&mut self, error: Error) -> Result<()> {
        let Some(reason) = error.bad_row() else { return Err(error) };
        *self.counts.entry(reason).or_default() += 1;
        let place = self.first.partition_point(|known| known.row() <= error.row());
        if place < Self::NAMED {
            self.first.insert(place, error);
            self.first.truncate(Self::NAMED);
        }
        Ok(())
    }

    /// Takes in those of a part that follows.
    pub(crate) fn append(&mut self, next: Faults) {
        next.counts.into_iter().for_each(|(reason, count)| *self.counts.entry(reason).or_default() += count);
        self.first.extend(next.first);
        self.first.truncate(Self::NAMED);
        next.targets_are_positive.into_iter().for_each(|own| self.see_targets(own));
    }

    /// Takes a look at a block that was refused.
    pub(crate) fn see(&mut self, block: &Block, contents: Contents) {
        if self.targets_are_positive == Some(false) || !contents.propensities {
            return;
        }
        let is_positive = |policy: usize, slot: usize| {
            let values = block.column(Field::Target { policy, slot });
            (0..block.rows()).all(|row| block.is_missing(row, slot) || values[row] > 0.0 && values[row] <= 1.0)
        };
        let all = (0..contents.targets).all(|policy| (0..block.slots()).all(|slot| is_positive(policy, slot)));
        self.see_targets(all);
    }

    fn see_targets(&mut self, are_positive: bool) {
        self.targets_are_positive = Some(are_positive && self.targets_are_positive != Some(false));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Whether enough rows were found to refuse the log.
    pub(crate) fn are_enough(&self) -> bool {
        self.first.len() >= Self::NAMED
    }

    /// Counts rows from another one on.
    pub(crate) fn move_rows(&mut self, by: u64) {
        self.first.iter_mut().for_each(|error| error.move_row(by));
    }

    /// The refusal of a log with these rows. `more` says that not all of it was read.
    pub(crate) fn into_error(mut self, more: bool) -> Option<Error> {
        match self.first.len() {
            0 => None,
            1 => self.first.pop(),
            _ => Some(self.wrong_column(more).unwrap_or(Error::BadRows { rows: self.first, more })),
        }
    }

    /// One refusal of all rows, if a column holds something else than it should and that shows in all of them.
    fn wrong_column(&self, more: bool) -> Option<Error> {
        let (likeness, values) = self.not_propensities().or_else(|| self.not_numbers())?;
        let Error::Row { file, row, fault } = self.first.first()?.clone() else { return None };
        let (column, field) = match fault {
            RowFault::BadValue { column, field, .. } => (column, Some(field)),
            RowFault::NotANumber { column, of, .. } => (column, of),
            _ => return None,
        };
        let rows = self.counts.values().sum();
        Some(Error::WrongColumn { file, row, column: column.into(), field, values, likeness, rows, more })
    }

    fn not_propensities(&self) -> Option<(Likeness, Box<str>)> {
        let value = |error: &Error| {
            let Error::Row { file, fault: RowFault::BadValue { value, field, .. }, .. } = error else { return None };
            match field {
                Field::Logging { .. } => Some((file.clone(), None, *value)),
                Field::Target { policy, .. } => Some((file.clone(), Some(*policy), *value)),
                _ => None,
            }
        };
        let found: Vec<_> = self.first.iter().map(value).collect::<Option<_>>()?;
        if found.iter().any(|(file, policy, _)| (file, policy) != (&found[0].0, &found[0].1)) {
            return None;
        }
        let values: Vec<f64> = found.iter().map(|(_, _, value)| *value).collect();
        let are_zeros_of_logging = found.iter().all(|(_, policy, value)| policy.is_none() && *value == 0.0);
        let are_common = self.first.last()?.row()? <= COMMON * values.len() as u64;
        let is_targets = are_zeros_of_logging && are_common && self.targets_are_positive == Some(true);
        let likeness = match Likeness::of(&values) {
            None if is_targets && values.len() >= Likeness::ENOUGH => Likeness::TargetPropensities,
            likeness => likeness?,
        };
        Some((likeness, numbers_text(&values)))
    }

    /// Text in one column, from the first row on. Text further down is some odd cells.
    fn not_numbers(&self) -> Option<(Likeness, Box<str>)> {
        let cell = |error: &Error| match error {
            Error::Row { file, fault: RowFault::NotANumber { column, value, .. }, .. } => {
                Some(((file.clone(), column.clone()), value.clone()))
            }
            _ => None,
        };
        let found: Vec<_> = self.first.iter().map(cell).collect::<Option<_>>()?;
        let is_column = found.iter().all(|(place, _)| *place == found[0].0) && self.first[0].row() == Some(1);
        let values: Vec<&str> = found.iter().map(|(_, value)| value.as_ref()).collect();
        (is_column && values.len() >= Likeness::ENOUGH).then(|| (Likeness::Text, texts_text(&values)))
    }

    /// Tells a summary what was left out of it: how often for which reason, then the first rows in their order.
    pub(crate) fn tell(self, summary: &mut Summary) {
        let skipped = |reason, rows, examples| {
            let mut skipped = Skipped::new(reason, rows);
            skipped.examples = examples;
            skipped
        };
        for (reason, rows) in self.counts {
            summary.skip(skipped(reason, rows, Vec::new()));
        }
        for error in self.first {
            if let Some(reason) = error.bad_row() {
                summary.skip(skipped(reason, 0, vec![error.example()]));
            }
        }
    }
}
