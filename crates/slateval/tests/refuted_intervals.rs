//! Which intervals are marked as refuted, and by what: one decision for evaluations, parts, profiles and combinations.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Slate, contextual_log, quick, summarise};
use slateval::{
    CheckName, Combination, Comparison, Evaluation, Interval, LOGGING, Metric, PolicyEvaluation, Profile,
    PropensitySource, Reason, Refutation, SkipReason, Skipped, Spec, Status, Structure, Summary, TargetSlots, Term,
};
use slateval::{InWords, Voice};

/// A log whose propensities are this share of what they should be.
fn wrong(rows: usize, share: f64) -> Vec<Slate> {
    let scaled = |s: Slate| Slate { mu: s.mu.iter().map(|p| share * p).collect(), ..s };
    contextual_log(12, rows, 2, 3).into_iter().map(scaled).collect()
}

fn of_policy(policy: &PolicyEvaluation) -> Vec<&Interval> {
    let tails = policy.var.iter().chain(&policy.cvar).map(|t| &t.interval);
    let quantiles = policy.quantiles.iter().map(|q| &q.interval);
    [&policy.mean, &policy.variance, &policy.std, &policy.iqr].into_iter().chain(tails).chain(quantiles).collect()
}

fn of_comparison(comparison: &Comparison) -> Vec<&Interval> {
    let quantiles = comparison.quantiles.iter().chain(&comparison.quantile_band).map(|q| &q.interval);
    [&comparison.mean].into_iter().chain(comparison.cvar.iter().map(|t| &t.interval)).chain(quantiles).collect()
}

/// Everything that is said of a policy and of its comparisons in the whole log has this mark.
#[track_caller]
fn assert_marked(evaluation: &Evaluation, policy: &str, by: Option<&Refutation>) {
    let own = evaluation.policy(policy).unwrap();
    let compared = evaluation.comparisons.iter().filter(|c| c.policy == policy || c.baseline == policy);
    for interval in of_policy(own).into_iter().chain(compared.flat_map(of_comparison)) {
        if interval.lower.is_some() {
            assert_eq!(interval.refuted.as_ref(), by, "{interval:?}");
            assert!(!interval.conditional && interval.reason.is_some() == by.is_some(), "{interval:?}");
        }
    }
    assert!(own.mean.lower.is_some() && own.cdf.lower[0].is_some());
    assert_eq!(own.cdf.refuted.as_ref(), by);
}

fn check(name: CheckName) -> Refutation {
    Refutation::Check(name)
}

#[test]
fn wrong_propensities_mark_every_interval_of_the_target() {
    let evaluation = summarise(&Spec::new(Structure::Additive, ["new"]), &wrong(3000, 0.5)).evaluate(&quick()).unwrap();
    let by = check(CheckName::Propensities);
    assert_marked(&evaluation, "new", Some(&by));
    assert_eq!(evaluation.comparisons[0].dominance, None);
    let logging = &evaluation.policies[0];
    assert!(of_policy(logging).iter().all(|interval| interval.refuted.is_none()), "what was logged was logged");
    let reason = evaluation.policies[1].mean.reason.as_ref().unwrap();
    assert_eq!(reason.in_words(Voice::Plain), "the check `propensities` of `new` did not pass");

    let right = summarise(&Spec::new(Structure::Product, ["new"]), &contextual_log(12, 3000, 2, 3));
    assert_marked(&right.evaluate(&quick()).unwrap(), "new", None);
}

/// Half of what the target shows was never logged, and no row makes up for it.
#[test]
fn a_target_without_support_is_marked_whatever_the_structure_and_the_slots() {
    let unsupported = |slots: usize, shares: [f64; 2]| {
        let halve = |(row, mut slate): (usize, Slate)| {
            for k in 0..slots {
                slate.pi[k] = shares[row % 2] * slate.mu[k];
            }
            slate
        };
        contextual_log(12, 3000, 3, 3).into_iter().enumerate().map(halve).collect::<Vec<_>>()
    };
    for structure in [Structure::Product, Structure::Additive] {
        // The ratio is constant, varies, or is below 1 in one slot of three.
        for log in [unsupported(3, [0.5, 0.5]), unsupported(3, [0.2, 0.8]), unsupported(1, [0.2, 0.8])] {
            let evaluation = summarise(&Spec::new(structure.clone(), ["new"]), &log).evaluate(&quick()).unwrap();
            let checks = &evaluation.policies[1].diagnostics.checks;
            assert_eq!((checks[0].name(), checks[0].status), (CheckName::Propensities, Status::Fail), "{checks:?}");
            assert!(checks[0].finding.in_words(Voice::Plain).contains("only 50.0% of what the target shows"));
            assert!(
                !checks
                    .iter()
                    .any(|check| check.finding.in_words(Voice::Plain).contains("a structure of higher order"))
            );
            let intervals =
                of_policy(&evaluation.policies[1]).into_iter().chain(of_comparison(&evaluation.comparisons[0]));
            for interval in intervals.filter(|interval| interval.lower.is_some()) {
                assert_eq!(interval.refuted, Some(check(CheckName::Propensities)), "{interval:?}");
            }
        }
    }
}

