//! The accumulator against [`reference`], on random rows and along every way that a row can take: structures, several
//! targets, chi, baselines, pairs of slots, segments, clusters, shorter slates, columns of f32 and of f64, two-valued columns,
//! rewards far from 0, blocks of any size and single slates, with registers of eight doubles, of four and with none.

use std::iter::repeat_with;

use proptest::prelude::*;
use proptest::sample::select;
use slateval_stats::sums::{CellParts, Parts};
use slateval_stats::{Binning, Field, Pool, Scale, Segment, Spec, Structure, TargetSlots};

#[cfg(target_arch = "x86_64")]
use crate::kernel::simd::lanes::{Instructions, MOST};
use crate::reference::{self, Row, Target};
use crate::{Accumulator, Block, Slate};

const STRUCTURES: [&str; 12] = [
    "auto",
    "additive",
    "product",
    "order:1",
    "order:2",
    "order:3",
    "interactions:1+2,3+4+5",
    "ranking:12",
    "ranking:pool",
    "given",
    "paper-order:1",
    "paper-order:2",
];

/// What is summed, and of what kind of rows.
#[derive(Debug, Clone)]
struct Case {
    spec: Spec,
    seed: u64,
    rows: usize,
    slots: usize,
    /// Slates are of different lengths, and lack slots in between.
    ragged: bool,
    two_valued: bool,
    /// Where the rewards lie.
    far: f64,
    /// How rows get into the accumulator.
    way: Way,
    /// The vector instructions used: none, AVX2, or all that there are.
    lanes: usize,
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Doubles,
    Singles,
    OneByOne,
}

fn a_case() -> impl Strategy<Value = Case> {
    let spec = (
        select(&STRUCTURES[..]),
        prop::collection::vec(any::<bool>(), 1..4),
        any::<[bool; 5]>(),
        prop::option::of(0usize..3),
        (select(&[3usize, 20, 4096][..]), any::<bool>()),
    );
    let rows = (any::<u64>(), 1usize..400, 1usize..10, any::<[bool; 2]>(), select(&[0.0, 0.0, 1e6, -1e5][..]));
    let way = (select(&[Way::Doubles, Way::Singles, Way::OneByOne][..]), 0usize..3);
    (spec, rows, way).prop_map(|(spec, (seed, rows, slots, [ragged, two_valued], far), (way, lanes))| {
        let spec = specification(spec);
        // A ranking's weight is divided by the number of items beyond the slots: here by 4, which is exact.
        let is_ranking = matches!(spec.structure, Structure::Ranking(Pool::Size(_)));
        let (ragged, slots) = if is_ranking { (false, 8) } else { (ragged, slots) };
        Case { spec, seed, rows, slots, ragged, two_valued, far, way, lanes }
    })
}

