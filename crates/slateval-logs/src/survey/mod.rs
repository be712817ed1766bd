//! What a reader notices of a log beside its sums: signs that columns hold something else than they should.
//!
//! All facts are counts, flags and samples that do not depend on the order of rows, so that parts, threads and pieces make no
//! difference. An evaluation gathers only those that cost next to nothing. Where propensities failed their check, a second look
//! at some rows compares them. What only all rows tell is for `inspect`.

mod alike_rows;
mod ratios;
mod rewards;
mod slots;
mod suspicion;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use slateval::{Block, CheckName, Evaluation, Field, PolicyEvaluation, Segment, Status};
use twox_hash::XxHash64;

pub use alike_rows::AlikeRows;
use alike_rows::{RowSample, mixed};
use ratios::Ratios;
use rewards::SlotRewards;
use slots::SameInSlots;
pub use suspicion::Suspicion;

/// What was noticed while a log was read, by all threads together.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Of the logging policy, then of each target.
    propensities: OnceLock<Vec<SameInSlots>>,
    pub(crate) slot_rewards: SlotRewards,
    /// Of each target, from the moment on at which somebody asks for them.
    ratios: OnceLock<Mutex<Vec<Ratios>>>,
    /// What only a look at all rows tells.
    all_rows: Option<Mutex<AllRows>>,
}

/// What blocks hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contents {
    pub(crate) targets: usize,
    /// Whether there are propensities of both logging and targets.
    pub(crate) propensities: bool,
}

#[derive(Debug, Default)]
struct AllRows {
    sample: RowSample,
    /// How many slates have how many slots.
    lengths: Vec<u64>,
}

impl Survey {
    /// Looks at every row.
    pub(crate) fn thorough() -> Self {
        let survey = Survey { all_rows: Some(Mutex::default()), ..Survey::default() };
        survey.deepen();
        survey
    }

    /// Compares propensities from now on.
    pub(crate) fn deepen(&self) {
        self.ratios.get_or_init(Mutex::default);
    }

    pub(crate) fn is_deep(&self) -> bool {
        self.ratios.get().is_some()
    }

    /// Takes in the rows of a block that has been added to a summary. `label` gives a hash of what a row is labelled with.
    pub(crate) fn see(&self, block: &Block, contents: Contents, label: impl FnMut(usize) -> u64) {
        if contents.propensities {
            let new = || (0..=contents.targets).map(|_| SameInSlots::default()).collect();
            let all = self.propensities.get_or_init(new);
            all[0].see(block, |slot| Field::Logging { slot });
            for (policy, own) in all[1..].iter().enumerate() {
                own.see(block, |slot| Field::Target { policy, slot });
            }
        }
        if let Some(ratios) = self.ratios.get().filter(|_| contents.propensities) {
            let mut ratios = lock(ratios);
            ratios.resize_with(contents.targets, Ratios::default);
            ratios.iter_mut().enumerate().for_each(|(policy, own)| own.see(block, policy));
        }
        if let Some(all) = &self.all_rows {
            lock(all).see(block, label);
        }
    }

    /// What the facts suggest, given how the checks went.
    pub(crate) fn suspicions(&self, evaluation: &Evaluation) -> Vec<Suspicion> {
        let targets = evaluation.policies.iter().skip(1);
        let mut found = Vec::new();
        if self.slot_rewards.look_repeated() {
            found.push(Suspicion::RepeatedRewards);
        }
        let same = self.propensities.get().map_or(&[][..], Vec::as_slice);
        let is_same = |place: usize| same.get(place).is_some_and(SameInSlots::holds);
        let of_slates: Vec<bool> = (0..same.len()).map(is_same).collect();
        let (mut spoilt, mut exchanged) = (false, Vec::new());
        for (policy, target) in targets.enumerate() {
            spoilt |= of_slates.get(1 + policy) == Some(&true) || has_failed(target);
            if has_failed(target) && self.is_exchanged(policy) {
                exchanged.push(Suspicion::Exchanged { target: target.name.clone() });
            }
        }
        // Uniform propensities of pools of different sizes are the same in all slots too, and pass their check.
        if of_slates.first() == Some(&true) && spoilt {
            found.push(Suspicion::WholeSlatePropensities);
        } else {
            found.extend(exchanged);
        }
        found.extend(self.alike_rows().filter(AlikeRows::are_suspicious).map(Suspicion::AlikeRows));
        found
    }

    /// Whether a look at the rows would tell more.
    pub(crate) fn asks_for_more(evaluation: &Evaluation) -> bool {
        evaluation.policies.iter().skip(1).any(has_failed)
    }

    fn is_exchanged(&self, policy: usize) -> bool {
        self.ratios.get().is_some_and(|ratios| lock(ratios).get(policy).is_some_and(Ratios::look_exchanged))
    }

    /// Rows that are alike, where all rows were looked at.
    pub(crate) fn alike_rows(&self) -> Option<AlikeRows> {
        self.all_rows.as_ref().map(|all| lock(all).sample.alike())
    }

    /// How many slates are shorter than the longest, where all rows were looked at.
    pub(crate) fn shorter_slates(&self) -> Option<u64> {
        self.all_rows.as_ref().map(|all| lock(all).lengths.iter().rev().skip(1).sum())
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A hash with a label mixed in.
pub(crate) fn with_label(hash: u64, label: &Segment) -> u64 {
    match label {
        Segment::Text(text) => mixed(hash, XxHash64::oneshot(0, text.as_bytes())),
        other => mixed(hash, XxHash64::oneshot(1, other.to_string().as_bytes())),
    }
}

fn has_failed(policy: &PolicyEvaluation) -> bool {
    let checks = &policy.diagnostics.checks;
    checks.iter().any(|check| check.name() == CheckName::Propensities && check.status == Status::Fail)
}

impl AllRows {
    fn see(&mut self, block: &Block, label: impl FnMut(usize) -> u64) {
        self.sample.see(block, label);
        for row in 0..block.rows() {
            let length = block.length(row);
            if self.lengths.len() <= length {
                self.lengths.resize(length + 1, 0);
            }
            self.lengths[length] += 1;
        }
    }
}
