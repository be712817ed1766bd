//! A policy in one context: the probability of every item in every slot, and how to draw a slate.

use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::random::{Random, below, pick};
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
    /// What it was filled with.
    policy: Option<Policy>,
}

#[derive(Debug, Clone, PartialEq, Default)]
enum Draw {
    /// Any item in any slot.
    #[default]
    Uniform,
    /// By the marginals, slot by slot.
    Factored,
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
        if self.policy == Some(policy) && policy.ignores_context() {
            return Ok(());
        }
        self.policy = Some(policy);
        self.items = items;
        self.recorded = None;
        self.marginal.resize(slots * items, 0.0);
        match policy {
            Policy::Uniform => self.fill_uniform(Draw::Uniform),
            Policy::Deterministic => self.fill_greedy(0.0, preferences),
            Policy::EpsilonGreedy { epsilon } => self.fill_greedy(epsilon, preferences),
            Policy::Softmax { scale } => {
                softmax(scale, preferences, &mut self.marginal, true);
                self.draw = Draw::Factored;
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
        self.draw = Draw::Factored;
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

    /// Whether every item may stand in every slot, as far as the log says.
    pub(crate) fn covers_all(&self) -> bool {
        self.recorded.as_ref().unwrap_or(&self.marginal).iter().all(|&p| p > 0.0)
    }

    /// Fills `chi[k]` with `chi_k = sum_a pi_k(a)^2 / mu_k(a) - 1` of this policy in a log of another.
    pub fn chi(&self, logging: &Table, chi: &mut [f64]) {
        let mu = logging.recorded.as_ref().unwrap_or(&logging.marginal).chunks(self.items);
        let distance = |pi: &[f64], mu: &[f64]| {
            // What the target never plays may have no propensity in the log either.
            let term = |(&pi, &mu): (&f64, &f64)| if pi > 0.0 { pi * pi / mu } else { 0.0 };
            pi.iter().zip(mu).map(term).sum::<f64>() - 1.0
        };
        let slots = self.marginal.chunks(self.items).zip(mu);
        chi.iter_mut().zip(slots).for_each(|(chi, (pi, mu))| *chi = distance(pi, mu));
    }

    /// The probability of a whole slate.
    pub fn probability(&self, slate: &[u32]) -> f64 {
        let repeats = || slate.iter().enumerate().any(|(k, a)| slate[..k].contains(a));
        match &self.draw {
            Draw::Uniform | Draw::Factored => slate.iter().enumerate().map(|(k, &a)| self.marginal(k, a)).product(),
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
            Draw::Factored => {
                for (a, p) in slate.iter_mut().zip(self.marginal.chunks(items)) {
                    *a = pick(p.iter().copied(), random) as u32;
                }
            }
            Draw::Ranking => draw_ranking(items, random, slate),
            Draw::PlackettLuce(weights) => ranking::draw(weights, items, random, slate),
        }
    }
}

/// Each slot gets an item that no slot before it has, drawn again where one has: exact, and rarely more than a few draws.
fn draw_ranking(items: usize, random: &mut Random, slate: &mut [u32]) {
    for k in 0..slate.len() {
        slate[k] = loop {
            let item = below(random, items as u32);
            if !slate[..k].contains(&item) {
                break item;
            }
        };
    }
}

/// `exp(scale * score)` of every item, slot by slot, made probabilities where asked for.
fn softmax(scale: f64, preferences: &Preferences, out: &mut [f64], normalise: bool) {
    for (slot, row) in out.chunks_mut(preferences.items()).enumerate() {
        let scores = preferences.scores(slot);
        let largest = scores.iter().map(|s| scale * s).fold(f64::NEG_INFINITY, f64::max);
        row.iter_mut().zip(scores).for_each(|(w, score)| *w = (scale * score - largest).exp());
        if normalise {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|w| *w /= sum);
        }
    }
}
