//! Worlds whose CDF is a sum over slots, or over pairs: the structure is right, and the reward's law is what is hard.

use rand_distr::{Distribution as _, StandardNormal};

use super::law::{Law, Mix};
use super::scene::{Part, Scene, Slots};
use super::{preferring, uniform, world};
use crate::adversary::World;
use crate::curve::Curve;
use crate::error::Result;
use crate::mixed::{Interaction, Mixed};
use crate::policy::Policy;
use crate::random::{self, Purpose, Random, stream};

/// What the instances that are drawn begin with.
const SEED: u64 = 7;

/// Every world of this kind.
pub(crate) fn worlds() -> Result<Vec<World>> {
    let [additive, pairwise] = powers()?;
    Ok(vec![
        additive,
        pairwise,
        additive_gamma(),
        exponential(),
        contextual(),
        log_normal("lognormal", "Rewards with a tail so heavy that a log seldom shows it.", &[2000, 20_000], 1.5),
        log_normal("lognormal-1", "The same with a lighter tail.", &[2000], 1.0),
        heavy_slot(),
        rare_action(),
        clicks(),
        zero_inflated(),
        atom_near_alpha(),
        segments(),
    ])
}

/// The truths of the order choice: means of `v^theta` over four slots, or over their pairs.
fn powers() -> Result<[World; 2]> {
    const ITEMS: usize = 3;
    let target = Policy::EpsilonGreedy { epsilon: 0.2 / ITEMS as f64 };
    let scene = |mixed: &Mixed| {
        let sets: Vec<(&[usize], &[Curve])> = mixed.curves_by_set().collect();
        let share = 1.0 / sets.len() as f64;
        let part = |(slots, curves): &(&[usize], &[Curve])| {
            Part::of_slots(share, slots, ITEMS, |a| law(&curves[a.iter().fold(0, |cell, a| cell * ITEMS + a)]).into())
        };
        let reward = sets.iter().map(part).collect();
        let target = mixed.favourites().iter().map(|&best| {
            let mut p = vec![0.2 / ITEMS as f64; ITEMS];
            p[best as usize] += 0.8;
            p
        });
        Scene::new(uniform(4, ITEMS), target.collect(), reward)
    };
    let sizes = &[2000, 10_000];
    let additive = Mixed::additive_powers(4, ITEMS, SEED)?;
    let pairwise = Mixed::pairwise(4, ITEMS, SEED, target, Some(Interaction::default()))?;
    Ok([
        world("additive", "A CDF on [0, 1] that is a mean over four slots.", sizes, vec![scene(&additive)]),
        world(
            "pairwise",
            "A CDF on [0, 1] that is a mean over the pairs of four slots.",
            sizes,
            vec![scene(&pairwise)],
        ),
    ])
}

fn law(curve: &Curve) -> Law {
    match *curve {
        Curve::Power { theta } => Law::Power { theta },
        // A straight line from 0 to 1: worlds of powers have no slices.
        Curve::Slice { .. } => Law::Power { theta: 1.0 },
    }
}

fn additive_gamma() -> World {
    const SHAPES: [[f64; 3]; 3] = [[3.0, 1.0, 2.0], [1.5, 4.0, 2.5], [5.0, 2.0, 1.0]];
    world(
        "additive-gamma",
        "An additive mixture of gamma distributions over three slots.",
        &[2000, 20_000],
        vec![Scene::new(
            uniform(3, 3),
            vec![preferring(3, 0.8); 3],
            Part::additive(3, 3, |slot, action| Law::gamma(SHAPES[slot][action]).into()),
        )],
    )
}

fn exponential() -> World {
    const SCALES: [[f64; 4]; 2] = [[2.0, 1.0, 0.5, 3.0], [1.0, 2.0, 4.0, 0.5]];
    let law = |slot: usize, action: usize| Law::Gamma { shape: 1.0, scale: SCALES[slot][action] }.into();
    world(
        "exponential",
        "An additive mixture of exponential distributions over two slots.",
        &[2000],
        vec![Scene::new(uniform(2, 4), vec![preferring(4, 0.7); 2], Part::additive(2, 4, law))],
    )
}

/// Five slots of twenty actions in ten contexts; both policies differ by context.
fn contextual() -> World {
    const CONTEXTS: usize = 10;
    let mut random = stream(SEED, Purpose::World, 1);
    let mut scene = || {
        let (logging, target) = (simplices(&mut random, 0.7), simplices(&mut random, 0.3));
        let thetas: Vec<f64> = (0..100).map(|_| (1.2 * normal(&mut random)).exp()).collect();
        let law = |slot: usize, action: usize| Law::Power { theta: thetas[slot * 20 + action] }.into();
        Scene { probability: 1.0 / CONTEXTS as f64, ..Scene::new(logging, target, Part::additive(5, 20, law)) }
    };
    world(
        "contextual",
        "Five slots of twenty actions in ten contexts; logging and target differ by context.",
        &[1000, 10_000],
        (0..CONTEXTS).map(|_| scene()).collect(),
    )
}

fn log_normal(name: &'static str, about: &'static str, sizes: &'static [usize], sigma: f64) -> World {
    let reward = Part::of_count(1.0, 3, 3, |best| Law::LogNormal { mu: 0.15 * best as f64, sigma }.into());
    world(name, about, sizes, vec![Scene::new(uniform(3, 3), vec![vec![0.5, 0.25, 0.25]; 3], vec![reward])])
}

