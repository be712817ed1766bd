//! Rows that are alike in all but their rewards.
//! See docs/methods.md, section 3.9.
//!
//! A policy that draws uniformly has one probability in each slot, and one that is greedy but for an epsilon has two. A slate
//! of five slots then has one of 32 rows of probabilities, its *pattern*, however many slates there are. Rows of known
//! patterns need not be weighed one by one: it is enough to count them.

use crate::math::column::{Column, GROUPS, ROWS, groups_of};
use crate::math::lanes::{Eight, LANES, wide};
use crate::question::field::Field;
use crate::rows::block::Block;

/// Columns with two values, of those that one policy's weights are made of.
const MOST_BITS: usize = 5;

/// Patterns of one policy.
pub(crate) const MOST_PATTERNS: usize = 1 << MOST_BITS;

/// The pattern of each row, for one policy: a bit for each column with two values, set where the second one stands.
pub(crate) type Codes = [u8; ROWS];

/// One or two values of each column of probabilities.
#[derive(Debug, Clone)]
pub(crate) struct Patterns {
    /// An empty block with the columns meant.
    like: Block,
    slots: usize,
    kinds: Vec<Kind>,
    /// The values of each column, kind by kind and slot by slot; the same value twice where there is only one.
    values: Vec<[f64; 2]>,
    /// For each policy, the columns that tell its patterns apart.
    varying: Vec<Vec<usize>>,
}

/// Columns of the same kind, one for each slot.
#[derive(Debug, Clone, Copy)]
struct Kind {
    /// That of the first slot.
    first: Field,
    /// Whose weights depend on it; all policies' where there is none.
    policy: Option<usize>,
}

/// Buffers for recognising rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recognised {
    /// For each column, which rows have its second value.
    seconds: Vec<[u8; GROUPS]>,
    /// For each policy.
    pub(crate) codes: Vec<Codes>,
}

impl Patterns {
    /// The patterns of a block that has been checked, beside those that are known. None if they are too many, or if the
    /// slates differ in length.
    pub(crate) fn learn(known: Option<&Patterns>, block: &Block, policies: usize) -> Option<Patterns> {
        let slots = block.slots();
        if slots == 0 || block.has_missing() || known.is_some_and(|known| known.slots != slots) {
            return None;
        }
        let kinds = kinds_of(block);
        let columns = kinds.iter().flat_map(|kind| block.whole_columns(kind.first));
        let mut values = Vec::with_capacity(kinds.len() * slots);
        for (place, column) in columns.enumerate() {
            let before = known.map(|known| known.values[place]);
            values.push(two_values(before, column.first(block.rows()))?);
        }
        let varying: Vec<Vec<usize>> = (0..policies).map(|policy| varying_of(&kinds, &values, slots, policy)).collect();
        let few = varying.iter().all(|columns| columns.len() <= MOST_BITS);
        few.then(|| Patterns { like: block.without_segments(), slots, kinds, values, varying })
    }

    /// How many a policy has.
    pub(crate) fn count(&self, policy: usize) -> usize {
        1 << self.varying[policy].len()
    }

    /// Finds each row's pattern. False if one row has another.
    pub(crate) fn recognise(&self, block: &Block, found: &mut Recognised) -> bool {
        if block.slots() != self.slots || block.has_missing() {
            return false;
        }
        found.seconds.resize(self.values.len(), [0; GROUPS]);
        let (values, seconds) = (self.values.chunks_exact(self.slots), found.seconds.chunks_exact_mut(self.slots));
        for ((kind, values), seconds) in self.kinds.iter().zip(values).zip(seconds) {
            if !find_seconds(block.rows(), block.whole_columns(kind.first), values, seconds) {
                return false;
            }
        }
        found.codes.resize(self.varying.len(), [0; ROWS]);
        for (varying, codes) in self.varying.iter().zip(&mut found.codes) {
            put_together(block.rows(), varying, &found.seconds, codes);
        }
        true
    }

    /// Slots of slates with these patterns.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// A block of rows with these patterns, of each policy the codes, and rewards.
    pub(crate) fn rows(&self, rewards: &[f64], codes: &[Codes]) -> Block {
        let mut block = self.like.clone();
        block.reset(rewards.len(), self.slots);
        block.column_mut(Field::Reward).copy_from_slice(rewards);
        for (place, values) in self.values.iter().enumerate() {
            // Policies that share a column have the same in it.
            let bit_of = |policy: usize| self.varying[policy].iter().position(|&column| column == place);
            let bit = (0..codes.len()).find_map(|policy| bit_of(policy).map(|bit| (policy, bit)));
            let second = |row: usize| bit.map_or(0, |(policy, bit)| usize::from(codes[policy][row] >> bit & 1));
            let column = block.column_mut(self.field(place));
            column.iter_mut().enumerate().for_each(|(row, number)| *number = values[second(row)]);
        }
        block
    }

