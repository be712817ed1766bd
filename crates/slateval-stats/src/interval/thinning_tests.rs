//! Draws on runs of bins against draws on the bins themselves.

use std::rc::Rc;

use slateval_testing::uniform;

use crate::correction::weight_sums::{Bin, WeightSums, occupied};
use crate::distribution::estimator::Estimator;
use crate::interval::draws::Draws;
use crate::interval::process::Process;
use crate::interval::readings::Readings;
use crate::interval::thinning::{FEW_DRAWS, Thinning};
use crate::reference::{self, Row, Target};
use crate::spec::combination::Metric;
use crate::spec::correction::Correction;
use crate::spec::settings::Settings;
use crate::spec::specification::Spec;
use crate::spec::structure::Structure;
use crate::spec::tail::Tail;
use crate::sums::cell::Cell;
use crate::sums::totals::Totals;

const SLOTS: usize = 2;

/// Two slots of two actions, and a reward that a function makes of a uniform number and of what is shown.
fn log(rows: usize, reward: fn(f64, f64) -> f64) -> Cell {
    let mut uniform = uniform(3);
    let binning = "4096".parse().expect("a number of bins");
    let mut row = || {
        let (mut logging, mut propensities, mut shown) = (Vec::new(), Vec::new(), 0.0);
        for _ in 0..SLOTS {
            let (mu, good) = (0.2 + 0.6 * uniform(), uniform());
            let is_good = good < mu;
            shown += f64::from(u8::from(is_good));
            logging.push(if is_good { mu } else { 1.0 - mu });
            propensities.push(if is_good { 0.8 } else { 0.2 });
        }
        let targets = vec![Target { propensities, ..Target::default() }];
        Row { reward: reward(uniform(), shown), logging, targets, ..Row::default() }
    };
    let rows: Vec<Row> = (0..rows).map(|_| row()).collect();
    let spec = Spec::new(Structure::Product, ["new"]).with_binning(binning);
    reference::sums(spec, &rows).total().expect("some rows").clone()
}

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

const DRAWS: usize = 16_000;

/// How many quantiles and tails are read.
const READINGS: usize = 8;

/// How far runs may move a width or a deviation, beside chance. Of 500 draws, chance moves either by some 3%.
const FINE: f64 = 0.01;
const COARSE: f64 = 0.02;

#[test]
fn runs_of_bins_move_intervals_by_less_than_chance_does() {
    let rewards: [fn(f64, f64) -> f64; 3] = [
        |u, shown| u + 0.3 * shown,
        // A heavy tail.
        |u, shown| (1.0 - u).powf(-0.4) + 0.2 * shown,
        // Mostly nothing.
        |u, shown| if u < 0.8 { 0.0 } else { u + 0.1 * shown },
    ];
    for (log_number, reward) in rewards.into_iter().enumerate() {
        let cell = log(60_000, reward);
        let (bins, places) = occupied(&cell);
        let sums = WeightSums::of_structure(&cell, &Rc::new(Totals::new(&cell, 0)), &places);
        let new = Estimator::of_target(&cell, sums, Structure::Product, (Correction::ControlVariate, false), &bins);
        let process = Process::new(&cell, &places, &[&new]);
        let levels = [0.02, 0.25, 0.5, 0.9, 0.99].map(Metric::Quantile);
        let tails = [0.01, 0.05, 0.25].map(Metric::Cvar);
        let readings = Readings::new(levels.into_iter().chain(tails), Tail::Upper);
        let drawn = |thinning: Thinning, seed: u64| {
            let settings = Settings { draws: DRAWS, seed, ..Settings::default() };
            Draws::new(&process, &[&new], &readings, &settings, &thinning)
        };
        let all = drawn(Thinning::none(&bins), 1);
        let (fine, coarse) = (Thinning::new(&bins, DRAWS), Thinning::new(&bins, FEW_DRAWS));
        assert!(bins.len() > 2 * fine.len(), "log {log_number}: {} of {}", fine.len(), bins.len());
        assert!(fine.len() > coarse.len(), "log {log_number}: {} of {}", coarse.len(), fine.len());
        for (runs, most) in [(drawn(fine, 0), FINE), (drawn(coarse, 0), COARSE)] {
            moves_by_at_most(most, &runs, &all, log_number);
        }
    }
}

fn moves_by_at_most(most: f64, runs: &Draws, all: &Draws, log_number: usize) {
    // The 95% quantile of what is distributed as the supremum of a bridge has a standard error of .77 / sqrt(draws)
    // of itself, and a standard deviation one of .71 / sqrt(draws). An atom makes lumps of either.
    let near = |what: &str, (a, b): (f64, f64), error: f64| {
        let (ratio, error) = (if a == b { 1.0 } else { a / b }, error * (2.0 / DRAWS as f64).sqrt());
        assert!((ratio - 1.0).abs() < most + 2.0 * error, "log {log_number}, {what}: {ratio}, {most} allowed");
    };
    near("band", (runs.half_width(0, 0.95), all.half_width(0, 0.95)), 0.77);
    for functional in 0..READINGS {
        let of = |draws: &Draws| deviation(draws.values(0, functional));
        near(&format!("reading {functional}"), (of(runs), of(all)), 0.71);
    }
}

#[test]
fn runs_hold_as_much_as_they_may() {
    let bin = |rows: f64| Bin { rows, min: 0.0, mean: 0.0, max: 0.0 };
    let ends = |rows: &[f64]| {
        let places: Vec<f64> = (0..rows.len()).map(|i| i as f64).collect();
        Thinning::new(&rows.iter().map(|&rows| bin(rows)).collect::<Vec<_>>(), 2000).at_ends(&places)
    };
    // Few rows: each bin by itself.
    assert_eq!(ends(&[1.0; 20]).len(), 20);
    assert_eq!(ends(&[]), [] as [f64; 0]);
    let even = ends(&[1.0; 25_600]);
    let lengths: Vec<f64> = even.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(even[..12].iter().zip(0..).all(|(end, i)| *end == f64::from(i)), "tails are kept: {even:?}");
    assert!(lengths.iter().all(|length| *length <= 100.0) && lengths.contains(&100.0));
    assert!(even.len() < 512, "{}", even.len());
    // An atom stands alone, and what is beside it is not mixed with it.
    let mut atom = vec![1.0; 4000];
    atom[2000] = 1000.0;
    let found = ends(&atom);
    assert!(found.contains(&1999.0) && found.contains(&2000.0));
    assert_eq!(found.last(), Some(&3999.0));
}
