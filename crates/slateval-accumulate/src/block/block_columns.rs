//! Which columns a block has, where they stand, and what is known of their values.

use slateval_stats::{Field, Spec};

/// Which columns a specification asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BlockColumns {
    pub(super) logging: bool,
    pub(super) pool: bool,
    /// For each policy: pi, chi, anywhere, weight.
    pub(super) policies: Vec<TargetColumns>,
    pub(super) segmented: bool,
    /// How many groups clusters are hashed into; 0 without clusters.
    pub(super) groups: u16,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TargetColumns {
    pub(super) target: bool,
    pub(super) chi: bool,
    pub(super) anywhere: bool,
    pub(super) weight: bool,
}

/// Columns of one slot and policy: target, chi and anywhere.
pub(super) const PER_POLICY: usize = 3;

/// Where the reward and the pool stand.
pub(super) const REWARD: usize = 0;
pub(super) const POOL: usize = 1;

impl BlockColumns {
    /// Whether all that others ask for is there; more does no harm. Segments and clusters have to be the same.
    pub(super) fn cover(&self, other: &BlockColumns) -> bool {
        let has = |own: bool, needed: bool| own || !needed;
        let policy = |(own, other): (&TargetColumns, &TargetColumns)| {
            has(own.target, other.target)
                && has(own.chi, other.chi)
                && has(own.anywhere, other.anywhere)
                && has(own.weight, other.weight)
        };
        has(self.logging, other.logging)
            && has(self.pool, other.pool)
            && self.policies.len() == other.policies.len()
            && self.policies.iter().zip(&other.policies).all(policy)
            && (self.segmented, self.groups) == (other.segmented, other.groups)
    }

    pub(super) fn of(spec: &Spec) -> Self {
        let needs = spec.structure.needs();
        let policy = |chi| TargetColumns { target: needs.slots, chi, anywhere: needs.anywhere, weight: needs.weight };
        BlockColumns {
            logging: needs.logging,
            pool: needs.pool,
            policies: spec.policies.iter().map(|p| policy(p.chi && needs.slots)).collect(),
            segmented: spec.by.is_some(),
            groups: spec.groups(),
        }
    }

    pub(super) fn place(field: Field) -> Place {
        let kind = |policy: usize, column: usize| 1 + PER_POLICY * policy + column;
        match field {
            Field::Reward => Place::Single(REWARD),
            Field::Pool => Place::Single(POOL),
            Field::Weight { policy } => Place::Weight(policy),
            Field::Logging { slot } => Place::Slot(0, slot),
            Field::Target { policy, slot } => Place::Slot(kind(policy, 0), slot),
            Field::Chi { policy, slot } => Place::Slot(kind(policy, 1), slot),
            Field::Anywhere { policy, slot } => Place::Slot(kind(policy, 2), slot),
        }
    }

    /// Whether the columns of this kind (an index of `by_slot`) are in use.
    pub(super) fn has(&self, kind: usize) -> bool {
        if kind == 0 {
            return self.logging;
        }
        let policy = &self.policies[(kind - 1) / PER_POLICY];
        [policy.target, policy.chi, policy.anywhere][(kind - 1) % PER_POLICY]
    }
}

pub(super) enum Place {
    /// Of those that every row has once.
    Single(usize),
    Weight(usize),
    Slot(usize, usize),
}

/// What columns of a kind (an index of `by_slot`) hold where nothing is decided in a slot: logging and target propensity 1,
/// chi and anywhere 0.
pub(super) fn undecided(kind: usize) -> f64 {
    let is_propensity = kind == 0 || (kind - 1).is_multiple_of(PER_POLICY);
    f64::from(u8::from(is_propensity))
}

/// The smallest and the largest value of columns, where whoever filled them has seen them. None of them is below 0.
#[derive(Debug, Clone)]
pub(super) struct Ranges {
    pub(super) reward: Option<(f64, f64)>,
    /// In the order of the block's columns.
    pub(super) by_slot: Vec<Vec<Option<(f64, f64)>>>,
}

impl Ranges {
    pub(super) fn forget_all(&mut self) {
        self.reward = None;
        self.by_slot.iter_mut().for_each(|ranges| ranges.fill(None));
    }

    pub(super) fn of(&mut self, field: Field) -> Option<&mut Option<(f64, f64)>> {
        match BlockColumns::place(field) {
            Place::Single(REWARD) => Some(&mut self.reward),
            Place::Single(_) | Place::Weight(_) => None,
            Place::Slot(kind, slot) => self.by_slot[kind].get_mut(slot),
        }
    }
}
