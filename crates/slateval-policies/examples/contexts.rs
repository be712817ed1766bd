//! How long the weights of rankers take: `cargo run --release -p slateval-policies --example contexts -- SLOTS ITEMS
//! CONTEXTS`, on one thread, each context with scores of its own.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use slateval_policies::{Continue, Effort, Goals, Logging, Shown, weigh};

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let &[slots, items, contexts] = &numbers[..] else {
        println!("SLOTS ITEMS CONTEXTS, for example 5 20 200");
        return;
    };
    // A golden-ratio sequence stands for random scores between -2 and 2.
    let scores: Vec<f64> = (0..contexts * items).map(|at| (at as f64 * 0.618_034).fract() * 4.0 - 2.0).collect();
    let actions: Vec<i64> = (0..contexts).flat_map(|_| 0..slots as i64).collect();
    let marginals: Vec<f64> =
        (0..slots * items).map(|cell| f64::from(u8::from(cell / items == cell % items))).collect();
    let policy: Vec<i64> = (0..contexts as i64).collect();
    let shown = Shown { slots, items, actions: &actions, policy: &policy, goal: &vec![0; contexts] };
    let effort = Effort { limit: 50_000.0, samples: 100_000, parts: 20, seed: 0 };
    let start = Instant::now();
    let logging = Logging::Rankers { scores: &scores };
    let goals = Goals::Marginals { parts: 1, values: &marginals };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let found = pool.install(|| weigh(&shown, &logging, &goals, &effort, &|_| Continue::Yes)).expect("weights");
    let each = start.elapsed().as_secs_f64() * 1e3 / contexts as f64;
    let drawn = if found.sampled { "drawn" } else { "exact" };
    println!("{slots} slots, {items} items: {each:.2} ms a context, {drawn}; first weight {:.6}", found.weights[0]);
}
