//! Slots that slates do not have.

use slateval_stats::{Error, Field, Result, Spec};

use crate::block::Block;
use crate::block::kinds::{Count, undecided};

impl Block {
    /// Says that the slate in `row` has no such slot; overwrites the slot's values. Its ratio counts as 1, so it
    /// contributes `Z = 0` to every weight.
    pub fn set_missing(&mut self, row: usize, slot: usize) {
        self.missing.resize(self.slots, Vec::new());
        self.missing[slot].resize(self.rows, false);
        self.missing[slot][row] = true;
        let of_slots = self.kinds.counts.iter().enumerate().filter(|(_, count)| **count == Count::EachSlot);
        for (kind, _) in of_slots {
            self.columns[kind][slot].first_mut(self.rows)[row] = undecided(kind);
            self.ranges[kind][slot] = None;
        }
    }

    /// Whether any slot is missing in any row.
    pub fn has_missing(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Whether any slate has no such slot.
    pub(crate) fn has_missing_in(&self, slot: usize) -> bool {
        self.missing.get(slot).is_some_and(|rows| !rows.is_empty())
    }

    /// Whether the slate in `row` has no such slot.
    pub fn is_missing(&self, row: usize, slot: usize) -> bool {
        self.has_missing_in(slot) && self.missing[slot][row]
    }

    /// Number of slots the slate in `row` has.
    pub fn length(&self, row: usize) -> usize {
        self.slots - (0..self.slots).filter(|&slot| self.is_missing(row, slot)).count()
    }

    /// Marks the slots whose propensities are NaN as missing. Messages name policies as `spec` does.
    ///
    /// # Errors
    /// [`Error::HalfMissing`] for a slot that some policies have and others do not.
    pub fn mark_missing(&mut self, spec: &Spec) -> Result<()> {
        let logging = spec.structure.needs().logging;
        for slot in 0..self.slots() {
            let targets = (0..spec.policies.len()).map(|policy| Field::Target { policy, slot });
            let columns = logging.then_some(Field::Logging { slot }).into_iter().chain(targets);
            let is_whole = |field: Field| self.column(field).iter().fold(true, |all, p| all & !p.is_nan());
            if columns.clone().all(is_whole) {
                continue;
            }
            let columns: Vec<Field> = columns.collect();
            let absent = |row: usize, field: &Field| self.column(*field)[row].is_nan();
            let mut missing = Vec::new();
            for row in (0..self.rows()).filter(|&row| columns.iter().any(|field| absent(row, field))) {
                if let Some(there) = columns.iter().find(|field| !absent(row, field)) {
                    let gone = columns.iter().find(|field| absent(row, field)).unwrap_or(there);
                    let (missing, present) = (whose(spec, *gone), whose(spec, *there));
                    return Err(Error::HalfMissing { row, slot, missing, present });
                }
                missing.push(row);
            }
            missing.into_iter().for_each(|row| self.set_missing(row, slot));
        }
        Ok(())
    }
}

fn whose(spec: &Spec, field: Field) -> String {
    match field.policy() {
        Some(policy) => format!("target `{}`", spec.policies[policy].name),
        None => "logging".to_owned(),
    }
}
