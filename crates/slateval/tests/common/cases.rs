//! Specifications and blocks of rows for measuring what a row costs on its way into a summary.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use slateval::{Accumulator, Block, Field, Segment, Spec, Structure};
use slateval_testing::uniform;

const SLOTS: usize = 5;
/// Rows of a pass: many enough to fill the bins, few enough to be done before another program gets the processor.
const ROWS: usize = 8192;

/// How many propensities there are.
#[derive(Debug, Clone, Copy)]
enum Values {
    /// Uniform logging over 20 items, and an epsilon-greedy target: rows that are alike in all but their rewards.
    Few,
    /// Policies that depend on a context: hardly two rows are alike.
    Many,
}

/// Some rows, and what adds them up.
pub struct Case {
    pub name: &'static str,
    pub blocks: Vec<Block>,
    pub sums: Accumulator,
}

impl Case {
    fn new(name: &'static str, spec: Spec, values: Values) -> Self {
        Case { name, blocks: blocks(&spec, values), sums: Accumulator::new(spec).unwrap() }
    }

    /// Rows that one pass adds.
    pub fn rows(&self) -> usize {
        self.blocks.iter().map(Block::rows).sum()
    }

    /// Adds all rows once.
    pub fn pass(&mut self) {
        self.blocks.iter().for_each(|block| self.sums.add(block).unwrap());
    }
}

/// Every case, or the one of that name.
pub fn cases(only: Option<&str>) -> impl Iterator<Item = Case> {
    let one = |structure| Spec::new(structure, ["new"]);
    let names: Vec<String> = (0..10).map(|target| format!("target {target}")).collect();
    let ten = Spec::new(Structure::Auto, names);
    let specs = [
        ("additive", one(Structure::Additive), Values::Few),
        ("order 2", one(Structure::Order(2)), Values::Few),
        ("product", one(Structure::Product), Values::Few),
        ("auto", one(Structure::Auto), Values::Few),
        ("auto with chi", one(Structure::Auto).with_chi(), Values::Few),
        ("auto, 100 segments", one(Structure::Auto).by("segment"), Values::Few),
        ("auto, 10 targets", ten.clone(), Values::Few),
        ("additive, many propensities", one(Structure::Additive), Values::Many),
        ("order 2, many propensities", one(Structure::Order(2)), Values::Many),
        ("product, many propensities", one(Structure::Product), Values::Many),
        ("auto, many propensities", one(Structure::Auto), Values::Many),
        ("auto with chi, many propensities", one(Structure::Auto).with_chi(), Values::Many),
        ("auto, 100 segments, many propensities", one(Structure::Auto).by("segment"), Values::Many),
        ("auto, 10 targets, many propensities", ten, Values::Many),
    ];
    let wanted = move |name: &str| only.is_none_or(|only| only == name);
    specs.into_iter().filter(move |(name, ..)| wanted(name)).map(|(name, spec, values)| Case::new(name, spec, values))
}

/// Blocks of continuous rewards.
fn blocks(spec: &Spec, values: Values) -> Vec<Block> {
    let mut uniform = uniform(1);
    let make = |_| {
        let mut block = Block::new(spec);
        block.reset(Block::ROWS, SLOTS);
        for field in block.fields() {
            for value in block.column_mut(field) {
                *value = match (field, values) {
                    (Field::Logging { .. }, Values::Few) => 0.05,
                    (Field::Target { .. }, Values::Few) if uniform() < 0.05 => 0.81,
                    (Field::Target { .. }, Values::Few) => 0.01,
                    (Field::Chi { .. }, Values::Few) => 12.16,
                    (Field::Logging { .. } | Field::Target { .. }, Values::Many) => 0.02 + 0.06 * uniform(),
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
