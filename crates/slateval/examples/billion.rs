//! A billion rows against exact arithmetic: what rounding does to the mean of a long log.
//!
//! ```text
//! cargo run --release -p slateval --example billion [-- ROWS]
//! ```
//!
//! A few thousand blocks of simulated slates are added again and again. Rewards are multiples of `2^-40` and slot ratios of
//! `1/2`, so that whole numbers hold the exact sums; in double precision, sums of this many rewards are rounded.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::Instant;

use slateval::{Band, Block, Correction, Field, Settings, Spec, Structure, Summary};
use slateval_testing::Random;

const SLOTS: usize = 5;
const BLOCKS: usize = 4096;
const REWARD_UNIT: f64 = 1.0 / (1_u64 << 40) as f64;
/// Most that a mean may be off, as a share of it.
const TOLERANCE: f64 = 1e-10;

/// A block, and the exact sums of its rewards and of its weighted rewards (in halves).
struct Exact {
    block: Block,
    rewards: i128,
    weighted: i128,
}

fn main() {
    let rows: u64 = std::env::args().nth(1).map_or(1_000_000_000, |n| n.parse().expect("a number of rows"));
    let spec = Spec::new(Structure::Additive, ["new"]);
    let mut random = random(1);
    let blocks: Vec<Exact> = (0..BLOCKS).map(|_| Exact::draw(&spec, &mut random)).collect();
    let mut summary = Summary::new(spec).unwrap();
    let (mut rewards, mut weighted, mut added) = (0_i128, 0_i128, 0_u64);
    let start = Instant::now();
    for exact in blocks.iter().cycle() {
        if added >= rows {
            break;
        }
        summary.add(&exact.block).unwrap();
        rewards += exact.rewards;
        weighted += exact.weighted;
        added += Block::ROWS as u64;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{added} rows in {seconds:.1} s, {:.1} million a second", added as f64 / seconds / 1e6);
    let settings = Settings::default().with_band(Band::None).with_correction(Correction::None);
    let evaluation = summary.evaluate(&settings).unwrap();
    for (policy, sum, unit) in [("logging", rewards, REWARD_UNIT), ("new", weighted, REWARD_UNIT / 2.0)] {
        let estimate = evaluation.policy(policy).unwrap().mean.estimate.unwrap();
        let error = relative_error(estimate, sum, added, unit);
        println!("{policy:8} mean {estimate:.15}, off by {error:.1e} of it");
        assert!(error <= TOLERANCE, "the mean of `{policy}` is off by {error:e} of it");
    }
}

/// How far an estimate is from `sum / rows` units, as a share of it. The whole part is compared in whole numbers.
fn relative_error(estimate: f64, sum: i128, rows: u64, unit: f64) -> f64 {
    let units = estimate / unit;
    let whole = units.floor();
    let difference = (whole as i128 * i128::from(rows) - sum) as f64 + (units - whole) * rows as f64;
    (difference / sum as f64).abs()
}

impl Exact {
    /// Every slot shows one of two items with equal probability; the target shows the first of them in three of four
    /// slates. The reward rises with the first items shown.
    fn draw(spec: &Spec, random: &mut impl FnMut() -> u64) -> Self {
        let mut block = Block::new(spec);
        block.reset(Block::ROWS, SLOTS);
        let (mut rewards, mut weighted) = (0, 0);
        for row in 0..Block::ROWS {
            // The sum of the slots' ratios pi/mu minus one each, plus one: 1.5 or 0.5 for each slot.
            let mut halves = 2 - 2 * SLOTS as i128;
            let mut first_items = 0;
            for slot in 0..SLOTS {
                let is_first = random().is_multiple_of(2);
                first_items += u64::from(is_first);
                halves += if is_first { 3 } else { 1 };
                block.column_mut(Field::Logging { slot })[row] = 0.5;
                block.column_mut(Field::Target { policy: 0, slot })[row] = if is_first { 0.75 } else { 0.25 };
            }
            let units = (random() >> 24) + (first_items << 38);
            block.column_mut(Field::Reward)[row] = units as f64 * REWARD_UNIT;
            rewards += i128::from(units);
            weighted += i128::from(units) * halves;
        }
        Exact { block, rewards, weighted }
    }
}

/// Numbers that are the same every time.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut random = Random::new(seed);
    move || {
        let state = random.bits();
        let mixed = (state ^ (state >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    }
}
