//! Propensities that are the same in all slots of every slate.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use slateval::{Block, Field};

/// Whether one policy's propensities are the same in all slots of each slate, and differ between slates.
///
/// Most logs show otherwise in their first rows, and are not looked at again.
#[derive(Debug)]
pub(super) struct SameInSlots {
    /// Two slots of a slate differ.
    differ: AtomicBool,
    /// The bits of the first propensity of a slate of several slots; [`NOTHING`] before there is one.
    first: AtomicU64,
    /// Slates differ.
    varies: AtomicBool,
}

/// The bits of a NaN, which no propensity is.
const NOTHING: u64 = u64::MAX;

impl Default for SameInSlots {
    fn default() -> Self {
        SameInSlots { differ: false.into(), first: NOTHING.into(), varies: false.into() }
    }
}

impl SameInSlots {
    pub(super) fn see(&self, block: &Block, field: impl Fn(usize) -> Field) {
        if block.slots() < 2 || self.differ.load(Ordering::Relaxed) {
            return;
        }
        let columns: Vec<&[f64]> = (0..block.slots()).map(|slot| block.column(field(slot))).collect();
        if !block.has_missing() {
            self.see_full(&columns);
            return;
        }
        // The first propensity of a slate of several slots, and whether the others are the same.
        let slate = |row: usize| {
            let slots = (0..block.slots()).filter(|&slot| !block.is_missing(row, slot));
            let mut values = slots.map(|slot| columns[slot][row]);
            let (first, second) = (values.next()?, values.next()?);
            Some((first, second == first && values.all(|value| value == first)))
        };
        for (value, is_same) in (0..block.rows()).filter_map(slate) {
            if !is_same {
                self.differ.store(true, Ordering::Relaxed);
                return;
            }
            self.see_slates(&[value]);
        }
    }

    /// Slates that have all slots, column by column: uniform logging is the same in all slots of every slate, and must not
    /// take longer for it.
    fn see_full(&self, columns: &[&[f64]]) {
        let Some((first, others)) = columns.split_first() else { return };
        if others.iter().any(|other| other != first) {
            self.differ.store(true, Ordering::Relaxed);
        } else {
            self.see_slates(first);
        }
    }

    /// One propensity of each slate.
    fn see_slates(&self, values: &[f64]) {
        let Some(&one) = values.first().filter(|_| !self.varies.load(Ordering::Relaxed)) else { return };
        let known = self.first.compare_exchange(NOTHING, one.to_bits(), Ordering::Relaxed, Ordering::Relaxed);
        let first = f64::from_bits(known.err().unwrap_or(one.to_bits()));
        if values.iter().any(|value| *value != first) {
            self.varies.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn holds(&self) -> bool {
        self.varies.load(Ordering::Relaxed) && !self.differ.load(Ordering::Relaxed)
    }
}
