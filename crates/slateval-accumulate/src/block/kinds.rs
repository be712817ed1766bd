//! Which columns a block has, and where they stand.

use slateval_stats::{Field, Spec};

/// Which columns a specification asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kinds {
    /// How many columns there are of each kind: those of [`REWARD`], [`POOL`] and [`LOGGING`], then those of each policy.
    pub(super) counts: Vec<Count>,
    pub(super) segmented: bool,
    /// How many groups clusters are hashed into; 0 without clusters.
    pub(super) groups: u16,
}

/// How many columns there are of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    None,
    One,
    EachSlot,
}

pub(super) const REWARD: usize = 0;
pub(super) const POOL: usize = 1;
const LOGGING: usize = 2;
const POLICIES: usize = 3;

/// Kinds of each policy: target, chi, anywhere and weight.
const PER_POLICY: usize = 4;

impl Count {
    fn one_if(is_needed: bool) -> Self {
        if is_needed { Count::One } else { Count::None }
    }

    fn each_slot_if(is_needed: bool) -> Self {
        if is_needed { Count::EachSlot } else { Count::None }
    }

    /// For slates of this number of slots.
    pub(super) fn columns(self, slots: usize) -> usize {
        match self {
            Count::None => 0,
            Count::One => 1,
            Count::EachSlot => slots,
        }
    }
}

impl Kinds {
    pub(super) fn of(spec: &Spec) -> Self {
        let needs = spec.structure.needs();
        let mut counts = vec![Count::One, Count::one_if(needs.pool), Count::each_slot_if(needs.logging)];
        for policy in &spec.policies {
            let of_slots = [needs.slots, policy.chi && needs.slots, needs.anywhere];
            counts.extend(of_slots.map(Count::each_slot_if));
            counts.push(Count::one_if(needs.weight));
        }
        Kinds { counts, segmented: spec.by.is_some(), groups: spec.groups() }
    }

    /// Whether all that others ask for is there; more does no harm. Segments and clusters have to be the same.
    pub(super) fn cover(&self, other: &Kinds) -> bool {
        let has = |(own, needed): (&Count, &Count)| *needed == Count::None || own == needed;
        self.counts.len() == other.counts.len()
            && self.counts.iter().zip(&other.counts).all(has)
            && (self.segmented, self.groups) == (other.segmented, other.groups)
    }

    pub(super) fn policies(&self) -> usize {
        (self.counts.len() - POLICIES) / PER_POLICY
    }
}

/// The kind of a column, and its place among those of its kind.
pub(super) fn place(field: Field) -> (usize, usize) {
    let of = |policy: usize, kind: usize| POLICIES + PER_POLICY * policy + kind;
    match field {
        Field::Reward => (REWARD, 0),
        Field::Pool => (POOL, 0),
        Field::Logging { slot } => (LOGGING, slot),
        Field::Target { policy, slot } => (of(policy, 0), slot),
        Field::Chi { policy, slot } => (of(policy, 1), slot),
        Field::Anywhere { policy, slot } => (of(policy, 2), slot),
        Field::Weight { policy } => (of(policy, 3), 0),
    }
}

/// What columns of a kind hold where nothing is decided: logging and target propensity 1, all others 0.
pub(super) fn undecided(kind: usize) -> f64 {
    let is_propensity = kind == LOGGING || (kind >= POLICIES && (kind - POLICIES).is_multiple_of(PER_POLICY));
    f64::from(u8::from(is_propensity))
}
