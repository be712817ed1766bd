//! What a row costs on its way into a summary, in memory and on one thread: the best of many short passes, so that it can
//! be measured on a machine that is busy with other things.
//!
//! ```text
//! cargo run --release -p slateval --example throughput [-- NAME]
//! ```
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::Instant;

use slateval::{Block, Field, Segment, Spec, Structure, Summary};

const SLOTS: usize = 5;
/// Rows of a pass: many enough to fill the bins, few enough to be done before another program gets the processor.
const ROWS: usize = 8192;
const PASSES: usize = 480;

fn main() {
    let one = |structure| Spec::new(structure, ["new"]);
    let names: Vec<String> = (0..10).map(|target| format!("target {target}")).collect();
    for (name, spec) in [
        ("additive", one(Structure::Additive)),
        ("additive with chi", one(Structure::Additive).with_chi()),
        ("order 2", one(Structure::Order(2))),
        ("product", one(Structure::Product)),
        ("auto", one(Structure::Auto)),
        ("auto with chi", one(Structure::Auto).with_chi()),
        ("auto, 100 segments", one(Structure::Auto).by("segment")),
        ("auto, 10 targets", Spec::new(Structure::Auto, names)),
    ] {
        if std::env::args().nth(1).is_some_and(|only| only != name) {
            continue;
        }
        let blocks = blocks(&spec);
        let mut summary = Summary::new(spec).unwrap();
        let pass = |_| {
            let start = Instant::now();
            blocks.iter().for_each(|block| summary.add(block).unwrap());
            start.elapsed().as_secs_f64()
        };
        let best = (0..PASSES).map(pass).fold(f64::INFINITY, f64::min);
        let rows: usize = blocks.iter().map(Block::rows).sum();
        println!(
            "{name:20} {:5.1} ns a row, {:5.1} million rows/s",
            best / rows as f64 * 1e9,
            rows as f64 / best / 1e6
        );
    }
}

/// Blocks of uniform logging over 20 items, an epsilon-greedy target and continuous rewards.
fn blocks(spec: &Spec) -> Vec<Block> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let make = |_| {
        let mut block = Block::new(spec);
        block.reset(Block::ROWS, SLOTS);
        for field in block.fields() {
            for value in block.column_mut(field) {
                *value = match field {
                    Field::Logging { .. } => 0.05,
                    Field::Target { .. } if uniform() < 0.05 => 0.81,
                    Field::Target { .. } => 0.01,
                    Field::Chi { .. } => 12.16,
                    _ => uniform(),
                };
            }
        }
        if spec.by.is_some() {
            for row in 0..Block::ROWS {
                block.set_segment(row, &Segment::Text(format!("segment {}", (uniform() * 100.0) as u32)));
            }
        }
        block
    };
    (0..ROWS / Block::ROWS).map(make).collect()
}
