//! Rows of known patterns are counted, and added to all sums when somebody asks.
//! See docs/methods.md, section 3.9.
//!
//! Everything that a cell sums is a function of a row's pattern times a power of its reward. So it is enough to know how
//! many rows of each bin have which pattern, and for each pattern the sums of the powers of its rewards. That is one count
//! and four additions a row; what the pattern itself adds is computed once and multiplied.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::math::column::ROWS;
use crate::math::fetch::fetch;
use crate::math::lanes::{Eight, LANES, wide};
use crate::rows::block::Block;
use crate::rows::patterns::{Codes, MOST_PATTERNS, Patterns, Recognised};
use crate::summary::accumulate::Scratch;
use crate::summary::cell::{Cell, PolicySums};
use crate::summary::index::{POWERS, Shared};
use crate::summary::pattern_sums::{PatternSums, PolicyPatterns};
use crate::summary::rewards::Rewards;
use crate::summary::table::Table;

/// Patterns that rows had before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recognition {
    known: Option<Arc<KnownPatterns>>,
    found: Recognised,
    /// Blocks of the log that were recognised, and that were not.
    hits: u64,
    misses: u64,
}

/// Whether the rows of a block have known patterns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Sight {
    /// Nobody looked, for patterns would not tell all that is summed.
    NotAsked,
    Recognised,
    Missed,
}

/// Patterns, and what they add to the sums of a cell once somebody asked.
#[derive(Debug)]
pub(crate) struct KnownPatterns {
    pub(super) patterns: Patterns,
    sums: OnceLock<PatternSums>,
}

/// Blocks that may be missed before there is no more looking for patterns, beside a part of those that were recognised.
const MOST_MISSES: u64 = 8;
const HITS_FOR_A_MISS: u64 = 4;

impl Recognition {
    /// Whether all rows of a block have known patterns. Their codes are kept.
    pub(super) fn recognise(&mut self, block: &Block) -> Sight {
        let found = self.known.as_ref().is_some_and(|known| known.patterns.recognise(block, &mut self.found));
        if found { Sight::Recognised } else { Sight::Missed }
    }

    /// The patterns that are known now.
    pub(super) fn known(&self) -> Option<&Arc<KnownPatterns>> {
        self.known.as_ref()
    }

    /// The codes of the block that was recognised last.
    pub(super) fn codes(&self) -> &[Codes] {
        &self.found.codes
    }

    /// Whether too many blocks were missed.
    pub(super) fn has_given_up(&self) -> bool {
        self.misses > MOST_MISSES + self.hits / HITS_FOR_A_MISS
    }

    /// Learns the patterns of a block of the log, if it was missed. Those of segments teach nothing: what is
    /// known must depend on the log's blocks alone, and not on how long rows of segments wait.
    pub(super) fn learn(&mut self, sight: Sight, block: &Block, policies: usize) {
        match sight {
            Sight::NotAsked => {}
            Sight::Recognised => self.hits += 1,
            Sight::Missed if self.has_given_up() => self.known = None,
            Sight::Missed => {
                self.misses += 1;
                let known = self.known.as_ref().map(|known| &known.patterns);
                if let Some(patterns) = Patterns::learn(known, block, policies) {
                    self.known = Some(Arc::new(KnownPatterns { patterns, sums: OnceLock::new() }));
                }
            }
        }
    }
}

#[cfg(test)]
impl Recognition {
    /// Recognises nothing any more.
    pub(super) fn give_up(&mut self) {
        (self.known, self.misses) = (None, u64::MAX);
    }
}

/// Rows of known patterns that were counted, and are still to be added to the sums of a cell.
#[derive(Debug, Clone)]
pub(crate) struct Repeats {
    known: Arc<KnownPatterns>,
    rows: u64,
    /// The counts of a pattern are this power of two apart: as many as there can be bins.
    shift: u32,
    /// For each bin that there is by now.
    rewards: Vec<BinRewards>,
    policies: Vec<PolicyRepeats>,
}

/// What is kept of the rewards in a bin.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct BinRewards {
    sum: f64,
    least: f64,
    most: f64,
}

impl BinRewards {
    const NONE: BinRewards = BinRewards { sum: 0.0, least: f64::INFINITY, most: f64::NEG_INFINITY };
}

/// The counted rows of one policy.
#[derive(Debug, Clone)]
struct PolicyRepeats {
    /// Pattern by pattern, and in each bin by bin: most rows have the same few patterns, whose counts stay in the
    /// nearest cache.
    counts: Vec<u32>,
    /// For each pattern, the sums of `R` to `R^4`, seen from the cell's origin. A row's sums have to wait until those of the
    /// last row of that pattern are stored, so that rows take turns.
    powers: Box<[[Powers; MOST_PATTERNS]; TURNS]>,
}