fn heavy_slot() -> World {
    let law = |slot: usize, action: usize| match (slot, action) {
        (0, 0) => Law::LogNormal { mu: 0.0, sigma: 2.0 }.into(),
        _ => Law::gamma(2.0 + 0.5 * action as f64).into(),
    };
    world(
        "heavy-slot",
        "One action of one slot has a heavy tail, and the target likes it.",
        &[5000],
        vec![Scene::new(uniform(3, 4), vec![vec![0.7, 0.1, 0.1, 0.1]; 3], Part::additive(3, 4, law))],
    )
}

fn rare_action() -> World {
    let law = |_: usize, action: usize| Law::gamma([4.0, 1.0, 2.0][action]).into();
    world(
        "rare-action",
        "The target plays nearly always what logging plays in one slate of twenty.",
        &[5000],
        vec![Scene::new(vec![vec![0.05, 0.5, 0.45]; 2], vec![vec![0.9, 0.05, 0.05]; 2], Part::additive(2, 3, law))],
    )
}

fn clicks() -> World {
    const CHANCES: [[[f64; 4]; 3]; 3] = [
        [[0.5, 0.3, 0.15, 0.05], [0.7, 0.2, 0.07, 0.03], [0.4, 0.2, 0.2, 0.2]],
        [[0.3, 0.4, 0.2, 0.1], [0.8, 0.1, 0.05, 0.05], [0.6, 0.2, 0.1, 0.1]],
        [[0.2, 0.2, 0.3, 0.3], [0.5, 0.25, 0.15, 0.1], [0.65, 0.15, 0.15, 0.05]],
    ];
    let mix = |slot: usize, action: usize| {
        Mix::new(CHANCES[slot][action].iter().zip(0..).map(|(p, clicks)| (*p, Law::Atom(f64::from(clicks)))))
    };
    world(
        "clicks",
        "Rewards 0, 1, 2 and 3, additive over three slots.",
        &[2000],
        vec![Scene::new(uniform(3, 3), vec![preferring(3, 0.8); 3], Part::additive(3, 3, mix))],
    )
}

fn zero_inflated() -> World {
    const ZEROS: [[f64; 3]; 3] = [[0.85, 0.93, 0.92], [0.88, 0.9, 0.92], [0.86, 0.94, 0.9]];
    let mix = |slot: usize, action: usize| {
        let zero = ZEROS[slot][action];
        Mix::new([(zero, Law::Atom(0.0)), (1.0 - zero, Law::gamma(2.0 + slot as f64))])
    };
    world(
        "zero-inflated",
        "Nine slates of ten earn nothing, the others a gamma-distributed reward.",
        &[5000],
        vec![Scene::new(uniform(3, 3), vec![preferring(3, 0.8); 3], Part::additive(3, 3, mix))],
    )
}

/// Under the target, `F(0) = .7 * .13 + .3 / 3 = .191`.
fn atom_near_alpha() -> World {
    let mix = |_: usize, action: usize| {
        let zero = if action == 0 { 0.13 } else { 1.0 / 3.0 };
        Mix::new([(zero, Law::Atom(0.0)), (1.0 - zero, Law::LogNormal { mu: 1.0, sigma: 0.5 })])
    };
    let scene = Scene::new(uniform(3, 3), vec![vec![0.7, 0.15, 0.15]; 3], Part::additive(3, 3, mix));
    let about = "An atom of 19.1% at 0 and nothing near it, where the tail of 20% is asked for.";
    World { tail: 0.2, ..world("atom-near-alpha", about, &[10_000], vec![scene]) }
}

/// Twelve segments of 500 rows, each worth 200 rows of the target's own.
fn segments() -> World {
    const SEGMENTS: usize = 12;
    let target = vec![2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0];
    let scene = |segment: usize| {
        let law = |slot: usize, action: usize| {
            let best = if action == 0 { 0.2 } else { 0.0 };
            Law::gamma(1.0 + best + 0.2 * slot as f64 + 0.05 * segment as f64).into()
        };
        let reward = Part::additive(3, 3, law);
        Scene { probability: 1.0 / SEGMENTS as f64, ..Scene::new(uniform(3, 3), vec![target.clone(); 3], reward) }
    };
    let about = "Twelve segments of 500 rows, each additive over three slots; counted one by one.";
    let mut world = world("segments-500", about, &[500 * SEGMENTS], (0..SEGMENTS).map(scene).collect());
    world.spec = world.spec.by("segment");
    world
}

/// Five slots of twenty actions: probabilities with no entry below `floor / 20`.
fn simplices(random: &mut Random, floor: f64) -> Slots {
    let mut simplex = || {
        let raw: Vec<f64> = (0..20).map(|_| -random::uniform(random).max(1e-12).ln()).collect();
        let sum: f64 = raw.iter().sum();
        raw.iter().map(|x| floor / 20.0 + (1.0 - floor) * x / sum).collect()
    };
    (0..5).map(|_| simplex()).collect()
}

fn normal(random: &mut Random) -> f64 {
    StandardNormal.sample(random)
}
