//! The bytes of summaries of seeded logs, pinned: a change of what is summed, or of where a sum stands in the file, needs
//! a new version of the format.

use slateval_accumulate::Accumulator;
use slateval_accumulate::Block;
use slateval_stats::{Field, Segment, Spec, Structure};
use slateval_testing::Random;

use crate::summary::Summary;

/// Adds rows with two actions a slot; the reward depends on all slots.
fn add(sums: &mut Accumulator, random: &mut Random, (rows, slots): (usize, usize), origin: f64) {
    for start in (0..rows).step_by(Block::ROWS) {
        add_block(sums, random, (Block::ROWS.min(rows - start), slots), origin);
    }
}

fn add_block(sums: &mut Accumulator, random: &mut Random, (rows, slots): (usize, usize), origin: f64) {
    let spec = sums.spec().clone();
    let mut block = Block::new(&spec);
    block.reset(rows, slots);
    for row in 0..rows {
        let mut reward = 0.0;
        for slot in 0..slots {
            let mu = 0.25 + 0.5 * random.coarse();
            let first = random.coarse() < mu;
            let shown = |first_action: f64| if first { first_action } else { 1.0 - first_action };
            block.column_mut(Field::Logging { slot })[row] = shown(mu);
            for (policy, wanted) in spec.policies.iter().enumerate() {
                let pi = 0.1 + 0.8 * random.coarse();
                block.column_mut(Field::Target { policy, slot })[row] = shown(pi);
                if wanted.chi {
                    let chi = pi * pi / mu + (1.0 - pi) * (1.0 - pi) / (1.0 - mu) - 1.0;
                    block.column_mut(Field::Chi { policy, slot })[row] = chi;
                }
            }
            reward += shown(1.0) * (1.0 + 0.5 * reward);
        }
        block.column_mut(Field::Reward)[row] = origin + reward + (4.0 * random.coarse()).floor();
        if spec.cluster.is_some() {
            block.set_cluster(row, &Segment::Int((row / 4) as i64));
        }
    }
    sums.add(&block).expect("good rows");
}

/// A summary of blocks of so many rows and slots.
fn summary(spec: &Spec, seed: u64, blocks: &[(usize, usize)], origin: f64) -> Summary {
    let mut sums = Accumulator::new(spec.clone()).expect("a good specification");
    let mut random = Random::new(seed);
    blocks.iter().for_each(|&block| add(&mut sums, &mut random, block, origin));
    sums.finish().into()
}

/// The checksum of all bytes but two: the version of the crate that wrote them, and the checksum in the file, with which
/// every file has the same.
fn checksum(summary: &Summary) -> u32 {
    let bytes = summary.to_bytes();
    let (preamble, rest) = bytes.split_at(20);
    let header_length = u64::from_le_bytes(preamble[12..].try_into().expect("eight bytes"));
    let (header, payload) = rest.split_at(header_length as usize);
    let header = String::from_utf8(header.to_vec()).expect("JSON").replace(env!("CARGO_PKG_VERSION"), "");
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&preamble[..12]);
    hasher.update(header.as_bytes());
    hasher.update(&payload[..payload.len() - 4]);
    hasher.finalize()
}

fn everything() -> Spec {
    let mut spec = Spec::new(Structure::Auto, ["new", "other"]).with_chi().with_baseline("other").clustered("user");
    spec.interactions = true;
    spec
}

#[test]
fn the_bytes_of_a_summary_stay_as_they_are() {
    let two = |structure| Spec::new(structure, ["new", "other"]).with_baseline("new");
    let family: Structure = "interactions:1+2+3,4+5".parse().expect("a structure");
    let (even, ragged): (&[_], &[_]) = (&[(500, 5), (200, 5)], &[(300, 3), (400, 6), (100, 2)]);
    let cases = [
        ("additive", Spec::new(Structure::Additive, ["new"]), even, 0xA421_905D),
        ("auto", Spec::new(Structure::Auto, ["new"]), even, 0x9493_8769),
        ("everything", everything(), even, 0x3FCD_4AE5),
        ("everything, ragged", everything(), ragged, 0xEC97_050E),
        ("order:2 with chi, ragged", Spec::new(Structure::Order(2), ["new"]).with_chi(), ragged, 0xA365_851B),
        ("a baseline without chi, ragged", two(Structure::Additive), ragged, 0xD901_DCF0),
        ("a family with a baseline", two(family).with_chi(), &[(300, 5), (400, 7)], 0x5EA7_0A32),
    ];
    let found = cases.each_ref().map(|(name, spec, blocks, _)| (*name, checksum(&summary(spec, 11, blocks, 0.0))));
    let pinned = cases.each_ref().map(|(name, _, _, checksum)| (*name, *checksum));
    assert_eq!(found, pinned);
}

/// Merging widens the shorter slates' sums and moves rewards to one origin.
#[test]
fn the_bytes_of_a_merged_summary_stay_as_they_are() {
    let mut found = Vec::new();
    for spec in [everything(), Spec::new(Structure::Order(2), ["new"]).with_chi()] {
        let short = summary(&spec, 12, &[(300, 2)], 5e3);
        let mut merged = summary(&spec, 13, &[(400, 6)], 5e3 + 40.0);
        merged.merge(&short).expect("the same specification");
        found.push(checksum(&merged));
    }
    assert_eq!(found, [0xA661_6D8D, 0x69F1_1800]);
}
