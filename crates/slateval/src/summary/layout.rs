//! What stands where in a bin's row of sums.

use crate::question::spec::Spec;
use crate::question::structure::Structure;
use crate::summary::features::{BinSums, Features};
use crate::summary::table::bin;
use crate::summary::witness::Witness;

/// What a specification asks to be kept, beside the number of slots.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    /// Number of functions that weights are made of.
    pub(crate) basis: usize,
    /// Whether each policy comes with chi.
    pub(crate) chi: Vec<bool>,
    /// The policy that the others are compared with.
    pub(crate) baseline: Option<usize>,
    /// Whether each two slots' interaction is kept.
    pub(crate) interactions: bool,
    /// Into how many groups clusters are hashed; 0 without clusters.
    pub(crate) groups: usize,
    structure: Structure,
}

impl Kept {
    pub(crate) fn new(spec: &Spec) -> Self {
        let has_slots = spec.structure.needs().slots;
        let named = |name: &String| spec.policies.iter().position(|p| p.name == *name);
        Kept {
            basis: spec.basis(),
            chi: spec.policies.iter().map(|p| p.chi && has_slots).collect(),
            baseline: spec.baseline.as_ref().and_then(named),
            interactions: spec.interactions && has_slots,
            groups: usize::from(spec.groups()),
            structure: spec.structure.clone(),
        }
    }

    /// What would show if the structure left something out, for slates of some slots.
    pub(crate) fn witnesses(&self, slots: usize) -> Vec<Witness> {
        Witness::list(&self.structure, self.basis, slots)
    }

    pub(crate) fn policies(&self) -> usize {
        self.chi.len()
    }

    pub(crate) fn features(&self, policy: usize, slots: usize) -> Features {
        Features { slots, basis: self.basis, chi: self.chi[policy] }
    }

    /// The policies that are compared with the baseline.
    pub(crate) fn compared(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = 0..self.policies();
        self.baseline.into_iter().flat_map(move |b| all.clone().filter(move |&p| p != b).map(move |p| (p, b)))
    }
}

/// A bin's row: what all policies share, then each policy's [`BinSums`] and [`WitnessSums`], then products of two policies' factors for those
/// that are compared, then each policy's products of slots.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowLayout {
    pub(crate) own: Vec<Section<BinSums>>,
    /// Each directly behind the policy's own sums.
    pub(crate) witnesses: Vec<Section<WitnessSums>>,
    pub(crate) cross: Vec<Section<CrossSums>>,
    pub(crate) pairs: Vec<Section<PairSums>>,
    pub(crate) width: usize,
}

/// Some sums, and where they begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Section<T> {
    pub(crate) start: usize,
    pub(crate) sums: T,
}

/// Products of the factors of two policies: left factors `W_i` of one with the right ones of the other, and the other
/// way round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CrossSums {
    pub(crate) policy: usize,
    pub(crate) baseline: usize,
    policy_sums: BinSums,
    baseline_sums: BinSums,
}

/// `Z_j Z_k` and its square for `j < k`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairSums {
    pub(crate) slots: usize,
}

/// A witness and its square, for each witness.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WitnessSums {
    pub(crate) list: Vec<Witness>,
}

impl RowLayout {
    pub(crate) fn new(kept: &Kept, slots: usize) -> Self {
        let mut width = bin::SHARED;
        let mut take = |length: usize| {
            let start = width;
            width += length;
            start
        };
        let own_sums: Vec<BinSums> = (0..kept.policies()).map(|p| kept.features(p, slots).bin_sums()).collect();
        let list = kept.witnesses(slots);
        let (mut own, mut witnesses) = (Vec::new(), Vec::new());
        for &sums in &own_sums {
            own.push(Section { start: take(sums.len()), sums });
            witnesses.push(Section { start: take(2 * list.len()), sums: WitnessSums { list: list.clone() } });
        }
        let crossing = |(policy, baseline): (usize, usize)| {
            let (policy_sums, baseline_sums) = (own_sums[policy], own_sums[baseline]);
            let sums = CrossSums { policy, baseline, policy_sums, baseline_sums };
            Section { start: take(sums.len()), sums }
        };
        let cross = kept.compared().map(crossing).collect();
        let kept = if kept.interactions { kept.policies() } else { 0 };
        let pair = PairSums { slots };
        let pairs = (0..kept).map(|_| Section { start: take(pair.len()), sums: pair }).collect();
        RowLayout { own, witnesses, cross, pairs, width }
    }

