//! Against every slate, listed one by one.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use slateval_policies::{
    Continue, Effort, Error, Goals, Inverse, Logging, Moments, PlackettLuce, Shown, ranker_marginals, weigh,
};

const EFFORT: Effort = Effort { limit: 1e6, samples: 40_000, parts: 20, seed: 3 };

fn rankings(items: usize, slots: usize) -> Vec<Vec<u32>> {
    let mut slates = vec![vec![]];
    for _ in 0..slots {
        let longer = |slate: &Vec<u32>| {
            let left = (0..items as u32).filter(|item| !slate.contains(item));
            left.map(|item| [&slate[..], &[item]].concat()).collect::<Vec<_>>()
        };
        slates = slates.iter().flat_map(longer).collect();
    }
    slates
}

/// Item after item, in proportion to what is left.
fn probability(scores: &[f64], slate: &[u32]) -> f64 {
    let mut p = 1.0;
    for (slot, &item) in slate.iter().enumerate() {
        let left = |a: &usize| !slate[..slot].contains(&(*a as u32));
        let top = (0..scores.len()).filter(left).map(|a| scores[a]).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = (0..scores.len()).filter(left).map(|a| (scores[a] - top).exp()).sum();
        p *= (scores[item as usize] - top).exp() / total;
    }
    p
}

fn uniform(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn cases() -> Vec<(Vec<f64>, usize)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut scores = |items: usize| (0..items).map(|_| 4.0 * uniform(&mut random) - 2.0).collect::<Vec<f64>>();
    vec![
        (scores(1), 1),
        (scores(4), 1),
        (scores(3), 2),
        (scores(5), 3),
        (scores(4), 4),
        (scores(6), 5),
        (vec![0.0, -5.0, -10.0, -20.0], 2),
        (vec![f64::NEG_INFINITY, 1.0, 0.0, f64::NEG_INFINITY, -1.0], 2),
        // Worth that would underflow, were it not measured against the best item left.
        (vec![-2000.0, 0.0, -1000.0, -1000.5], 3),
    ]
}

#[test]
fn moments_of_rankers_are_those_of_their_slates() {
    for (scores, slots) in cases() {
        let items = scores.len();
        let slates = rankings(items, slots);
        let p: Vec<f64> = slates.iter().map(|slate| probability(&scores, slate)).collect();
        let listed = Moments::of_slates(&slates.concat(), slots, items, |at| p[at]);
        let ranker = PlackettLuce::new(&scores, slots);
        let walked = ranker.moments();
        for one in 0..slots * items {
            for other in 0..slots * items {
                let (a, b) = (walked.at(one, other), listed.at(one, other));
                assert!((a - b).abs() <= 1e-12 * b, "{scores:?}, {slots} slots, cells {one} and {other}: {a} and {b}");
            }
        }
        for (a, b) in ranker.marginals().iter().zip(listed.marginals()) {
            assert!((a - b).abs() <= 1e-12 * b, "{scores:?}, {slots} slots: {a} and {b}");
        }
    }
}

#[test]
fn the_weight_gives_the_targets_mean_of_any_sum_of_slot_effects() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    for (scores, slots) in cases().into_iter().take(7) {
        let items = scores.len();
        let slates = rankings(items, slots);
        let goal: Vec<f64> = (0..items).map(|_| uniform(&mut random)).collect();
        let target = PlackettLuce::new(&goal, slots).marginals();
        let solved = Inverse::new(&PlackettLuce::new(&scores, slots).moments()).solve(&target);
        assert!(solved.beyond < 1e-9, "{}", solved.beyond);
        let effects: Vec<f64> = (0..slots * items).map(|_| uniform(&mut random)).collect();
        let sum = |effects: &[f64], slate: &[u32]| -> f64 {
            slate.iter().enumerate().map(|(k, &a)| effects[k * items + a as usize]).sum()
        };
        let (mut found, mut total, mut expected) = (0.0, 0.0, 0.0);
        for slate in &slates {
            let weighted = probability(&scores, slate) * sum(&solved.effects, slate);
            total += weighted;
            found += weighted * sum(&effects, slate);
            expected += probability(&goal, slate) * sum(&effects, slate);
        }
        assert!((total - 1.0).abs() < 1e-7, "{scores:?}: the weights' mean is {total}");
        assert!((found - expected).abs() < 1e-7, "{scores:?}: {found}, not {expected}");
    }
}

