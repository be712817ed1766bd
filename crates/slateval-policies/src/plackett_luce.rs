//! A ranker that fills slot after slot without repeats: an item left is taken in proportion to `exp(score)`.
//!
//! What comes next depends on *which* items were shown, not on their order. So the walk goes over sets of items: those
//! of size `s` with the probability that they fill the first `s` slots, and with the probability that member `i` then
//! stands in slot `j`. For 5 slots of 20 items there are 4,845 sets of four items, and 1,860,480 slates.

use rand::Rng;

use crate::moments::Moments;
use crate::sets::{Binomials, advance, largest_level};

/// Plackett and Luce's distribution over slates of some slots.
#[derive(Debug)]
pub struct PlackettLuce {
    slots: usize,
    items: usize,
    /// Items that can be shown, the highest score first.
    ranked: Vec<usize>,
    /// `exp(score_b - score_t)` for the first ranks `t`, at `t * ranked.len() + b`. The best item left has one of these
    /// ranks, as at most `slots - 1` items are gone. Measured against it no sum underflows.
    worth: Vec<f64>,
}

/// What is known of the sets of one size.
struct Level {
    size: usize,
    /// The probability that the set fills the first slots.
    reach: Vec<f64>,
    /// The same with member `i` in slot `j`, at `(set * size + j) * size + i`; empty if nobody asks.
    placed: Vec<f64>,
    /// The rank of the best item left.
    best: Vec<usize>,
    /// The worth of all items left, measured against the best.
    left: Vec<f64>,
}

/// Whether pairs of cells are wanted, or single ones only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Pairs,
    Singles,
}

impl PlackettLuce {
    /// A ranker with a score for each item; one with score `-inf` is never shown. There must be at least `slots` others.
    ///
    /// # Panics
    /// If there are fewer items to show than slots.
    pub fn new(scores: &[f64], slots: usize) -> Self {
        let mut ranked: Vec<usize> = (0..scores.len()).filter(|&a| scores[a] > f64::NEG_INFINITY).collect();
        assert!(ranked.len() >= slots, "fewer items than slots");
        ranked.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let against = |top: usize| ranked.iter().map(move |&b| (scores[b] - scores[top]).exp());
        let worth = ranked[..slots].iter().flat_map(|&top| against(top)).collect();
        PlackettLuce { slots, items: scores.len(), ranked, worth }
    }

    /// How many sets of items the largest step of an exact walk has.
    pub fn sets(&self) -> f64 {
        largest_level(self.ranked.len(), self.slots)
    }

    /// `E[1_A 1_A']`, exactly. Takes about `sets() * slots^2 * items` multiplications.
    pub fn moments(&self) -> Moments {
        let mut found = Moments::zeros(self.slots * self.ranked.len());
        self.walk(Wanted::Pairs, |level, set, members, shares| self.add(&mut found, level, set, members, shares));
        self.by_item(&found)
    }

    /// The probability of each item in each slot, exactly.
    pub fn marginals(&self) -> Vec<f64> {
        let mut found = vec![0.0; self.slots * self.items];
        self.walk(Wanted::Singles, |level, set, _, shares| {
            let slot = &mut found[level.size * self.items..][..self.items];
            shares.iter().zip(&self.ranked).for_each(|(share, &item)| slot[item] += level.reach[set] * share);
        });
        found
    }

    /// Draws a slate.
    pub fn draw(&self, random: &mut impl Rng, taken: &mut Vec<bool>, slate: &mut Vec<u32>) {
        let many = self.ranked.len();
        taken.clear();
        taken.resize(many, false);
        for _ in 0..self.slots {
            let best = taken.iter().position(|&is| !is).unwrap_or(0);
            let worth = &self.worth[best * many..][..many];
            let left: f64 = (best..many).filter(|&b| !taken[b]).map(|b| worth[b]).sum();
            let mut point = uniform(random) * left;
            let mut chosen = best;
            for b in (best..many).filter(|&b| !taken[b]) {
                chosen = b;
                point -= worth[b];
                if point < 0.0 {
                    break;
                }
            }
            taken[chosen] = true;
            slate.push(self.ranked[chosen] as u32);
        }
    }

    /// Visits every set that fills the slots before some slot, with each item's probability to come next.
    fn walk(&self, wanted: Wanted, mut visit: impl FnMut(&Level, usize, &[usize], &[f64])) {
        let many = self.ranked.len();
        let binomials = Binomials::new(many, self.slots);
        let mut level = self.first(wanted);
        let mut shares = vec![0.0; many];
        loop {
            let mut members: Vec<usize> = (0..level.size).collect();
            for set in 0..level.reach.len() {
                self.shares(&level, set, &members, &mut shares);
                visit(&level, set, &members, &shares);
                advance(&mut members);
            }
            if level.size + 1 == self.slots {
                return;
            }
            level = self.next(&level, &binomials, wanted);
        }
    }