#[test]
fn a_biased_weight_and_estimated_propensities_mark_too() {
    let log = contextual_log(12, 3000, 3, 3);
    let paper = summarise(&Spec::new(Structure::PaperOrder(2), ["new"]), &log).evaluate(&quick()).unwrap();
    assert_marked(&paper, "new", Some(&check(CheckName::Bias)));
    let mut spec = Spec::new(Structure::Product, ["new"]);
    spec.propensities = PropensitySource::Estimated;
    let estimated = summarise(&spec, &log).evaluate(&quick()).unwrap();
    assert_marked(&estimated, "new", Some(&check(CheckName::EstimatedPropensities)));
}

/// What would hold under a condition is refuted, and no longer conditional.
#[test]
fn a_refutation_outranks_a_condition() {
    let mut spec = Spec::new(Structure::Auto, ["new"]);
    spec.target_slots = TargetSlots::Joint;
    // Rewards that no slot has a part in: nothing contradicts the order, and for joint slots nothing can vouch for it.
    let mut log = contextual_log(3, 2000, 2, 3);
    log.iter_mut().for_each(|slate| slate.reward = (1e3 * slate.reward).fract());
    let known = summarise(&spec, &log).evaluate(&quick()).unwrap();
    let (known, withheld) = (&known.policies[1].mean, known.policies[1].mean.if_order_holds);
    assert!(known.conditional && known.lower.is_none() && known.refuted.is_none(), "{known:?}");
    spec.propensities = PropensitySource::Estimated;
    let estimated = summarise(&spec, &log).evaluate(&quick()).unwrap();
    let mean = &estimated.policies[1].mean;
    assert!(!mean.conditional, "{mean:?}");
    assert_eq!(mean.refuted, Some(check(CheckName::EstimatedPropensities)));
    // The ends that held under the condition.
    assert_eq!((mean.lower, mean.upper), (withheld.unwrap().lower, withheld.unwrap().upper));
    assert_marked(&estimated, "new", Some(&check(CheckName::EstimatedPropensities)));
}

/// A comparison is marked if either side is.
#[test]
fn a_spoiled_baseline_marks_what_is_compared_with_it() {
    let mut log = contextual_log(12, 3000, 2, 3);
    let mut summary = Summary::new(Spec::new(Structure::Product, ["new", "old"]).with_baseline("old")).unwrap();
    log.iter_mut().for_each(|s| s.chi.clear());
    // The second target lies halfway between the first and logging: both are right, until too much is left out.
    common::add(&mut summary, &log);
    assert_marked(&summary.evaluate(&quick()).unwrap(), "new", None);
    summary.skip(Skipped::new(SkipReason::Missing, 3000));
    let evaluation = summary.evaluate(&quick()).unwrap();
    for policy in [LOGGING, "new", "old"] {
        assert_marked(&evaluation, policy, Some(&check(CheckName::Skipped)));
    }
    assert_eq!(evaluation.comparisons.len(), 3);
}

fn sum(terms: &[(f64, Metric, &str)]) -> Combination {
    let terms = terms.iter().map(|(coefficient, metric, policy)| Term::new(*coefficient, *metric, *policy)).collect();
    Combination { terms, constant: 0.0 }
}

