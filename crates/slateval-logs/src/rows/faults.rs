//! Rows of a file, or of a part of it, that cannot be used.

use std::collections::BTreeMap;

use slateval::{Field, SkipReason, Skipped, Summary};

use crate::error::{Error, Likeness, Result};

/// Bad rows, counted by reason; the first ones are kept.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    counts: BTreeMap<SkipReason, u64>,
    first: Vec<Error>,
}

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
            _ => Some(self.not_propensities(more).unwrap_or(Error::BadRows { rows: self.first, more })),
        }
    }

    /// One refusal of all rows, if a column holds something else than propensities and that shows in all of them.
    fn not_propensities(&self, more: bool) -> Option<Error> {
        let value = |error: &Error| match error {
            Error::BadValue { file, value, field: Field::Logging { .. }, .. } => Some((file.clone(), None, *value)),
            Error::BadValue { file, value, field: Field::Target { policy, .. }, .. } => {
                Some((file.clone(), Some(*policy), *value))
            }
            _ => None,
        };
        let found: Vec<_> = self.first.iter().map(value).collect::<Option<_>>()?;
        if found.iter().any(|(file, policy, _)| (file, policy) != (&found[0].0, &found[0].1)) {
            return None;
        }
        let values: Vec<f64> = found.iter().map(|(_, _, value)| *value).collect();
        let likeness = Likeness::of(&values)?;
        let Some(Error::BadValue { file, row, column, field, .. }) = self.first.first().cloned() else { return None };
        let rows = self.counts.values().sum();
        Some(Error::NotPropensities { file, row, column, field, values, likeness, rows, more })
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
