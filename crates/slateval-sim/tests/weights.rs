//! Enumerated: the weights that an estimator makes of a simulated log's propensities have expectation 1, and make the
//! expectation of `G F(v | slate)` under the logging policy the target's CDF.
#![allow(clippy::unwrap_used)]

mod common;

use common::{simulation, slates};
use slateval::{Structure, ranking_weight};
use slateval_sim::{Context, Interaction, Mixed, Player, Policy, Preferences, Table, World};

const GREEDY: Policy = Policy::EpsilonGreedy { epsilon: 0.2 / 3.0 };
const FACTORED: [Policy; 4] = [Policy::Uniform, Policy::Deterministic, GREEDY, Policy::Softmax { scale: 1.5 }];

fn table(world: &Mixed, policy: Policy) -> Table {
    let mut preferences = Preferences::new(world.slots(), world.items());
    world.preferences(&Context::default(), &mut preferences);
    Table::new(policy, &preferences).unwrap()
}

/// `E_mu[G F(v | A)]`, for each slate its weight.
fn expectation(world: &Mixed, logging: &Table, weight: impl Fn(&[u32]) -> f64, v: Option<f64>) -> f64 {
    let slates = slates(world.slots(), world.items() as u32);
    let value = |slate: &Vec<u32>| {
        let p = logging.probability(slate);
        if p > 0.0 { p * weight(slate) * v.map_or(1.0, |v| world.cdf(slate, v)) } else { 0.0 }
    };
    slates.iter().map(value).sum()
}

fn check(world: &Mixed, logging: Policy, target: Policy, weight: impl Fn(&Table, &Table, &[u32]) -> f64) {
    let (mu, pi) = (table(world, logging), table(world, target));
    let truth = simulation(world.clone(), logging, &[target]).exact(Player::Target(0)).unwrap().unwrap();
    let weight = |slate: &[u32]| weight(&mu, &pi, slate);
    let total = expectation(world, &mu, weight, None);
    assert!((total - 1.0).abs() < 1e-12, "{logging} to {target}: E[G] = {total}");
    for v in [0.05, 0.3, 0.5, 0.9] {
        let (found, wanted) = (expectation(world, &mu, weight, Some(v)), truth.cdf(v));
        assert!((found - wanted).abs() < 1e-12, "{logging} to {target} at {v}: {found} for {wanted}");
    }
}

fn factored_weight(structure: &Structure, mu: &Table, pi: &Table, slate: &[u32]) -> f64 {
    let ratio = |(k, &a): (usize, &u32)| [pi.marginal(k, a) / mu.recorded(k, a)];
    let ratios: Vec<[f64; 1]> = slate.iter().enumerate().map(ratio).collect();
    structure.weights(&ratios.iter().map(|y| &y[..]).collect::<Vec<_>>())[0]
}

#[test]
fn additive_worlds_need_additive_weights() {
    for world in [Mixed::additive(3, 3, 1).unwrap(), Mixed::additive_powers(4, 3, 2).unwrap()] {
        for target in FACTORED {
            for logging in [Policy::Uniform, Policy::Softmax { scale: 0.5 }, GREEDY] {
                for structure in [Structure::Additive, Structure::Product, Structure::Order(2)] {
                    check(&world, logging, target, |mu, pi, slate| factored_weight(&structure, mu, pi, slate));
                }
            }
        }
    }
}

#[test]
fn pairwise_worlds_need_order_two() {
    let world = Mixed::pairwise(4, 3, 1, GREEDY, Some(Interaction::default())).unwrap();
    for target in FACTORED {
        check(&world, Policy::Uniform, target, |mu, pi, slate| factored_weight(&Structure::Order(2), mu, pi, slate));
    }
    // And are told apart from additive ones by it.
    let (mu, pi) = (table(&world, Policy::Uniform), table(&world, GREEDY));
    let additive = |slate: &[u32]| factored_weight(&Structure::Additive, &mu, &pi, slate);
    let truth = simulation(world.clone(), Policy::Uniform, &[GREEDY]).exact(Player::Target(0)).unwrap().unwrap();
    let bias = |i: i32| {
        let v = f64::from(i) / 50.0;
        (expectation(&world, &mu, additive, Some(v)) - truth.cdf(v)).abs()
    };
    let largest = (1..50).map(bias).fold(0.0, f64::max);
    assert!((0.099..0.131).contains(&largest), "{largest}");
}

#[test]
fn order_parts_are_those_of_the_enumeration() {
    let world = Mixed::pairwise(4, 3, 5, GREEDY, None).unwrap();
    let (mu, pi) = (table(&world, Policy::Uniform), table(&world, GREEDY));
    // The CDF that the weight of an order gives; of order 0, the logging policy's.
    let upto = |order: usize, v: f64| match order {
        0 => expectation(&world, &mu, |_| 1.0, Some(v)),
        m => expectation(&world, &mu, |slate| factored_weight(&Structure::Order(m), &mu, &pi, slate), Some(v)),
    };
    let part = |order: usize, v: f64| (upto(order, v) - upto(order - 1, v)).abs();
    let sup = |order: usize| (1..200).map(|i| part(order, f64::from(i) / 200.0)).fold(0.0, f64::max);
    let found = world.order_parts(GREEDY).unwrap();
    assert!((found[0] - sup(1)).abs() < 1e-12 && (found[1] - sup(2)).abs() < 1e-12, "{found:?}");
}

#[test]
fn rankings_need_the_ranking_weight() {
    let world = Mixed::additive(3, 5, 3).unwrap();
    let anywhere = |pi: &Table, slate: &[u32]| slate.iter().map(|&a| pi.anywhere(a)).sum::<f64>();
    let own = |pi: &Table, slate: &[u32]| slate.iter().enumerate().map(|(k, &a)| pi.marginal(k, a)).sum::<f64>();
    for target in [Policy::Ranking, Policy::PlackettLuce { scale: 1.0 }, Policy::PlackettLuce { scale: -2.0 }] {
        check(&world, Policy::Ranking, target, |_, pi, s| ranking_weight(5, 3, own(pi, s), anywhere(pi, s)));
    }
}

#[test]
fn conditional_propensities_do_not_average_to_one() {
    // 1/10, 1/9, 1/8 against a factored target: E[G] = 1 - 0.1 - 0.2.
    let world = Mixed::additive(3, 10, 3).unwrap();
    let (mu, pi) = (table(&world, Policy::Mismatch), table(&world, Policy::Softmax { scale: 1.0 }));
    let additive = |slate: &[u32]| factored_weight(&Structure::Additive, &mu, &pi, slate);
    let mean = expectation(&world, &mu, additive, None);
    assert!((mean - 0.7).abs() < 1e-12, "{mean}");
}

#[test]
fn plackett_luce_marginals_are_those_of_its_slates() {
    let world = Mixed::additive(3, 5, 9).unwrap();
    let pi = table(&world, Policy::PlackettLuce { scale: 0.7 });
    let slates = slates(3, 5);
    assert!((slates.iter().map(|s| pi.probability(s)).sum::<f64>() - 1.0).abs() < 1e-12);
    for slot in 0..3 {
        for item in 0..5 {
            let p: f64 = slates.iter().filter(|s| s[slot] == item).map(|s| pi.probability(s)).sum();
            assert!((p - pi.marginal(slot, item)).abs() < 1e-12);
        }
    }
}
