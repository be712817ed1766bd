//! The whole log has the same sums with segments and without, and each segment those of its rows alone, though rows are
//! weighed once for both. Where all numbers are short binary fractions, sums are exact in any order, and so must these be.

use crate::question::binning::{Binning, Scale};
use crate::question::field::Field;
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::question::structure::{Structure, TargetSlots};
use crate::rows::block::Block;
use crate::rows::slate::Slate;
use crate::summary::Summary;
use crate::summary::cell::Cell;

/// Numbers that look random, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// A number between 0.25 and 0.75.
    fn middle(&mut self) -> f64 {
        0.25 + self.below(1 << 20) as f64 / f64::from(1 << 21)
    }
}

/// A log in blocks.
#[derive(Clone, Copy)]
struct Log {
    /// Slots of a block.
    slots: fn(usize) -> usize,
    /// Whether some slates lack their last slot.
    ragged: bool,
    reward: fn(&mut Numbers, i64) -> f64,
    /// Whether propensities are short binary fractions.
    short: bool,
}

const LOG: Log = Log { slots: |_| 3, ragged: false, reward: |numbers, _| numbers.below(16) as f64 / 16.0, short: true };

const BLOCKS: usize = 150;

/// Half of the rows belong to the first segment, a quarter to the second, and so on.
fn segment(numbers: &mut Numbers) -> i64 {
    i64::from((1 + numbers.below(1 << 12)).leading_zeros()) - 51
}

impl Log {
    fn blocks(&self, spec: &Spec) -> Vec<Block> {
        let mut numbers = Numbers(5);
        (0..BLOCKS).map(|index| self.block(spec, index, &mut numbers)).collect()
    }

    fn block(&self, spec: &Spec, index: usize, numbers: &mut Numbers) -> Block {
        let mut block = Block::new(spec);
        let rows = if index + 1 == BLOCKS { 77 } else { Block::ROWS };
        block.reset(rows, (self.slots)(index));
        let (slots, fields) = (block.slots(), block.fields());
        for row in 0..rows {
            let (segment, mus) = (segment(numbers), [0.25, 0.5]);
            let mu = mus[numbers.below(2) as usize];
            for &field in &fields {
                block.column_mut(field)[row] = match field {
                    Field::Reward => (self.reward)(numbers, segment),
                    Field::Logging { .. } if self.short => mu,
                    Field::Target { .. } if self.short => mu * [0.5, 1.0, 2.0][numbers.below(3) as usize],
                    Field::Weight { .. } => numbers.below(8) as f64 / 4.0,
                    Field::Anywhere { .. } => 0.875,
                    _ => numbers.middle(),
                };
            }
            if self.ragged && slots > 1 && numbers.below(5) == 0 {
                block.set_missing(row, slots - 1);
            }
            if spec.by.is_some() {
                block.set_segment(row, &Segment::Int(segment));
            }
            if spec.cluster.is_some() {
                block.set_cluster(row, &Segment::Int(row as i64 / 4));
            }
        }
        block
    }

    /// Compares the sums of a log with segments with those of the same rows without.
    fn check(&self, spec: &Spec) {
        let by = spec.clone().by("device");
        let blocks = self.blocks(&by);
        let split = summary_of(&by, &blocks);
        let whole = summary_of(spec, &blocks_of(spec, &blocks, None));
        let tolerance = if self.short { 0.0 } else { 1e-12 };
        assert_same(&cell(&split), &cell(&whole), tolerance, &format!("{}", spec.structure));
        for (name, of_segment) in split.settled().segments.cells() {
            // Segments have fewer groups of clusters.
            let alone = Spec { cluster: None, ..spec.clone() };
            let alone = summary_of(&alone, &blocks_of(&alone, &blocks, Some(name)));
            let of_segment = Cell { clusters: None, ..of_segment.clone() };
            assert_same(&of_segment, &cell(&alone), tolerance, &format!("{} {name}", spec.structure));
        }
    }
}

/// Rows of a log for another specification, without segments. Slots that a slate lacks and others have are missing.
fn copied(spec: &Spec, slots: usize, rows: &[(&Block, usize)]) -> Block {
    let mut out = Block::new(spec);
    out.reset(rows.len(), slots);
    for field in out.fields() {
        for (to, &(block, row)) in rows.iter().enumerate() {
            let has = field.slot().is_none_or(|slot| slot < block.slots());
            out.column_mut(field)[to] = if has { block.column(field)[row] } else { 1.0 };
        }
    }
    for (to, &(block, row)) in rows.iter().enumerate() {
        let lacks = |slot: &usize| *slot >= block.slots() || block.is_missing(row, *slot);
        (0..slots).filter(lacks).for_each(|slot| out.set_missing(to, slot));
    }
    if spec.cluster.is_some() {
        out.set_groups(&rows.iter().map(|(block, row)| block.groups()[*row]).collect::<Vec<_>>());
    }
    out
}

