//! Rewards whose CDF is a mean of curves, one for each slot (additive) or each pair of slots (pairwise).
//!
//! `F(v | A) = mean over sets S of psi_S(A_S, v)`. To sample: a set uniformly, then from its curve. Everything about it
//! is known exactly.

use rand_distr::{Distribution as _, StandardNormal};

use crate::curve::Curve;
use crate::distribution::{Distribution, Mixture};
use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::random::{Purpose, Random, below, stream, uniform};
use crate::table::Table;
use crate::world::{Context, Contexts, Preferences, World};

/// A world whose conditional CDF is a mean of curves; without context.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixed {
    items: usize,
    sets: Vec<Set>,
    /// The curve of a set and the items in it, at `set * cells + cell`.
    curves: Vec<Curve>,
    preferences: Preferences,
}

/// The slots that a curve depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    Slot(usize),
    Pair(usize, usize),
}

/// Slates that are enumerated at most, for a policy whose slots depend on each other.
const MOST_SLATES: f64 = 1e6;

impl Mixed {
    /// Instances that are tried for one with the interaction asked for.
    const ATTEMPTS: u64 = 2000;

    /// Additive: a slice of the logistic function between two uniform draws from [-6, 6] for each slot and item, as in
    /// the paper's first experiment. Favourites are random.
    ///
    /// # Errors
    /// [`Error::BadSetting`] for no slots or no items.
    pub fn additive(slots: usize, items: usize, seed: u64) -> Result<Self> {
        let slice = |random: &mut Random| {
            let (a, b) = (12.0 * uniform(random) - 6.0, 12.0 * uniform(random) - 6.0);
            Curve::Slice { lo: a.min(b), hi: a.max(b) }
        };
        let sets = (0..slots).map(Set::Slot).collect();
        Self::new(slots, items, sets, slice, &mut stream(seed, Purpose::World, 0))
    }

    /// Additive: a curve `v^theta` for each slot and item, `theta = exp(1.2 N(0, 1))`. The sibling of
    /// [`pairwise`](Mixed::pairwise).
    ///
    /// # Errors
    /// [`Error::BadSetting`] for no slots or no items.
    pub fn additive_powers(slots: usize, items: usize, seed: u64) -> Result<Self> {
        let sets = (0..slots).map(Set::Slot).collect();
        Self::new(slots, items, sets, power, &mut stream(seed, Purpose::World, 0))
    }

    /// Pairwise: a curve `v^theta` for each pair of slots and items in them. The first instance whose interactions, as
    /// `target` meets them, are of the size wanted.
    ///
    /// # Errors
    /// [`Error::BadSetting`] for fewer than two slots, no items, or a size that no instance has.
    pub fn pairwise(
        slots: usize,
        items: usize,
        seed: u64,
        target: Policy,
        wanted: Option<Interaction>,
    ) -> Result<Self> {
        if slots < 2 {
            return Err(Error::setting("slots", slots, "a pair needs two slots"));
        }
        let pairs = || (0..slots).flat_map(|j| (j + 1..slots).map(move |k| Set::Pair(j, k))).collect();
        let draw = |attempt| Self::new(slots, items, pairs(), power, &mut stream(seed, Purpose::World, attempt));
        let Some(wanted) = wanted else { return draw(0) };
        target.check(slots, items)?;
        for attempt in 0..Self::ATTEMPTS {
            let world = draw(attempt)?;
            if wanted.holds(world.order_parts(target)?) {
                return Ok(world);
            }
        }
        let why = format!(
            "none of {} instances has an order-2 part in [{}, {}] and an order-1 part of {} or more for {target}",
            Self::ATTEMPTS,
            wanted.second.0,
            wanted.second.1,
            wanted.first
        );
        Err(Error::setting("interaction", "wanted", why))
    }

