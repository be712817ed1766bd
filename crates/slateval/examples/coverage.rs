//! How often bands and intervals hold the truth, over many simulated logs.
//!
//! `cargo run --release -p slateval --example coverage -- [TRIALS [TABLE]]` prints the tables of docs/coverage.md, or one
//! of them.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/truth.rs"]
mod truth;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::Random;
use slateval::{Band, Binning, Cdf, Interval, PolicyEvaluation, Settings, Spec, Structure};
use truth::{Answers, Truth};

const DRAWS: usize = 500;
const ALPHA: f64 = 0.1;
const BINS: usize = 1024;

/// What was covered in one trial; none where it was withheld.
type Covered = Vec<(&'static str, Option<bool>)>;

fn main() {
    let trials: usize = std::env::args().nth(1).map_or(1000, |n| n.parse().expect("a number of trials"));
    let truths = [
        ("3x3 additive", Truth::slices(4)),
        ("K=5, N=20, contextual", Truth::contextual(5)),
        ("{0,1,2,3}", Truth::atoms(6)),
    ];
    let only: Option<usize> = std::env::args().nth(2).map(|n| n.parse().expect("the number of a table"));
    let tables = [
        (Structure::Additive, true, Band::Multiplier),
        (Structure::Additive, false, Band::Multiplier),
        (Structure::Additive, true, Band::Bernstein),
        (Structure::Auto, true, Band::Multiplier),
    ];
    let tables_count = tables.len();
    for (table, (structure, chi, band)) in tables.into_iter().enumerate() {
        if only.is_some_and(|only| only != table + 1) {
            continue;
        }
        let correction = if chi { "calibrated" } else { "control variates" };
        println!("\n### structure {structure}, {correction}, band {band}, {trials} trials\n");
        println!("| log | rows | ESS | band | width | mean | variance | std | median | q.25 | IQR | VaR.1 | CVaR.1 |");
        println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
        for (name, truth) in &truths {
            for n in [1000, 10_000] {
                println!("| {name} | {n} {}", study(truth, &structure, chi, band, n, trials));
            }
        }
    }
    if only.is_none_or(|only| only == tables_count + 1) {
        choice(trials);
    }
    if only.is_none_or(|only| only == tables_count + 2) {
        differences(trials);
    }
}

/// How often order 2 is found active, and what the choice costs: the mean distance of the CDF to the true one.
fn choice(trials: usize) {
    println!("\n### the choice of an order, calibrated, {trials} trials\n");
    println!("| CDF | rows | order 2 active | order 1 | order 2 | auto | auto / best |");
    println!("|---|---|---|---|---|---|---|");
    for (name, truth) in [("additive", Truth::additive(11)), ("pairwise", Truth::pairwise(11))] {
        let answers = truth.answers();
        for n in [2000, 10_000] {
            let distances = |structure: Structure| {
                let results = in_parallel(trials, |trial| {
                    let mut settings = Settings::default();
                    (settings.band, settings.draws, settings.seed) = (Band::None, DRAWS, trial as u64);
                    settings.threads = Some(1);
                    let spec = Spec::new(structure.clone(), ["new"]).with_chi();
                    let log = truth.log(&spec, n, &mut Random(1_000_003 * trial as u64 + n as u64));
                    let evaluation = log.evaluate(&settings).unwrap();
                    let new = evaluation.policy("new").unwrap();
                    let at = |(v, f): (&f64, &f64)| (f - answers.cdf(*v)).abs();
                    let distance = new.cdf.reward.iter().zip(&new.cdf.estimate).map(at).fold(0.0, f64::max);
                    (distance, new.selection.as_ref().is_some_and(|s| s.orders[0].active))
                });
                let mean = results.iter().map(|r| r.0).sum::<f64>() / trials as f64;
                (mean, results.iter().filter(|r| r.1).count() as f64 / trials as f64)
            };
            let ((first, _), (second, _)) = (distances(Structure::Order(1)), distances(Structure::Order(2)));
            let (auto, active) = distances(Structure::Auto);
            let ratio = auto / first.min(second);
            println!("| {name} | {n} | {active:.3} | {first:.4} | {second:.4} | {auto:.4} | {ratio:.2} |");
        }
    }
}

/// How often the differences of all quantiles, target minus logging, lie within their band at once, and how often each lies
/// within its own interval.
fn differences(trials: usize) {
    println!("\n### differences of quantiles from 5% to 95%, additive, calibrated, {trials} trials\n");
    println!("| log | rows | all at once | each, in the mean | width at once / each |");
    println!("|---|---|---|---|---|");
    let levels: Vec<f64> = (5..=95).map(|i| f64::from(i) / 100.0).collect();
    for (name, truth) in [("3x3 additive", Truth::slices(4)), ("{0,1,2,3}", Truth::atoms(6))] {
        let (target, logging) = (truth.answers(), truth.logging_answers());
        let truths: Vec<f64> = levels.iter().map(|&q| target.quantile(q) - logging.quantile(q)).collect();
        for n in [1000, 10_000] {
            let results = in_parallel(trials, |trial| {
                let mut settings = Settings::default();
                (settings.draws, settings.seed, settings.threads) = (2000, trial as u64, Some(1));
                let spec = Spec::new(Structure::Additive, ["new"]).with_chi();
                let log = truth.log(&spec, n, &mut Random(1_000_003 * trial as u64 + n as u64));
                let comparison = log.profile(&levels, &settings).unwrap().comparisons.remove(0);
                let held = |intervals: &[Interval]| {
                    let holds = |(i, x): (&Interval, &f64)| {
                        i.lower.is_none_or(|l| l <= x + 1e-6) && i.upper.is_none_or(|u| u >= x - 1e-6)
                    };
                    intervals.iter().zip(&truths).filter(|pair| holds(*pair)).count() as f64 / levels.len() as f64
                };
                let width =
                    |intervals: &[Interval]| intervals.iter().filter_map(|i| Some(i.upper? - i.lower?)).sum::<f64>();
                let (band, each) = (&comparison.quantile_band, &comparison.quantiles);
                (held(band) == 1.0, held(each), width(band) / width(each))
            });
            let count = trials as f64;
            let at_once = results.iter().filter(|r| r.0).count() as f64 / count;
            let each = results.iter().map(|r| r.1).sum::<f64>() / count;
            let width = results.iter().map(|r| r.2).sum::<f64>() / count;
            println!("| {name} | {n} | {at_once:.3} | {each:.3} | {width:.2} |");
        }
    }
}

fn study(truth: &Truth, structure: &Structure, chi: bool, band: Band, n: usize, trials: usize) -> String {
    let answers = truth.answers();
    let spec = Spec::new(structure.clone(), ["new"]);
    let spec = if chi { spec.with_chi() } else { spec };
    let spec = spec.with_binning(BINS.to_string().parse::<Binning>().unwrap());
    let results = in_parallel(trials, |trial| {
        let mut settings = Settings::default();
        settings.draws = DRAWS;
        settings.band = band;
        settings.seed = trial as u64;
        settings.threads = Some(1);
        settings.alphas = vec![ALPHA];
        settings.min_propensity = truth.mu.iter().flatten().flatten().copied().reduce(f64::min);
        let summary = truth.log(&spec, n, &mut Random(1_000_003 * trial as u64 + n as u64));
        let evaluation = summary.evaluate(&settings).unwrap();
        covered(evaluation.policy("new").unwrap(), &answers)
    });
    let ess = results.iter().map(|r| r.0).sum::<f64>() / trials as f64;
    let width = results.iter().map(|r| r.1).sum::<f64>() / trials as f64;
    let mut cells = vec![format!("{ess:.0}")];
    for (i, &(name, _)) in results[0].2.iter().enumerate() {
        let told: Vec<bool> = results.iter().filter_map(|r| r.2[i].1).collect();
        let share = told.iter().filter(|held| **held).count() as f64 / told.len() as f64;
        cells.push(if told.is_empty() { "–".to_owned() } else { format!("{share:.3}") });
        if name == "band" {
            cells.push(format!("{width:.3}"));
        }
    }
    format!("| {} |", cells.join(" | "))
}

/// The design effective sample size, the band's mean width, and what was covered.
fn covered(new: &PolicyEvaluation, answers: &Answers) -> (f64, f64, Covered) {
    let holds = |interval: &Interval, value: f64| {
        // A quantile of a continuous law, as read from a grid, is right to a millionth.
        let slack = 1e-6;
        match (interval.lower, interval.upper) {
            (None, None) => None,
            (lower, upper) => {
                Some(lower.is_none_or(|x| x <= value + slack) && upper.is_none_or(|x| x >= value - slack))
            }
        }
    };
    let quantile = |level: f64| &new.quantiles.iter().find(|q| q.level == level).unwrap().interval;
    let q = |level: f64| answers.quantile(level);
    let covered = vec![
        ("band", band_holds(&new.cdf, answers)),
        ("mean", holds(&new.mean, answers.mean)),
        ("variance", holds(&new.variance, answers.variance)),
        ("std", holds(&new.std, answers.variance.sqrt())),
        ("median", holds(quantile(0.5), q(0.5))),
        ("q.25", holds(quantile(0.25), q(0.25))),
        ("IQR", holds(&new.iqr, q(0.75) - q(0.25))),
        ("VaR", holds(&new.var[0].interval, q(ALPHA))),
        ("CVaR", holds(&new.cvar[0].interval, answers.cvar(ALPHA))),
    ];
    let widths = new.cdf.upper.iter().zip(&new.cdf.lower).filter_map(|(u, l)| Some((*u)? - (*l)?));
    let width = widths.sum::<f64>() / new.cdf.upper.len() as f64;
    (new.diagnostics.design_ess.unwrap_or(0.0), width, covered)
}

/// Whether the band holds the CDF at every logged reward.
fn band_holds(cdf: &Cdf, answers: &Answers) -> Option<bool> {
    let mut all = true;
    for ((v, lower), upper) in cdf.reward.iter().zip(&cdf.lower).zip(&cdf.upper) {
        let f = answers.cdf(*v);
        all &= (*lower)? <= f + 1e-12 && f <= (*upper)? + 1e-12;
    }
    Some(all)
}

fn in_parallel<T: Send>(trials: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
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
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        workers.into_iter().flat_map(|w| w.join().unwrap()).collect()
    });
    done.sort_by_key(|(trial, _)| *trial);
    done.into_iter().map(|(_, result)| result).collect()
}
