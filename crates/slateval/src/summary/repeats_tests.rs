//! Rows that are counted end up in the sums that they would have been added to one by one. All numbers here are short binary
//! fractions, so that sums are exact in any order, and the bytes of two summaries are the same.

use crate::question::binning::{Binning, Scale};
use crate::question::field::Field;
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::question::structure::Structure;
use crate::rows::block::Block;
use crate::rows::slate::Slate;
use crate::summary::Summary;

const SLOTS: usize = 4;

/// Numbers that look random, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What a log of blocks is like.
#[derive(Clone, Copy)]
struct Log {
    blocks: usize,
    /// Of the last block.
    last_rows: usize,
    reward: fn(&mut Numbers, usize) -> f64,
    /// The target's probability in a block.
    target: fn(&mut Numbers, usize) -> f64,
}

const LOG: Log = Log {
    blocks: 12,
    last_rows: 77,
    reward: |numbers, _| numbers.below(16) as f64 / 16.0,
    target: |numbers, _| if numbers.below(4) == 0 { 0.5 } else { 0.125 },
};

impl Log {
    fn blocks(&self, spec: &Spec) -> Vec<Block> {
        let mut numbers = Numbers(5);
        let mut one = Block::new(spec);
        let mut of_block = |index: usize| {
            let rows = if index + 1 == self.blocks { self.last_rows } else { Block::ROWS };
            one.reset(rows, SLOTS);
            for field in one.fields() {
                for row in 0..rows {
                    one.column_mut(field)[row] = match field {
                        Field::Reward => (self.reward)(&mut numbers, index),
                        Field::Logging { .. } => 0.25,
                        Field::Target { .. } => (self.target)(&mut numbers, index),
                        _ => 1.5,
                    };
                }
            }
            for row in 0..rows {
                if spec.by.is_some() {
                    one.set_segment(row, &Segment::Int(numbers.below(3) as i64));
                }
            }
            one.clone()
        };
        (0..self.blocks).map(&mut of_block).collect()
    }

    /// Two summaries of the same rows: with rows counted, and with every row added by itself.
    fn both(&self, spec: &Spec) -> [Summary; 2] {
        let [mut counted, mut added] = [(); 2].map(|()| Summary::new(spec.clone()).expect("a good specification"));
        for block in self.blocks(spec) {
            counted.add(&block).expect("good rows");
            added.scratch.recognition.give_up();
            added.add(&block).expect("good rows");
        }
        assert!(!added.is_counting());
        [counted, added]
    }

    fn check(&self, spec: &Spec) {
        let [counted, added] = self.both(spec);
        assert!(counted.is_counting(), "{:?}", spec.structure);
        assert!(counted.to_bytes() == added.to_bytes(), "{:?}", spec.structure);
    }
}

impl Summary {
    fn is_counting(&self) -> bool {
        self.whole.as_ref().is_some_and(|cell| cell.repeats.is_some())
    }
}

#[test]
fn counted_rows_have_the_sums_of_rows_added_one_by_one() {
    let structures = ["auto", "additive", "product", "order:2", "order:3", "interactions:1+2,2+3", "paper-order:2"];
    for structure in structures.map(|name| name.parse::<Structure>().expect("a structure")) {
        LOG.check(&Spec::new(structure.clone(), ["new"]));
        LOG.check(&Spec::new(structure.clone(), ["new", "bolder", "boldest"]));
        LOG.check(&Spec::new(structure.clone(), ["new", "bolder"]).with_chi());
        LOG.check(&Spec::new(structure.clone(), ["new"]).by("device"));
        LOG.check(&Spec { interactions: true, ..Spec::new(structure, ["new"]) });
    }
}

#[test]
fn bins_and_origins_may_change_while_rows_are_counted() {
    let binned = |binning| Spec { binning, ..Spec::new(Structure::Auto, ["new"]) };
    let spec = |capacity| binned(Binning { capacity, scale: Scale::Linear });
    // More different rewards with every block, and a wider range.
    let spreading = Log { reward: |numbers, block| numbers.below(2 << (block / 2)) as f64, ..LOG };
    spreading.check(&spec(16));
    spreading.check(&spec(4096));
    spreading.check(&spec(16).by("device"));
    spreading.check(&binned(Binning { capacity: 16, scale: Scale::Log }));
    let far = Log { reward: |numbers, _| 4096.0 + numbers.below(4) as f64, ..LOG };
    far.check(&spec(16));
}

#[test]
fn rows_of_other_patterns_are_added_among_those_that_are_counted() {
    let spec = Spec::new(Structure::Auto, ["new"]);
    // A second probability that comes late, and now and then a third.
    let late = |numbers: &mut Numbers, block: usize| if block > 4 && numbers.below(4) == 0 { 0.5 } else { 0.125 };
    let odd = |numbers: &mut Numbers, block: usize| match numbers.below(40) {
        0 if block % 5 == 4 => 1.0,
        n if n.is_multiple_of(4) => 0.5,
        _ => 0.125,
    };
    Log { target: late, ..LOG }.check(&spec);
    Log { target: odd, blocks: 24, ..LOG }.check(&spec);
    Log { target: odd, blocks: 24, ..LOG }.check(&spec.clone().by("device"));
}

