//! A standing adversary: named worlds in which intervals may fail, with logs that are drawn quickly and truths that are
//! known exactly.
//!
//! ```text
//! worlds() ──> World ──> log(rows, seed): Summary     what an evaluation sees
//!                   └──> truths(): Mix, Mix           what its intervals are to hold
//! ```
//!
//! A [`World`] has contexts ([`Scene`]), in each of which a logging policy and a target fill slots, and the reward of a
//! slate comes from a mixture ([`Mix`]) of laws in closed form ([`Law`]). The truth is found by adding up scores slot by
//! slot, or over all slates of a target whose slots depend on each other: there is no Monte Carlo in it.
//!
//! `cargo run --release -p slateval-sim --example adversary` counts how often intervals hold the truth in each of them.
//!
//! ```
//! use slateval_sim::adversary;
//!
//! let parity = adversary::world_named("parity")?.expect("there is such a world");
//! // The sign of three slots with probabilities 3/4 and 1/4 has the mean (1/2)^3.
//! assert!((parity.truths().target.mean() - (2.0 + 1.5 / 8.0)).abs() < 1e-12);
//! assert_eq!(parity.log(1000, 1)?.rows(), 1000);
//! # Ok::<(), slateval_sim::Error>(())
//! ```

mod additive;
mod interacting;
mod law;
mod scene;
mod special;
mod world;

use slateval::{Spec, Structure};

pub use law::{Law, Mix};
pub use scene::{Part, Scene, Slots};
pub use world::{Truths, World};

use crate::error::Result;

/// Every world.
///
/// # Errors
/// None, unless the rule for an instance of a world can no longer be met.
pub fn worlds() -> Result<Vec<World>> {
    let mut worlds = interacting::worlds();
    worlds.extend(additive::worlds()?);
    Ok(worlds)
}

/// The world of a name.
///
/// # Errors
/// As [`worlds`].
pub fn world_named(name: &str) -> Result<Option<World>> {
    Ok(worlds()?.into_iter().find(|world| world.name == name))
}

/// A world whose order is chosen from the data, without `chi`.
fn world(name: &'static str, about: &'static str, sizes: &'static [usize], scenes: Vec<Scene>) -> World {
    World { name, about, sizes, tail: 0.1, spec: Spec::new(Structure::Auto, [World::TARGET]), scenes }
}

fn uniform(slots: usize, items: usize) -> Slots {
    vec![vec![1.0 / items as f64; items]; slots]
}

/// Slots of two actions, the first with probability `p`.
fn binary(slots: usize, p: f64) -> Slots {
    vec![vec![p, 1.0 - p]; slots]
}

/// Action 0 with probability `greed`, else any action.
fn preferring(items: usize, greed: f64) -> Vec<f64> {
    (0..items).map(|a| (1.0 - greed) / items as f64 + if a == 0 { greed } else { 0.0 }).collect()
}
