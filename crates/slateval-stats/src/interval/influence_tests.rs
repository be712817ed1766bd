//! The error process from the summary against influence functions written down row by row.

use std::rc::Rc;

use slateval_testing::uniform;

use crate::correction::weight_sums::{WeightSums, occupied};
use crate::distribution::curve::Distribution;
use crate::distribution::estimator::Estimator;
use crate::influence::function::{InfluencePart, standard_error};
use crate::interval::drawable::Drawable;
use crate::interval::process::Process;
use crate::interval::thinning::Thinning;
use crate::reference;
use crate::spec::correction::Correction;
use crate::spec::specification::Spec;
use crate::spec::structure::Structure;
use crate::sums::cell::Cell;
use crate::sums::feature_map::LinearFunction;
use crate::sums::index::Basis;
use crate::sums::totals::Totals;

const SLOTS: usize = 3;
const CORRECTIONS: [Correction; 4] =
    [Correction::None, Correction::SelfNormalized, Correction::ControlVariate, Correction::Calibrated];

/// One logged slate, as two targets see it.
struct Row {
    reward: f64,
    cluster: i64,
    mu: [f64; SLOTS],
    pi: [[f64; SLOTS]; 2],
    chi: [[f64; SLOTS]; 2],
}

/// Policies of two actions that vary by row, and a reward of six values that depends on all slots.
fn rows(n: usize) -> Vec<Row> {
    let mut uniform = uniform(7);
    let mut row = |i: usize| {
        let mut row = Row {
            reward: 0.0,
            cluster: 2 * (i / 3) as i64,
            mu: [0.0; SLOTS],
            pi: [[0.0; SLOTS]; 2],
            chi: [[0.0; SLOTS]; 2],
        };
        for k in 0..SLOTS {
            let (mu, first) = (0.3 + 0.4 * uniform(), uniform());
            let shown = first < mu;
            row.mu[k] = if shown { mu } else { 1.0 - mu };
            for p in 0..2 {
                let pi = 0.1 + 0.8 * uniform();
                row.pi[p][k] = if shown { pi } else { 1.0 - pi };
                row.chi[p][k] = pi * pi / mu + (1.0 - pi) * (1.0 - pi) / (1.0 - mu) - 1.0;
            }
            row.reward += f64::from(u8::from(shown)) * (1.0 + row.reward);
        }
        row.reward = (row.reward + 2.0 * uniform()).floor() + 0.5;
        row
    };
    (0..n).map(&mut row).collect()
}

fn summarise(spec: Spec, rows: &[Row]) -> Cell {
    let target = |row: &Row, p: usize| reference::Target {
        propensities: row.pi[p].to_vec(),
        chi: row.chi[p].to_vec(),
        ..reference::Target::default()
    };
    let plain = |row: &Row| reference::Row {
        reward: row.reward,
        logging: row.mu.to_vec(),
        targets: (0..spec.policies.len()).map(|p| target(row, p)).collect(),
        group: row.cluster as usize,
        ..reference::Row::default()
    };
    let rows: Vec<reference::Row> = rows.iter().map(plain).collect();
    reference::sums(spec, &rows).total().expect("some rows").clone()
}

/// Everything a textbook needs of one policy: `G`, `Z` and chi of each row.
struct Plain {
    g: Vec<f64>,
    z: Vec<Vec<f64>>,
    chi: Vec<Vec<f64>>,
}

impl Plain {
    fn new(rows: &[Row], policy: usize, structure: &Structure) -> Self {
        let z: Vec<Vec<f64>> =
            rows.iter().map(|r| (0..SLOTS).map(|k| r.pi[policy][k] / r.mu[k] - 1.0).collect()).collect();
        let ratios: Vec<Vec<f64>> = (0..SLOTS).map(|k| z.iter().map(|z| z[k] + 1.0).collect()).collect();
        let columns: Vec<&[f64]> = ratios.iter().map(Vec::as_slice).collect();
        Plain { g: structure.weights(&columns), z, chi: rows.iter().map(|r| r.chi[policy].to_vec()).collect() }
    }

