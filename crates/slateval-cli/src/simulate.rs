//! `slateval simulate`: a log of a world whose truth is known, and that truth.

use std::path::PathBuf;

use anyhow::{Result, bail};
use slateval::shown;
use slateval_logs::shown_path;
use slateval_report::write_whole;
use slateval_sim::{
    Cascade, Interaction, Levels, Mixed, Policy, Ratings, RatingsSettings, Simulation, Target, TruthDocument,
    on_threads,
};

use crate::notes;
use crate::output;
use crate::progress::bar;
use crate::simulate_args::{self as args, Log, Simulate, World};

pub(crate) fn run(arguments: &Simulate) -> Result<()> {
    let (name, log, default, inputs) = match &arguments.world {
        World::Additive(a) => ("additive", &a.log, Policy::Deterministic, &[][..]),
        World::Pairwise(p) => ("pairwise", &p.log, Policy::EpsilonGreedy { epsilon: 0.2 / p.items as f64 }, &[][..]),
        World::Ratings(r) => {
            ("ratings", &r.log, Policy::EpsilonGreedy { epsilon: 0.01 }, std::slice::from_ref(&r.ratings))
        }
        World::Cascade(c) => ("cascade", &c.log, Policy::Softmax { scale: 3.0 }, &[][..]),
    };
    let targets = log.targets(default)?;
    let truth_path = log.truth_path()?;
    output::check(&[("--output", &log.output), ("the truth", &truth_path)], inputs)?;
    let threads = log.threads.map(usize::from);
    let flags = on_threads(threads, || {
        let simulation = simulation(&arguments.world, log, targets)?;
        let levels = log.levels();
        let document = TruthDocument::new(&simulation, name, log.rows, log.seed, log.truth_rows, &levels)?;
        write_log(&simulation, log)?;
        output::write_bytes(&truth_path, (serde_json::to_string_pretty(&document)? + "\n").as_bytes())?;
        anyhow::Ok(evaluation_flags(&simulation))
    })??;
    let path = shown_path(&log.output);
    notes::info(&format!("{path}: {} slates; the truth is in {}", log.rows, shown_path(&truth_path)));
    notes::info(&format!("evaluate it with: slateval evaluate {path}{}", shown(&flags)));
    Ok(())
}

/// What `evaluate` has to be told of a simulated log.
fn evaluation_flags(simulation: &Simulation) -> String {
    let named = simulation.targets().iter().filter(|target| target.name != "target");
    let mut flags: String = named.map(|target| format!(" --target {0}=pi_{0}", target.name)).collect();
    if simulation.logging() == Policy::Ranking {
        flags += &format!(" --structure ranking:{}", simulation.items());
    }
    let joint = |policy: Policy| matches!(policy, Policy::Ranking | Policy::PlackettLuce { .. });
    if simulation.targets().iter().any(|target| joint(target.policy)) {
        flags += " --target-slots joint";
    }
    flags
}

impl Log {
    fn targets(&self, default: Policy) -> Result<Vec<Target>> {
        if self.target.is_empty() {
            return Ok(vec![Target { name: slateval_sim::PLAIN_TARGET.to_owned(), policy: default }]);
        }
        for (i, target) in self.target.iter().enumerate() {
            if self.target[..i].iter().any(|other| other.name == target.name) {
                bail!("--target: two targets are called `{}`; write NAME={}", shown(&target.name), target.policy);
            }
        }
        Ok(self.target.clone())
    }

    fn truth_path(&self) -> Result<PathBuf> {
        match self.output.extension().and_then(|e| e.to_str()) {
            Some("parquet") => Ok(self.output.with_extension("truth.json")),
            _ => bail!("--output {}: the name must end in .parquet", shown_path(&self.output)),
        }
    }

    fn levels(&self) -> Levels {
        Levels { quantiles: self.quantile.clone(), alphas: self.alpha.clone(), ..Levels::default() }
    }
}

fn simulation(world: &World, log: &Log, targets: Vec<Target>) -> Result<Simulation> {
    let world: Box<dyn slateval_sim::World> = match world {
        World::Additive(a) => Box::new(match a.curves.as_str() {
            "powers" => Mixed::additive_powers(a.slots, a.items, log.seed)?,
            _ => Mixed::additive(a.slots, a.items, log.seed)?,
        }),
        World::Pairwise(p) => {
            let wanted = (!p.any_interaction).then(Interaction::default);
            Box::new(pairwise(p, targets[0].policy, wanted, log.seed)?)
        }
        World::Ratings(r) => Box::new(ratings(r)?),
        World::Cascade(c) => Box::new(Cascade::new(c.slots, c.items, log.seed)?),
    };
    Ok(Simulation::new(world, log.logging, targets)?)
}

fn pairwise(p: &args::Pairwise, target: Policy, wanted: Option<Interaction>, seed: u64) -> Result<Mixed> {
    match Mixed::pairwise(p.slots, p.items, seed, target, wanted) {
        Err(slateval_sim::Error::BadSetting { setting: "interaction", why, .. }) => {
            bail!("{why}; use --any-interaction, another target or another --seed")
        }
        world => Ok(world?),
    }
}

fn ratings(arguments: &args::Ratings) -> Result<Ratings> {
    let settings = RatingsSettings {
        slots: arguments.slots,
        items: arguments.items,
        gain: arguments.reward,
        threshold: arguments.threshold,
        fewest: arguments.fewest,
        likes: arguments.likes.clone(),
        lambda: arguments.lambda,
    };
    let bar = bar(1000, "{wide_bar} fitting a model of the ratings, {eta} left");
    let world = Ratings::read(&arguments.ratings, &settings, &|share| bar.set_position((1000.0 * share) as u64));
    bar.finish_and_clear();
    Ok(world?)
}

fn write_log(simulation: &Simulation, log: &Log) -> Result<()> {
    let bar = bar(log.rows, "{wide_bar} {human_pos} of {human_len} rows, {eta} left");
    let threads = log.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, Into::into), usize::from);
    let written = write_whole(&log.output, |file| {
        let refused =
            |e: slateval_sim::Error| slateval_report::Error::Encode { what: "the log", reason: e.to_string() };
        simulation.write_parquet(log.rows, log.seed, threads, file, &|rows| bar.set_position(rows)).map_err(refused)
    });
    bar.finish_and_clear();
    Ok(written?)
}