#[test]
fn draws_have_the_marginals_that_they_are_drawn_from() {
    let scores = [0.3, -0.4, 1.0, 0.0, -1.0];
    let exact = PlackettLuce::new(&scores, 3).marginals();
    let effort = Effort { limit: 0.0, ..EFFORT };
    let drawn = ranker_marginals(&scores, 5, 3, &effort, &|_| Continue::Yes).expect("marginals");
    assert_eq!(drawn.parts, 20);
    for (cell, p) in exact.iter().enumerate() {
        let found = (0..20).map(|part| drawn.values[part * 15 + cell]).sum::<f64>() / 20.0;
        // A share of 40,000 draws; 15 cells at five standard errors.
        let error = (p * (1.0 - p) / 40_000.0).sqrt();
        assert!((found - p).abs() < 5.0 * error, "cell {cell}: {found} against {p}");
    }
}

#[test]
fn threads_change_nothing_and_stopping_stops() {
    let scores: Vec<f64> = (0..40).map(|at| f64::from(at * 7 % 11) / 5.0).collect();
    let target = PlackettLuce::new(&[1.0, 0.5, 0.0, 0.0], 2).marginals();
    let policy: Vec<i64> = (0..30).map(|row| row % 10).collect();
    let actions: Vec<i64> = (0..30).flat_map(|row| [row % 4, (row + 1) % 4]).collect();
    let shown = Shown { slots: 2, items: 4, actions: &actions, policy: &policy, goal: &[0; 30] };
    let goals = Goals::Marginals { parts: 1, values: &target };
    let run = |threads: usize, limit: f64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let effort = Effort { limit, ..EFFORT };
        let logging = Logging::Rankers { scores: &scores };
        pool.install(|| weigh(&shown, &logging, &goals, &effort, &|_| Continue::Yes)).expect("weights")
    };
    for limit in [0.0, 1e6] {
        let (one, many) = (run(1, limit), run(4, limit));
        assert_eq!(one.weights, many.weights);
        assert_eq!(one.errors, many.errors);
        assert_eq!(one.sampled, limit == 0.0);
    }
    let stopped = weigh(&shown, &Logging::Rankers { scores: &scores }, &goals, &EFFORT, &|_| Continue::No);
    assert_eq!(stopped.err(), Some(Error::Stopped));
}

#[test]
fn slates_that_cannot_have_been_shown_are_refused() {
    let target = [1.0, 0.0, 0.0, 1.0];
    let goals = Goals::Marginals { parts: 1, values: &target };
    let shown = Shown { slots: 2, items: 2, actions: &[0, 1, 1, 0], policy: &[0, 0], goal: &[0, 0] };
    let always = [0, 1, 0, 1];
    let listed = Logging::Listed { slates: &always[..2], probability: &[1.0] };
    let found = |logging| weigh(&shown, &logging, &goals, &EFFORT, &|_| Continue::Yes).err();
    assert_eq!(found(listed), Some(Error::NeverShown { row: 1 }));
    assert_eq!(found(Logging::Drawn { slates: &always, parts: 2 }), Some(Error::NotDrawn { row: 1 }));
    let shown = Shown { policy: &[0, 1], ..shown };
    let found = weigh(&shown, &Logging::Uniform, &goals, &EFFORT, &|_| Continue::Yes).err();
    assert_eq!(found, Some(Error::Size("policy")));
}
