//! Worlds whose slots interact: where an additive weight is wrong, and a low order may look right.

use slateval::{Structure, TargetSlots};

use super::law::{Law, Mix};
use super::scene::{Part, Scene};
use super::{binary, preferring, uniform, world};
use crate::adversary::World;

/// `(-1)^(number of ones)`, given the number of zeros.
fn sign(slots: usize, zeros: usize) -> f64 {
    if (slots - zeros).is_multiple_of(2) { 1.0 } else { -1.0 }
}

fn parity_scene(slots: usize) -> Scene {
    let reward = Part::of_count(1.0, slots, 2, |zeros| Law::gamma(2.0 + 1.5 * sign(slots, zeros)).into());
    Scene::new(uniform(slots, 2), binary(slots, 0.75), vec![reward])
}

/// Every world of this kind.
pub(crate) fn worlds() -> Vec<World> {
    let mut named = world(
        "parity-named-additive",
        "The log of `parity`, evaluated as additive because somebody said so.",
        &[5000],
        vec![parity_scene(3)],
    );
    named.spec.structure = Structure::Additive;
    let mut worlds = vec![
        world(
            "parity",
            "The reward depends on whether an even number of three binary slots is on, and on nothing less.",
            &[5000],
            vec![parity_scene(3)],
        ),
        named,
        world(
            "parity-of-five",
            "The parity of five binary slots: no lower order shows anything.",
            &[5000],
            vec![parity_scene(5)],
        ),
        opposed_pairs(),
        and_of_three(),
        sum_of_slots(
            "sum-of-slots",
            "The reward itself, not its CDF, is a sum over five slots plus noise, and the target is nearly greedy.",
            3.5,
        ),
        sum_of_slots("loud-sum-of-slots", "The same with so little noise that the log shows what is wrong.", 0.5),
        rare_xor(),
        ragged(),
    ];
    worlds.extend([TargetSlots::Independent, TargetSlots::Joint].map(no_repeat));
    worlds
}

fn opposed_pairs() -> World {
    let shape = |a: &[usize]| {
        let s = |k: usize| if a[k] == 0 { 1.0 } else { -1.0 };
        Law::gamma(3.0 + s(0) * s(1) - s(2) * s(3)).into()
    };
    world(
        "opposed-pairs",
        "Two pairs of slots whose effects on the mean cancel, while both widen the distribution.",
        &[5000],
        vec![Scene::new(uniform(4, 2), binary(4, 0.8), vec![Part::of_slots(1.0, &[0, 1, 2, 3], 2, shape)])],
    )
}

fn and_of_three() -> World {
    let reward = Part::of_count(1.0, 3, 5, |best| Law::gamma(if best == 3 { 4.0 } else { 2.0 }).into());
    world(
        "and-of-three",
        "A slate is worth more only if all of its three slots show their best action.",
        &[2000, 5000],
        vec![Scene::new(uniform(3, 5), vec![preferring(5, 0.7); 3], vec![reward])],
    )
}

/// How many of five slots show their best action, plus noise; the mean is additive, the CDF is not.
fn sum_of_slots(name: &'static str, about: &'static str, noise: f64) -> World {
    let reward = Part::of_count(1.0, 5, 10, |best| Law::Normal { mean: best as f64, sd: noise }.into());
    world(name, about, &[5000], vec![Scene::new(uniform(5, 10), vec![preferring(10, 0.9); 5], vec![reward])])
}

fn rare_xor() -> World {
    let scene = |probability: f64, mix: fn(&[usize]) -> Mix| {
        let reward = Part::of_slots(1.0, &[0, 1, 2], 2, mix);
        Scene { probability, ..Scene::new(uniform(3, 2), binary(3, 0.8), vec![reward]) }
    };
    let usual = |a: &[usize]| Law::gamma(3.0 + 0.5 * a[2] as f64).into();
    let rare = |a: &[usize]| Law::gamma(if a[0] == a[1] { 1.0 } else { 15.0 }).into();
    world(
        "rare-xor",
        "In one slate of twenty the reward depends on the exclusive or of two slots, strongly; else on one slot.",
        &[5000],
        vec![scene(0.95, usual), scene(0.05, rare)],
    )
}

fn ragged() -> World {
    let scene = |length: usize| {
        let shape = |a: &[usize]| {
            let best = a.iter().filter(|&&a| a == 0).count() as f64;
            let bonus = if a.len() > 1 && a[a.len() - 2..] == [0, 0] { 2.0 } else { 0.0 };
            Law::gamma(1.0 + 0.5 * best + bonus).into()
        };
        let slots: Vec<usize> = (0..length).collect();
        let reward = Part::of_slots(1.0, &slots, 3, shape);
        Scene { probability: 0.25, ..Scene::new(uniform(length, 3), vec![vec![0.6, 0.2, 0.2]; length], vec![reward]) }
    };
    world(
        "ragged",
        "Slates of one to four slots, whose last two slots earn a bonus together.",
        &[5000],
        (1..=4).map(scene).collect(),
    )
}

/// A target that shows no item twice, by its marginals: the log looks the same whether that is said or not.
fn no_repeat(slots: TargetSlots) -> World {
    let reward = Part::of_slots(1.0, &[0, 1], 4, |a| Law::gamma(if a[0] == a[1] { 2.0 } else { 4.0 }).into());
    let scene = Scene::new(uniform(3, 4), uniform(3, 4), vec![reward]).with_joint(plackett_luce(&[4.0, 2.0, 1.0, 1.0]));
    let (name, about) = match slots {
        TargetSlots::Independent => (
            "joint-no-repeat-as-independent",
            "A target that never repeats an item, wrongly said to fill its slots independently; variety pays.",
        ),
        TargetSlots::Joint => {
            ("joint-no-repeat-as-joint", "The same log, and the target's slots rightly said to be joint.")
        }
    };
    let mut world = world(name, about, &[5000], vec![scene]);
    world.spec.target_slots = slots;
    world
}

/// Slates of three different items, drawn one after the other with these weights.
fn plackett_luce(weights: &[f64; 4]) -> Vec<(f64, Vec<usize>)> {
    let mut slates = Vec::new();
    let whole: f64 = weights.iter().sum();
    for a in 0..4 {
        for b in (0..4).filter(|&b| b != a) {
            for c in (0..4).filter(|&c| c != a && c != b) {
                let left = [whole, whole - weights[a], whole - weights[a] - weights[b]];
                slates.push((weights[a] / left[0] * weights[b] / left[1] * weights[c] / left[2], vec![a, b, c]));
            }
        }
    }
    slates
}
