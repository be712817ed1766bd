//! The truth about a simulated log, as it is written beside it.

use serde::Serialize;

use crate::error::Result;
use crate::policy::Policy;
use crate::simulation::{Player, Simulation};
use crate::truth::{Levels, TruthFacts};

/// The truth about a simulated log, schema `slateval/truth/1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TruthDocument {
    schema: &'static str,
    slateval: &'static str,
    simulator: String,
    rows: u64,
    seed: u64,
    slots: usize,
    items: usize,
    policies: Vec<TruthFacts>,
}

impl TruthDocument {
    /// The truth about the log of a seed: logging's first, then the targets', each from `truth_rows` slates where it
    /// cannot be worked out.
    ///
    /// # Errors
    /// As for [`Simulation::truth`].
    pub fn new(
        simulation: &Simulation,
        simulator: &str,
        rows: u64,
        seed: u64,
        truth_rows: usize,
        levels: &Levels,
    ) -> Result<Self> {
        let facts = |player, name: &str, policy: Policy| -> Result<TruthFacts> {
            let truth = simulation.truth(player, truth_rows, seed)?;
            Ok(truth.facts(name, &policy.to_string(), levels))
        };
        let mut policies = vec![facts(Player::Logging, slateval::LOGGING, simulation.logging())?];
        for (i, target) in simulation.targets().iter().enumerate() {
            policies.push(facts(Player::Target(i), &target.name, target.policy)?);
        }
        Ok(TruthDocument {
            schema: "slateval/truth/1",
            slateval: env!("CARGO_PKG_VERSION"),
            simulator: simulator.to_owned(),
            rows,
            seed,
            slots: simulation.slots(),
            items: simulation.items(),
            policies,
        })
    }
}
