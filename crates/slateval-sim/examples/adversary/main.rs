//! How often bands and intervals hold the truth in worlds that were made to break them.
//!
//! `cargo run --release -p slateval-sim --example adversary -- [TRIALS [WORLD]]` prints Markdown tables of coverage, for all
//! worlds or those whose name begins with WORLD.
//!
//! `cargo run --release -p slateval-sim --example adversary -- gate [TRIALS [WORLD]]` prints how often one-sided bounds lie
//! on the wrong side of the truth.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod coverage;
mod gate;
mod seen;
mod trials;

use slateval_sim::adversary::{self, World};

/// Multiplier draws of each evaluation.
const DRAWS: usize = 500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let gate = arguments.first().is_some_and(|first| first == "gate");
    if gate {
        arguments.remove(0);
    }
    let trials: usize = arguments.first().map_or(Ok(if gate { 500 } else { 200 }), |n| n.parse())?;
    let prefix = arguments.get(1).map_or("", String::as_str);
    let worlds: Vec<World> = adversary::worlds()?.into_iter().filter(|world| world.name.starts_with(prefix)).collect();
    match gate {
        true => gate::study(&worlds, trials),
        false => coverage::study(&worlds, trials),
    }
}