type SpecParts = (&'static str, Vec<bool>, [bool; 5], Option<usize>, (usize, bool));

fn specification((structure, chi, [by, cluster, pairs, joint, _], baseline, (capacity, log)): SpecParts) -> Spec {
    let structure: Structure = structure.parse().expect("a structure");
    let mut spec = Spec::new(structure, (0..chi.len()).map(|target| format!("target {target}")));
    spec.policies.iter_mut().zip(chi).for_each(|(policy, chi)| policy.chi = chi);
    spec.by = by.then(|| "segment".into());
    spec.cluster = cluster.then(|| "user".into());
    spec.interactions = pairs;
    if joint && !spec.structure.needs_independent_slots() {
        spec.target_slots = TargetSlots::Joint;
    }
    spec.baseline = baseline.and_then(|target| spec.policies.get(target)).map(|policy| policy.name.clone());
    spec.binning = Binning { capacity, scale: if log { Scale::Log } else { Scale::Linear } };
    spec
}

/// Splitmix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    fn uniform(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A row, and the value of its cluster.
struct Made {
    row: Row,
    cluster: Segment,
}

impl Case {
    /// Rows of small dyadic numbers: every product and every sum is exact, so that the order of additions does not matter.
    fn exact_rows(&self) -> Vec<Made> {
        let mut random = Random(self.seed);
        (0..self.rows).map(|_| self.exact_row(&mut random)).collect()
    }

    fn exact_row(&self, random: &mut Random) -> Made {
        let ratios: &[f64] = match (self.two_valued, self.slots) {
            (true, _) => &[0.0, 2.0],
            (false, ..4) => &[0.0, 1.0, 2.0, 4.0],
            (false, _) => &[0.0, 1.0, 2.0],
        };
        let mut row = self.blank_row(random);
        let length = row.logging.iter().filter(|mu| !mu.is_nan()).count();
        // Also exact where each slate has a pool of its own.
        row.pool = match self.spec.structure {
            Structure::Ranking(Pool::Size(pool)) => pool,
            _ => length.max(1) + random.below(3),
        };
        for mu in row.logging.iter_mut().filter(|mu| !mu.is_nan()) {
            *mu = if self.two_valued { 0.5 } else { random.of(&[1.0, 0.5, 0.25]) };
        }
        let is_ranking = matches!(self.spec.structure, Structure::Ranking(_));
        let propensity = |random: &mut Random, mu: f64| match (mu.is_nan(), is_ranking) {
            (true, _) => f64::NAN,
            (false, true) => random.of(&[0.0, 0.5, 1.0]),
            (false, false) => (mu * random.of(ratios)).min(1.0),
        };
        for target in &mut row.targets {
            target.propensities = row.logging.iter().map(|&mu| propensity(random, mu)).collect();
            target.chi = repeat_with(|| random.of(&[0.0, 1.0, 3.0, -0.5])).take(row.logging.len()).collect();
            let anywhere = |pi: &f64| (pi + random.of(&[0.0, 0.5])).min(1.0);
            target.anywhere = target.propensities.iter().map(anywhere).collect();
            target.weight = random.below(16) as f64 / 2.0 - 2.0;
        }
        row.reward = self.far + random.below(if self.two_valued { 3 } else { 64 }) as f64 / 4.0 - 2.0;
        if self.far == 0.0 && random.below(20) == 0 {
            row.reward = -0.0;
        }
        self.labelled(row, random)
    }

    /// Rows of any numbers.
    fn odd_rows(&self) -> Vec<Made> {
        let mut random = Random(self.seed);
        let random = &mut random;
        let row = |_| {
            let mut row = self.blank_row(random);
            let length = row.logging.iter().filter(|mu| !mu.is_nan()).count();
            row.pool = if let Structure::Ranking(Pool::Size(pool)) = self.spec.structure { pool } else { length + 3 };
            for mu in row.logging.iter_mut().filter(|mu| !mu.is_nan()) {
                *mu = f64::from(random.uniform(0.05, 1.0) as f32);
            }
            for target in &mut row.targets {
                let propensity =
                    |mu: &f64| if mu.is_nan() { f64::NAN } else { f64::from(random.uniform(0.0, 1.0) as f32) };
                target.propensities = row.logging.iter().map(propensity).collect();
                target.chi =
                    repeat_with(|| f64::from(random.uniform(0.0, 2.0) as f32)).take(row.logging.len()).collect();
                target.anywhere = target.propensities.iter().map(|pi| f64::from((pi * 1.2).min(1.0) as f32)).collect();
                target.weight = f64::from(random.uniform(-0.5, 4.0) as f32);
            }
            row.reward = f64::from((self.far + random.uniform(-1.0, 3.0)) as f32);
            self.labelled(row, random)
        };
        (0..self.rows).map(row).collect()
    }

    /// A row of which it is only said which slots it has.
    fn blank_row(&self, random: &mut Random) -> Row {
        let length = if self.ragged { random.below(self.slots + 1) } else { self.slots };
        let mut has = |_| if self.ragged && random.below(4) == 0 { f64::NAN } else { 1.0 };
        let mut logging: Vec<f64> = (0..length).map(&mut has).collect();
        // A slate has as many slots as the last one that it has.
        while logging.last().is_some_and(|mu| mu.is_nan()) {
            logging.pop();
        }
        Row { logging, targets: vec![Target::default(); self.spec.policies.len()], ..Row::default() }
    }

    fn labelled(&self, mut row: Row, random: &mut Random) -> Made {
        if self.spec.by.is_some() {
            row.segment = random.of(&[Some("a"), Some("b"), None, Some("c")]).map_or(Segment::Null, Segment::from);
        }
        let cluster = Segment::Int(random.below(50) as i64);
        if self.spec.cluster.is_some() {
            let mut block = Block::new(&self.spec);
            block.reset(1, 0);
            block.set_cluster(0, &cluster);
            row.group = block.groups()[0].into();
        }
        Made { row, cluster }
    }

    /// The sums of the accumulator.
    fn sums(&self, rows: &[Made]) -> Parts {
        #[cfg(target_arch = "x86_64")]
        MOST.set([Instructions::Any, Instructions::Avx2, Instructions::Avx512][self.lanes]);
        let mut sums = Accumulator::new(self.spec.clone()).expect("a good specification");
        let mut random = Random(!self.seed);
        let mut left = rows;
        while !left.is_empty() {
            // The first block says where rewards lie, for the reference too.
            let size = if left.len() == rows.len() { Block::ROWS } else { 1 + random.below(Block::ROWS) };
            let (own, rest) = left.split_at(size.min(left.len()));
            match self.way {
                Way::OneByOne => own.iter().for_each(|made| self.record(&mut sums, made)),
                Way::Doubles | Way::Singles => sums.add(&self.block(own)).expect("good rows"),
            }
            left = rest;
        }
        sums.finish().parts()
    }

    fn record(&self, sums: &mut Accumulator, Made { row, cluster }: &Made) {
        let of =
            |values: fn(&Target) -> &Vec<f64>| row.targets.iter().map(|t| values(t).as_slice()).collect::<Vec<_>>();
        let (targets, chi, anywhere) = (of(|t| &t.propensities), of(|t| &t.chi), of(|t| &t.anywhere));
        let weights: Vec<f64> = row.targets.iter().map(|target| target.weight).collect();
        let mut slate = Slate::new(row.reward).logging(&row.logging).targets(&targets).weights(&weights);
        slate =
            slate.chi(&chi).anywhere(&anywhere).pool(row.pool).segment(row.segment.clone()).cluster(cluster.clone());
        sums.record(&slate).expect("a good slate");
    }

    fn block(&self, rows: &[Made]) -> Block {
        let mut block = Block::new(&self.spec);
        let longest = rows.iter().map(|made| made.row.logging.len()).max().unwrap_or(0);
        block.reset(rows.len(), longest);
        for field in block.fields() {
            let numbers: Vec<f64> = rows.iter().map(|made| number(&made.row, field).unwrap_or(0.25)).collect();
            match self.way {
                Way::Singles => block.fill_from_singles(field, &numbers.iter().map(|&x| x as f32).collect::<Vec<_>>()),
                _ => block.column_mut(field).copy_from_slice(&numbers),
            }
        }
        for (i, Made { row, cluster }) in rows.iter().enumerate() {
            let lacks = |slot: &usize| row.logging.get(*slot).is_none_or(|mu| mu.is_nan());
            (0..block.slots()).filter(lacks).for_each(|slot| block.set_missing(i, slot));
            if self.spec.by.is_some() {
                block.set_segment(i, &row.segment);
            }
            if self.spec.cluster.is_some() {
                block.set_cluster(i, cluster);
            }
        }
        block
    }

    fn reference(&self, rows: &[Made]) -> Parts {
        let rows: Vec<Row> = rows.iter().map(|made| made.row.clone()).collect();
        reference::sums(self.spec.clone(), &rows).parts()
    }
}

/// A number of a row; none in a slot that the slate does not have.
fn number(row: &Row, field: Field) -> Option<f64> {
    let found = match field {
        Field::Reward => row.reward,
        Field::Pool => row.pool as f64,
        Field::Logging { slot } => *row.logging.get(slot)?,
        Field::Target { policy, slot } => *row.targets[policy].propensities.get(slot)?,
        Field::Chi { policy, slot } => *row.targets[policy].chi.get(slot)?,
        Field::Anywhere { policy, slot } => *row.targets[policy].anywhere.get(slot)?,
        Field::Weight { policy } => row.targets[policy].weight,
    };
    Some(found).filter(|x| !x.is_nan())
}

/// Every cell of both, with its name.
fn cells<'a>(found: &'a Parts, expected: &'a Parts) -> Vec<(String, &'a CellParts, &'a CellParts)> {
    assert_eq!(found.whole.is_some(), expected.whole.is_some());
    let names = |parts: &Parts| parts.segments.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(found), names(expected));
    let whole = found.whole.iter().zip(&expected.whole).map(|(a, b)| ("the whole log".to_owned(), a, b));
    let segments = found.segments.iter().zip(&expected.segments).map(|((name, a), (_, b))| (name.to_string(), a, b));
    whole.chain(segments).collect()
}

