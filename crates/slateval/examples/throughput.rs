//! What a row costs on its way into a summary, in memory and on one thread: the best of many short passes, so that it can
//! be measured on a machine that is busy with other things.
//!
//! ```text
//! cargo run --release -p slateval --example throughput [-- NAME [PASSES]]
//! ```
//!
//! Under `valgrind --tool=callgrind`, two runs with different numbers of passes give the instructions of a row: their
//! difference, divided by the rows of the passes between them.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "../tests/common/cases.rs"]
mod cases;

use std::time::Instant;

const PASSES: usize = 480;

fn main() {
    let only = std::env::args().nth(1);
    let passes: usize = std::env::args().nth(2).map_or(PASSES, |n| n.parse().expect("a number of passes"));
    for mut case in cases::cases(only.as_deref()) {
        let rows = case.rows() as f64;
        let pass = |_| {
            let start = Instant::now();
            case.pass();
            start.elapsed().as_secs_f64()
        };
        let best = (0..passes).map(pass).fold(f64::INFINITY, f64::min);
        println!("{:38} {:5.1} ns a row, {:5.1} million rows/s", case.name, best / rows * 1e9, rows / best / 1e6);
    }
}
