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

/// A reward that this share of rows has is no value that chance rarely repeats: such as 0 of rows without a purchase.
const COMMON: f64 = 0.01;

/// Rows with one reward up to which it is not common, however short the log.
const FEW: u64 = 5;

/// How many rows are copies of others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlikeRows {
    /// Rows that are like an earlier one in all columns that are read, about.
    pub rows: u64,
    /// Pairs of rows that are alike, among those whose reward is rare, in the sample.
    pairs: f64,
    /// How many chance would give.
    by_chance: f64,
}

impl AlikeRows {
    /// Whether far more rows are alike than chance gives.
    pub(super) fn are_suspicious(&self) -> bool {
        self.pairs > 5.0 + 3.0 * self.by_chance
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

    /// Two rows share a reward, and share all the rest, with certain probabilities. If one had nothing to do with the other,
    /// their product is that of two rows that are alike; rewards that depend on the rest make it some times larger.
    pub(super) fn alike(&self) -> AlikeRows {
        let scale = f64::from(self.halvings).exp2();
        let copies: u64 = self.rows.values().map(|row| row.count - 1).sum();
        let by = |key: fn(&Copies) -> u64, rows: &[Copies]| {
            let mut counts: HashMap<u64, u64> = HashMap::new();
            rows.iter().for_each(|row| *counts.entry(key(row)).or_default() += row.count);
            counts
        };
        let all: Vec<Copies> = self.rows.values().copied().collect();
        let total: u64 = all.iter().map(|row| row.count).sum();
        let rewards = by(|row| row.reward, &all);
        let is_rare = |row: &Copies| rewards[&row.reward] <= FEW.max((COMMON * total as f64) as u64);
        let rare: Vec<Copies> = all.into_iter().filter(is_rare).collect();
        let pairs = |count: u64| count as f64 * (count as f64 - 1.0) / 2.0;
        let pairs_by = |key| by(key, &rare).into_values().map(pairs).sum::<f64>();
        let possible = pairs(rare.iter().map(|row| row.count).sum()).max(1.0);
        // Pairs that are alike are in the sample together; of others, both have to be in it.
        let by_chance = scale * pairs_by(|row| row.rest) * pairs_by(|row| row.reward) / possible;
        let pairs = rare.iter().map(|row| pairs(row.count)).sum();
        AlikeRows { rows: (copies as f64 * scale) as u64, pairs, by_chance }
    }
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

    fn sample(rows: impl Iterator<Item = (u64, u64)>) -> AlikeRows {
        let mut sample = RowSample::default();
        for (reward, rest) in rows {
            sample.add(mixed(mixed(0, rest), reward), Copies { count: 1, reward, rest });
        }
        sample.alike()
    }

    #[test]
    fn copies_are_counted_however_long_the_log() {
        for rows in [1000, 1_000_000] {
            let twice = sample((0..rows).chain(0..rows / 10).map(|row| (row, row % 7)));
            assert!(twice.rows.abs_diff(rows / 10) <= rows / 500, "{twice:?} of {rows}");
            assert!(twice.are_suspicious(), "{twice:?}");
            let once = sample((0..rows).map(|row| (row, row % 7)));
            assert!((once.rows, once.are_suspicious()) == (0, false), "{once:?}");
        }
    }

    #[test]
    fn rewards_that_chance_repeats_are_no_copies() {
        let random = |i: u64, of: u64| mixed(17, i) % of;
        // Clicks; rounded prices of slates that are all alike in the rest; purchases, of which most are 0.
        let clicks = sample((0..100_000).map(|i| (random(i, 2), random(i + 1_000_000, 32))));
        let prices = sample((0..100_000).map(|i| (random(i, 20_000), 1)));
        let spent = sample((0..100_000).map(|i| (if i % 20 == 0 { i } else { 0 }, random(i, 8))));
        for (what, found) in [("clicks", clicks), ("prices", prices), ("spent", spent)] {
            assert!(found.rows > 0 && !found.are_suspicious(), "{what}: {found:?}");
        }
    }
}
