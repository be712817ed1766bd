//! Where a bin keeps what is no product of two features: what all policies share, pairs of slots, witnesses, clusters.
//! See docs/methods.md, section 3.2.

use crate::math::lanes::Lanes;
use crate::summary::index::Layout;
use crate::summary::witness::Witness;

/// Whether a number itself is summed or its square. The square stands next to the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Power {
    First,
    Second,
}

impl Power {
    const BOTH: [Power; 2] = [Power::First, Power::Second];
    pub(crate) const COUNT: usize = Self::BOTH.len();
}

/// The sums of `Z_j Z_k` and of its square, for every two slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairLayout {
    pub(crate) slots: usize,
}

/// `Z_j Z_k` for slots `j < k`, or its square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) j: usize,
    pub(crate) k: usize,
    pub(crate) power: Power,
}

impl Layout for PairLayout {
    type Key = Pair;

    fn keys(&self) -> Vec<Pair> {
        let pairs = (0..self.slots).flat_map(|k| (0..k).map(move |j| (j, k)));
        pairs.flat_map(|(j, k)| Power::BOTH.map(|power| Pair { j, k, power })).collect()
    }

    #[inline(always)]
    fn place(&self, Pair { j, k, power }: Pair) -> usize {
        Power::COUNT * (k * k.saturating_sub(1) / 2 + j) + power as usize
    }

    fn len(&self) -> usize {
        self.place(Pair { j: 0, k: self.slots, power: Power::First })
    }
}

/// The sums of each witness and of its square.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WitnessLayout {
    pub(crate) list: Vec<Witness>,
}

impl Layout for WitnessLayout {
    type Key = (Witness, Power);

    fn keys(&self) -> Vec<(Witness, Power)> {
        self.list.iter().flat_map(|&witness| Power::BOTH.map(|power| (witness, power))).collect()
    }

    /// Longer slates have every witness of shorter ones, with the same products where the further slots are missing.
    fn place(&self, (witness, power): (Witness, Power)) -> usize {
        match self.list.iter().position(|&other| other == witness) {
            Some(position) => Power::COUNT * position + power as usize,
            None => unreachable!("{witness:?} is not among {:?}", self.list),
        }
    }

    fn len(&self) -> usize {
        Power::COUNT * self.list.len()
    }
}

/// What a bin keeps once for all policies, at the beginning of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shared {
    Rows,
    /// The sum of the rewards.
    Reward,
    /// The smallest reward. Smallest of all, not added up, as the next.
    Least,
    /// The largest reward, with its sign changed.
    MinusMost,
}

impl Shared {
    pub(crate) const ALL: [Shared; 4] = [Shared::Rows, Shared::Reward, Shared::Least, Shared::MinusMost];

    /// Those of a bin without rows.
    pub(crate) const NONE: [f64; 4] = [0.0, 0.0, f64::INFINITY, f64::INFINITY];

    /// Those of one row are [`ROWS`](Shared::ROWS) and the reward times these.
    pub(crate) const REWARDS: Lanes = [0.0, 1.0, 1.0, -1.0, 0.0, 0.0, 0.0, 0.0];
    /// The sign of the last is changed as that of a reward is: the largest reward is then 0.0 and not -0.0.
    pub(crate) const ROWS: Lanes = [1.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0, 0.0];

    #[inline(always)]
    pub(crate) const fn place(self) -> usize {
        self as usize
    }

    /// Those of all rows of two bins.
    pub(crate) fn merge(a: &mut [f64], b: &[f64]) {
        for shared in Self::ALL {
            let (a, b) = (&mut a[shared.place()], b[shared.place()]);
            *a = if matches!(shared, Shared::Least | Shared::MinusMost) { a.min(b) } else { *a + b };
        }
    }
}

/// What a bin keeps of one group of clusters: its rows, then each policy's `sum W_j`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupLayout {
    pub(crate) policies: usize,
    pub(crate) basis: usize,
}

/// A sum over the rows of a group in a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupSum {
    Rows,
    /// `W_j` of a policy.
    Weight {
        policy: usize,
        j: usize,
    },
}

impl GroupLayout {
    #[inline(always)]
    pub(crate) fn place(self, sum: GroupSum) -> usize {
        match sum {
            GroupSum::Rows => 0,
            GroupSum::Weight { policy, j } => 1 + policy * self.basis + j,
        }
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.place(GroupSum::Weight { policy: self.policies, j: 0 })
    }
}