/// The rows of one segment in full blocks, as long as the longest of its slates, or all rows in the blocks that they came in.
fn blocks_of(spec: &Spec, blocks: &[Block], only: Option<&Segment>) -> Vec<Block> {
    let rows_of = |block: &'_ Block| (0..block.rows()).collect::<Vec<usize>>();
    let Some(only) = only else {
        let all = |block: &Block| {
            let rows: Vec<_> = rows_of(block).into_iter().map(|row| (block, row)).collect();
            copied(spec, block.slots(), &rows)
        };
        return blocks.iter().map(all).collect();
    };
    let rows = blocks.iter().flat_map(|block| rows_of(block).into_iter().map(move |row| (block, row)));
    let own: Vec<(&Block, usize)> = rows.filter(|(block, row)| block.segment_name(*row) == only).collect();
    let longest = |rows: &[(&Block, usize)]| rows.iter().map(|(block, row)| block.length(*row)).max().unwrap_or(0);
    own.chunks(Block::ROWS).map(|rows| copied(spec, longest(rows), rows)).collect()
}

impl Block {
    fn segment_name(&self, row: usize) -> &Segment {
        self.segment_names().name(self.segment_ids()[row])
    }
}

fn summary_of(spec: &Spec, blocks: &[Block]) -> Summary {
    let mut summary = Summary::new(spec.clone()).expect("a good specification");
    blocks.iter().for_each(|block| summary.add(block).expect("good rows"));
    assert_eq!(summary.rows(), blocks.iter().map(|block| block.rows() as u64).sum::<u64>());
    summary
}

fn cell(summary: &Summary) -> Cell {
    summary.total().expect("there are rows").into_owned()
}

/// All sums of a cell, bins by their keys.
fn sums(cell: &Cell) -> Vec<f64> {
    let mut sums = vec![cell.rows as f64, cell.slots as f64, cell.origin];
    for policy in &cell.policies {
        sums.extend(&policy.moments.sums);
        let mut tally = policy.tally.clone();
        // A slot that a slate lacks has a propensity of 1 if another slate of the block has it.
        tally.largest.fill(1.0);
        sums.extend(tally.to_numbers());
    }
    sums.extend(cell.cross.iter().flat_map(|cross| &cross.sums));
    let places = cell.layout.places();
    for (key, row) in cell.bins.ascending() {
        sums.push(key as f64);
        // Other places hold what nobody reads.
        sums.extend(places.iter().map(|&place| cell.table.row(row)[place]));
        sums.extend(cell.clusters.iter().flat_map(|clusters| clusters.table.row(row)));
    }
    sums.extend(cell.clusters.iter().flat_map(|clusters| clusters.features.iter().flatten()));
    sums
}

fn assert_same(one: &Cell, other: &Cell, tolerance: f64, what: &str) {
    let ((a, b), rows) = ((sums(one), sums(other)), one.rows as f64);
    assert_eq!(a.len(), b.len(), "{what}");
    for (place, (a, b)) in a.iter().zip(&b).enumerate() {
        let is_same = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(rows);
        assert!(is_same, "{what}, sum {place}: {a} against {b}");
    }
}

fn specs() -> Vec<Spec> {
    let structures = ["auto", "additive", "product", "order:2", "interactions:1+2,2+3", "given"];
    let parse = |name: &str| name.parse::<Structure>().expect("a structure");
    let mut specs: Vec<Spec> = structures.iter().map(|name| Spec::new(parse(name), ["new", "bolder"])).collect();
    specs.push(Spec { interactions: true, ..Spec::new(Structure::Auto, ["new"]) });
    specs.push(Spec::new(Structure::Auto, ["new", "bolder"]).with_baseline("new"));
    specs.push(Spec::new(Structure::Auto, ["new"]).clustered("user"));
    specs
}

#[test]
fn rows_that_are_weighed_once_are_in_both_sums() {
    for spec in specs() {
        LOG.check(&spec);
        Log { ragged: true, ..LOG }.check(&spec);
        Log { short: false, ..LOG }.check(&spec);
    }
    let ranking = Structure::Ranking(crate::question::structure::Pool::Size(8));
    Log { short: false, ..LOG }.check(&Spec::new(ranking, ["new"]));
    Log { short: false, ..LOG }.check(&Spec::new(Structure::Auto, ["new"]).with_chi());
}

