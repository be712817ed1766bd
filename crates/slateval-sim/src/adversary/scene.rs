//! One context of a world: two policies, and how the reward depends on the slate.

use super::law::{Law, Mix};
use crate::random::{Random, pick};

/// What slots do with their actions: `[slot][action]`.
pub type Slots = Vec<Vec<f64>>;

/// One context: how slates are filled in it and what they are worth.
#[derive(Debug, Clone)]
pub struct Scene {
    /// How often it comes.
    pub probability: f64,
    /// The logging policy, whose slots are independent of each other.
    pub logging: Slots,
    /// The target's slots one by one, as the log gives them.
    pub target: Slots,
    /// The target's slates with their probabilities, where its slots depend on each other.
    pub joint: Option<Vec<(f64, Vec<usize>)>>,
    /// The reward: each part with its probability.
    pub reward: Vec<Part>,
}

/// A part of the reward: the slate's actions have scores, and their sum says which mixture the reward comes from.
#[derive(Debug, Clone)]
pub struct Part {
    probability: f64,
    /// The slots that matter, with the score of each action.
    scores: Vec<(usize, Vec<usize>)>,
    /// The mixture at each sum of scores.
    mixes: Vec<Mix>,
}

impl Part {
    /// The reward depends on the actions in these slots, `items` in each, as `mix` says.
    pub fn of_slots(probability: f64, slots: &[usize], items: usize, mix: impl Fn(&[usize]) -> Mix) -> Self {
        let digit = |place: usize| items.pow(place as u32);
        let score = |(place, &slot): (usize, &usize)| (slot, (0..items).map(|a| a * digit(place)).collect());
        let actions = |cell: usize| (0..slots.len()).map(|place| cell / digit(place) % items).collect::<Vec<_>>();
        let mixes = (0..digit(slots.len())).map(|cell| mix(&actions(cell))).collect();
        Part { probability, scores: slots.iter().enumerate().map(score).collect(), mixes }
    }

    /// The reward depends on how many of the first `slots` slots show their action 0.
    pub fn of_count(probability: f64, slots: usize, items: usize, mix: impl Fn(usize) -> Mix) -> Self {
        let score = |slot: usize| (slot, (0..items).map(|a| usize::from(a == 0)).collect());
        Part { probability, scores: (0..slots).map(score).collect(), mixes: (0..=slots).map(mix).collect() }
    }

    /// An even mixture over slots, each with laws of its own: an additive CDF.
    pub fn additive(slots: usize, items: usize, mix: impl Fn(usize, usize) -> Mix) -> Vec<Self> {
        let share = 1.0 / slots as f64;
        (0..slots).map(|slot| Part::of_slots(share, &[slot], items, |actions| mix(slot, actions[0]))).collect()
    }

    #[inline]
    fn mix(&self, slate: &[usize]) -> &Mix {
        let cell: usize = self.scores.iter().map(|(slot, scores)| scores[slate[*slot]]).sum();
        &self.mixes[cell]
    }

    /// The probability of each sum of scores where slots are independent: one slot after the other.
    fn cells(&self, policy: &Slots) -> Vec<f64> {
        let mut p = vec![0.0; self.mixes.len()];
        p[0] = 1.0;
        for (slot, scores) in &self.scores {
            let mut next = vec![0.0; p.len()];
            for (cell, p) in p.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                for (score, q) in scores.iter().zip(&policy[*slot]).filter(|(_, q)| **q > 0.0) {
                    next[cell + score] += p * q;
                }
            }
            p = next;
        }
        p
    }
}

impl Scene {
    /// A world's only context, with a target whose slots are independent.
    pub fn new(logging: Slots, target: Slots, reward: Vec<Part>) -> Self {
        Scene { probability: 1.0, logging, target, joint: None, reward }
    }

    /// The target's slots, given as its slates.
    pub fn with_joint(mut self, slates: Vec<(f64, Vec<usize>)>) -> Self {
        self.target.iter_mut().flatten().for_each(|p| *p = 0.0);
        for (p, slate) in &slates {
            slate.iter().enumerate().for_each(|(slot, &action)| self.target[slot][action] += p);
        }
        self.joint = Some(slates);
        self
    }

    /// The laws of the logging policy's rewards with their probabilities.
    pub(crate) fn logging_laws(&self) -> Vec<(f64, Law)> {
        self.laws(&self.logging)
    }

    /// The laws of the target's rewards with their probabilities.
    pub(crate) fn target_laws(&self) -> Vec<(f64, Law)> {
        let Some(slates) = &self.joint else { return self.laws(&self.target) };
        let of = |(p, slate): &(f64, Vec<usize>)| {
            let parts = self.reward.iter().map(|part| (p * part.probability, part.mix(slate)));
            parts.flat_map(scaled).collect::<Vec<_>>()
        };
        slates.iter().flat_map(of).collect()
    }

    fn laws(&self, policy: &Slots) -> Vec<(f64, Law)> {
        let of = |part: &Part| {
            let cells = part.cells(policy);
            cells.iter().zip(&part.mixes).flat_map(|(p, mix)| scaled((p * part.probability, mix))).collect::<Vec<_>>()
        };
        self.reward.iter().flat_map(of).collect()
    }

    /// Draws a slate of the logging policy.
    #[inline]
    pub(crate) fn draw_slate(&self, random: &mut Random, slate: &mut Vec<usize>) {
        slate.clear();
        slate.extend(self.logging.iter().map(|p| pick(p.iter().copied(), random)));
    }

    /// Draws the reward of a slate.
    #[inline]
    pub(crate) fn draw_reward(&self, slate: &[usize], random: &mut Random) -> f64 {
        let part = match &self.reward[..] {
            [part] => part,
            parts => &parts[pick(parts.iter().map(|part| part.probability), random)],
        };
        part.mix(slate).draw(random)
    }

    /// `chi_k` of every slot.
    pub(crate) fn chi(&self) -> Vec<f64> {
        let one = |(pi, mu): (&Vec<f64>, &Vec<f64>)| pi.iter().zip(mu).map(|(p, m)| p * p / m).sum::<f64>() - 1.0;
        self.target.iter().zip(&self.logging).map(one).collect()
    }
}

fn scaled((p, mix): (f64, &Mix)) -> impl Iterator<Item = (f64, Law)> {
    mix.parts.iter().map(move |(q, law)| (p * q, *law))
}
