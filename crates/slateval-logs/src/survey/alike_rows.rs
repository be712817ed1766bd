//! Rows that are alike in all columns that are read.

use std::collections::HashMap;

use slateval::{Block, Field};

/// A sample of rows by their hash: copies of a row are in it together, or not at all. It holds up to [`LARGEST`] different
/// rows, however long the log; each time it is full, every other row leaves.
#[derive(Debug, Default)]
pub(super) struct RowSample {
    /// By the hash of a whole row.
    rows: HashMap<u64, Copies>,
    /// A row is in it if so many of the last bits of its hash are 0.
    halvings: u32,
}

/// Rows with one hash.
#[derive(Debug, Clone, Copy)]
struct Copies {
    count: u64,
    reward: u64,
    /// The hash of all other columns.
    rest: u64,
}

const LARGEST: usize = 1 << 18;

/// Rows with one reward up to which the reward is rare. Chance repeats others, such as the 0 of slates without a purchase.
const RARE: u64 = 5;

/// How many rows are copies of others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlikeRows {
    /// Rows that are like an earlier one in all columns that are read, about.
    pub rows: u64,
    /// Pairs of rows that are alike, among those whose reward is rare.
    pairs: f64,
    /// Pairs of such rows that have the same reward, and differ in the rest.
    others: f64,
    /// The share of all pairs of such rows that are alike in the rest.
    rest: f64,
    /// How many pairs would be alike by chance, given how far apart rewards lie.
    by_chance: f64,
}

impl AlikeRows {
    /// Whether far more rows are alike than chance gives: more than rewards this fine would repeat, and more than those of
    /// the rows with equal rewards that would be alike in the rest as well.
    pub(super) fn are_suspicious(&self) -> bool {
        let differing_by_chance = (1.0 - self.rest) * (self.pairs + self.others);
        self.pairs > 5.0 && self.pairs > 30.0 * self.by_chance && self.others <= differing_by_chance / 3.0
    }
}

impl RowSample {
    pub(super) fn see(&mut self, block: &Block, mut label: impl FnMut(usize) -> u64) {
        let mut hashes: Vec<u64> = (0..block.rows()).map(&mut label).collect();
        for field in block.fields().into_iter().filter(|field| *field != Field::Reward) {
            let values = block.column(field);
            hashes.iter_mut().zip(values).for_each(|(hash, value)| *hash = mixed(*hash, value.to_bits()));
        }
        for (&rest, value) in hashes.iter().zip(block.column(Field::Reward)) {
            // Both zeros are one reward.
            let reward = (value + 0.0).to_bits();
            self.add(mixed(rest, reward), Copies { count: 1, reward, rest });
        }
    }

    fn add(&mut self, hash: u64, row: Copies) {
        if !self.keeps(hash) {
            return;
        }
        self.rows.entry(hash).and_modify(|known| known.count += 1).or_insert(row);
        while self.rows.len() > LARGEST {
            self.halvings += 1;
            let halvings = self.halvings;
            self.rows.retain(|hash, _| hash.trailing_zeros() >= halvings);
        }
    }

    fn keeps(&self, hash: u64) -> bool {
        hash.trailing_zeros() >= self.halvings
    }

    pub(super) fn alike(&self) -> AlikeRows {
        let scale = f64::from(self.halvings).exp2();
        let copies: u64 = self.rows.values().map(|row| row.count - 1).sum();
        let by = |key: fn(&Copies) -> u64, rows: &[Copies]| {
            let mut counts: HashMap<u64, u64> = HashMap::new();
            rows.iter().for_each(|row| *counts.entry(key(row)).or_default() += row.count);
            counts
        };
        let all: Vec<Copies> = self.rows.values().copied().collect();
        let rewards = by(|row| row.reward, &all);
        let rare: Vec<Copies> = all.into_iter().filter(|row| rewards[&row.reward] <= RARE).collect();
        let pairs_of = |count: u64| count as f64 * (count as f64 - 1.0) / 2.0;
        let pairs_by = |key| by(key, &rare).into_values().map(pairs_of).sum::<f64>();
        let alike: f64 = rare.iter().map(|row| pairs_of(row.count)).sum();
        let possible = pairs_of(rare.iter().map(|row| row.count).sum()).max(1.0);
        let rest = pairs_by(|row| row.rest) / possible;
        // Rows that are alike are in the sample together; of others, both have to be in it by themselves.
        let others = scale * scale * (pairs_by(|row| row.reward) - alike);
        let by_chance = scale * scale * equal_by_chance(&rare) * rest;
        AlikeRows { rows: (copies as f64 * scale) as u64, pairs: scale * alike, others, rest, by_chance }
    }
}