    /// The influence function of the estimate of `E[Y]` at every row.
    fn influence(&self, y: &[f64], correction: Correction, additive: bool) -> Vec<f64> {
        let n = y.len() as f64;
        let gy: Vec<f64> = self.g.iter().zip(y).map(|(g, y)| g * y).collect();
        let mean = |x: &[f64]| x.iter().sum::<f64>() / n;
        let (a, b): (Vec<Vec<f64>>, Vec<f64>) = match correction {
            Correction::None => (vec![vec![]; y.len()], vec![]),
            Correction::SelfNormalized => {
                (self.g.iter().map(|g| vec![g - 1.0]).collect(), vec![mean(&gy) / mean(&self.g)])
            }
            Correction::ControlVariate => {
                let controls = |(z, g): (&Vec<f64>, &f64)| {
                    z.iter().copied().chain((!additive).then_some(g - 1.0)).collect::<Vec<f64>>()
                };
                let a: Vec<Vec<f64>> = self.z.iter().zip(&self.g).map(controls).collect();
                let column = |j: usize| a.iter().map(|a| a[j]).collect::<Vec<f64>>();
                let covariance = |x: &[f64], y: &[f64]| {
                    let products: Vec<f64> = x.iter().zip(y).map(|(x, y)| x * y).collect();
                    mean(&products) - mean(x) * mean(y)
                };
                let count = a[0].len();
                let s = (0..count).map(|i| (0..count).map(|j| covariance(&column(i), &column(j))).collect()).collect();
                let c = (0..count).map(|i| covariance(&column(i), &gy)).collect();
                (a.clone(), solve(s, c))
            }
            Correction::Calibrated => {
                let phi: Vec<Vec<f64>> = self.z.iter().map(|z| [vec![1.0], z.clone()].concat()).collect();
                let h: Vec<Vec<f64>> = self.chi.iter().map(|chi| [vec![1.0], chi.clone()].concat()).collect();
                let sum = |i: usize, j: usize| phi.iter().map(|p| p[i] * p[j]).sum::<f64>();
                let m = (0..=SLOTS).map(|i| (0..=SLOTS).map(|j| sum(i, j)).collect()).collect();
                let v = (0..=SLOTS).map(|i| phi.iter().zip(y).map(|(p, y)| p[i] * y).sum()).collect();
                let a = phi.iter().zip(&h).zip(&self.g);
                let a = a.map(|((p, h), g)| p.iter().zip(h).map(|(p, h)| g * p - h).collect()).collect();
                (a, solve(m, v))
            }
        };
        let unadjusted: Vec<f64> =
            gy.iter().zip(&a).map(|(gy, a)| gy - a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>()).collect();
        // The estimate is what this averages to, but for the self-normalised one, which is a ratio.
        let estimate = match correction {
            Correction::SelfNormalized => mean(&gy) / mean(&self.g),
            _ => mean(&unadjusted),
        };
        unadjusted.iter().map(|x| x - estimate).collect()
    }
}

fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for col in 0..n {
        let pivot = (col..n).max_by(|&i, &j| a[i][col].abs().total_cmp(&a[j][col].abs())).unwrap_or(col);
        a.swap(col, pivot);
        b.swap(col, pivot);
        for row in 0..n {
            if row != col {
                let f = a[row][col] / a[col][col];
                let pivot_row = a[col].clone();
                a[row].iter_mut().zip(&pivot_row).for_each(|(x, p)| *x -= f * p);
                b[row] -= f * b[col];
            }
        }
    }
    (0..n).map(|i| b[i] / a[i][i]).collect()
}

fn spec(structure: Structure) -> Spec {
    Spec::new(structure, ["new", "other"]).with_chi().with_baseline("other")
}

/// An estimator from the summary, of a fixed structure or of an order where several are kept.
fn estimator<'a>(
    cell: &'a Cell,
    policy: usize,
    structure: &Structure,
    correction: Correction,
) -> (Estimator<'a>, Vec<u32>) {
    let (bins, rows) = occupied(cell);
    let totals = Rc::new(Totals::new(cell, policy));
    let sums = match (structure, cell.kept.basis) {
        (Structure::Order(m), Basis::Orders(2..)) => WeightSums::of_order(cell, &totals, *m, &rows),
        _ => WeightSums::of_structure(cell, &totals, &rows),
    };
    let mut estimator = Estimator::of_target(cell, sums, structure.clone(), (correction, true), &bins);
    // Influence functions know nothing of what fitting costs.
    estimator.leverage = 0.0;
    (estimator, rows)
}

/// The logging policy beside a target's ratios.
fn logging_estimator(cell: &Cell, policy: usize) -> Estimator<'_> {
    let (bins, rows) = occupied(cell);
    let mut logging = Estimator::of_logging(cell, WeightSums::of_logging(cell, policy, &rows), &bins);
    logging.leverage = 0.0;
    logging
}

