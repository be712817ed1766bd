//! A policy in one context: the probability of every item in every slot, and how to draw a slate.

use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::random::{Random, below, uniform};
use crate::ranking;
use crate::world::Preferences;

/// What a policy plays in one context.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    items: usize,
    /// The probability of item `a` in slot `k`, at `k * items + a`.
    marginal: Vec<f64>,
    /// The probabilities that a log gives, where they are not the marginal ones.
    recorded: Option<Vec<f64>>,
    draw: Draw,
}

#[derive(Debug, Clone, PartialEq, Default)]
enum Draw {
    /// Any item in any slot.
    #[default]
    Uniform,
    /// Sums of the marginals, slot by slot.
    Factored(Vec<f64>),
    /// A uniform ranking.
    Ranking,
    /// Weights of items, slot by slot.
    PlackettLuce(Vec<f64>),
}

impl Table {
    /// The policy where these are preferred.
    ///
    /// # Errors
    /// [`Error::BadSetting`] for a Plackett-Luce policy with too many items for its marginals to be worked out.
    pub fn new(policy: Policy, preferences: &Preferences) -> Result<Self> {
        let mut table = Table::default();
        table.fill(policy, preferences)?;
        Ok(table)
    }

    /// The same, in place.
    pub(crate) fn fill(&mut self, policy: Policy, preferences: &Preferences) -> Result<()> {
        let (slots, items) = (preferences.slots(), preferences.items());
        self.items = items;
        self.recorded = None;
        self.marginal.resize(slots * items, 0.0);
        match policy {
            Policy::Uniform => self.fill_uniform(Draw::Uniform),
            Policy::Deterministic => self.fill_greedy(0.0, preferences),
            Policy::EpsilonGreedy { epsilon } => self.fill_greedy(epsilon, preferences),
            Policy::Softmax { scale } => {
                softmax(scale, preferences, &mut self.marginal, true);
                self.accumulate();
            }
            Policy::Ranking => self.fill_uniform(Draw::Ranking),
            Policy::Mismatch => {
                self.fill_uniform(Draw::Ranking);
                let given_earlier = |cell: usize| 1.0 / (items - cell / items) as f64;
                self.recorded = Some((0..slots * items).map(given_earlier).collect());
            }
            Policy::PlackettLuce { scale } => {
                let mut weights = vec![0.0; slots * items];
                softmax(scale, preferences, &mut weights, false);
                self.marginal = ranking::marginals(&weights, items)
                    .ok_or_else(|| Error::setting("policy", policy, "too many items for exact propensities"))?;
                self.draw = Draw::PlackettLuce(weights);
            }
        }
        Ok(())
    }

    fn fill_uniform(&mut self, draw: Draw) {
        self.marginal.fill(1.0 / self.items as f64);
        self.draw = draw;
    }

    fn fill_greedy(&mut self, epsilon: f64, preferences: &Preferences) {
        let others = (self.items - 1) as f64;
        self.marginal.fill(epsilon);
        for (row, &favourite) in self.marginal.chunks_mut(self.items).zip(preferences.favourites()) {
            row[favourite as usize] = 1.0 - others * epsilon;
        }
        self.accumulate();
    }

    fn accumulate(&mut self) {
        let mut sums = match std::mem::take(&mut self.draw) {
            Draw::Factored(sums) => sums,
            _ => Vec::new(),
        };
        sums.clear();
        for row in self.marginal.chunks(self.items) {
            sums.extend(row.iter().scan(0.0, |sum, p| {
                *sum += p;
                Some(*sum)
            }));
        }
        self.draw = Draw::Factored(sums);
    }

    /// The probability of an item in a slot.
    #[inline]
    pub fn marginal(&self, slot: usize, item: u32) -> f64 {
        self.marginal[slot * self.items + item as usize]
    }

    /// The probability of it that the log gives: the marginal one, unless the log is wrong on purpose.
    #[inline]
    pub fn recorded(&self, slot: usize, item: u32) -> f64 {
        self.recorded.as_ref().unwrap_or(&self.marginal)[slot * self.items + item as usize]
    }