/// How many pairs of rewards would be equal if rewards were spread smoothly and written to the precision that their smallest
/// distance shows.
fn equal_by_chance(rows: &[Copies]) -> f64 {
    /// Rewards that a density is taken from.
    const WINDOW: usize = 10;
    let mut counts: HashMap<u64, u64> = HashMap::new();
    rows.iter().for_each(|row| *counts.entry(row.reward).or_default() += row.count);
    let mut rewards: Vec<(f64, f64)> =
        counts.into_iter().map(|(bits, count)| (f64::from_bits(bits), count as f64)).collect();
    rewards.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Numbers that differ by rounding alone are written to no finer precision.
    let distance = |pair: &[(f64, f64)]| {
        let (low, high) = (pair[0].0, pair[1].0);
        Some(high - low).filter(|distance| *distance > 1e-9 * low.abs().max(high.abs()))
    };
    let Some(step) = rewards.windows(2).filter_map(distance).reduce(f64::min) else { return f64::INFINITY };
    let window = WINDOW.min(rewards.len() - 1);
    let equal = |near: &[(f64, f64)]| {
        let width = near[window].0 - near[0].0;
        let inside: f64 = near[..window].iter().map(|(_, count)| count).sum();
        near[0].1 * inside / width * step / 2.0
    };
    rewards.windows(window + 1).map(equal).sum()
}

/// A hash with a number mixed in (the finaliser of SplitMix64).
pub(crate) fn mixed(hash: u64, number: u64) -> u64 {
    let mut bits = hash.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ number;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: impl Iterator<Item = (f64, u64)>) -> AlikeRows {
        let mut sample = RowSample::default();
        for (reward, rest) in rows {
            let reward = reward.to_bits();
            sample.add(mixed(mixed(0, rest), reward), Copies { count: 1, reward, rest });
        }
        sample.alike()
    }

    fn random(i: u64, of: u64) -> u64 {
        mixed(17, i) % of
    }

    fn fine(i: u64) -> f64 {
        random(i, 1 << 53) as f64 / (1_u64 << 53) as f64
    }

    #[test]
    fn copies_are_counted_however_long_the_log() {
        for (rows, patterns) in [(1000, 1), (1000, 7), (1_000_000, 7)] {
            let row = |i: u64| (fine(i), i % patterns);
            let twice = sample((0..rows).chain(0..rows / 10).map(row));
            assert!(twice.rows.abs_diff(rows / 10) <= rows / 500, "{twice:?} of {rows}");
            assert!(twice.are_suspicious(), "{twice:?}");
            let once = sample((0..rows).map(row));
            assert!((once.rows, once.are_suspicious()) == (0, false), "{once:?}");
        }
    }

    #[test]
    fn rewards_that_chance_repeats_are_no_copies() {
        let cents = |x: f64| (100.0 * x).round() / 100.0;
        let popular = |i: u64| [4.99, 9.99, 19.99, 49.99][random(i, 4) as usize] + random(i + 7, 50) as f64;
        let logs = [
            ("clicks", sample((0..100_000).map(|i| (random(i, 2) as f64, random(i + 1_000_000, 32))))),
            ("prices", sample((0..100_000).map(|i| (random(i, 20_000) as f64, 1)))),
            ("spent", sample((0..100_000).map(|i| (if i % 20 == 0 { fine(i) } else { 0.0 }, random(i, 8))))),
            ("revenue", sample((0..3000).map(|i| (cents(20.0 / (0.01 + fine(i))), random(i + 1_000_000, 4))))),
            ("popular", sample((0..400).map(|i| (popular(i), random(i + 1_000_000, 2))))),
            ("one pattern", sample((0..400).map(|i| (popular(i), 1)))),
            ("singles", sample((0..400_000).map(|i| (f64::from(fine(i) as f32), random(i + 1_000_000, 2))))),
        ];
        for (what, found) in logs {
            assert!(!found.are_suspicious(), "{what}: {found:?}");
        }
    }
}
