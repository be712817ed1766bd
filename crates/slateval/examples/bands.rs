//! What bands and intervals cost, whatever the number of rows.
//!
//! `cargo run --release -p slateval --example bands` times `evaluate` on a summary with and without them, and what a segment
//! and a target more cost.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Instant;

use slateval::{Band, Binning, Block, Field, Segment, Settings, Spec, Structure, Summary};
use slateval_testing::uniform;

const SLOTS: usize = 5;
const ROWS: usize = 200_000;
const BINS: usize = 1024;
const FINEST: usize = 4096;
const SEGMENTS: usize = 20;
const TARGETS: usize = 4;

fn main() {
    for structure in [Structure::Additive, Structure::Auto] {
        for chi in [false, true] {
            let spec = Spec::new(structure.clone(), ["new"]);
            let spec = if chi { spec.with_chi() } else { spec };
            let summary = summarise(with_bins(spec, BINS));
            let mut settings = Settings::default();
            settings.threads = Some(2);
            let with = best_of(|| summary.evaluate(&settings).unwrap());
            let bins = summary.evaluate(&settings).unwrap().policies[0].cdf.reward.len();
            settings.band = Band::None;
            let without = best_of(|| summary.evaluate(&settings).unwrap());
            println!(
                "structure {structure:8} chi {chi:5}: {bins} bins, bands of two policies {:.3} s, the rest {without:.3} s",
                with - without
            );
        }
    }
    one_more();
}

/// What one thread needs for one more segment, and for one more target.
fn one_more() {
    let mut settings = Settings::default();
    settings.threads = Some(1);
    let spec = |targets: usize| Spec::new(Structure::Auto, (0..targets).map(|i| format!("new {i}")));
    let time = |spec: Spec, settings: &Settings| {
        let summary = summarise(with_bins(spec, FINEST));
        best_of(|| summary.evaluate(settings).unwrap())
    };
    for band in [Band::Multiplier, Band::None] {
        settings.band = band;
        let one = time(spec(1), &settings);
        let segment = (time(spec(1).by("segment"), &settings) - one) / SEGMENTS as f64;
        let target = (time(spec(TARGETS), &settings) - one) / (TARGETS - 1) as f64;
        println!(
            "structure auto, {FINEST} bins, band {band}: one target {:.1} ms, one more {:.1} ms, a segment {:.1} ms",
            1e3 * one,
            1e3 * target,
            1e3 * segment
        );
    }
}

fn with_bins(spec: Spec, bins: usize) -> Spec {
    spec.with_binning(bins.to_string().parse::<Binning>().unwrap())
}

/// Rewards on [0, 1] and propensities that vary, from a small generator.
fn summarise(spec: Spec) -> Summary {
    let mut uniform = uniform(1);
    let mut summary = Summary::new(spec).unwrap();
    let (chi, by) = (summary.spec().policies[0].chi, summary.spec().by.is_some());
    let policies = summary.spec().policies.len();
    let mut block = Block::new(summary.spec());
    for _ in 0..ROWS / Block::ROWS {
        block.reset(Block::ROWS, SLOTS);
        for row in 0..Block::ROWS {
            let mut reward = uniform();
            for slot in 0..SLOTS {
                let (mu, pi) = (0.2 + 0.6 * uniform(), 0.2 + 0.6 * uniform());
                let shown = uniform() < mu;
                reward += if shown { uniform() } else { 0.0 };
                let of = |p: f64| if shown { p } else { 1.0 - p };
                block.column_mut(Field::Logging { slot })[row] = of(mu);
                for policy in 0..policies {
                    block.column_mut(Field::Target { policy, slot })[row] = of(pi);
                }
                if chi {
                    let value = pi * pi / mu + (1.0 - pi) * (1.0 - pi) / (1.0 - mu) - 1.0;
                    block.column_mut(Field::Chi { policy: 0, slot })[row] = value;
                }
            }
            block.column_mut(Field::Reward)[row] = reward / 6.0;
            if by {
                block.set_segment(row, &Segment::Int((row % SEGMENTS) as i64));
            }
        }
        summary.add(&block).unwrap();
    }
    summary
}

fn best_of<T>(mut work: impl FnMut() -> T) -> f64 {
    let run = |_| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..3).map(run).fold(f64::INFINITY, f64::min)
}
