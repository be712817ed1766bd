//! A world with the policies that act in it: slates are drawn here.

use crate::distribution::Distribution;
use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::random::{Purpose, Random, stream};
use crate::rows::Rows;
use crate::table::Table;
use crate::world::{Context, Preferences, World};

/// A target policy and its name in results.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// What it plays.
    pub policy: Policy,
}

/// Whose slates are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Player {
    /// The policy that writes the log.
    Logging,
    /// A target, by its place.
    Target(usize),
}

/// A world, the policy that writes the log, and the policies that the log is to judge.
#[derive(Debug)]
pub struct Simulation {
    world: Box<dyn World>,
    logging: Policy,
    targets: Vec<Target>,
    /// One per context, or one for all if they are the same; none where contexts are continuous.
    plays: Vec<Plays>,
}

/// What all policies play in one context.
#[derive(Debug, Clone, PartialEq, Default)]
struct Plays {
    logging: Table,
    targets: Vec<Play>,
}

/// What a target plays in one context.
#[derive(Debug, Clone, PartialEq, Default)]
struct Play {
    table: Table,
    /// Of each slot.
    chi: Vec<f64>,
    /// Of each item, where logging is a ranking.
    anywhere: Vec<f64>,
}

impl Simulation {
    /// Rows that share a random generator. A log of more rows begins with the log of fewer.
    pub const CHUNK: u64 = 8192;

    /// A simulation of these policies.
    ///
    /// # Errors
    /// [`Error::BadSetting`] for policies that do not fit the world or cannot have written a log.
    pub fn new(world: Box<dyn World>, logging: Policy, targets: Vec<Target>) -> Result<Self> {
        let (slots, items) = (world.slots(), world.items());
        logging.check_logging()?;
        if let Some(bad) = targets.iter().find(|t| t.policy == Policy::Mismatch) {
            return Err(Error::setting("target", &bad.name, "mismatch is a mistake of logging, not a target"));
        }
        for policy in targets.iter().map(|t| t.policy).chain([logging]) {
            policy.check(slots, items)?;
        }
        let mut simulation = Simulation { world, logging, targets, plays: Vec::new() };
        simulation.prepare()?;
        Ok(simulation)
    }

    fn prepare(&mut self) -> Result<()> {
        let mut preferences = Preferences::new(self.slots(), self.items());
        let contexts = self.world.contexts();
        // Of more than can be counted, one is tried out for its errors.
        for index in 0..contexts.unwrap_or(1) {
            let mut plays = Plays::default();
            self.fill(&Context { index, ..Context::default() }, &mut preferences, &mut plays)?;
            if !plays.logging.covers_all() {
                let why = "gives an item no chance at all; use a smaller scale";
                return Err(Error::setting("logging", self.logging, why));
            }
            self.plays.push(plays);
        }
        if contexts.is_none() {
            self.plays.clear();
        } else if self.plays.iter().all(|plays| *plays == self.plays[0]) {
            self.plays.truncate(1);
        }
        Ok(())
    }

    fn fill(&self, context: &Context, preferences: &mut Preferences, plays: &mut Plays) -> Result<()> {
        self.world.preferences(context, preferences);
        plays.logging.fill(self.logging, preferences)?;
        plays.targets.resize_with(self.targets.len(), Play::default);
        for (target, play) in self.targets.iter().zip(&mut plays.targets) {
            play.table.fill(target.policy, preferences)?;
            play.chi.resize(self.slots(), 0.0);
            play.table.chi(&plays.logging, &mut play.chi);
            if self.is_ranking() {
                play.anywhere = (0..self.items() as u32).map(|item| play.table.anywhere(item)).collect();
            }
            if play.anywhere.iter().any(|&p| p > 1.0 + 1e-9) {
                let why = "shows an item more than once on average, which a ranking never does";
                return Err(Error::setting("target", &target.name, why));
            }
        }
        Ok(())
    }

    /// `K`, the number of slots.
    pub fn slots(&self) -> usize {
        self.world.slots()
    }

    /// `N`, the number of items.
    pub fn items(&self) -> usize {
        self.world.items()
    }

    /// The policy that writes the log.
    pub fn logging(&self) -> Policy {
        self.logging
    }

    /// The target policies.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Whether the log is of rankings, so that `any` comes with it.
    pub fn is_ranking(&self) -> bool {
        self.logging == Policy::Ranking
    }