fn part<'e, 'a>(estimator: &'e Estimator<'a>, influence: LinearFunction, by: f64) -> InfluencePart<'e, 'a> {
    InfluencePart { estimator, influence, by }
}

fn close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs())), "{what}: {a} against {b}");
}

/// The sum over groups of the product of two functions' sums within them.
fn products(x: &[f64], y: &[f64], rows: &[Row], clustered: bool) -> f64 {
    if !clustered {
        return x.iter().zip(y).map(|(x, y)| x * y).sum();
    }
    // Clusters of three rows next to each other.
    assert_eq!(rows[2].cluster, rows[0].cluster);
    x.chunks(3).zip(y.chunks(3)).map(|(x, y)| x.iter().sum::<f64>() * y.iter().sum::<f64>()).sum()
}

fn indicator(rows: &[Row], v: f64) -> Vec<f64> {
    rows.iter().map(|r| f64::from(u8::from(r.reward <= v))).collect()
}

#[test]
fn variances_are_those_of_the_influence_functions() {
    let rows = rows(60);
    let rewards: Vec<f64> = rows.iter().map(|r| r.reward).collect();
    let structures =
        [Structure::Additive, Structure::Order(2), Structure::Product, "interactions:1+3".parse().expect("a family")];
    for kept in [None, Some(Structure::Auto)] {
        for structure in &structures {
            let structure = match (&kept, structure) {
                (Some(_), Structure::Additive) => Structure::Order(1),
                (Some(_), Structure::Product) => Structure::Order(3),
                (Some(_), Structure::Interactions(_)) => continue,
                (_, other) => other.clone(),
            };
            for clustered in [false, true] {
                let mut spec = spec(kept.clone().unwrap_or_else(|| structure.clone()));
                spec.cluster = clustered.then(|| "user".to_owned());
                let cell = summarise(spec, &rows);
                let groups = cell.clusters.as_ref().map_or(0, |g| g.occupied());
                // The names of the clusters are such that no two share a group.
                assert!(!clustered || groups == 20);
                let plain = [0, 1].map(|p| Plain::new(&rows, p, &structure));
                for correction in CORRECTIONS {
                    let what = format!("{structure} {correction} clustered {clustered}");
                    let (new, occupied) = estimator(&cell, 0, &structure, correction);
                    let (other, _) = estimator(&cell, 1, &structure, correction);
                    check_process(&cell, &occupied, [&new, &other], &plain, &rows, clustered, &what);
                    check_moments(&cell, [&new, &other], &plain, (&rewards, &rows), clustered, &what);
                }
            }
        }
    }
}

fn additive(structure: Option<&Structure>) -> bool {
    structure.is_some_and(Structure::is_additive)
}