    /// `(place here, place in a layout for more slots)` of every sum.
    pub(crate) fn widened(&self, wide: &RowLayout, slots: usize) -> Vec<(usize, usize)> {
        let mut places: Vec<(usize, usize)> = (0..bin::SHARED).map(|p| (p, p)).collect();
        let mut moved = |from: usize, to: usize, inner: Vec<(usize, usize)>| {
            places.extend(inner.into_iter().map(|(a, b)| (from + a, to + b)));
        };
        for (a, b) in self.own.iter().zip(&wide.own) {
            moved(a.start, b.start, a.sums.widened(slots));
        }
        for (a, b) in self.witnesses.iter().zip(&wide.witnesses) {
            moved(a.start, b.start, a.sums.widened(&b.sums));
        }
        for (a, b) in self.cross.iter().zip(&wide.cross) {
            moved(a.start, b.start, a.sums.widened(&b.sums, slots));
        }
        for (a, b) in self.pairs.iter().zip(&wide.pairs) {
            moved(a.start, b.start, (0..a.sums.len()).map(|p| (p, p)).collect());
        }
        places
    }
}

impl WitnessSums {
    /// Where a witness stands; its square comes next.
    pub(crate) fn place(witness: usize) -> usize {
        2 * witness
    }

    /// Shorter slates have fewer witnesses, each with the same products as that of longer ones where they have none of
    /// the further slots. Products of an order that is told apart stay what they are.
    fn widened(&self, wide: &WitnessSums) -> Vec<(usize, usize)> {
        let same = |witness: &Witness| wide.list.iter().position(|other| other == witness);
        let places = self.list.iter().enumerate().filter_map(|(from, witness)| Some((from, same(witness)?)));
        places.flat_map(|(from, to)| (0..2).map(move |i| (Self::place(from) + i, Self::place(to) + i))).collect()
    }
}

impl CrossSums {
    /// Where the products of the policy's `W_left` (counted from 1) with the baseline's right factors begin.
    pub(crate) fn of_policy(&self, left: usize) -> usize {
        (left - 1) * self.baseline_sums.right()
    }

    /// Where those of the baseline's `W_left` with the policy's right factors begin.
    pub(crate) fn of_baseline(&self, left: usize) -> usize {
        self.of_policy(self.policy_sums.basis + 1) + (left - 1) * self.policy_sums.right()
    }

    pub(crate) fn len(&self) -> usize {
        self.of_baseline(self.baseline_sums.basis + 1)
    }

    fn widened(&self, wide: &CrossSums, slots: usize) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        let mut moved = |from: usize, to: usize, right: BinSums| {
            let inner = right.widened_right(slots, right.right());
            places.extend(inner.into_iter().map(|(a, b)| (from + a, to + b)));
        };
        for left in 1..=self.policy_sums.basis {
            moved(self.of_policy(left), wide.of_policy(left), self.baseline_sums);
        }
        for left in 1..=self.baseline_sums.basis {
            moved(self.of_baseline(left), wide.of_baseline(left), self.policy_sums);
        }
        places
    }
}

impl PairSums {
    /// Where `Z_j Z_k` stands, for `j < k`; its square comes next. The places do not depend on the number of slots.
    pub(crate) fn place(j: usize, k: usize) -> usize {
        2 * (k * (k.saturating_sub(1)) / 2 + j)
    }

    pub(crate) fn len(&self) -> usize {
        Self::place(0, self.slots)
    }
}