#[test]
fn a_question_in_between_changes_nothing() {
    let spec = Spec::new(Structure::Auto, ["new"]).by("device");
    let [counted, _] = LOG.both(&spec);
    let mut asked = Summary::new(spec.clone()).expect("a good specification");
    for block in LOG.blocks(&spec) {
        asked.add(&block).expect("good rows");
        assert_eq!(asked.total().expect("there are rows").rows, asked.rows());
    }
    assert!(asked.is_counting() && counted.to_bytes() == asked.to_bytes());
    let mut merged = asked.clone();
    merged.merge(&counted).expect("the same specification");
    assert_eq!(merged.rows(), 2 * counted.rows());
}

/// Patterns of many values are given up soon, so that looking for them costs nothing.
#[test]
fn logs_of_many_propensities_are_not_counted() {
    let many = Log { target: |numbers, _| (1 + numbers.below(256)) as f64 / 256.0, blocks: 30, ..LOG };
    let [counted, added] = many.both(&Spec::new(Structure::Additive, ["new"]));
    assert!(!counted.is_counting() && counted.scratch.recognition.has_given_up());
    assert_eq!(counted.rows(), added.rows());
}

/// Rows that wait as codes are added beside those of other patterns, and also where more patterns are known by then.
#[test]
fn rows_of_segments_wait_for_any_patterns() {
    let spec = Spec::new(Structure::Auto, ["new", "bolder"]).with_chi().by("device");
    let odd = |numbers: &mut Numbers, block: usize| match numbers.below(40) {
        0 if block % 7 == 6 => 1.0,
        n if n.is_multiple_of(4) && block > 20 => 0.5,
        _ => 0.125,
    };
    for blocks in [9, 60, 130] {
        Log { target: odd, blocks, ..LOG }.check(&spec);
        Log { blocks, ..LOG }.check(&spec);
    }
}

/// A block of one segment, all of whose slates have so many slots.
fn block_of(spec: &Spec, segment: i64, slots: usize, numbers: &mut Numbers) -> Block {
    let mut block = Block::new(spec);
    block.reset(Block::ROWS, slots);
    for field in block.fields() {
        for row in 0..Block::ROWS {
            block.column_mut(field)[row] = match field {
                Field::Reward => numbers.below(16) as f64 / 16.0,
                Field::Logging { .. } => 0.25,
                _ if numbers.below(4) == 0 => 0.5,
                _ => 0.125,
            };
        }
    }
    (0..Block::ROWS).for_each(|row| block.set_segment(row, &Segment::Int(segment)));
    block
}

/// Blocks of a segment are added between those of the log: what was seen of them must not be taken for what was seen of the
/// log's, which nobody looked at because its slates are shorter.
#[test]
fn segments_of_other_lengths_keep_their_own_rows() {
    let spec = Spec::new(Structure::Auto, ["new"]).by("device");
    let (mut numbers, mut blocks) = (Numbers(7), Vec::new());
    (0..32).for_each(|_| blocks.push(block_of(&spec, 0, 3, &mut numbers)));
    (0..4).for_each(|_| blocks.push(block_of(&spec, 1, 2, &mut numbers)));
    let [mut all, mut alone] = [(); 2].map(|()| Summary::new(spec.clone()).expect("a good specification"));
    blocks.iter().for_each(|block| all.add(block).expect("good rows"));
    blocks[32..].iter().for_each(|block| alone.add(block).expect("good rows"));
    let [all, alone] = [all, alone].map(|summary| {
        let settled = summary.settled();
        settled.segments.cell(&Segment::Int(1)).expect("it has rows").policies[0].moments.clone()
    });
    assert_eq!(all, alone);
}

/// A segment that comes late makes the bins of all others coarser, with the block that it comes in: be its rows recorded one by
/// one or added at once.
#[test]
fn late_segments_come_with_their_block() {
    let spec = Spec::new(Structure::Additive, ["new"]).by("device");
    let [mut blocks, mut recorded] = [(); 2].map(|()| Summary::new(spec.clone()).expect("a good specification"));
    let mut block = Block::new(&spec);
    let segment_of = |row: usize| match row {
        0..15 => row as i64 + 1,
        4120.. => 16,
        _ => 0,
    };
    for first in (0..4224).step_by(Block::ROWS) {
        block.reset(Block::ROWS, 1);
        for row in 0..Block::ROWS {
            let i = first + row;
            let (reward, pi) = ((i as f64 * 0.618_033_988_7).fract(), (i as f64 * 0.414_213_562_3).fract());
            let segment = Segment::Int(segment_of(i));
            block.column_mut(Field::Reward)[row] = reward;
            block.column_mut(Field::Logging { slot: 0 })[row] = 0.7;
            block.column_mut(Field::Target { policy: 0, slot: 0 })[row] = pi;
            block.set_segment(row, &segment);
            let (mu, pi): ([f64; 1], &[f64]) = ([0.7], &[pi]);
            let slate = Slate::new(reward).logging(&mu).targets(std::slice::from_ref(&pi)).segment(segment);
            recorded.record(&slate).expect("a good slate");
        }
        blocks.add(&block).expect("good rows");
    }
    assert_eq!(blocks.to_bytes(), recorded.to_bytes());
}
