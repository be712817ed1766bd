//! Trials in parallel, with settings that all studies share.

use std::sync::atomic::{AtomicUsize, Ordering};

use slateval::Settings;
use slateval_sim::adversary::World;
use slateval_sim::trial_seed;

use crate::DRAWS;

/// What the trials' seeds follow from.
const SEED: u64 = 20_240;

/// A trial's seed.
pub(crate) fn seed(trial: usize) -> u64 {
    trial_seed(SEED, trial as u64)
}

/// How a trial's log is evaluated.
pub(crate) fn settings(world: &World, trial: usize) -> Settings {
    let mut settings = Settings::default();
    settings.draws = DRAWS;
    settings.seed = trial as u64;
    settings.threads = Some(1);
    settings.alphas = vec![0.05, world.tail, World::WIDE_TAIL];
    settings.quantiles = vec![0.25, 0.5, 0.75];
    settings
}

/// Runs trials on all processors; results in the order of the trials.
pub(crate) fn in_parallel<T: Send, E: Send>(
    trials: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let run = || {
        let mut own = Vec::new();
        loop {
            let trial = next.fetch_add(1, Ordering::Relaxed);
            if trial >= trials {
                return own;
            }
            own.push((trial, work(trial)));
        }
    };
    let mut done: Vec<(usize, Result<T, E>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no trial panics")).collect()
    });
    done.sort_by_key(|(trial, _)| *trial);
    done.into_iter().map(|(_, result)| result).collect()
}