fn check_process(
    cell: &Cell,
    occupied: &[u32],
    [new, other]: [&Estimator<'_>; 2],
    plain: &[Plain; 2],
    rows: &[Row],
    clustered: bool,
    what: &str,
) {
    let bins = &new.distribution.bins;
    let (n, correction) = (rows.len() as f64, new.corrected.correction);
    let is_additive = additive(new.structure.as_ref());
    let logging = logging_estimator(cell, 0);
    let alone = Process::new(cell, occupied, &[new]).variance(&[1.0]);
    let with_logging = Process::new(cell, occupied, &[new, &logging]).variance(&[1.0, -1.0]);
    let with_other = Process::new(cell, occupied, &[new, other]).variance(&[1.0, -1.0]);
    let reversed = Process::new(cell, occupied, &[other, new]).variance(&[0.0, 1.0]);
    for (b, bin) in bins.iter().enumerate() {
        let u = indicator(rows, bin.max);
        let own = plain[0].influence(&u, correction, is_additive);
        let theirs = plain[1].influence(&u, correction, is_additive);
        let share = u.iter().sum::<f64>() / n;
        let minus = |x: &[f64]| own.iter().zip(x).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let square = |x: &[f64]| products(x, x, rows, clustered) / (n * n);
        close(alone[b], square(&own), what);
        close(reversed[b], square(&own), what);
        let logged: Vec<f64> = u.iter().map(|u| u - share).collect();
        close(with_logging[b], square(&minus(&logged)), what);
        close(with_other[b], square(&minus(&theirs)), what);
    }
}

fn check_moments(
    cell: &Cell,
    [new, other]: [&Estimator<'_>; 2],
    plain: &[Plain; 2],
    (rewards, rows): (&[f64], &[Row]),
    clustered: bool,
    what: &str,
) {
    let (n, correction) = (rows.len() as f64, new.corrected.correction);
    let is_additive = additive(new.structure.as_ref());
    let [own, theirs] = [0, 1].map(|p| plain[p].influence(rewards, correction, is_additive));
    let difference: Vec<f64> = own.iter().zip(&theirs).map(|(a, b)| a - b).collect();
    let error = |x: &[f64]| products(x, x, rows, clustered).sqrt() / n;
    close(standard_error(cell, &[part(new, new.mean_influence(), 1.0)]), error(&own), what);
    let parts = [part(new, new.mean_influence(), 1.0), part(other, other.mean_influence(), -1.0)];
    close(standard_error(cell, &parts), error(&difference), what);

    let squares: Vec<f64> = rewards.iter().map(|r| r * r).collect();
    let mean = new.moments.mean + new.moments.origin;
    let second = plain[0].influence(&squares, correction, is_additive);
    let variance: Vec<f64> = second.iter().zip(&own).map(|(s, m)| s - 2.0 * mean * m).collect();
    close(standard_error(cell, &[part(new, new.variance_influence(), 1.0)]), error(&variance), what);
}

#[test]
fn draws_have_the_covariance_of_the_influence_functions() {
    const DRAWS: usize = 20_000;
    let rows = rows(60);
    for clustered in [false, true] {
        for (structure, correction) in
            [(Structure::Additive, Correction::Calibrated), (Structure::Order(2), Correction::ControlVariate)]
        {
            let mut spec = spec(structure.clone());
            spec.cluster = clustered.then(|| "user".to_owned());
            let cell = summarise(spec, &rows);
            let plain = [0, 1].map(|p| Plain::new(&rows, p, &structure));
            let (new, occupied) = estimator(&cell, 0, &structure, correction);
            let (other, _) = estimator(&cell, 1, &structure, correction);
            let process = Process::new(&cell, &occupied, &[&new, &other]);
            let process = Drawable::new(&process, &Thinning::fine(&new.distribution.bins));
            let bins = new.distribution.bins.len();
            let mut sums = vec![vec![0.0; 2 * bins]; 2 * bins];
            for draw in 0..DRAWS {
                let both = process.draw(3, draw).concat();
                for (row, x) in sums.iter_mut().zip(&both) {
                    row.iter_mut().zip(&both).for_each(|(sum, y)| *sum += x * y);
                }
            }
            let influence = |i: usize| {
                let u = indicator(&rows, new.distribution.bins[i % bins].max);
                plain[i / bins].influence(&u, correction, additive(Some(&structure)))
            };
            let influences: Vec<Vec<f64>> = (0..2 * bins).map(influence).collect();
            let n = rows.len() as f64;
            let direct = |i: usize, j: usize| products(&influences[i], &influences[j], &rows, clustered) / (n * n);
            for (i, row) in sums.iter().enumerate() {
                for (j, sum) in row.iter().enumerate() {
                    // A product of two normals has variance v_i v_j + c_ij^2.
                    let error = ((direct(i, i) * direct(j, j) + direct(i, j).powi(2)) / DRAWS as f64).sqrt();
                    let found = sum / DRAWS as f64;
                    assert!((found - direct(i, j)).abs() <= 5.0 * error + 1e-15, "{structure} {correction} {i} {j}");
                }
            }
        }
    }
}

#[test]
fn the_logged_rewards_need_no_weights() {
    let rows = rows(60);
    let cell = summarise(spec(Structure::Auto), &rows);
    let (_, occupied) = occupied(&cell);
    let logging = logging_estimator(&cell, 1);
    let n = rows.len() as f64;
    let variance = Process::new(&cell, &occupied, &[&logging]).variance(&[1.0]);
    let Distribution { raw, .. } = &logging.distribution;
    for (v, f) in variance.iter().zip(raw) {
        close(*v, f * (1.0 - f) / n, "binomial");
    }
    let mean = rows.iter().map(|r| r.reward).sum::<f64>() / n;
    let square: f64 = rows.iter().map(|r| (r.reward - mean).powi(2)).sum();
    close(standard_error(&cell, &[part(&logging, logging.mean_influence(), 1.0)]), square.sqrt() / n, "mean");
}
