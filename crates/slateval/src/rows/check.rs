//! Which values a block may hold. A block is checked as a whole before the first of its rows is added, so that a refused
//! block leaves the summary as it was.
//! See docs/methods.md, section 1.1.

use crate::math::vector;
use crate::question::error::{Error, Result};
use crate::question::field::Field;
use crate::question::spec::Spec;
use crate::question::structure::{Pool, Structure};
use crate::rows::block::Block;

/// How far over 1 a probability stored in single precision may lie.
const ROUNDING: f64 = 1e-6;

impl Block {
    /// Refuses the first value that breaks the rule of its column.
    pub(crate) fn check(&self, spec: &Spec) -> Result<()> {
        spec.structure.check_slots(self.slots())?;
        let checked = vector::wide(
            #[inline(always)]
            || self.check_columns(spec),
        );
        checked.map_err(|bad| bad.named(spec))
    }

    #[inline(always)]
    fn check_columns(&self, spec: &Spec) -> std::result::Result<(), BadValue> {
        let needs = spec.structure.needs();
        self.each(Field::Reward, f64::is_finite)?;
        if needs.pool {
            self.each(Field::Pool, |n| n.is_finite() && n >= 1.0 && n.fract() == 0.0)?;
        }
        for (policy, of) in spec.policies.iter().enumerate() {
            for slot in 0..self.slots() {
                if needs.logging && policy == 0 {
                    self.each(Field::Logging { slot }, is_logging_propensity)?;
                }
                self.each(Field::Target { policy, slot }, is_probability)?;
                if of.chi {
                    self.each(Field::Chi { policy, slot }, f64::is_finite)?;
                }
            }
            if needs.weight {
                self.each(Field::Weight { policy }, f64::is_finite)?;
            }
            if let Structure::Ranking(pool) = &spec.structure {
                self.check_ranking(pool, policy)?;
            }
        }
        Ok(())
    }

    /// An item is at least as likely anywhere as in its own slot, and no slate is longer than its pool.
    fn check_ranking(&self, pool: &Pool, policy: usize) -> std::result::Result<(), BadValue> {
        for slot in 0..self.slots() {
            let field = Field::Anywhere { policy, slot };
            self.each(field, is_probability)?;
            let (own, anywhere) = (self.column(Field::Target { policy, slot }), self.column(field));
            let less = |row: &usize| !self.is_missing(*row, slot) && anywhere[*row] < own[*row] - ROUNDING;
            if let Some(row) = (0..self.rows()).find(less) {
                return Err(BadValue { row, field, value: anywhere[row] });
            }
        }
        let short = |row: &usize| self.pool_size(pool, *row) < self.length(*row) as f64;
        match (0..self.rows()).find(short) {
            Some(row) => Err(BadValue { row, field: Field::Pool, value: self.pool_size(pool, row) }),
            None => Ok(()),
        }
    }

    /// Refuses the first value of a column that is not valid. The common case, nothing wrong, is one pass without branches.
    #[inline(always)]
    fn each(&self, field: Field, valid: impl Fn(f64) -> bool) -> std::result::Result<(), BadValue> {
        let column = self.column(field);
        if column.iter().fold(true, |all, &value| all & valid(value)) {
            return Ok(());
        }
        match column.iter().position(|&value| !valid(value)) {
            Some(row) => Err(BadValue { row, field, value: column[row] }),
            None => Ok(()),
        }
    }
}

#[inline(always)]
fn is_logging_propensity(p: f64) -> bool {
    (p > 0.0) & (p <= 1.0 + ROUNDING)
}

#[inline(always)]
fn is_probability(p: f64) -> bool {
    (0.0..=1.0 + ROUNDING).contains(&p)
}

/// A value that was refused, before its policy has a name.
struct BadValue {
    row: usize,
    field: Field,
    value: f64,
}

impl BadValue {
    fn named(self, spec: &Spec) -> Error {
        let BadValue { row, field, value } = self;
        let policy = field.policy().map(|policy| spec.policies[policy].name.clone());
        Error::BadValue { row, field, policy, value }
    }
}
