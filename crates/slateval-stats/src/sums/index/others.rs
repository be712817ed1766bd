//! Where a bin keeps what is no product of two features: what all policies share, pairs of slots, witnesses, clusters.
//! See docs/methods.md, section 3.2.

use crate::sums::index::Layout;
use crate::sums::witness::Witness;

/// Whether a number itself is summed or its square. The square stands next to the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// The number.
    First,
    /// Its square.
    Second,
}

impl Power {
    const BOTH: [Power; 2] = [Power::First, Power::Second];
    /// How many powers there are.
    pub const COUNT: usize = Self::BOTH.len();
}

/// The sums of `Z_j Z_k` and of its square, for every two slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairLayout {
    /// Slots of the longest slate.
    pub slots: usize,
}

/// `Z_j Z_k` for slots `j < k`, or its square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The earlier slot.
    pub j: usize,
    /// The later slot.
    pub k: usize,
    /// The product or its square.
    pub power: Power,
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

    fn width(&self) -> usize {
        self.place(Pair { j: 0, k: self.slots, power: Power::First })
    }
}

/// The sums of each witness and of its square.
#[derive(Debug, Clone, PartialEq)]
pub struct WitnessLayout {
    /// The witnesses, in order.
    pub list: Vec<Witness>,
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

    fn width(&self) -> usize {
        Power::COUNT * self.list.len()
    }
}

/// What a bin keeps once for all policies, at the beginning of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// How many rows there are.
    Rows,
    /// The sum of the rewards.
    Reward,
    /// The smallest reward. Smallest of all, not added up, as the next.
    Least,
    /// The largest reward, with its sign changed.
    MinusMost,
}

impl Shared {
    /// All of them, in the order of their places.
    pub const ALL: [Shared; 4] = [Shared::Rows, Shared::Reward, Shared::Least, Shared::MinusMost];

    /// Those of a bin without rows.
    pub const NONE: [f64; 4] = [0.0, 0.0, f64::INFINITY, f64::INFINITY];

    /// Where it stands in a row.
    #[inline(always)]
    pub const fn place(self) -> usize {
        self as usize
    }

    /// Those of all rows of two bins.
    pub fn merge(a: &mut [f64], b: &[f64]) {
        for shared in Self::ALL {
            let (a, b) = (&mut a[shared.place()], b[shared.place()]);
            *a = if matches!(shared, Shared::Least | Shared::MinusMost) { a.min(b) } else { *a + b };
        }
    }
}

/// What a bin keeps of one group of clusters: its rows, then each policy's `sum W_j`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupLayout {
    /// How many targets there are.
    pub policies: usize,
    /// How many `W_j` there are.
    pub basis: usize,
}

/// A sum over the rows of a group in a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupSum {
    /// How many rows there are.
    Rows,
    /// `W_j` of a policy.
    Weight {
        /// The policy.
        policy: usize,
        /// Which `W_j`, counted from 0.
        j: usize,
    },
}

impl GroupLayout {
    /// Where a sum stands.
    #[inline(always)]
    pub fn place(self, sum: GroupSum) -> usize {
        match sum {
            GroupSum::Rows => 0,
            GroupSum::Weight { policy, j } => 1 + policy * self.basis + j,
        }
    }

    /// How many sums there are.
    #[inline(always)]
    pub fn width(self) -> usize {
        self.place(GroupSum::Weight { policy: self.policies, j: 0 })
    }
}
