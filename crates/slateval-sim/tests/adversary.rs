//! The adversary's logs and truths agree: what is drawn has the distribution that is said to be the truth.
//!
//! Tolerances are standard errors derived from the truth itself. Four and a half of them are exceeded once in 150,000
//! checks; seeds are fixed.

use slateval::{Settings, Structure};
use slateval_sim::adversary::{Law, Mix, Scene, World, world_named, worlds};
use slateval_sim::{Purpose, Rows, stream};

const ROWS: usize = 20_000;
const ERRORS: f64 = 4.5;
const LEVELS: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

fn drawn(world: &World, seed: u64) -> Rows {
    let mut rows = Rows::default();
    world.draw(0, ROWS, &mut stream(seed, Purpose::Log, 0), &mut rows);
    rows
}

/// Rewards are a sample of this distribution: their mean and their CDF say so.
fn assert_sampled(name: &str, rewards: &[f64], truth: &Mix) {
    let n = rewards.len() as f64;
    let mean = rewards.iter().sum::<f64>() / n;
    let error = truth.std() / n.sqrt();
    assert!((mean - truth.mean()).abs() < ERRORS * error, "{name}: mean {mean}, not {}", truth.mean());
    for v in LEVELS.map(|level| truth.quantile(level)) {
        let (f, found) = (truth.cdf(v), rewards.iter().filter(|r| **r <= v).count() as f64 / n);
        let error = (f * (1.0 - f) / n).sqrt().max(1e-9);
        assert!((found - f).abs() < ERRORS * error, "{name}: F({v}) = {found}, not {f}");
    }
}

#[test]
fn names_are_unique_and_worlds_well_formed() -> Result<(), Box<dyn std::error::Error>> {
    let worlds = worlds()?;
    for (i, world) in worlds.iter().enumerate() {
        let name = world.name;
        assert!(worlds[..i].iter().all(|other| other.name != name), "{name} is there twice");
        assert!(world.sizes.is_sorted() && !world.sizes.is_empty(), "{name}");
        for truths in world.segment_truths() {
            for mix in [truths.target, truths.logging] {
                let whole: f64 = mix.parts.iter().map(|(p, _)| p).sum();
                assert!((whole - 1.0).abs() < 1e-9, "{name}: probabilities sum to {whole}");
            }
        }
        for p in world.scenes.iter().flat_map(|scene| scene.logging.iter().chain(&scene.target)) {
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{name}: a slot's probabilities are {p:?}");
        }
    }
    Ok(())
}

#[test]
fn logged_rewards_have_the_logging_policys_distribution() -> Result<(), Box<dyn std::error::Error>> {
    for world in worlds()? {
        assert_sampled(world.name, &drawn(&world, 1).reward, &world.truths().logging);
    }
    Ok(())
}

#[test]
fn rewards_of_the_target_itself_have_its_distribution() -> Result<(), Box<dyn std::error::Error>> {
    // A target whose slots are independent can write a log of its own.
    for mut world in worlds()?.into_iter().filter(|world| world.scenes.iter().all(|scene| scene.joint.is_none())) {
        let truth = world.truths().target;
        world.scenes.iter_mut().for_each(|scene| scene.logging.clone_from(&scene.target));
        assert_sampled(world.name, &drawn(&world, 2).reward, &truth);
    }
    Ok(())
}

#[test]
fn segments_have_their_own_truth() -> Result<(), Box<dyn std::error::Error>> {
    let world = world_named("segments-500")?.ok_or("there is no such world")?;
    let rows = drawn(&world, 3);
    for (segment, truths) in world.segment_truths().iter().enumerate() {
        let own = rows.reward.iter().zip(&rows.context).filter(|(_, x)| **x == segment as u64);
        assert_sampled(world.name, &own.map(|(r, _)| *r).collect::<Vec<f64>>(), &truths.logging);
    }
    Ok(())
}

