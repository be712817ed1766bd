//! The sums of one segment of a log, and how two of them add up.

use crate::bins::Bins;
use crate::features::{BinSums, Features};
use crate::gram::Gram;
use crate::spec::Spec;
use crate::table::{Table, add_bin, bin};
use crate::tally::Tally;

/// Sums over all rows of a segment, and in each bin of rewards.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) rows: u64,
    pub(crate) slots: usize,
    /// Rewards enter the Gram matrices as `R - origin`, see [`origin_of`].
    pub(crate) origin: f64,
    pub(crate) bins: Bins,
    pub(crate) table: Table,
    pub(crate) policies: Vec<PolicySums>,
}

/// Sums over all rows of one policy.
#[derive(Debug, Clone)]
pub(crate) struct PolicySums {
    pub(crate) features: Features,
    pub(crate) gram: Gram,
    pub(crate) tally: Tally,
}

impl Cell {
    pub(crate) fn new(spec: &Spec, slots: usize) -> Self {
        let policy = |chi: bool| {
            let features = Features { slots, basis: 1, chi: chi && spec.structure.needs().slots };
            PolicySums { features, gram: Gram::new(features.len()), tally: Tally::new(slots) }
        };
        let policies: Vec<PolicySums> = spec.policies.iter().map(|p| policy(p.chi)).collect();
        let width = bin::SHARED + policies.iter().map(|p| p.bin_sums().len()).sum::<usize>();
        let table = Table { width, sums: Vec::new() };
        Cell { rows: 0, slots, origin: 0.0, bins: Bins::new(spec.binning), table, policies }
    }

    /// Where each policy's sums begin in a bin's row.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        let ends = self.policies.iter().scan(bin::SHARED, |end, policy| {
            let start = *end;
            *end += policy.bin_sums().len();
            Some(start)
        });
        ends.collect()
    }

    pub(crate) fn merge(&mut self, other: &Cell) {
        if other.rows == 0 {
            return;
        }
        if self.rows == 0 {
            let slots = self.slots.max(other.slots);
            *self = other.clone();
            return self.widen(slots);
        }
        if other.slots != self.slots {
            let slots = self.slots.max(other.slots);
            self.widen(slots);
            let mut wide = other.clone();
            wide.widen(slots);
            return self.merge_same_slots(&wide);
        }
        self.merge_same_slots(other);
    }

    fn merge_same_slots(&mut self, other: &Cell) {
        let (moves, from_other) = self.bins.absorb(&other.bins);
        self.table.follow(moves, self.bins.table_rows());
        for (from, to) in from_other {
            add_bin(self.table.row_mut(to), other.table.row(from));
        }
        // The origin of more rows serves better.
        if other.rows > self.rows {
            self.move_origin(other.origin);
        }
        let shift = other.origin - self.origin;
        for (own, other) in self.policies.iter_mut().zip(&other.policies) {
            if shift == 0.0 {
                own.gram.merge(&other.gram);
            } else {
                own.gram.merge(&other.gram.transform(&own.features.shifted(shift)));
            }
            own.tally.merge(&other.tally);
        }
        self.rows += other.rows;
    }

    fn move_origin(&mut self, origin: f64) {
        let shift = self.origin - origin;
        if shift != 0.0 {
            for policy in &mut self.policies {
                policy.gram = policy.gram.transform(&policy.features.shifted(shift));
            }
            self.origin = origin;
        }
    }

    /// Makes room for longer slates; the slots that shorter ones did not have contribute nothing.
    pub(crate) fn widen(&mut self, slots: usize) {
        if slots == self.slots {
            return;
        }
        let mut places: Vec<(usize, usize)> = (0..bin::SHARED).map(|p| (p, p)).collect();
        let mut wide_offset = bin::SHARED;
        for (policy, offset) in self.policies.iter().zip(self.offsets()) {
            let layout = policy.bin_sums();
            places.extend(layout.widened(slots).into_iter().map(|(from, to)| (offset + from, wide_offset + to)));
            wide_offset += BinSums { slots, ..layout }.len();
        }
        self.table = self.table.rearranged(wide_offset, &places);
        for policy in &mut self.policies {
            policy.gram = policy.gram.transform(&policy.features.widened(slots));
            policy.features.slots = slots;
            policy.tally.widen(slots);
        }
        self.slots = slots;
    }
}

impl PolicySums {
    pub(crate) fn bin_sums(&self) -> BinSums {
        let Features { slots, basis, chi } = self.features;
        BinSums { slots, basis, chi }
    }
}
