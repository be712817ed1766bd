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
use crate::world::{Context, Preferences, World};

/// A world whose conditional CDF is a mean of curves; without context.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixed {
    items: usize,
    /// The slots that curves depend on: as many in each set.
    sets: Vec<Vec<usize>>,
    /// The curve of a set and the items in it, at `set * cells + cell`; the last slot's item moves fastest.
    curves: Vec<Curve>,
    preferences: Preferences,
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
        Self::new(slots, items, singles(slots), slice, &mut stream(seed, Purpose::World, 0))
    }

    /// Additive: a curve `v^theta` for each slot and item, `theta = exp(1.2 N(0, 1))`. The sibling of
    /// [`pairwise`](Mixed::pairwise).
    ///
    /// # Errors
    /// [`Error::BadSetting`] for no slots or no items.
    pub fn additive_powers(slots: usize, items: usize, seed: u64) -> Result<Self> {
        Self::new(slots, items, singles(slots), power, &mut stream(seed, Purpose::World, 0))
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
        let pairs = || (0..slots).flat_map(|j| (j + 1..slots).map(move |k| vec![j, k])).collect();
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
        sets: Vec<Vec<usize>>,
        curve: impl Fn(&mut Random) -> Curve,
        random: &mut Random,
    ) -> Result<Self> {
        if slots == 0 || items == 0 {
            return Err(Error::setting("slots and items", format!("{slots}, {items}"), "must be at least 1"));
        }
        let curves = (0..sets.len() * items.pow(sets[0].len() as u32)).map(|_| curve(random)).collect();
        let mut preferences = Preferences::new(slots, items);
        for slot in 0..slots {
            preferences.scores_mut(slot).iter_mut().for_each(|score| *score = StandardNormal.sample(random));
            preferences.favourites_mut()[slot] = preferences.best(slot);
        }
        Ok(Mixed { items, sets, curves, preferences })
    }

    /// The number of curves of each set.
    fn cells(&self) -> usize {
        self.curves.len() / self.sets.len()
    }

    /// Where the curves of a set have the one for these items, one for each of its slots.
    #[inline]
    fn cell(&self, items: impl Iterator<Item = u32>) -> usize {
        items.fold(0, |cell, item| cell * self.items + item as usize)
    }

    /// The curve of a set for a slate.
    #[inline]
    fn curve(&self, set: usize, slate: &[u32]) -> &Curve {
        &self.curves[set * self.cells() + self.cell(self.sets[set].iter().map(|&slot| slate[slot]))]
    }

    /// The slots and their items that each curve is for, in the order of the curves.
    fn indices(&self) -> impl Iterator<Item = impl Iterator<Item = (usize, u32)>> {
        let item = move |cell: usize, after: usize| (cell / self.items.pow(after as u32) % self.items) as u32;
        self.sets.iter().flat_map(move |set| {
            (0..self.cells())
                .map(move |cell| set.iter().enumerate().map(move |(at, &slot)| (slot, item(cell, set.len() - 1 - at))))
        })
    }

    /// The curves of each set of slots, the last slot's item moving fastest.
    pub(crate) fn curves_by_set(&self) -> impl Iterator<Item = (&[usize], &[Curve])> {
        self.sets.iter().map(Vec::as_slice).zip(self.curves.chunks(self.cells()))
    }

    /// The favourite of each slot.
    pub(crate) fn favourites(&self) -> &[u32] {
        self.preferences.favourites()
    }

    /// `F(v | slate)`.
    pub fn cdf(&self, slate: &[u32], v: f64) -> f64 {
        (0..self.sets.len()).map(|set| self.curve(set, slate).cdf(v)).sum::<f64>() / self.sets.len() as f64
    }

    /// `sup_v |sum_{|S|=r} E_mu[prod_{k in S} Z_k F(v | A)]|` for r = 1 and 2, uniform logging and a factored target: how
    /// far the target's CDF is from the logging policy's through single slots, and through pairs.
    ///
    /// # Errors
    /// If the policy does not fit.
    pub fn order_parts(&self, target: Policy) -> Result<[f64; 2]> {
        let table = Table::new(target, &self.preferences)?;
        let mu = 1.0 / self.items as f64;
        let z = |(slot, item): (usize, u32)| table.marginal(slot, item) - mu;
        // Z_k of a slot outside the set has expectation 0, so it plays no part.
        let (others, pairs) = if self.sets[0].len() > 1 { (mu, 1.0) } else { (1.0, 0.0) };
        let first: Vec<f64> = self.indices().map(|own| others * own.map(z).sum::<f64>()).collect();
        let second: Vec<f64> = self.indices().map(|own| pairs * own.map(z).product::<f64>()).collect();
        let part = |weights: &[f64], v: f64| {
            let sum: f64 = weights.iter().zip(&self.curves).map(|(w, curve)| w * curve.cdf(v)).sum();
            (sum / self.sets.len() as f64).abs()
        };
        let sup = |weights: &[f64]| (1..200).map(|i| part(weights, f64::from(i) / 200.0)).fold(0.0, f64::max);
        Ok([sup(&first), sup(&second)])
    }

    /// The probability of each cell of each set.
    fn cell_probabilities(&self, policy: Policy) -> Result<Option<Vec<f64>>> {
        let table = Table::new(policy, &self.preferences)?;
        if policy.is_factored() || self.sets[0].len() == 1 {
            let marginal = |(slot, item)| table.marginal(slot, item);
            return Ok(Some(self.indices().map(|own| own.map(marginal).product()).collect()));
        }
        if (self.items as f64).powi(self.slots() as i32) > MOST_SLATES {
            return Ok(None);
        }
        let mut p = vec![0.0; self.curves.len()];
        for_each_slate(self.slots(), self.items, &mut |slate| {
            let q = table.probability(slate);
            for (set, p) in self.sets.iter().zip(p.chunks_mut(self.cells())) {
                p[self.cell(set.iter().map(|&slot| slate[slot]))] += q;
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

/// Every slot by itself.
fn singles(slots: usize) -> Vec<Vec<usize>> {
    (0..slots).map(|slot| vec![slot]).collect()
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

    fn contexts(&self) -> Option<usize> {
        Some(1)
    }

    fn context(&self, _: &mut Random) -> Context {
        Context::default()
    }

    fn preferences(&self, _: &Context, out: &mut Preferences) {
        out.clone_from(&self.preferences);
    }

    fn reward(&self, _: &Context, slate: &[u32], random: &mut Random) -> f64 {
        let set = below(random, self.sets.len() as u32) as usize;
        self.curve(set, slate).quantile(uniform(random))
    }

    fn exact(&self, policy: Policy) -> Result<Option<Distribution>> {
        let share = 1.0 / self.sets.len() as f64;
        let mixture = |p: Vec<f64>| Mixture::new(p.into_iter().map(|p| p * share).zip(self.curves.clone()).collect());
        Ok(self.cell_probabilities(policy)?.map(|p| Distribution::Mixture(mixture(p))))
    }
}
