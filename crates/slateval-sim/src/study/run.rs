//! Trials in parallel: each draws one long log and is judged at every size on the way.

use rayon::prelude::*;
use serde::Serialize;
use slateval::{Band, Block, Settings, Spec, Structure, Summary};

use crate::distribution::{Atoms, Distribution};
use crate::error::{Error, Result};
use crate::random::{Purpose, trial_seed};
use crate::rows::Rows;
use crate::simulation::{Player, Simulation};
use crate::study::estimators::Estimator;
use crate::study::measure::{Metric, Reference, Stat};
use crate::truth::{Levels, Truth, TruthFacts};

/// Slates of the target that stand for the truth in the paper-like convention.
const ROLLOUTS: usize = 500;

/// Points at which CDFs are compared.
const POINTS: usize = 1001;

/// Logs of one simulation, again and again; the first target is judged.
#[derive(Debug)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// What is simulated.
    pub simulation: Simulation,
    /// The truth about the first target.
    pub truth: Truth,
    /// Sizes of logs.
    pub sizes: Vec<u64>,
    /// How often.
    pub trials: usize,
    /// Where chance begins.
    pub seed: u64,
    /// Tail probability of VaR and CVaR.
    pub alpha: f64,
    /// Whom to compare.
    pub estimators: Vec<Estimator>,
}

/// What a study found.
#[derive(Debug, Clone, Serialize)]
pub struct Results {
    /// The study's name.
    pub name: String,
    /// Number of trials.
    pub trials: usize,
    /// Where chance began.
    pub seed: u64,
    /// Tail probability of VaR and CVaR.
    pub alpha: f64,
    /// The truth about the target.
    pub truth: TruthFacts,
    /// Sizes of logs.
    pub sizes: Vec<u64>,
    /// Who was compared.
    pub estimators: Vec<&'static str>,
    /// For each size, estimator and metric.
    pub figures: Vec<Figure>,
}

/// One figure of a study.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// Rows of the log.
    pub size: u64,
    /// The estimator.
    pub estimator: &'static str,
    /// What was measured.
    pub metric: Metric,
    /// Over trials.
    #[serde(flatten)]
    pub stat: Stat,
}

impl Results {
    /// One figure.
    pub fn get(&self, size: u64, estimator: &str, metric: Metric) -> Option<Stat> {
        let wanted = |f: &&Figure| f.size == size && f.estimator == estimator && f.metric == metric;
        self.figures.iter().find(wanted).map(|f| f.stat)
    }
}

/// Metrics of one trial: `[size][estimator]`.
type Trial = Vec<Vec<[f64; 9]>>;

impl Study {
    /// Runs all trials on the threads of the current pool; `progress` is called after each. The same for any number of
    /// threads.
    ///
    /// # Errors
    /// [`Error::BadSetting`] for no trials or no sizes, and whatever an estimator refuses.
    pub fn run(&self, progress: &(dyn Fn() + Sync)) -> Result<Results> {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        if self.trials == 0 {
            return Err(Error::setting("trials", 0, "must be at least 1"));
        }
        if sizes.first().is_none_or(|&first| first < 2) {
            return Err(Error::setting("sizes", format!("{:?}", self.sizes), "give sizes of 2 rows or more"));
        }
        let reference = Reference::new(&self.truth.distribution, self.alpha, POINTS);
        let trial = |trial: usize| {
            let found = self.trial(trial_seed(self.seed, trial as u64), &sizes, &reference);
            progress();
            found
        };
        let trials: Vec<Trial> = (0..self.trials).into_par_iter().map(trial).collect::<Result<_>>()?;
        Ok(self.results(sizes, &trials))
    }

