//! The one interface of all simulators.

use std::fmt::Debug;

use crate::distribution::Distribution;
use crate::error::Result;
use crate::policy::Policy;
use crate::random::Random;

/// What is known before a slate is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Context {
    /// Which one, where they are finitely many.
    pub index: usize,
    /// Features, where they are not.
    pub features: [f64; 2],
}

/// A world in which slates are shown and rewarded: a context, what is preferred there, and a reward given the slate.
///
/// Policies, sampling and files are the business of [`Simulation`](crate::Simulation).
pub trait World: Debug + Send + Sync {
    /// `K`, the number of slots.
    fn slots(&self) -> usize;

    /// `N`, the number of items that may stand in any slot.
    fn items(&self) -> usize;

    /// How many contexts there are, told apart by their index; none if they are more than can be counted, and told apart by
    /// their features.
    fn contexts(&self) -> Option<usize>;

    /// Draws a context.
    fn context(&self, random: &mut Random) -> Context;

    /// What policies look at: a favourite for each slot, a score for each slot and item.
    fn preferences(&self, context: &Context, out: &mut Preferences);

    /// Draws the reward of a slate.
    fn reward(&self, context: &Context, slate: &[u32], random: &mut Random) -> f64;

    /// The exact reward distribution of a policy, where it can be worked out.
    ///
    /// # Errors
    /// If the policy does not fit the world.
    fn exact(&self, policy: Policy) -> Result<Option<Distribution>>;
}

/// What a world prefers in one context.
#[derive(Debug, Clone, PartialEq)]
pub struct Preferences {
    items: usize,
    scores: Vec<f64>,
    favourites: Vec<u32>,
}

impl Preferences {
    /// No preferences yet.
    pub fn new(slots: usize, items: usize) -> Self {
        Preferences { items, scores: vec![0.0; slots * items], favourites: vec![0; slots] }
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.favourites.len()
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.items
    }

    /// The score of every item in a slot.
    pub fn scores(&self, slot: usize) -> &[f64] {
        &self.scores[slot * self.items..(slot + 1) * self.items]
    }

    /// The same, to be filled.
    pub fn scores_mut(&mut self, slot: usize) -> &mut [f64] {
        &mut self.scores[slot * self.items..(slot + 1) * self.items]
    }

    /// The favourite of each slot.
    pub fn favourites(&self) -> &[u32] {
        &self.favourites
    }

    /// The same, to be filled.
    pub fn favourites_mut(&mut self) -> &mut [u32] {
        &mut self.favourites
    }

    /// The item with the highest score in a slot.
    pub(crate) fn best(&self, slot: usize) -> u32 {
        let scores = self.scores(slot);
        (0..self.items).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0) as u32
    }

    /// Gives every slot the scores of the first.
    pub fn copy_first_slot(&mut self) {
        for slot in 1..self.slots() {
            self.scores.copy_within(0..self.items, slot * self.items);
        }
    }
}