/// The mean over contexts of what each is worth.
fn over_scenes(world: &World, of: impl Fn(&Scene) -> f64) -> f64 {
    world.scenes.iter().map(|scene| scene.probability * of(scene)).sum()
}

/// `1 + chi_k` of every slot.
fn seconds(scene: &Scene) -> Vec<f64> {
    let second = |(pi, mu): (&Vec<f64>, &Vec<f64>)| pi.iter().zip(mu).map(|(p, m)| p * p / m).sum();
    scene.target.iter().zip(&scene.logging).map(second).collect()
}

#[test]
fn slot_ratios_have_mean_one() -> Result<(), Box<dyn std::error::Error>> {
    for world in worlds()? {
        let rows = drawn(&world, 4);
        for slot in 0..world.slots() {
            let ratios = rows.targets[0].pi[slot].iter().zip(&rows.mu[slot]).map(|(pi, mu)| pi / mu);
            let mean = ratios.sum::<f64>() / ROWS as f64;
            // Var Y_k = E[chi_k], which is 0 where there is no such slot.
            let variance = over_scenes(&world, |scene| seconds(scene).get(slot).map_or(0.0, |second| second - 1.0));
            let error = (variance / ROWS as f64).sqrt() + 1e-12;
            assert!((mean - 1.0).abs() < ERRORS * error, "{}: slot {slot} has mean ratio {mean}", world.name);
        }
    }
    Ok(())
}

/// The slate's probability under the target over that under logging.
fn slate_ratio(world: &World, rows: &Rows, row: usize) -> f64 {
    let mu: f64 = rows.mu.iter().map(|mu| mu[row]).product();
    match &world.scenes[rows.context[row] as usize].joint {
        None => rows.targets[0].pi.iter().map(|pi| pi[row]).product::<f64>() / mu,
        Some(slates) => {
            let same = |slate: &[usize]| slate.iter().zip(&rows.items).all(|(&a, items)| a == items[row] as usize);
            slates.iter().filter(|(_, slate)| same(slate)).map(|(p, _)| p / mu).sum()
        }
    }
}

/// The mean of its square in one context.
fn second_of_slate_ratio(scene: &Scene) -> f64 {
    match &scene.joint {
        None => seconds(scene).iter().product(),
        Some(slates) => {
            let mu = |slate: &[usize]| slate.iter().zip(&scene.logging).map(|(&a, mu)| mu[a]).product::<f64>();
            slates.iter().map(|(p, slate)| p * p / mu(slate)).sum()
        }
    }
}

#[test]
fn slates_weighted_by_their_ratio_have_the_targets_cdf() -> Result<(), Box<dyn std::error::Error>> {
    for world in worlds()? {
        let rows = drawn(&world, 5);
        let truth = world.truths().target;
        let second = over_scenes(&world, second_of_slate_ratio);
        for v in LEVELS.map(|level| truth.quantile(level)) {
            let f = truth.cdf(v);
            let centred =
                |row: usize| slate_ratio(&world, &rows, row) * (f64::from(u8::from(rows.reward[row] <= v)) - f);
            let mean = (0..ROWS).map(centred).sum::<f64>() / ROWS as f64;
            // E[rho (U - F)] = 0, and its variance is at most E[rho^2] max(F, 1 - F)^2.
            let error = (second / ROWS as f64).sqrt() * f.max(1.0 - f);
            assert!(mean.abs() < 4.0 * error, "{}: off by {mean} at {v}, error {error}", world.name);
        }
    }
    Ok(())
}

/// The integral of `of` over `[from, to]` by the midpoint rule.
fn integral(from: f64, to: f64, steps: usize, of: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / steps as f64;
    (0..steps).map(|i| of(from + step * (i as f64 + 0.5))).sum::<f64>() * step
}

