//! Truths that were worked out agree with samples, within what chance allows.
#![allow(clippy::unwrap_used)]

mod common;

use common::{kolmogorov, mean, simulation};
use slateval_sim::{Atoms, Cascade, Distribution, Mixed, Player, Policy, Purpose, Rows, Simulation, Source, World};

const ROWS: usize = 100_000;
const GREEDY: Policy = Policy::EpsilonGreedy { epsilon: 0.05 };

fn agree(simulation: &Simulation, player: Player) {
    let truth = simulation.truth(player, 0, 1).unwrap();
    assert_eq!(truth.source, Source::Exact);
    let sample = simulation.sample(player, ROWS, 11, Purpose::Truth);
    let (found, error) = mean(&sample);
    let d = &truth.distribution;
    assert!((found - d.mean()).abs() < 4.5 * error, "mean {found} for {}, {error}", d.mean());
    let squares: Vec<f64> = sample.iter().map(|r| (r - d.mean()).powi(2)).collect();
    let (found, error) = mean(&squares);
    assert!((found - d.variance()).abs() < 4.5 * error, "variance {found} for {}, {error}", d.variance());
    let distance = kolmogorov(&sample, d);
    assert!(distance < 2.2, "Kolmogorov's distance {distance}");
    for alpha in [0.1, 0.5] {
        // The mean of the lower tail is that of min(R, q) about q; its error is that of a mean.
        let q = d.quantile(alpha);
        let tail: Vec<f64> = sample.iter().map(|r| q - (q - r).max(0.0) / alpha).collect();
        let (found, error) = mean(&tail);
        assert!((found - d.cvar(alpha)).abs() < 4.5 * error + 1e-12, "CVaR {found} for {}", d.cvar(alpha));
    }
}

fn agree_everywhere(world: impl World + 'static, logging: Policy, targets: &[Policy]) {
    let simulation = simulation(world, logging, targets);
    agree(&simulation, Player::Logging);
    (0..targets.len()).for_each(|t| agree(&simulation, Player::Target(t)));
}

#[test]
fn additive() {
    agree_everywhere(Mixed::additive(3, 3, 1).unwrap(), Policy::Uniform, &[Policy::Deterministic, GREEDY]);
    agree_everywhere(Mixed::additive_powers(4, 5, 1).unwrap(), Policy::Ranking, &[Policy::PlackettLuce { scale: 1.0 }]);
}

#[test]
fn pairwise() {
    let world = Mixed::pairwise(3, 4, 1, GREEDY, None).unwrap();
    agree_everywhere(world, Policy::Ranking, &[Policy::Ranking, Policy::PlackettLuce { scale: 1.0 }]);
    let world = Mixed::pairwise(4, 3, 1, GREEDY, None).unwrap();
    agree_everywhere(world, Policy::Softmax { scale: 0.5 }, &[GREEDY, Policy::Softmax { scale: -1.0 }]);
}

#[test]
fn cascade() {
    let world = Cascade::new(3, 4, 1).unwrap();
    agree_everywhere(world.clone(), Policy::Uniform, &[Policy::Softmax { scale: 3.0 }]);
    agree_everywhere(world.clone(), Policy::Mismatch, &[Policy::Softmax { scale: -3.0 }]);
    agree_everywhere(world.clone(), Policy::Ranking, &[Policy::PlackettLuce { scale: 2.0 }]);
    // A favourite changes abruptly with the context, which no quadrature likes.
    let greedy = simulation(world, Policy::Uniform, &[Policy::Deterministic]);
    assert_eq!(greedy.truth(Player::Target(0), 1000, 1).unwrap().source, Source::MonteCarlo { rows: 1000 });
    assert!(greedy.truth(Player::Target(0), 0, 1).is_err());
}

#[test]
fn propensities_are_frequencies() {
    // Every item of a log has mu, and 1/mu averages to the number of items: E[1{A = a} / mu(a)] = 1.
    let simulation = simulation(Mixed::additive(3, 5, 1).unwrap(), Policy::Softmax { scale: 1.0 }, &[GREEDY]);
    let (mut rows, mut log) = (Rows::default(), simulation.log(3));
    let mut sums = [[0.0; 5]; 3];
    let mut drawn = 0.0;
    for _ in 0..16 {
        log.draw(8192, &mut rows);
        drawn += rows.len() as f64;
        for (slot, sums) in sums.iter_mut().enumerate() {
            for (item, mu) in rows.items[slot].iter().zip(&rows.mu[slot]) {
                sums[*item as usize] += 1.0 / mu;
            }
        }
    }
    // The variance of 1{A = a} / mu(a) is 1/mu(a) - 1; no mu is below 1/60 here.
    let error = (60.0 / drawn).sqrt();
    for (slot, sums) in sums.iter().enumerate() {
        for (item, sum) in sums.iter().enumerate() {
            assert!((sum / drawn - 1.0).abs() < 4.5 * error, "slot {slot}, item {item}: {}", sum / drawn);
        }
    }
}

#[test]
fn atoms_by_hand() {
    let d = Distribution::Atoms(Atoms::new(vec![(2.0, 0.5), (0.0, 0.125), (1.0, 0.125), (0.0, 0.25)]));
    assert_eq!([d.cdf(-1.0), d.cdf(0.0), d.cdf(0.9), d.cdf(1.0), d.cdf(2.0)], [0.0, 0.375, 0.375, 0.5, 1.0]);
    assert_eq!([d.quantile(0.375), d.quantile(0.4), d.quantile(0.5), d.quantile(0.51)], [0.0, 1.0, 1.0, 2.0]);
    // Three eighths of zeros, an eighth of ones, and half of the twos.
    assert!((d.cvar(0.75) - 0.625 / 0.75).abs() < 1e-15);
    assert!((d.mean() - 1.125).abs() < 1e-15 && (d.variance() - (2.125 - 1.125f64.powi(2))).abs() < 1e-15);
    let sample = Distribution::Atoms(Atoms::of_sample(vec![3.0, 1.0, 2.0, 4.0]));
    assert_eq!([sample.quantile(0.25), sample.quantile(0.26), sample.quantile(1.0)], [1.0, 2.0, 4.0]);
    assert_eq!([sample.cdf(2.5), sample.mean(), sample.cvar(0.5)], [0.5, 2.5, 1.5]);
}