    /// The field of a column.
    fn field(&self, place: usize) -> Field {
        self.kinds[place / self.slots].first.of_slot(place % self.slots)
    }

    /// A block of one row, which has one of a policy's patterns and a reward of 1.
    pub(crate) fn one_row(&self, policy: usize, pattern: usize) -> Block {
        let mut block = self.like.clone();
        block.reset(1, self.slots);
        block.column_mut(Field::Reward)[0] = 1.0;
        for (place, values) in self.values.iter().enumerate() {
            let bit = self.varying[policy].iter().position(|&column| column == place);
            let value = values[bit.map_or(0, |bit| pattern >> bit & 1)];
            block.column_mut(self.field(place))[0] = value;
        }
        block
    }
}

/// The kinds of columns that weights are made of.
fn kinds_of(block: &Block) -> Vec<Kind> {
    let fields = block.fields().into_iter().filter(|field| field.slot() == Some(0));
    fields.map(|first| Kind { first, policy: first.policy() }).collect()
}

/// The one or two values of a column; none if there are more.
fn two_values(known: Option<[f64; 2]>, numbers: &[f64]) -> Option<[f64; 2]> {
    let [first, mut second] = known.or_else(|| numbers.first().map(|&number| [number; 2]))?;
    for &number in numbers.iter().filter(|&&number| number != first) {
        if second == first {
            second = number;
        }
        if number != second {
            return None;
        }
    }
    Some([first, second])
}

/// The columns of one policy that have two values.
fn varying_of(kinds: &[Kind], values: &[[f64; 2]], slots: usize, policy: usize) -> Vec<usize> {
    let concerns = |place: &usize| kinds[place / slots].policy.is_none_or(|of| of == policy);
    (0..values.len()).filter(concerns).filter(|&place| values[place][0] != values[place][1]).collect()
}

wide! {
    /// Says for each column in which rows its second value stands. False if a row has neither of the two.
    fn find_seconds(rows: usize, columns: &[Column], values: &[[f64; 2]], seconds: &mut [[u8; GROUPS]]) -> bool = find_seconds_of
}

#[inline(always)]
fn find_seconds_of<F: Eight>(
    rows: usize,
    columns: &[Column],
    values: &[[f64; 2]],
    seconds: &mut [[u8; GROUPS]],
) -> bool {
    let whole = (rows / LANES).min(GROUPS);
    for ((column, &[first, second]), seconds) in columns.iter().zip(values).zip(seconds) {
        let (one, other, mut known) = (F::splat(first), F::splat(second), F::every_lane());
        let (whole_groups, last) = column.groups()[..groups_of(rows)].split_at(whole);
        if first == second {
            whole_groups.iter().for_each(|numbers| known = F::both(known, F::load(numbers).equals(one)));
        } else {
            for (numbers, seconds) in whole_groups.iter().zip(seconds.iter_mut()) {
                let is_first = F::load(numbers).equals(one);
                known = F::both(known, F::either(is_first, F::load(numbers).equals(other)));
                *seconds = !F::bits(is_first);
            }
        }
        let mut known = F::is_every_lane(known);
        // Behind the last row anything may stand.
        for numbers in last {
            let (is_first, is_second) = (F::load(numbers).equals(one), F::load(numbers).equals(other));
            known &= F::bits(F::either(is_first, is_second)) | u8::MAX << (rows % LANES) == u8::MAX;
            seconds[whole] = !F::bits(is_first);
        }
        if !known {
            return false;
        }
    }
    true
}

/// Makes each row's code of the columns that vary.
fn put_together(rows: usize, varying: &[usize], seconds: &[[u8; GROUPS]], codes: &mut Codes) {
    for (group, codes) in codes.as_chunks_mut::<LANES>().0.iter_mut().enumerate().take(groups_of(rows)) {
        let bits = |(bit, &column): (usize, &usize)| SPREAD[usize::from(seconds[column][group])] << bit;
        *codes = varying.iter().enumerate().map(bits).fold(0, |code, bits| code | bits).to_le_bytes();
    }
}

/// The bits of a byte, each as a byte of its own.
const SPREAD: [u64; 1 << LANES] = {
    let mut spread = [0; 1 << LANES];
    let mut byte = 0;
    while byte < spread.len() {
        let mut bit = 0;
        while bit < LANES {
            spread[byte] |= (byte as u64 >> bit & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    spread
};