#[test]
fn moments_of_laws_are_integrals_of_their_cdf() {
    let laws = [
        Law::gamma(0.5),
        Law::Gamma { shape: 3.5, scale: 2.0 },
        Law::LogNormal { mu: 0.3, sigma: 1.5 },
        Law::Normal { mean: 1.0, sd: 0.5 },
        Law::Power { theta: 0.3 },
        Law::Power { theta: 4.0 },
        Law::Atom(2.0),
    ];
    for law in laws {
        // E[R; R <= q] = q F(q) - the integral of F up to q; rewards below -9 have no probability. With v = sinh(t),
        // steps are short near 0 and long in the tail.
        let upto = |q: f64| {
            let under = integral(-3.0, q.asinh(), 100_000, |t| law.cdf(t.sinh()) * t.cosh());
            q * law.cdf(q) - under
        };
        for q in [0.2, 0.9, 1.4, 2.5, 8.0] {
            assert!((law.mean_upto(q) - upto(q)).abs() < 1e-3, "{law:?} up to {q}: {} {}", law.mean_upto(q), upto(q));
        }
        assert!((law.mean_upto(1e6) / law.mean() - 1.0).abs() < 1e-6, "{law:?}");
        // E[R^2] = the integral of 2 v (1 - F) over v > 0, minus that of 2 v F over v < 0.
        let above = integral(0.0, 22.0, 400_000, |t| 2.0 * t.sinh() * (1.0 - law.cdf(t.sinh())) * t.cosh());
        let below = integral(-3.0, 0.0, 10_000, |t| 2.0 * t.sinh() * law.cdf(t.sinh()) * t.cosh());
        let second = law.second_moment();
        assert!(((above - below) / second - 1.0).abs() < 1e-3, "{law:?}: {second} {}", above - below);
    }
}

#[test]
fn tails_are_integrals_of_the_cdf() -> Result<(), Box<dyn std::error::Error>> {
    for world in worlds()? {
        let truth = world.truths().target;
        let lowest = truth.quantile(1e-9).min(0.0) - 1.0;
        for alpha in [0.05, 0.1, 0.2, 0.25] {
            let q = truth.quantile(alpha);
            assert!(truth.cdf(q) >= alpha - 1e-9, "{}: q({alpha}) = {q}", world.name);
            // CVaR = q - the integral of F below q, over alpha.
            let cvar = q - integral(lowest, q, 10_000, |v| truth.cdf(v)) / alpha;
            let (found, scale) = (truth.cvar(alpha), (q - lowest) / 10_000.0);
            assert!((found - cvar).abs() < 2.0 * scale, "{}: CVaR({alpha}) = {found}, not {cvar}", world.name);
        }
    }
    Ok(())
}

#[test]
fn an_atom_counts_for_the_share_that_it_fills() -> Result<(), Box<dyn std::error::Error>> {
    let mix = Mix::new([(0.3, Law::Atom(1.0)), (0.2, Law::Atom(2.0)), (0.5, Law::Atom(5.0))]);
    assert!((mix.cvar(0.4) - (0.3 + 0.1 * 2.0) / 0.4).abs() < 1e-9);
    assert!((mix.quantile(0.3) - 1.0).abs() < 1e-12 && (mix.quantile(0.31) - 2.0).abs() < 1e-12);
    let truth = world_named("atom-near-alpha")?.ok_or("there is no such world")?.truths().target;
    assert!((truth.cdf(0.0) - 0.191).abs() < 1e-12);
    Ok(())
}

#[test]
fn logs_are_a_function_of_their_seed() -> Result<(), Box<dyn std::error::Error>> {
    let world = world_named("ragged")?.ok_or("there is no such world")?;
    assert_eq!(world.spec.structure, Structure::Auto);
    let mut settings = Settings::default();
    settings.band = slateval::Band::None;
    let mean =
        |seed: u64| Ok::<_, slateval::Error>(world.log(1000, seed)?.evaluate(&settings)?.policies[1].mean.estimate);
    assert_eq!(mean(1)?, mean(1)?);
    assert_ne!(mean(1)?, mean(2)?);
    Ok(())
}