type Powers = [f64; POWERS];

const TURNS: usize = 4;

/// Rows whose counts are asked for ahead of the one that is being counted: those of segments are far away.
const AHEAD: usize = 16;

/// Rows that can be counted without an overflow.
const MOST_ROWS: u64 = u32::MAX as u64 - ROWS as u64;

impl Repeats {
    /// `bins` is how many there can be.
    fn new(known: Arc<KnownPatterns>, bins: usize, policies: usize) -> Self {
        let bins = bins.next_power_of_two();
        let of_policy = |policy| PolicyRepeats {
            counts: vec![0; known.patterns.count(policy) * bins],
            powers: Box::new([[[0.0; POWERS]; MOST_PATTERNS]; TURNS]),
        };
        let policies = (0..policies).map(of_policy).collect();
        Repeats { known, rows: 0, shift: bins.trailing_zeros(), rewards: Vec::new(), policies }
    }

    /// The counts of a policy's pattern, bin by bin.
    fn counts(&self, policy: usize, pattern: usize) -> &[u32] {
        &self.policies[policy].counts[pattern << self.shift..][..1 << self.shift]
    }

    /// Rows of each bin, which are the same for every policy.
    fn rows_by_bin(&self) -> Vec<u32> {
        let mut rows = vec![0; 1 << self.shift];
        for counts in self.policies[0].counts.chunks_exact(1 << self.shift) {
            rows.iter_mut().zip(counts).for_each(|(rows, count)| *rows += count);
        }
        rows
    }

    /// For a policy's pattern, how many rows there are, and the sums of the powers of their rewards.
    fn powers(&self, policy: usize, pattern: usize) -> [f64; 1 + POWERS] {
        let rows: u64 = self.counts(policy, pattern).iter().map(|&count| u64::from(count)).sum();
        let mut powers = [0.0; 1 + POWERS];
        powers[0] = rows as f64;
        for turn in self.policies[policy].powers.iter() {
            powers[1..].iter_mut().zip(&turn[pattern]).for_each(|(sum, more)| *sum += more);
        }
        powers
    }
}

impl Cell {
    /// Whether the patterns of rows of so many slots tell all that is summed.
    pub(super) fn can_count(&self, slots: usize) -> bool {
        self.kept.can_count() && self.slots == slots
    }

    /// Counts the rows of a block that was just recognised, given their bins and rewards.
    pub(super) fn count_recognised(&mut self, scratch: &mut Scratch) {
        let Scratch { recognition: Recognition { known: Some(known), found, .. }, rewards, bin_rows, .. } = scratch
        else {
            unreachable!("only known patterns are recognised")
        };
        self.count(known, &found.codes, (rewards, bin_rows));
    }

    /// Counts rows of known patterns, given their bins and rewards.
    pub(super) fn count(
        &mut self,
        known: &Arc<KnownPatterns>,
        codes: &[Codes],
        (rewards, bin_rows): (&Rewards, &[u32]),
    ) {
        let fits = |repeats: &Repeats| Arc::ptr_eq(&repeats.known, known) && repeats.rows < MOST_ROWS;
        if !self.repeats.as_ref().is_some_and(fits) {
            self.add_repeats();
        }
        let (bins, policies) = (self.bins.binning().capacity, self.policies.len());
        let repeats = self.repeats.get_or_insert_with(|| Repeats::new(known.clone(), bins, policies));
        repeats.rows += bin_rows.len() as u64;
        repeats.rewards.resize(self.table.len(), BinRewards::NONE);
        gather_rewards(bin_rows, rewards, &mut repeats.rewards);
        for (repeats_of, codes) in repeats.policies.iter_mut().zip(codes) {
            count_rows(bin_rows, codes, rewards, repeats.shift, repeats_of);
        }
    }

    /// Adds the rows that were counted to all sums.
    pub(crate) fn add_repeats(&mut self) {
        let Some(repeats) = self.repeats.take() else { return };
        let sums = repeats.known.sums.get_or_init(|| PatternSums::new(self, &repeats.known.patterns));
        for (bin, rows) in repeats.rows_by_bin().into_iter().enumerate().take(self.table.len()) {
            if rows > 0 {
                let BinRewards { sum, least, most } = repeats.rewards[bin];
                Shared::merge(self.table.row_mut(bin as u32), &[f64::from(rows), sum, least, -most]);
            }
        }
        for (policy, PolicyPatterns { places, over_all, counted, powers: of_sums }) in sums.policies.iter().enumerate()
        {
            add_to_bins(&mut self.table, &repeats.policies[policy].counts, repeats.shift, &sums.in_bin, places);
            let PolicySums { moments, tally } = &mut self.policies[policy];
            for (pattern, (one, counted)) in over_all.iter().zip(counted).enumerate() {
                let powers = repeats.powers(policy, pattern);
                moments.add_repeats(&one.moments, of_sums, &powers);
                tally.add_repeats(&one.tally, counted, powers[0] as u64);
            }
        }
    }
}