/// The whole log's checks count in its segments, which may be too small to show what fails there.
#[test]
fn segments_are_marked_by_the_whole_log() {
    let mut spec = Spec::new(Structure::Product, ["new"]);
    spec.by = Some("20".into());
    let summary = summarise(&spec, &wrong(6000, 0.92));
    let evaluation = summary.evaluate(&quick()).unwrap();
    let is_quiet = |policy: &PolicyEvaluation| policy.diagnostics.spoiled().next().is_none();
    let quiet = evaluation.segments.iter().find(|s| is_quiet(&s.policies[1]) && s.policies[1].mean.lower.is_some());
    let quiet = quiet.expect("some segment is too small");
    let mean = &quiet.policies[1].mean;
    assert_eq!(mean.refuted, Some(check(CheckName::Propensities)));
    assert_eq!(
        mean.reason.as_ref().unwrap().in_words(Voice::Plain),
        "the check `propensities` of `new` did not pass in the whole log"
    );
    assert!(quiet.policies[0].mean.refuted.is_none());
    for disparity in evaluation.disparities.iter().filter(|d| d.policy == "new" && d.interval.lower.is_some()) {
        assert!(disparity.interval.refuted.is_some(), "{disparity:?}");
    }

    let part = summary.evaluate_part(Some(&quiet.value), &quick()).unwrap();
    assert_eq!(part.policies[1].mean, *mean);
    let asked = [sum(&[(1.0, Metric::Mean, "new")]), sum(&[(1.0, Metric::Mean, "new"), (-1.0, Metric::Mean, LOGGING)])];
    let found = summary.combinations(&asked, Some(&quiet.value), &quick()).unwrap();
    assert_eq!(found[0].interval, *mean);
    assert_eq!(found[1].interval.refuted, quiet.comparisons[0].mean.refuted);
    assert_eq!(found[0].failed[0].check.name(), CheckName::Propensities);
    let everywhere = summary.combinations_by_segment(&asked, &quick()).unwrap();
    assert_eq!(everywhere.len(), evaluation.segments.len());
    assert_eq!(everywhere.iter().find(|(value, _)| *value == quiet.value).unwrap().1, found);
}

/// What a rule or a picture is read from has the marks of the evaluation.
#[test]
fn combinations_and_profiles_have_the_same_marks() {
    let summary = summarise(&Spec::new(Structure::Additive, ["new"]), &wrong(3000, 0.5));
    let (settings, by) = (quick(), Some(check(CheckName::Propensities)));
    let evaluation = summary.evaluate(&settings).unwrap();
    let asked =
        [sum(&[(1.0, Metric::Mean, "new")]), sum(&[(1.0, Metric::Mean, LOGGING)]), sum(&[(1.0, Metric::Ess, "new")])];
    let found = summary.combinations(&asked, None, &settings).unwrap();
    assert_eq!(found[0].interval, evaluation.policies[1].mean);
    assert_eq!((&found[0].interval.refuted, &found[1].interval.refuted), (&by, &None));
    assert!(found[2].interval.refuted.is_none() && found[2].failed.is_empty(), "known without error");
    let profile = summary.profile(&Profile::levels(&settings), &settings).unwrap();
    let marked = profile.policies[1].cvar.iter().chain(&profile.comparisons[0].quantiles).filter(|i| i.lower.is_some());
    assert!(marked.clone().all(|interval| interval.refuted == by) && marked.count() > 20);
}

/// A target that changes some of many slots is normal: a remark, and no mark.
#[test]
fn slots_that_a_target_leaves_as_they_are_do_not_warn() {
    let mut log = contextual_log(4, 3000, 4, 3);
    for slate in &mut log {
        slate.pi[1..].clone_from_slice(&slate.mu[1..]);
        slate.chi[1..].fill(0.0);
    }
    for spec in [Spec::new(Structure::Additive, ["new"]), Spec::new(Structure::Additive, ["new"]).with_chi()] {
        let evaluation = summarise(&spec, &log).evaluate(&quick()).unwrap();
        let checks = &evaluation.policies[1].diagnostics.checks;
        let remark = checks.iter().find(|check| check.name() == CheckName::Correction).unwrap();
        assert_eq!(remark.status, Status::Ok, "{remark:?}");
        assert!(remark.finding.in_words(Voice::Plain).contains("slot 2, 3, 4 never varies"), "{:?}", remark.finding);
        assert!(checks.iter().all(|check| check.status != Status::Fail), "{checks:?}");
    }
}

#[test]
fn a_name_in_a_reason_is_shown_and_not_obeyed() {
    let policy = "a\n::stop\u{1b}[2J".to_owned();
    let reason = Reason::CheckNotPassed { check: CheckName::Order, policy, in_whole_log: false };
    assert_eq!(reason.in_words(Voice::Plain), "the check `order` of `a\\n::stop\\u{1b}[2J` did not pass");
}
