//! What several tests need.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use slateval_sim::{Distribution, Policy, Simulation, Target, World};

pub fn simulation(world: impl World + 'static, logging: Policy, targets: &[Policy]) -> Simulation {
    let target = |(i, &policy): (usize, &Policy)| Target { name: format!("target {i}"), policy };
    Simulation::new(Box::new(world), logging, targets.iter().enumerate().map(target).collect()).unwrap()
}

/// All slates, repeats included.
pub fn slates(slots: usize, items: u32) -> Vec<Vec<u32>> {
    (0..slots).fold(vec![vec![]], |slates, _| {
        slates.iter().flat_map(|s| (0..items).map(move |a| [s.as_slice(), &[a]].concat())).collect()
    })
}

/// Kolmogorov and Smirnov's distance of a sample from a distribution, times the root of its size. Exceeds 2.2 about
/// once in ten thousand times if they agree; less often for a distribution with atoms.
pub fn kolmogorov(sample: &[f64], truth: &Distribution) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let mut largest: f64 = 0.0;
    for run in sorted.chunk_by(|a, b| a == b).scan(0, |seen, run| {
        *seen += run.len();
        Some((run[0], *seen))
    }) {
        largest = largest.max((truth.cdf(run.0) - run.1 as f64 / n).abs());
    }
    largest * n.sqrt()
}

/// Mean and its standard error.
pub fn mean(sample: &[f64]) -> (f64, f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
