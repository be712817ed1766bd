//! A small part of the coverage study: intervals that are printed without a mark hold, and others are not printed.
//!
//! `cargo run --release -p slateval-sim --example adversary` is the whole study.
#![allow(clippy::unwrap_used)]

use slateval::{Comparison, Evaluation, Interval, PolicyEvaluation, Refutation, Settings, Status, Structure};
use slateval_sim::adversary::{self, World};

const TRIALS: usize = 30;

/// Misses that 30 intervals which hold in .92 of logs exceed in fewer than one of a thousand cases: 2.4 are expected, with a
/// standard deviation of 1.5, and `P(X > 8)` is .0005 for the binomial distribution.
const MOST_MISSES: usize = 8;

fn world(name: &str) -> World {
    adversary::world_named(name).unwrap().unwrap()
}

fn evaluations(world: &World, rows: usize) -> Vec<Evaluation> {
    let mut settings = Settings::default();
    settings.draws = 300;
    (0..TRIALS as u64)
        .map(|trial| {
            settings.seed = trial;
            world.log(rows, 500 + trial).unwrap().evaluate(&settings).unwrap()
        })
        .collect()
}

fn target(evaluation: &Evaluation) -> &PolicyEvaluation {
    evaluation.policy(World::TARGET).unwrap()
}

fn comparison(evaluation: &Evaluation) -> &Comparison {
    &evaluation.comparisons[0]
}

fn misses<'e>(intervals: impl Iterator<Item = &'e Interval>, truth: f64) -> usize {
    let is_missed = |i: &Interval| i.lower.is_some_and(|l| truth < l) || i.upper.is_some_and(|u| truth > u);
    intervals.filter(|i| is_missed(i)).count()
}

#[test]
fn intervals_of_interacting_slots_hold() {
    for (name, rows) in [("parity", 5000), ("opposed-pairs", 5000), ("and-of-three", 5000), ("additive-gamma", 2000)] {
        let world = world(name);
        let truths = world.truths();
        let (new, logging) = (&truths.target, &truths.logging);
        let found = evaluations(&world, rows);
        let policies = || found.iter().map(target);
        let counted = [
            ("mean", misses(policies().map(|p| &p.mean), new.mean())),
            ("std", misses(policies().map(|p| &p.std), new.std())),
            ("median", misses(policies().map(|p| &p.quantiles[1].interval), new.quantile(0.5))),
            ("VaR", misses(policies().map(|p| &p.var[1].interval), new.quantile(0.1))),
            ("CVaR", misses(policies().map(|p| &p.cvar[1].interval), new.cvar(0.1))),
            ("difference", misses(found.iter().map(|e| &comparison(e).mean), new.mean() - logging.mean())),
        ];
        for (what, missed) in counted {
            assert!(missed <= MOST_MISSES, "{name}: {missed} of {TRIALS} intervals of the {what} miss the truth");
        }
        let printed = policies().filter(|p| p.mean.lower.is_some()).count();
        assert_eq!(printed, TRIALS, "{name}: intervals are there");
    }
}

#[test]
fn what_the_log_cannot_show_is_withheld_or_marked() {
    for (name, rows) in [("sum-of-slots", 5000), ("joint-no-repeat-as-joint", 5000)] {
        for evaluation in evaluations(&world(name), rows) {
            let new = target(&evaluation);
            for interval in [&new.mean, &new.quantiles[1].interval, &comparison(&evaluation).mean] {
                let has_no_ends = interval.lower.is_none() && interval.upper.is_none();
                // The mean of a policy whose CDF the log contradicts is there, and marked by the check of the order.
                assert!(has_no_ends || interval.refuted.is_some(), "{name}: {interval:?}");
                assert!(interval.reason.is_some());
            }
            let check = new.diagnostics.checks.iter().find(|check| check.name().as_str() == "order").unwrap();
            assert_ne!(check.status, Status::Ok, "{name}: {check:?}");
        }
    }
}

#[test]
fn a_refuted_structure_is_marked() {
    for evaluation in evaluations(&world("parity-named-additive"), 5000) {
        let new = target(&evaluation);
        let named = Some(Refutation::Structure(Structure::Additive));
        for refuted in [&new.mean.refuted, &new.cdf.refuted, &comparison(&evaluation).mean.refuted] {
            assert_eq!(*refuted, named);
        }
        assert!(new.diagnostics.spoiled().any(|check| check.name().as_str() == "structure"));
    }
}

#[test]
fn heavy_tails_withhold_what_unseen_rows_may_decide() {
    let found = evaluations(&world("lognormal"), 2000);
    let printed = found.iter().filter(|e| target(e).std.lower.is_some()).count();
    // In 1% of 500 logs; three of thirty would be a rarity of less than one in a thousand.
    assert!(printed < 3, "{printed} of {TRIALS}");
    for evaluation in &found {
        let check =
            target(evaluation).diagnostics.checks.iter().find(|check| check.name().as_str() == "rewards").unwrap();
        assert_eq!(check.status == Status::Ok, target(evaluation).std.lower.is_some(), "{check:?}");
        assert!(target(evaluation).quantiles[1].interval.lower.is_some(), "quantiles do not mind");
    }
}
