//! How often one-sided 95% bounds lie on the wrong side of the truth, by a gate's own rules.

use std::error::Error;
use std::time::Instant;

use slateval::{Combination, Combined, Diagnostics, LOGGING, Metric, Term};
use slateval_sim::adversary::{Mix, Truths, World};

use crate::coverage::share;
use crate::trials::{in_parallel, seed, settings};

/// The worlds that thresholds are set in.
const WORLDS: [&str; 9] = [
    "parity",
    "additive",
    "pairwise",
    "additive-gamma",
    "exponential",
    "contextual",
    "opposed-pairs",
    "sum-of-slots",
    "lognormal",
];

/// What a rule asks for: a metric of the target, or its difference to logging.
const ASKED: [(&str, Metric, bool); 7] = [
    ("mean", Metric::Mean, false),
    ("median", Metric::Quantile(0.5), false),
    ("std", Metric::Std, false),
    ("CVaR.1", Metric::Cvar(0.1), false),
    ("CVaR.25", Metric::Cvar(0.25), false),
    ("Δmean", Metric::Mean, true),
    ("ΔCVaR.1", Metric::Cvar(0.1), true),
];

/// On which side of the truth a bound lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The lower bound lies above the truth: `>= truth` passes.
    Above,
    /// The upper bound lies below the truth: `<= truth` passes.
    Below,
    /// The interval holds the truth.
    Between,
    /// A gate would not look at the bounds, or there are none.
    CannotTell,
}

/// Prints the table.
pub(crate) fn study(worlds: &[World], trials: usize) -> Result<(), Box<dyn Error>> {
    println!("### One-sided 95% bounds on the wrong side of the truth, {trials} trials\n");
    println!("Lower bound above the truth / upper bound below it, both to be .05 (share of no verdict).\n");
    let names: Vec<&str> = ASKED.iter().map(|asked| asked.0).collect();
    println!("| world | rows | {} |\n|{}", names.join(" | "), "---|".repeat(names.len() + 2));
    for world in worlds.iter().filter(|world| WORLDS.contains(&world.name)) {
        let begun = Instant::now();
        let rows = world.sizes[0];
        let verdicts = verdicts(world, rows, trials)?;
        let cell = |place: usize| {
            let of = |verdict: Verdict| {
                share(verdicts.iter().filter(|found| found[place] == verdict).count() as f64 / trials as f64)
            };
            format!("{} / {} ({})", of(Verdict::Above), of(Verdict::Below), of(Verdict::CannotTell))
        };
        let cells: Vec<String> = (0..ASKED.len()).map(cell).collect();
        println!("| {} | {rows} | {} |", world.name, cells.join(" | "));
        eprintln!("{} {rows}: {:.1} ms a trial", world.name, 1e3 * begun.elapsed().as_secs_f64() / trials as f64);
    }
    Ok(())
}

fn verdicts(world: &World, rows: usize, trials: usize) -> Result<Vec<Vec<Verdict>>, Box<dyn Error>> {
    let truths = world.truths();
    let combinations: Vec<Combination> = ASKED.iter().map(|(_, metric, gain)| rule(*metric, *gain, &truths)).collect();
    let found = in_parallel(trials, |trial| {
        let mut settings = settings(world, trial);
        // Each end of a 90% interval is a one-sided bound of 95%.
        settings.confidence = 0.90;
        world.log(rows, seed(trial))?.combinations(&combinations, None, &settings)
    })?;
    Ok(found.iter().map(|found| found.iter().map(verdict).collect()).collect())
}

/// A metric minus its true value.
fn rule(metric: Metric, gain: bool, truths: &Truths) -> Combination {
    let mut terms = vec![Term::new(1.0, metric, World::TARGET)];
    let mut truth = value(metric, &truths.target);
    if gain {
        terms.push(Term::new(-1.0, metric, LOGGING));
        truth -= value(metric, &truths.logging);
    }
    Combination { terms, constant: -truth }
}

fn value(metric: Metric, mix: &Mix) -> f64 {
    match metric {
        Metric::Std => mix.std(),
        Metric::Quantile(level) => mix.quantile(level),
        Metric::Cvar(alpha) => mix.cvar(alpha),
        _ => mix.mean(),
    }
}

/// A gate's rule: failed checks and too few rows leave no verdict.
fn verdict(found: &Combined) -> Verdict {
    let too_few = found.worth.as_ref().is_some_and(|worth| worth.rows < Diagnostics::ENOUGH_ROWS);
    if too_few || !found.failed.is_empty() || found.interval.refuted.is_some() {
        return Verdict::CannotTell;
    }
    match (found.interval.lower, found.interval.upper) {
        (Some(lower), _) if lower > 0.0 => Verdict::Above,
        (_, Some(upper)) if upper < 0.0 => Verdict::Below,
        (None, None) => Verdict::CannotTell,
        _ => Verdict::Between,
    }
}