    /// The log of a seed, from its first row on.
    pub fn log(&self, seed: u64) -> Log<'_> {
        self.log_from(seed, 0)
    }

    /// The log of a seed from a chunk on, so that threads may share the work.
    pub fn log_from(&self, seed: u64, chunk: u64) -> Log<'_> {
        let random = stream(seed, Purpose::Log, chunk);
        Log { simulation: self, seed, row: chunk * Self::CHUNK, random, scratch: Scratch::new(self) }
    }

    /// Rewards that a policy gets: chunk by chunk, so that threads may share the work.
    pub fn rewards(&self, player: Player, seed: u64, purpose: Purpose, chunk: u64, rewards: &mut [f64]) {
        let mut random = stream(seed, purpose, chunk);
        let mut scratch = Scratch::new(self);
        let mut slate = vec![0; self.slots()];
        for reward in rewards {
            let context = self.world.context(&mut random);
            let plays = scratch.plays(self, &context);
            let table = match player {
                Player::Logging => &plays.logging,
                Player::Target(target) => &plays.targets[target].table,
            };
            table.draw(&mut random, &mut slate);
            *reward = self.world.reward(&context, &slate, &mut random);
        }
    }

    /// The exact reward distribution of a policy, where it can be worked out.
    ///
    /// # Errors
    /// If the policy does not fit the world.
    pub fn exact(&self, player: Player) -> Result<Option<Distribution>> {
        self.world.exact(match player {
            Player::Logging => self.logging,
            Player::Target(target) => self.targets[target].policy,
        })
    }
}

/// Buffers for the policies of one context.
#[derive(Debug)]
struct Scratch {
    preferences: Preferences,
    plays: Plays,
}

impl Scratch {
    fn new(simulation: &Simulation) -> Self {
        let preferences = Preferences::new(simulation.slots(), simulation.items());
        Scratch { preferences, plays: Plays::default() }
    }

    #[inline]
    fn plays<'a>(&'a mut self, simulation: &'a Simulation, context: &Context) -> &'a Plays {
        match &simulation.plays[..] {
            [] => {
                let filled = simulation.fill(context, &mut self.preferences, &mut self.plays);
                debug_assert!(filled.is_ok(), "policies were tried out when the simulation was made");
                &self.plays
            }
            [same] => same,
            plays => &plays[context.index],
        }
    }
}

/// A log being written: the same rows for the same seed, whoever reads them.
#[derive(Debug)]
pub struct Log<'a> {
    simulation: &'a Simulation,
    seed: u64,
    row: u64,
    random: Random,
    scratch: Scratch,
}

impl Log<'_> {
    /// Draws the next rows: `most` of them, or fewer if a chunk ends before.
    pub fn draw(&mut self, most: usize, rows: &mut Rows) {
        let simulation = self.simulation;
        if self.row.is_multiple_of(Simulation::CHUNK) {
            self.random = stream(self.seed, Purpose::Log, self.row / Simulation::CHUNK);
        }
        let left = Simulation::CHUNK - self.row % Simulation::CHUNK;
        let count = most.min(usize::try_from(left).unwrap_or(most));
        rows.resize(count, simulation.slots(), simulation.targets.len(), simulation.is_ranking());
        let continuous = simulation.world.contexts().is_none();
        let mut slate = vec![0; simulation.slots()];
        for row in 0..count {
            let context = simulation.world.context(&mut self.random);
            let plays = self.scratch.plays(simulation, &context);
            plays.logging.draw(&mut self.random, &mut slate);
            rows.reward[row] = simulation.world.reward(&context, &slate, &mut self.random);
            rows.context[row] = if continuous { self.row + row as u64 } else { context.index as u64 };
            write_slots(plays, &slate, row, rows);
        }
        self.row += count as u64;
    }
}

#[inline]
fn write_slots(plays: &Plays, slate: &[u32], row: usize, rows: &mut Rows) {
    for (slot, &item) in slate.iter().enumerate() {
        rows.items[slot][row] = item;
        rows.mu[slot][row] = plays.logging.recorded(slot, item);
    }
    for (play, out) in plays.targets.iter().zip(&mut rows.targets) {
        for (slot, &item) in slate.iter().enumerate() {
            out.pi[slot][row] = play.table.marginal(slot, item);
            out.chi[slot][row] = play.chi[slot];
        }
        for (anywhere, &item) in out.anywhere.iter_mut().zip(slate) {
            anywhere[row] = play.anywhere[item as usize];
        }
    }
}
