//! Rewards of slots that are the same in all slots of every slate.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many slates of several slots, in long format, have one reward in all of them.
#[derive(Debug, Default)]
pub(crate) struct SlotRewards {
    /// The same in all slots, and not 0.
    repeated: AtomicU64,
    different: AtomicU64,
}

/// Fewer slates may be alike by chance.
const ENOUGH: u64 = 10;

impl SlotRewards {
    /// Takes in a slate's rewards, slot by slot.
    pub(crate) fn see(&self, rewards: &[f64]) {
        let Some((first, rest)) = rewards.split_first().filter(|(_, rest)| !rest.is_empty()) else { return };
        if rest.iter().any(|reward| reward != first) {
            self.different.fetch_add(1, Ordering::Relaxed);
        } else if *first != 0.0 {
            self.repeated.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn look_repeated(&self) -> bool {
        self.repeated.load(Ordering::Relaxed) >= ENOUGH && self.different.load(Ordering::Relaxed) == 0
    }
}