    fn results(&self, sizes: Vec<u64>, trials: &[Trial]) -> Results {
        let mut figures = Vec::new();
        for (s, &size) in sizes.iter().enumerate() {
            for (e, estimator) in self.estimators.iter().enumerate() {
                for (m, metric) in Metric::ALL.into_iter().enumerate() {
                    let stat = Stat::of(trials.iter().map(|trial| trial[s][e][m]));
                    figures.push(Figure { size, estimator: estimator.name, metric, stat });
                }
            }
        }
        let target = &self.simulation.targets()[0];
        let levels = Levels { quantiles: vec![0.5], alphas: vec![self.alpha], points: POINTS };
        Results {
            name: self.name.clone(),
            trials: self.trials,
            seed: self.seed,
            alpha: self.alpha,
            truth: self.truth.facts(&target.name, &target.policy.to_string(), &levels),
            sizes,
            estimators: self.estimators.iter().map(|e| e.name).collect(),
            figures,
        }
    }

    fn trial(&self, seed: u64, sizes: &[u64], reference: &Reference) -> Result<Trial> {
        let mut rollouts = vec![0.0; ROLLOUTS];
        self.simulation.rewards(Player::Target(0), seed, Purpose::Rollout, 0, &mut rollouts);
        let rollouts = Distribution::Atoms(Atoms::of_sample(rollouts));
        let mut summaries = self.summaries()?;
        // One block serves all summaries: that of one with chi has every column that the others need.
        let widest = summaries.iter().max_by_key(|(_, summary)| summary.spec().policies[0].chi);
        let Some(mut block) = widest.map(|(_, summary)| Block::new(summary.spec())) else { return Ok(Vec::new()) };
        let (mut rows, mut log) = (Rows::default(), self.simulation.log(seed));
        let (mut drawn, mut found) = (0, Vec::new());
        for &size in sizes {
            while drawn < size {
                let most = usize::try_from(size - drawn).unwrap_or(Block::ROWS).min(Block::ROWS);
                log.draw(most, &mut rows);
                drawn += rows.len() as u64;
                rows.fill(&mut block);
                for (_, summary) in &mut summaries {
                    summary.add(&block)?;
                }
            }
            let judge = |estimator: &Estimator| self.judge(estimator, &summaries, reference, &rollouts);
            found.push(self.estimators.iter().map(judge).collect::<Result<_>>()?);
        }
        Ok(found)
    }

    /// One summary for all orders and one for each other structure: corrections are decided afterwards, but chi is kept
    /// only for those that use it.
    fn summaries(&self) -> Result<Vec<(Structure, Summary)>> {
        let mut summaries: Vec<(Structure, Summary)> = Vec::new();
        for structure in self.estimators.iter().map(|e| summarised(&e.structure)) {
            if !summaries.iter().any(|(known, _)| known == structure) {
                let names = self.simulation.targets().iter().map(|t| t.name.clone());
                let spec = Spec::new(structure.clone(), names);
                let chi = self.estimators.iter().any(|e| summarised(&e.structure) == structure && e.uses_chi());
                summaries.push((structure.clone(), Summary::new(if chi { spec.with_chi() } else { spec })?));
            }
        }
        match summaries.is_empty() {
            true => Err(Error::setting("estimators", "none", "give at least one")),
            false => Ok(summaries),
        }
    }

    fn judge(
        &self,
        estimator: &Estimator,
        summaries: &[(Structure, Summary)],
        reference: &Reference,
        rollouts: &Distribution,
    ) -> Result<[f64; 9]> {
        let own = summaries.iter().find(|(structure, _)| structure == summarised(&estimator.structure));
        let Some((structure, summary)) = own else { unreachable!("every structure has a summary") };
        // Points are judged, and the trials fill the threads.
        let mut settings = Settings::default().with_quantiles([0.5]).with_alphas([self.alpha]).with_band(Band::None);
        settings.threads = Some(1);
        settings.correction = estimator.correction;
        settings.structure = Some(estimator.structure.clone()).filter(|own| own != structure);
        let evaluation = summary.evaluate(&settings)?;
        Ok(reference.measure(&evaluation.policies[1], rollouts))
    }
}

/// The structure whose summary an estimator is read from: that of structure auto has every order up to 4.
fn summarised(structure: &Structure) -> &Structure {
    match structure {
        Structure::Additive | Structure::Order(1..=4) => &Structure::Auto,
        other => other,
    }
}