/// The segments' slates are as long as the log's, or shorter.
#[test]
fn cells_of_other_lengths_have_their_own_sums() {
    for spec in specs() {
        Log { slots: |block| 1 + block * 7 % 3, ..LOG }.check(&spec);
        Log { slots: |block| if block < 140 { 2 } else { 3 }, ragged: true, ..LOG }.check(&spec);
    }
}

/// Rewards far from 0 are measured from an origin, which may be the segment's own; and few rewards make few bins.
#[test]
fn cells_of_other_origins_have_their_own_sums() {
    let spec = Spec::new(Structure::Auto, ["new"]);
    let few = |numbers: &mut Numbers, _: i64| numbers.below(2) as f64;
    let far = |numbers: &mut Numbers, _: i64| 4096.0 + numbers.below(8) as f64 / 4.0;
    let apart = |numbers: &mut Numbers, segment: i64| 1024.0 * segment as f64 + numbers.below(8) as f64;
    for reward in [few, far, apart] {
        Log { reward, short: false, ..LOG }.check(&spec);
    }
    LOG.check(&Spec::new(Structure::Additive, ["new"]));
    Log { reward: few, ..LOG }.check(&spec);
}

/// Where rewards are too many to be told apart, segments know it before their first rows are added.
#[test]
fn bins_that_were_foreseen_are_those_of_one_row_after_the_other() {
    let of_bins = |capacity| Binning { capacity, scale: Scale::Linear };
    let many = |numbers: &mut Numbers, _: i64| (numbers.below(256) as f64 - 100.0) / 64.0;
    let far = |numbers: &mut Numbers, _: i64| 4096.0 + numbers.below(256) as f64 / 64.0;
    for (reward, short) in [(many as fn(&mut Numbers, i64) -> f64, true), (far, false)] {
        for capacity in [16, 200, 256, 4096] {
            let spec = Spec::new(Structure::Additive, ["new"]).with_binning(of_bins(capacity));
            Log { reward, short, ..LOG }.check(&spec);
        }
    }
}

/// Rows that wait are counted, and are in the answers.
#[test]
fn rows_that_wait_for_both_are_counted() {
    let spec = Spec::new(Structure::Additive, ["new"]).by("device");
    let mut summary = Summary::new(spec.clone()).expect("a good specification");
    for (row, block) in LOG.blocks(&spec).iter().take(3).enumerate() {
        summary.add(block).expect("good rows");
        assert_eq!(summary.rows(), ((1 + row) * Block::ROWS) as u64);
        assert_eq!(summary.whole.as_ref().map(|cell| cell.rows), Some(0), "all of them wait");
        assert_eq!(summary.total().expect("there are rows").rows, summary.rows());
        assert_eq!(summary.slots(), Some(3));
    }
    let (mu, pi): ([f64; 1], &[f64]) = ([0.5], &[0.25]);
    let slate = Slate::new(1.0).logging(&mu).targets(std::slice::from_ref(&pi)).segment(Segment::Int(99));
    summary.record(&slate).expect("a good slate");
    assert_eq!(summary.rows(), 3 * Block::ROWS as u64 + 1);
    assert!(summary.segments().any(|name| *name == Segment::Int(99)));
    let copy = Summary::from_bytes(&summary.to_bytes()).expect("its own bytes");
    assert_eq!(copy.rows(), summary.rows());
    summary.settle();
    assert_eq!(summary.whole.as_ref().map(|cell| cell.rows), Some(copy.rows()));
}

/// What a log is worth where nothing is assumed does not depend on whether short or long slates came first.
#[test]
fn slates_that_came_before_the_first_long_one_count() {
    let mut specs: Vec<Spec> = specs().into_iter().filter(|spec| spec.structure.needs().logging).collect();
    specs.retain(|spec| spec.structure != Structure::Product);
    specs.push(Spec { target_slots: TargetSlots::Joint, ..Spec::new(Structure::Auto, ["new"]) });
    for spec in specs {
        let products = |slots: fn(usize) -> usize| {
            let blocks = blocks_of(&spec, &Log { slots, ..LOG }.blocks(&spec.clone().by("device")), None);
            let (short, long): (Vec<Block>, Vec<Block>) = blocks.into_iter().partition(|block| block.slots() < 5);
            let of = |blocks: Vec<Block>| cell(&summary_of(&spec, &blocks)).policies[0].tally.product_ratios;
            [[&short[..], &long[..]].concat(), [&long[..], &short[..]].concat()].map(of)
        };
        let [short_first, long_first] = products(|block| if block % 2 == 0 { 3 } else { 6 });
        assert!(long_first > 0.0 && (short_first / long_first - 1.0).abs() < 1e-12, "{}", spec.structure);
    }
}