    fn new(
        slots: usize,
        items: usize,
        sets: Vec<Set>,
        curve: impl Fn(&mut Random) -> Curve,
        random: &mut Random,
    ) -> Result<Self> {
        if slots == 0 || items == 0 {
            return Err(Error::setting("slots and items", format!("{slots}, {items}"), "must be at least 1"));
        }
        let cells = sets.first().map_or(1, |set| set.cells(items));
        let curves = (0..sets.len() * cells).map(|_| curve(random)).collect();
        let mut preferences = Preferences::new(slots, items);
        for slot in 0..slots {
            preferences.scores_mut(slot).iter_mut().for_each(|score| *score = StandardNormal.sample(random));
            let scores = preferences.scores(slot);
            let best = (0..items).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0);
            preferences.favourites_mut()[slot] = best as u32;
        }
        Ok(Mixed { items, sets, curves, preferences })
    }

    fn cells(&self) -> usize {
        self.sets[0].cells(self.items)
    }

    /// The curves of each set of slots, the last slot's item moving fastest.
    pub(crate) fn curves_by_set(&self) -> impl Iterator<Item = (Vec<usize>, &[Curve])> {
        let slots = |set: &Set| match *set {
            Set::Slot(k) => vec![k],
            Set::Pair(j, k) => vec![j, k],
        };
        self.sets.iter().map(slots).zip(self.curves.chunks(self.cells()))
    }

    /// The favourite of each slot.
    pub(crate) fn favourites(&self) -> &[u32] {
        self.preferences.favourites()
    }

    /// `F(v | slate)`.
    pub fn cdf(&self, slate: &[u32], v: f64) -> f64 {
        let curve = |(s, set): (usize, &Set)| self.curves[s * self.cells() + set.cell(self.items, slate)].cdf(v);
        self.sets.iter().enumerate().map(curve).sum::<f64>() / self.sets.len() as f64
    }

    /// `sup_v |sum_{|S|=r} E_mu[prod_{k in S} Z_k F(v | A)]|` for r = 1 and 2, uniform logging and a factored target: how
    /// far the target's CDF is from the logging policy's through single slots, and through pairs.
    ///
    /// # Errors
    /// If the policy does not fit.
    pub fn order_parts(&self, target: Policy) -> Result<[f64; 2]> {
        let table = Table::new(target, &self.preferences)?;
        let mu = 1.0 / self.items as f64;
        let z = |slot: usize, item: usize| table.marginal(slot, item as u32) - mu;
        let n = self.items;
        let mut weights = [Vec::new(), Vec::new()];
        for set in &self.sets {
            for cell in 0..self.cells() {
                let [first, second] = match *set {
                    Set::Slot(k) => [z(k, cell), 0.0],
                    // Z_k of a slot outside the pair has expectation 0, so it plays no part.
                    Set::Pair(j, k) => {
                        let (zj, zk) = (z(j, cell / n), z(k, cell % n));
                        [mu * (zj + zk), zj * zk]
                    }
                };
                weights[0].push(first);
                weights[1].push(second);
            }
        }
        let part = |weights: &[f64], v: f64| {
            let sum: f64 = weights.iter().zip(&self.curves).map(|(w, curve)| w * curve.cdf(v)).sum();
            (sum / self.sets.len() as f64).abs()
        };
        let sup = |weights: &[f64]| (1..200).map(|i| part(weights, f64::from(i) / 200.0)).fold(0.0, f64::max);
        Ok([sup(&weights[0]), sup(&weights[1])])
    }

    /// The probability of each cell of each set.
    fn cell_probabilities(&self, policy: Policy) -> Result<Option<Vec<f64>>> {
        let table = Table::new(policy, &self.preferences)?;
        let marginal = |slot: usize, item: usize| table.marginal(slot, item as u32);
        let n = self.items;
        let mut p = vec![0.0; self.curves.len()];
        if policy.is_factored() || matches!(self.sets[0], Set::Slot(_)) {
            for (set, p) in self.sets.iter().zip(p.chunks_mut(self.cells())) {
                for (cell, p) in p.iter_mut().enumerate() {
                    *p = match *set {
                        Set::Slot(k) => marginal(k, cell),
                        Set::Pair(j, k) => marginal(j, cell / n) * marginal(k, cell % n),
                    };
                }
            }
            return Ok(Some(p));
        }
        if (n as f64).powi(self.slots() as i32) > MOST_SLATES {
            return Ok(None);
        }
        for_each_slate(self.slots(), n, &mut |slate| {
            let q = table.probability(slate);
            for (s, set) in self.sets.iter().enumerate() {
                p[s * self.cells() + set.cell(n, slate)] += q;
            }
        });
        Ok(Some(p))
    }
}

/// How strong interactions should be; see [`Mixed::order_parts`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interaction {
    /// The least part of single slots.
    pub first: f64,
    /// The least and the largest part of pairs.
    pub second: (f64, f64),
}

impl Default for Interaction {
    fn default() -> Self {
        Interaction { first: 0.05, second: (0.10, 0.13) }
    }
}

impl Interaction {
    fn holds(&self, [first, second]: [f64; 2]) -> bool {
        first >= self.first && (self.second.0..=self.second.1).contains(&second)
    }
}

impl Set {
    fn cells(self, items: usize) -> usize {
        match self {
            Set::Slot(_) => items,
            Set::Pair(..) => items * items,
        }
    }

    #[inline]
    fn cell(self, items: usize, slate: &[u32]) -> usize {
        match self {
            Set::Slot(k) => slate[k] as usize,
            Set::Pair(j, k) => slate[j] as usize * items + slate[k] as usize,
        }
    }
}

fn power(random: &mut Random) -> Curve {
    let normal: f64 = StandardNormal.sample(random);
    Curve::Power { theta: (1.2 * normal).exp() }
}

/// Visits every slate, repeats included.
pub(crate) fn for_each_slate(slots: usize, items: usize, visit: &mut dyn FnMut(&[u32])) {
    let mut slate = vec![0; slots];
    loop {
        visit(&slate);
        let Some(slot) = slate.iter().rposition(|&a| (a as usize) + 1 < items) else { return };
        slate[slot] += 1;
        slate[slot + 1..].fill(0);
    }
}

impl World for Mixed {
    fn slots(&self) -> usize {
        self.preferences.slots()
    }

    fn items(&self) -> usize {
        self.items
    }

    fn contexts(&self) -> Contexts {
        Contexts::Finite(1)
    }

    fn context(&self, _: &mut Random) -> Context {
        Context::default()
    }

    fn preferences(&self, _: &Context, out: &mut Preferences) {
        out.clone_from(&self.preferences);
    }

    fn reward(&self, _: &Context, slate: &[u32], random: &mut Random) -> f64 {
        let s = below(random, self.sets.len() as u32) as usize;
        self.curves[s * self.cells() + self.sets[s].cell(self.items, slate)].quantile(uniform(random))
    }

    fn exact(&self, policy: Policy) -> Result<Option<Distribution>> {
        let share = 1.0 / self.sets.len() as f64;
        let mixture = |p: Vec<f64>| Mixture::new(p.into_iter().map(|p| p * share).zip(self.curves.clone()).collect());
        Ok(self.cell_probabilities(policy)?.map(|p| Distribution::Mixture(mixture(p))))
    }
}