    fn first(&self, wanted: Wanted) -> Level {
        let placed = if wanted == Wanted::Pairs { Vec::with_capacity(1) } else { Vec::new() };
        let left = self.worth[..self.ranked.len()].iter().sum();
        Level { size: 0, reach: vec![1.0], placed, best: vec![0], left: vec![left] }
    }

    /// The probability of each item to come after the set, by rank.
    fn shares(&self, level: &Level, set: usize, members: &[usize], shares: &mut [f64]) {
        let many = self.ranked.len();
        let worth = &self.worth[level.best[set] * many..][..many];
        shares.iter_mut().zip(worth).for_each(|(share, worth)| *share = worth / level.left[set]);
        members.iter().for_each(|&member| shares[member] = 0.0);
    }

    /// The sets with one more member, each reached by whichever of its members came last.
    fn next(&self, level: &Level, binomials: &Binomials, wanted: Wanted) -> Level {
        let (many, size) = (self.ranked.len(), level.size + 1);
        let count = binomials.choose(many, size);
        let placed = if wanted == Wanted::Pairs { vec![0.0; count * size * size] } else { Vec::new() };
        let mut next = Level { size, reach: vec![0.0; count], placed, best: vec![0; count], left: vec![0.0; count] };
        let mut members: Vec<usize> = (0..size).collect();
        let mut before = vec![0; size];
        for set in 0..count {
            binomials.without_each(&members, &mut before);
            for (last, &from) in before.iter().enumerate() {
                let share = self.worth[level.best[from] * many + members[last]] / level.left[from];
                next.reach[set] += level.reach[from] * share;
                if wanted == Wanted::Pairs {
                    next.place(level, set, from, last, share);
                }
            }
            // Members are in ascending order: the first rank that is not its own place is not taken.
            let best = members.iter().enumerate().take_while(|&(place, &member)| place == member).count();
            let worth = &self.worth[best * many..][..many];
            next.best[set] = best;
            next.left[set] = sum_of_others(worth, best, &members);
            advance(&mut members);
        }
        next
    }

    /// Adds what a set tells of the slot that comes after it.
    fn add(&self, found: &mut Moments, level: &Level, set: usize, members: &[usize], shares: &[f64]) {
        let (many, size) = (self.ranked.len(), level.size);
        let diagonal = size * many;
        for (b, share) in shares.iter().enumerate() {
            found.values[(diagonal + b) * found.size + diagonal + b] += level.reach[set] * share;
        }
        for slot in 0..size {
            for (i, &member) in members.iter().enumerate() {
                let placed = level.placed[(set * size + slot) * size + i];
                let row = &mut found.values[(slot * many + member) * found.size + diagonal..][..many];
                // The hot loop: one multiplication for each pair of cells that the set tells of.
                row.iter_mut().zip(shares).for_each(|(pair, share)| *pair += placed * share);
            }
        }
    }

    /// The upper half of a matrix over ranks as a whole one over items.
    fn by_item(&self, found: &Moments) -> Moments {
        let many = self.ranked.len();
        let mut moments = Moments::zeros(self.slots * self.items);
        let cell = |at: usize| at / many * self.items + self.ranked[at % many];
        for one in 0..found.size {
            for other in one..found.size {
                let p = found.at(one, other);
                moments.values[cell(one) * moments.size + cell(other)] = p;
                moments.values[cell(other) * moments.size + cell(one)] = p;
            }
        }
        moments
    }
}

impl Level {
    /// Adds the ways to `set` on which its member `last` came last, after the set `from`.
    fn place(&mut self, before: &Level, set: usize, from: usize, last: usize, share: f64) {
        let (size, less) = (self.size, before.size);
        let own = &mut self.placed[set * size * size..][..size * size];
        own[less * size + last] += before.reach[from] * share;
        for slot in 0..less {
            for i in 0..less {
                let member = if i < last { i } else { i + 1 };
                own[slot * size + member] += before.placed[(from * less + slot) * less + i] * share;
            }
        }
    }
}

fn sum_of_others(worth: &[f64], best: usize, members: &[usize]) -> f64 {
    let mut gone = members[best..].iter().peekable();
    let mut sum = 0.0;
    for (b, worth) in worth.iter().enumerate().skip(best) {
        if gone.next_if(|&&member| member == b).is_none() {
            sum += worth;
        }
    }
    sum
}

/// Uniform on `[0, 1)`, a multiple of `2^-53`.
fn uniform(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}
