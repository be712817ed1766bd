//! Logs of simulated recommenders, with their truth.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Deserialize;
use slateval_sim::{
    Cascade, Gain, Interaction, Levels, Mixed, PLAIN_TARGET, Policy, Ratings, RatingsSettings, Simulation, Target,
    TruthDocument, World, on_threads,
};

use crate::errors::Failure;
use crate::request::read;
use crate::table::Table;
use crate::watch::interruptible;

/// A world and the log to draw from it.
#[derive(Debug, Deserialize)]
struct Wanted {
    world: String,
    slots: usize,
    items: usize,
    rows: u64,
    seed: u64,
    logging: String,
    target: Vec<(Option<String>, String)>,
    truth_rows: usize,
    alpha: Vec<f64>,
    quantile: Vec<f64>,
    threads: Option<usize>,
    #[serde(default)]
    curves: String,
    #[serde(default)]
    any_interaction: bool,
    ratings: Option<RatingsWanted>,
}

#[derive(Debug, Deserialize)]
struct RatingsWanted {
    path: PathBuf,
    reward: String,
    threshold: f32,
    fewest: usize,
    likes: (usize, usize),
    #[serde(rename = "ridge")]
    lambda: f64,
}

/// A log, and the truth about it as JSON.
#[pyfunction]
pub(crate) fn simulate(py: Python<'_>, wanted: &str) -> PyResult<(Table, String)> {
    let wanted: Wanted = read(wanted)?;
    let made = interruptible(py, None, move |_| on_threads(wanted.threads, || wanted.simulate())?)?;
    let (table, truth) = made?;
    Ok((table, truth))
}

impl Wanted {
    fn simulate(&self) -> Result<(Table, String), Failure> {
        let simulation = Simulation::new(self.build()?, self.logging.parse()?, self.targets()?)?;
        let levels = Levels { quantiles: self.quantile.clone(), alphas: self.alpha.clone(), ..Levels::default() };
        let document = TruthDocument::new(&simulation, &self.world, self.rows, self.seed, self.truth_rows, &levels)?;
        let (schema, batches) = simulation.batches(self.rows, self.seed)?;
        let truth = serde_json::to_string(&document).map_err(|e| slateval_sim::Error::Write(e.to_string()))?;
        Ok((Table::new(schema, batches), truth))
    }

    fn targets(&self) -> Result<Vec<Target>, Failure> {
        let target = |(name, policy): &(Option<String>, String)| {
            let name = name.clone().unwrap_or_else(|| PLAIN_TARGET.to_owned());
            Ok(Target { name, policy: policy.parse()? })
        };
        self.target.iter().map(target).collect()
    }

    fn build(&self) -> Result<Box<dyn World>, Failure> {
        let (slots, items, seed) = (self.slots, self.items, self.seed);
        Ok(match (self.world.as_str(), &self.ratings) {
            ("ratings", Some(ratings)) => Box::new(self.ratings(ratings)?),
            ("pairwise", _) => {
                let wanted = (!self.any_interaction).then(Interaction::default);
                let target = self.targets()?.first().map_or(Policy::Uniform, |t| t.policy);
                Box::new(Mixed::pairwise(slots, items, seed, target, wanted)?)
            }
            ("cascade", _) => Box::new(Cascade::new(slots, items, seed)?),
            _ if self.curves == "powers" => Box::new(Mixed::additive_powers(slots, items, seed)?),
            _ => Box::new(Mixed::additive(slots, items, seed)?),
        })
    }

    fn ratings(&self, wanted: &RatingsWanted) -> Result<Ratings, Failure> {
        let gain: Gain = wanted.reward.parse()?;
        let likes: RangeInclusive<usize> = wanted.likes.0..=wanted.likes.1;
        let RatingsWanted { threshold, fewest, lambda, .. } = *wanted;
        let settings = RatingsSettings { slots: self.slots, items: self.items, gain, threshold, fewest, likes, lambda };
        Ok(Ratings::read(&wanted.path, &settings, &|_| {})?)
    }
}
