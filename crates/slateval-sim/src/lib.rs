//! Simulators of slate recommenders whose reward distribution is known.
//!
//! ```text
//! World ──────────> Simulation ──────────> Rows ──> Block, Parquet
//! context, reward   logging + targets  └──> Truth: mean, variance, quantiles, VaR, CVaR, CDF
//! ```
//!
//! A [`World`] has contexts, preferences and a reward for each slate; [`Policy`] says how a policy fills slots where
//! something is preferred. A [`Simulation`] brings them together: it draws the log of one policy with the propensities of
//! others, and knows the truth about them all.
//!
//! | world | the conditional CDF | its truth |
//! |---|---|---|
//! | [`Mixed::additive`], [`Mixed::additive_powers`] | a mean over slots | exact |
//! | [`Mixed::pairwise`] | a mean over pairs of slots | exact |
//! | [`Ratings`] | (n)DCG of real users' slates by [`Ease`] | Monte Carlo |
//! | [`Cascade`] | depends on all slots, context `x ~ N(0, I)` | exact, by quadrature |
//!
//! Worlds that were made to break intervals are a table of their own: [`adversary`].
//!
//! ```
//! use slateval_sim::{Mixed, Player, Policy, Simulation, Target};
//!
//! let world = Box::new(Mixed::additive(3, 3, 7)?);
//! let target = Target { name: "new".into(), policy: Policy::Deterministic };
//! let simulation = Simulation::new(world, Policy::Uniform, vec![target])?;
//! let mut rows = slateval_sim::Rows::default();
//! simulation.log(1).draw(512, &mut rows);
//! assert_eq!(rows.mu[0][0], 1.0 / 3.0);
//! let truth = simulation.truth(Player::Target(0), 0, 1)?;
//! assert!(truth.distribution.cdf(1.0) == 1.0);
//! # Ok::<(), slateval_sim::Error>(())
//! ```
//!
//! **Seeds.** Rows come in chunks of [`Simulation::CHUNK`], each with a generator of its own that follows from the seed
//! and the chunk's number: a log is the same for any number of threads, and begins with the shorter log of its seed.

pub mod adversary;
mod cascade;
mod curve;
mod distribution;
mod document;
mod ease;
mod error;
mod inverse;
mod mixed;
mod policy;
mod random;
mod ranking;
mod ratings;
mod ratings_file;
mod rows;
mod simulation;
pub mod study;
mod table;
mod threads;
mod truth;
mod world;
mod write;

pub use cascade::Cascade;
pub use curve::Curve;
pub use distribution::{Atoms, Distribution, Mixture};
pub use document::TruthDocument;
pub use ease::{Ease, Likes};
pub use error::{Error, Result};
pub use mixed::{Interaction, Mixed};
pub use policy::Policy;
pub use random::{Purpose, Random, stream, trial_seed};
pub use ratings::{Gain, Ratings, RatingsSettings};
pub use ratings_file::{Rating, read_ratings};
pub use rows::{Rows, TargetRows};
pub use simulation::{Log, Player, Simulation, Target};
pub use table::Table;
pub use threads::on_threads;
pub use truth::{CdfFact, Levels, QuantileFact, Source, TailFact, Truth, TruthFacts};
pub use world::{Context, Preferences, World};
pub use write::PLAIN_TARGET;
