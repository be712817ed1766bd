//! The columns of a log.

use std::fmt;

/// A column of a block of rows. Slots and policies count from 0 here and from 1 in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The slate's reward.
    Reward,
    /// How many items the logging policy drew each slate from (`ranking:COLUMN`).
    Pool,
    /// `mu_k`: the logging propensity of the action shown in a slot.
    Logging {
        /// The slot.
        slot: usize,
    },
    /// `pi_k`: the target's propensity of the same action.
    Target {
        /// The target policy.
        policy: usize,
        /// The slot.
        slot: usize,
    },
    /// `chi_k = sum_a pi_k(a)^2 / mu_k(a) - 1`.
    Chi {
        /// The target policy.
        policy: usize,
        /// The slot.
        slot: usize,
    },
    /// The target's probability of showing this slot's item anywhere in its slate.
    Anywhere {
        /// The target policy.
        policy: usize,
        /// The slot.
        slot: usize,
    },
    /// A ready-made slate weight.
    Weight {
        /// The target policy.
        policy: usize,
    },
}

impl Field {
    /// The target policy whose column it is.
    pub fn policy(self) -> Option<usize> {
        match self {
            Field::Target { policy, .. }
            | Field::Chi { policy, .. }
            | Field::Anywhere { policy, .. }
            | Field::Weight { policy } => Some(policy),
            Field::Reward | Field::Pool | Field::Logging { .. } => None,
        }
    }

    /// The rule a value of this column must keep, as advice.
    pub fn rule(self) -> &'static str {
        match self {
            Field::Reward => {
                "rewards must be finite numbers; give the row its reward (a missing click often means 0). Drop such rows \
                 only if rewards are missing at random, for reasons that have nothing to do with the slate or the \
                 reward: otherwise the result is biased"
            }
            Field::Pool => "the number of candidates must be a whole number, at least the slate's length",
            Field::Logging { .. } => {
                "a logging propensity lies in (0, 1]: the shown action had a positive probability of being shown"
            }
            Field::Target { .. } => "a target propensity lies in [0, 1]",
            Field::Chi { .. } => "chi must be a finite number",
            Field::Anywhere { .. } => {
                "the probability of an item anywhere in the slate lies in [0, 1] and is at least that of its own slot"
            }
            Field::Weight { .. } => "a slate weight must be a finite number",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Reward => write!(f, "the reward"),
            Field::Pool => write!(f, "the number of candidates"),
            Field::Logging { slot } => write!(f, "the logging propensity of slot {}", slot + 1),
            Field::Target { slot, .. } => write!(f, "the target propensity of slot {}", slot + 1),
            Field::Chi { slot, .. } => write!(f, "chi of slot {}", slot + 1),
            Field::Anywhere { slot, .. } => write!(f, "the anywhere probability of slot {}", slot + 1),
            Field::Weight { .. } => write!(f, "the slate weight"),
        }
    }
}
