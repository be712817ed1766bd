//! Which values a block may hold. A block is checked as a whole before the first of its rows is added, so that a refused
//! block leaves the summary as it was.
//! See docs/methods.md, section 1.1.

use slateval_stats::{Error, Field, Pool, Result, Spec, Structure};

use crate::block::Block;
use crate::kernel::simd::column::{Column, groups_of};
use crate::kernel::simd::lanes::{Eight, wide};

/// How far over 1 a probability stored in single precision may lie.
const ROUNDING: f64 = 1e-6;

impl Block {
    /// Refuses the first value that breaks the rule of its column.
    pub(crate) fn check(&self, spec: &Spec) -> Result<()> {
        spec.structure.check_slots(self.slots())?;
        self.check_columns(spec).map_err(|bad| bad.named(spec))
    }

    fn check_columns(&self, spec: &Spec) -> std::result::Result<(), BadValue> {
        let needs = spec.structure.needs();
        self.each(Field::Reward, Rule::Finite)?;
        if needs.pool {
            self.each(Field::Pool, Rule::Count)?;
        }
        for (policy, of) in spec.policies.iter().enumerate() {
            let logging = (needs.logging && policy == 0).then_some(Field::Logging { slot: 0 });
            if !self.are_probabilities(logging, Field::Target { policy, slot: 0 }) || of.chi {
                self.each_of_policy(policy, logging.is_some(), of.chi)?;
            }
            if needs.weight {
                self.each(Field::Weight { policy }, Rule::Finite)?;
            }
            if let Structure::Ranking(pool) = &spec.structure {
                self.check_ranking(pool, policy)?;
            }
        }
        Ok(())
    }

    /// Whether all propensities, and all probabilities of a target, are what they have to be: one call for all slots.
    fn are_probabilities(&self, logging: Option<Field>, target: Field) -> bool {
        let within = |field: Field, least: f64| {
            let most = 1.0 + ROUNDING;
            let is_within = |range: &Option<(f64, f64)>| range.is_some_and(|(a, b)| a >= least && b <= most);
            self.ranges(field).iter().all(is_within)
                || none_outside(self.rows(), self.whole_columns(field), least, most)
        };
        logging.is_none_or(|logging| within(logging, f64::from_bits(1))) && within(target, 0.0)
    }

    /// Refuses the first bad value of a policy's slots.
    fn each_of_policy(&self, policy: usize, logging: bool, chi: bool) -> std::result::Result<(), BadValue> {
        for slot in 0..self.slots() {
            if logging {
                self.each(Field::Logging { slot }, Rule::Propensity)?;
            }
            self.each(Field::Target { policy, slot }, Rule::Probability)?;
            if chi {
                self.each(Field::Chi { policy, slot }, Rule::Finite)?;
            }
        }
        Ok(())
    }

    /// An item is at least as likely anywhere as in its own slot, and no slate is longer than its pool.
    fn check_ranking(&self, pool: &Pool, policy: usize) -> std::result::Result<(), BadValue> {
        for slot in 0..self.slots() {
            let field = Field::Anywhere { policy, slot };
            self.each(field, Rule::Probability)?;
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

    /// Refuses the first value of a column that breaks a rule. The common case, nothing wrong, is one pass without
    /// branches.
    fn each(&self, field: Field, rule: Rule) -> std::result::Result<(), BadValue> {
        let column = std::slice::from_ref(self.whole_column(field));
        let is_kept = match rule {
            Rule::Finite => self.range(field).is_some() || all_finite(self.rows(), column),
            Rule::Propensity => none_outside(self.rows(), column, f64::from_bits(1), 1.0 + ROUNDING),
            Rule::Probability => none_outside(self.rows(), column, 0.0, 1.0 + ROUNDING),
            Rule::Count => false,
        };
        if is_kept {
            return Ok(());
        }
        let column = self.column(field);
        match column.iter().position(|&value| !rule.allows(value)) {
            Some(row) => Err(BadValue { row, field, value: column[row] }),
            None => Ok(()),
        }
    }
}

/// What the values of a column have to be.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Finite,
    /// A whole number from 1 on.
    Count,
    /// Above 0, and at most 1.
    Propensity,
    /// From 0 to 1.
    Probability,
}

impl Rule {
    #[inline(always)]
    fn allows(self, value: f64) -> bool {
        match self {
            Rule::Finite => value.is_finite(),
            Rule::Count => value.is_finite() && value >= 1.0 && value.fract() == 0.0,
            Rule::Propensity => (value > 0.0) & (value <= 1.0 + ROUNDING),
            Rule::Probability => (0.0..=1.0 + ROUNDING).contains(&value),
        }
    }
}

wide! {
    /// Whether all values are finite. So are those that fill up the last group.
    fn all_finite(rows: usize, columns: &[Column]) -> bool = all_finite_in_lanes
}

#[inline(always)]
fn all_finite_in_lanes<F: Eight>(rows: usize, columns: &[Column]) -> bool {
    let mut outside = F::splat(0.0);
    for column in columns {
        for i in 0..groups_of(rows) {
            outside = F::load(&column.groups()[i]).absolute().or_outside(outside, 0.0, f64::MAX);
        }
    }
    !outside.has_a_sign()
}

wide! {
    /// Whether all values lie between two others that are not below 0, or are one of them. What is `-0.0` may count as
    /// outside.
    fn none_outside(rows: usize, columns: &[Column], least: f64, most: f64) -> bool = none_outside_in_lanes
}

#[inline(always)]
fn none_outside_in_lanes<F: Eight>(rows: usize, columns: &[Column], least: f64, most: f64) -> bool {
    let mut outside = F::splat(0.0);
    for column in columns {
        for i in 0..groups_of(rows) {
            outside = F::load(&column.groups()[i]).or_outside(outside, least, most);
        }
    }
    !outside.has_a_sign()
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
