//! Specifications and blocks of rows for measuring what a row costs on its way into a summary.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use slateval::{Block, Field, Segment, Spec, Structure, Summary};

const SLOTS: usize = 5;
/// Rows of a pass: many enough to fill the bins, few enough to be done before another program gets the processor.
const ROWS: usize = 8192;

/// Some rows, and the summary that they are added to.
pub struct Case {
    pub name: &'static str,
    pub blocks: Vec<Block>,
    pub summary: Summary,
}

impl Case {
    fn new(name: &'static str, spec: Spec) -> Self {
        Case { name, blocks: blocks(&spec), summary: Summary::new(spec).unwrap() }
    }

    /// Rows that one pass adds.
    pub fn rows(&self) -> usize {
        self.blocks.iter().map(Block::rows).sum()
    }

    /// Adds all rows once.
    pub fn pass(&mut self) {
        self.blocks.iter().for_each(|block| self.summary.add(block).unwrap());
    }
}

/// Every case, or the one of that name.
pub fn cases(only: Option<&str>) -> impl Iterator<Item = Case> {
    let one = |structure| Spec::new(structure, ["new"]);
    let names: Vec<String> = (0..10).map(|target| format!("target {target}")).collect();
    let specs = [
        ("additive", one(Structure::Additive)),
        ("additive with chi", one(Structure::Additive).with_chi()),
        ("order 2", one(Structure::Order(2))),
        ("product", one(Structure::Product)),
        ("auto", one(Structure::Auto)),
        ("auto with chi", one(Structure::Auto).with_chi()),
        ("auto, 100 segments", one(Structure::Auto).by("segment")),
        ("auto, 10 targets", Spec::new(Structure::Auto, names)),
    ];
    let wanted = move |name: &str| only.is_none_or(|only| only == name);
    specs.into_iter().filter(move |(name, _)| wanted(name)).map(|(name, spec)| Case::new(name, spec))
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