    /// The expected number of times that the item is shown: its probability anywhere in the slate, for a policy that
    /// never shows one twice.
    pub fn anywhere(&self, item: u32) -> f64 {
        self.marginal.iter().skip(item as usize).step_by(self.items).sum()
    }

    /// `chi_k = sum_a pi_k(a)^2 / mu_k(a) - 1` of this policy in a log of another.
    pub fn chi(&self, logging: &Table, slot: usize) -> f64 {
        let range = slot * self.items..(slot + 1) * self.items;
        let mu = &logging.recorded.as_ref().unwrap_or(&logging.marginal)[range.clone()];
        let pi = &self.marginal[range];
        pi.iter().zip(mu).filter(|(pi, _)| **pi > 0.0).map(|(pi, mu)| pi * pi / mu).sum::<f64>() - 1.0
    }

    /// The probability of a whole slate.
    pub fn probability(&self, slate: &[u32]) -> f64 {
        let repeats = || slate.iter().enumerate().any(|(k, a)| slate[..k].contains(a));
        match &self.draw {
            Draw::Uniform | Draw::Factored(_) => slate.iter().enumerate().map(|(k, &a)| self.marginal(k, a)).product(),
            Draw::Ranking | Draw::PlackettLuce(_) if repeats() => 0.0,
            Draw::Ranking => (0..slate.len()).map(|k| 1.0 / (self.items - k) as f64).product(),
            Draw::PlackettLuce(weights) => ranking::probability(weights, self.items, slate),
        }
    }

    /// Draws a slate.
    #[inline]
    pub fn draw(&self, random: &mut Random, slate: &mut [u32]) {
        let items = self.items;
        match &self.draw {
            Draw::Uniform => slate.iter_mut().for_each(|a| *a = below(random, items as u32)),
            Draw::Factored(sums) => {
                for (a, sums) in slate.iter_mut().zip(sums.chunks(items)) {
                    *a = pick(sums, random);
                }
            }
            Draw::Ranking => draw_ranking(items, random, slate),
            Draw::PlackettLuce(weights) => ranking::draw(weights, items, random, slate),
        }
    }
}

/// The first item whose sum exceeds a uniform number.
#[inline]
fn pick(sums: &[f64], random: &mut Random) -> u32 {
    let last = sums.len() - 1;
    let u = uniform(random) * sums[last];
    // Short rows are searched faster from the front than by halves.
    let found =
        if last < 32 { sums.iter().take_while(|&&s| s <= u).count() } else { sums.partition_point(|&s| s <= u) };
    found.min(last) as u32
}

/// Each slot gets one of the items not shown yet: the `r`-th of them, found by stepping over the shown ones in order.
fn draw_ranking(items: usize, random: &mut Random, slate: &mut [u32]) {
    for k in 0..slate.len() {
        let mut item = below(random, (items - k) as u32);
        // Insertion into a sorted copy would be O(K^2) as well; slates are short.
        let mut passed = 0;
        while passed != slate[..k].iter().filter(|&&a| a <= item).count() {
            let below_now = slate[..k].iter().filter(|&&a| a <= item).count();
            item += (below_now - passed) as u32;
            passed = below_now;
        }
        slate[k] = item;
    }
}

/// `exp(scale * score)` of every item, slot by slot, made probabilities where asked for.
fn softmax(scale: f64, preferences: &Preferences, out: &mut [f64], normalise: bool) {
    let items = preferences.items();
    for slot in 0..preferences.slots() {
        if slot > 0 && preferences.alike() {
            let (first, rest) = out.split_at_mut(slot * items);
            rest[..items].copy_from_slice(&first[..items]);
            continue;
        }
        let (scores, row) = (preferences.scores(slot), &mut out[slot * items..(slot + 1) * items]);
        let largest = scores.iter().map(|s| scale * s).fold(f64::NEG_INFINITY, f64::max);
        row.iter_mut().zip(scores).for_each(|(w, score)| *w = (scale * score - largest).exp());
        if normalise {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|w| *w /= sum);
        }
    }
}