/// Bins whose counts of a pattern lie in one cache line.
const BINS_AT_ONCE: usize = 16;

wide! {
    /// Adds each pattern to each bin as often as it was counted there. The counts of a pattern are a power of two apart.
    fn add_to_bins(table: &mut Table, counts: &[u32], shift: u32, ones: &Table, places: &[Range<usize>]) = add_to_each_bin
}

#[inline(always)]
fn add_to_each_bin<F: Eight>(table: &mut Table, counts: &[u32], shift: u32, ones: &Table, places: &[Range<usize>]) {
    let mut near = [[0; BINS_AT_ONCE]; MOST_PATTERNS];
    let (bins, patterns) = (table.len(), counts.len() >> shift);
    for first in (0..bins).step_by(BINS_AT_ONCE) {
        let some = first..bins.min(first + BINS_AT_ONCE);
        for (near, counts) in near.iter_mut().zip(counts.chunks_exact(1 << shift)) {
            near[..some.len()].copy_from_slice(&counts[some.clone()]);
        }
        for (bin, place) in some.zip(0..) {
            let mut found = [(0, 0.0); MOST_PATTERNS];
            let mut used = 0;
            for (pattern, counts) in near[..patterns].iter().enumerate() {
                found[used] = (pattern as u32, f64::from(counts[place]));
                used += usize::from(counts[place] > 0);
            }
            let row = table.row_mut(bin as u32);
            for places in places {
                add_patterns::<F>(&mut row[places.clone()], &found[..used], ones, places.start);
            }
        }
    }
}

/// Adds each of some patterns so many times. Sums stay in registers until all patterns are added.
#[inline(always)]
fn add_patterns<F: Eight>(sums: &mut [f64], patterns: &[(u32, f64)], ones: &Table, start: usize) {
    let (eights, rest) = sums.as_chunks_mut();
    for (i, sums) in eights.iter_mut().enumerate() {
        let mut eight = F::load(sums);
        for &(pattern, times) in patterns {
            let (ones, _) = ones.row(pattern)[start..].as_chunks();
            eight = F::load(&ones[i]).times_plus(F::splat(times), eight);
        }
        eight.store(sums);
    }
    let start = start + eights.len() * LANES;
    for (i, sum) in rest.iter_mut().enumerate() {
        for &(pattern, times) in patterns {
            *sum = ones.row(pattern)[start + i].mul_add(times, *sum);
        }
    }
}

wide! {
    /// Takes the rewards of some rows into their bins.
    fn gather_rewards(bins: &[u32], rewards: &Rewards, into: &mut [BinRewards]) = gather_each_reward
}

#[inline(always)]
fn gather_each_reward<F: Eight>(bins: &[u32], rewards: &Rewards, into: &mut [BinRewards]) {
    for (row, (&bin, &reward)) in bins.iter().zip(rewards.plain.first(bins.len())).enumerate() {
        if let Some(&ahead) = bins.get(row + AHEAD) {
            fetch(into, ahead as usize, 1);
        }
        let bin = &mut into[bin as usize];
        bin.sum += reward;
        // Soon hardly any reward is a new extreme, and what is not stored need not be waited for.
        if reward < bin.least {
            bin.least = reward;
        }
        if reward > bin.most {
            bin.most = reward;
        }
    }
}

wide! {
    /// Counts some rows.
    fn count_rows(bins: &[u32], codes: &Codes, rewards: &Rewards, shift: u32, into: &mut PolicyRepeats) = count_each_row
}

#[inline(always)]
fn count_each_row<F: Eight>(bins: &[u32], codes: &Codes, rewards: &Rewards, shift: u32, into: &mut PolicyRepeats) {
    let PolicyRepeats { counts, powers } = into;
    let (centred, squared) = (rewards.centred.first(bins.len()), rewards.squared.first(bins.len()));
    for (row, ((&bin, &code), (&reward, &square))) in
        bins.iter().zip(codes).zip(centred.iter().zip(squared)).enumerate()
    {
        if let (Some(&bin), Some(&code)) = (bins.get(row + AHEAD), codes.get(row + AHEAD)) {
            fetch(counts, (usize::from(code) << shift) + bin as usize, 1);
        }
        let code = usize::from(code) % MOST_PATTERNS;
        counts[(code << shift) + bin as usize] += 1;
        let sums = &mut powers[row % TURNS][code];
        let more = [reward, square, square * reward, square * square];
        for power in 0..POWERS {
            sums[power] += more[power];
        }
    }
}
