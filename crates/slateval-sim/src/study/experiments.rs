//! The paper's experiments.

use std::path::Path;

use crate::cascade::Cascade;
use crate::ease::{Ease, Likes};
use crate::error::Result;
use crate::mixed::Mixed;
use crate::policy::Policy;
use crate::ratings::{Gain, Ratings, RatingsSettings};
use crate::ratings_file::read_ratings;
use crate::simulation::{Player, Simulation, Target};
use crate::study::estimators::estimators;
use crate::study::run::Study;
use crate::world::World;

/// How an experiment is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Number of trials; the paper's if there is none.
    pub trials: Option<usize>,
    /// Sizes of logs; the paper's if there are none.
    pub sizes: Option<Vec<u64>>,
    /// Where chance begins.
    pub seed: u64,
    /// Slates of a Monte-Carlo truth.
    pub truth_rows: usize,
}

impl Default for Run {
    fn default() -> Self {
        Run { trials: None, sizes: None, seed: 1, truth_rows: 4_000_000 }
    }
}

impl Run {
    fn study(
        &self,
        name: &str,
        world: impl World + 'static,
        policies: (Policy, Policy),
        trials: usize,
        sizes: &[u64],
    ) -> Result<Study> {
        let target = Target { name: "target".to_owned(), policy: policies.1 };
        let simulation = Simulation::new(Box::new(world), policies.0, vec![target])?;
        Ok(Study {
            name: name.to_owned(),
            truth: simulation.truth(Player::Target(0), self.truth_rows, self.seed)?,
            estimators: estimators(simulation.slots()),
            simulation,
            sizes: self.sizes.clone().unwrap_or_else(|| sizes.to_vec()),
            trials: self.trials.unwrap_or(trials),
            seed: self.seed,
            alpha: 0.3,
        })
    }
}

/// Table 1(a): an additive CDF, three slots of three items, uniform logging, a deterministic target.
///
/// # Errors
/// If the settings make no study.
pub fn table_1a(run: &Run) -> Result<Vec<Study>> {
    let world = Mixed::additive(3, 3, run.seed)?;
    let policies = (Policy::Uniform, Policy::Deterministic);
    Ok(vec![run.study("table-1a", world, policies, 1000, &[500, 1000, 5000, 10_000])?])
}

/// Table 1(b): slates for users of a ratings file, five slots of twenty items, uniform logging, a target that shows the
/// `k`-th best item in slot `k` with probability 0.81 and any other with 0.01. Once with DCG as the reward, and once with
/// DCG divided by each user's ideal.
///
/// # Errors
/// If the ratings cannot be read or are too few.
pub fn table_1b(run: &Run, ratings: &Path, progress: &(dyn Fn(f64) + Sync)) -> Result<Vec<Study>> {
    let settings = RatingsSettings::default();
    let likes = Likes::new(&read_ratings(ratings)?, settings.threshold, settings.fewest)?;
    let ease = Ease::fit(&likes, settings.lambda, progress)?;
    let policies = (Policy::Uniform, Policy::EpsilonGreedy { epsilon: 0.01 });
    let study = |gain: Gain| {
        let world = Ratings::new(&likes, &ease, &RatingsSettings { gain, ..settings.clone() })?;
        run.study(&format!("table-1b-{gain}"), world, policies, 50, &[500_000, 1_000_000, 5_000_000, 10_000_000])
    };
    Ok(vec![study(Gain::Dcg)?, study(Gain::Ndcg)?])
}

/// Table 2: cascading clicks, three slots of ten items, uniform logging, a target that is a softmax of three times the
/// base reward. Once as it should be; once against the base reward; and once with the mistake that explains the printed
/// figures: logging without repeats, with propensities conditional on the slots before.
///
/// # Errors
/// If the settings make no study.
pub fn table_2(run: &Run) -> Result<Vec<Study>> {
    let study = |name, logging, scale| {
        let world = Cascade::new(3, 10, run.seed)?;
        run.study(name, world, (logging, Policy::Softmax { scale }), 10, &[50_000, 1_000_000, 5_000_000])
    };
    Ok(vec![
        study("table-2", Policy::Uniform, 3.0)?,
        study("table-2-anti-optimal", Policy::Uniform, -3.0)?,
        study("table-2-mismatch", Policy::Mismatch, 3.0)?,
    ])
}