/// The same rows and bins, and sums that are as near as `is_near` asks, given the largest of their kind.
fn assert_same(found: &Parts, expected: &Parts, is_near: impl Fn(f64, f64, f64) -> bool) {
    for (name, a, b) in cells(found, expected) {
        assert_eq!((a.rows, a.slots, a.resolution), (b.rows, b.slots, b.resolution), "{name}");
        assert_eq!((a.origin, a.range, &a.keys), (b.origin, b.range, &b.keys), "{name}");
        for (kind, a, b) in [("bins", &a.bins, &b.bins), ("others", &a.others, &b.others)] {
            assert_eq!(a.len(), b.len(), "{name}");
            let largest = b.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
                assert!(is_near(a, b, largest), "{name}: {kind}[{i}] is {a:e} and not {b:e}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bit for bit, but for the sign of a sum that is 0.
    #[test]
    fn sums_that_are_exact_are_those_of_the_reference(case in a_case()) {
        let rows = case.exact_rows();
        assert_same(&case.sums(&rows), &case.reference(&rows), |a, b, _| a == b);
    }

    /// To a billionth, or to a trillionth of the largest sum where others cancel out.
    #[test]
    fn all_sums_are_those_of_the_reference_but_for_rounding(case in a_case()) {
        let rows = case.odd_rows();
        let is_near = |a: f64, b: f64, largest: f64| (a - b).abs() <= 1e-9 * b.abs() + 1e-12 * largest;
        assert_same(&case.sums(&rows), &case.reference(&rows), is_near);
    }

    /// The same bits with and without vector instructions.
    #[test]
    fn every_processor_finds_the_same_bits(case in a_case()) {
        let rows = case.odd_rows();
        let [plain, two, whole] = [0, 1, 2].map(|lanes| Case { lanes, ..case.clone() }.sums(&rows));
        assert_same(&two, &plain, |a, b, _| a.to_bits() == b.to_bits());
        assert_same(&whole, &plain, |a, b, _| a.to_bits() == b.to_bits());
    }
}
