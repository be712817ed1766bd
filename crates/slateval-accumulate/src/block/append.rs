//! Slots that slates do not have, found by their propensities.

use slateval_stats::{Error, Field, Result, Spec};

use crate::block::Block;

impl Block {
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
