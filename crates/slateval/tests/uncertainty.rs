//! Bands, intervals and comparisons: what they hold, when they are withheld, and that nothing but the seed moves them.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/truth.rs"]
mod truth;

use common::{Random, Slate, contextual_log, points, quick, summarise};
use slateval::Reason;
use slateval::{
    Band, Block, Check, Comparison, Dominance, Error, Evaluation, Field, Interval, PolicyEvaluation, Segment, Settings,
    Spec, Status, Structure, Summary,
};
use slateval::{InWords, Voice};
use truth::Truth;

fn new(evaluation: &Evaluation) -> &PolicyEvaluation {
    evaluation.policy("new").unwrap()
}

fn check<'a>(evaluation: &'a Evaluation, name: &str) -> &'a Check {
    new(evaluation).diagnostics.checks.iter().find(|c| c.name().as_str() == name).unwrap()
}

fn intervals(p: &PolicyEvaluation) -> Vec<&Interval> {
    let quantiles = p.quantiles.iter().map(|q| &q.interval);
    let tails = p.var.iter().chain(&p.cvar).map(|t| &t.interval);
    [&p.mean, &p.variance, &p.std, &p.iqr].into_iter().chain(quantiles).chain(tails).collect()
}

fn ends(c: &Comparison) -> Vec<Option<f64>> {
    let quantiles = c.quantiles.iter().map(|q| &q.interval);
    let all = std::iter::once(&c.mean).chain(quantiles).chain(c.cvar.iter().map(|t| &t.interval));
    all.flat_map(|i| [i.lower, i.upper]).collect()
}

/// A few logs: enough to see that a band twice too narrow would be found out. The full study is examples/coverage.rs.
#[test]
fn bands_and_intervals_hold_the_truth() {
    let truth = Truth::slices(4);
    let answers = truth.answers();
    let (trials, mut held) = (60, [0; 4]);
    for trial in 0..trials {
        let mut settings = quick();
        settings.draws = 200;
        settings.alphas = vec![0.25];
        let spec = Spec::new(Structure::Additive, ["new"]);
        let evaluation = truth.log(&spec, 1000, &mut Random(900 + trial)).evaluate(&settings).unwrap();
        let new = new(&evaluation);
        let inside = |i: &Interval, x: f64| u32::from(i.lower.unwrap() <= x && x <= i.upper.unwrap());
        let cdf = &new.cdf;
        let within = |((v, lower), upper): ((&f64, &Option<f64>), &Option<f64>)| {
            (lower.unwrap()..=upper.unwrap()).contains(&answers.cdf(*v))
        };
        held[0] += u32::from(cdf.reward.iter().zip(&cdf.lower).zip(&cdf.upper).all(within));
        held[1] += inside(&new.mean, answers.mean);
        held[2] += inside(&new.quantiles[1].interval, answers.quantile(0.5));
        held[3] += inside(&new.cvar[0].interval, answers.cvar(0.25));
    }
    // At .95 each, 60 trials have a standard error of 1.7: within four of them.
    assert!(held.iter().all(|&h| h >= 50), "{held:?}");
    assert!(held.iter().sum::<u32>() < 4 * trials as u32, "intervals are not as wide as can be");
}

#[test]
fn the_seed_alone_decides_and_the_number_of_threads_does_not() {
    let slates = contextual_log(1, 800, 3, 3);
    let summary = summarise(&Spec::new(Structure::Auto, ["new", "other"]).with_chi().with_baseline("other"), &slates);
    let run = |seed: u64, threads: usize| {
        let mut settings = quick();
        (settings.seed, settings.threads, settings.draws) = (seed, Some(threads), 330);
        summary.evaluate(&settings).unwrap()
    };
    let one = run(1, 1);
    for threads in [2, 3, 8] {
        assert_eq!(one, run(1, threads));
    }
    let other = run(2, 1);
    assert_eq!(new(&one).mean, new(&other).mean, "it needs no draws");
    assert_ne!(new(&one).cdf.half_width, new(&other).cdf.half_width);
    let (a, b) = (new(&one).cdf.half_width.unwrap(), new(&other).cdf.half_width.unwrap());
    assert!((a / b - 1.0).abs() < 0.2, "{a} {b}");
}

/// Segments are evaluated on several threads; a target's draws do not depend on which other targets there are.
#[test]
fn neither_threads_nor_other_targets_move_a_segment() {
    let slates = contextual_log(5, 1500, 3, 3);
    let evaluate = |spec: Spec, threads: usize| {
        let mut summary = Summary::new(spec.by("country")).unwrap();
        let mut block = Block::new(summary.spec());
        for (part, rows) in slates.chunks(100).enumerate() {
            block.reset(rows.len(), 3);
            for (row, slate) in rows.iter().enumerate() {
                block.column_mut(Field::Reward)[row] = slate.reward;
                for slot in 0..3 {
                    block.column_mut(Field::Logging { slot })[row] = slate.mu[slot];
                    for policy in 0..summary.spec().policies.len() {
                        let pi = if policy == 0 { slate.pi[slot] } else { (slate.pi[slot] + slate.mu[slot]) / 2.0 };
                        block.column_mut(Field::Target { policy, slot })[row] = pi;
                    }
                }
                block.set_segment(row, &Segment::Int(((100 * part + row) % 7) as i64));
            }
            summary.add(&block).unwrap();
        }
        let mut settings = quick();
        settings.threads = Some(threads);
        summary.evaluate(&settings).unwrap()
    };
    let spec = |targets: &[&str]| Spec::new(Structure::Auto, targets.iter().copied());
    let one = evaluate(spec(&["new"]), 1);
    for threads in [2, 3, 16] {
        assert_eq!(one, evaluate(spec(&["new"]), threads));
    }
    let two = evaluate(spec(&["new", "other"]), 2);
    assert_eq!(one.segments.len(), 7);
    for (one, two) in one.segments.iter().zip(&two.segments) {
        assert_eq!(one.policies, two.policies[..2]);
        assert_eq!(one.comparisons, two.comparisons[..1]);
    }
}

#[test]
fn differences_are_paired() {
    // The other target is halfway to logging: its error is half as large, and of the same rows.
    let slates = contextual_log(2, 2000, 3, 3);
    let spec = Spec::new(Structure::Additive, ["new", "half"]).with_baseline("half");
    let evaluation = summarise(&spec, &slates).evaluate(&quick()).unwrap();
    let half = |i: &Interval| (i.upper.unwrap() - i.lower.unwrap()) / 2.0;
    let of = |policy: &str, baseline: &str| {
        let found = |c: &&Comparison| c.policy == policy && c.baseline == baseline;
        evaluation.comparisons.iter().find(found).unwrap()
    };
    let between = of("new", "half");
    assert!(between.paired && evaluation.comparisons.len() == 3);
    let apart = half(&evaluation.policies[1].mean).hypot(half(&evaluation.policies[2].mean));
    assert!(half(&between.mean) < 0.8 * apart, "{} against {apart}", half(&between.mean));
    for (b, n) in between.cvar.iter().zip(&of("new", "logging").cvar) {
        assert!(half(&b.interval) < half(&n.interval), "half the way, less of an error");
    }
    let difference = evaluation.policies[1].mean.estimate.unwrap() - evaluation.policies[2].mean.estimate.unwrap();
    assert!((between.mean.estimate.unwrap() - difference).abs() < 1e-12);
    // A policy that is logging itself differs from it by nothing, and surely.
    let same: Vec<Slate> = slates.iter().map(|s| Slate { pi: s.mu.clone(), ..s.clone() }).collect();
    let evaluation = summarise(&Spec::new(Structure::Additive, ["new"]), &same).evaluate(&quick()).unwrap();
    for end in ends(&evaluation.comparisons[0]) {
        assert!(end.unwrap().abs() < 1e-9, "{:?}", evaluation.comparisons[0]);
    }
    assert_eq!(evaluation.comparisons[0].dominance, Some(Dominance::None));
}

#[test]
fn dominance_is_shown_where_it_is_and_only_there() {
    // One slot, two actions; the second adds 1 to a uniform reward, or widens it, or does nothing.
    let log = |effect: fn(f64) -> f64| {
        let mut random = Random(6);
        let row = |_| {
            let good = random.uniform() < 0.5;
            let u = random.uniform();
            let pi = vec![if good { 0.9 } else { 0.1 }];
            Slate { reward: if good { effect(u) } else { u }, mu: vec![0.5], pi, chi: vec![0.64] }
        };
        let slates: Vec<Slate> = (0..4000).map(row).collect();
        let evaluation = summarise(&Spec::new(Structure::Product, ["new"]), &slates).evaluate(&quick()).unwrap();
        evaluation.comparisons[0].dominance.unwrap()
    };
    assert_eq!(log(|u| u + 0.5), Dominance::Policy);
    assert_eq!(log(|u| u - 0.5), Dominance::Baseline);
    assert_eq!(log(|u| 3.0 * u - 1.0), Dominance::None);
    assert_eq!(log(|u| u), Dominance::None);
    // Better nearly everywhere, and much worse in one slate of forty: no dominance.
    assert_eq!(log(|u| if u < 0.05 { -5.0 } else { u + 0.5 }), Dominance::None);
    // Two equal policies: rounding is no evidence, whatever the propensities.
    let mut same = contextual_log(4, 1000, 3, 3);
    same.iter_mut().for_each(|s| s.pi.clone_from(&s.mu));
    for structure in [Structure::Additive, Structure::Auto] {
        let evaluation = summarise(&Spec::new(structure, ["new"]), &same).evaluate(&quick()).unwrap();
        assert_eq!(evaluation.comparisons[0].dominance, Some(Dominance::None));
    }
}

#[test]
fn intervals_are_withheld_where_the_log_cannot_carry_them() {
    // Three slots of three actions, a deterministic target: E[G^2] = 7, so 56 rows are worth 8.
    let truth = Truth::slices(4);
    let spec = Spec::new(Structure::Additive, ["new"]).with_chi();
    let evaluation = truth.log(&spec, 56, &mut Random(1)).evaluate(&quick()).unwrap();
    let new_policy = new(&evaluation);
    assert!((new_policy.diagnostics.design_ess.unwrap() - 8.0).abs() < 1e-9);
    assert_eq!(check(&evaluation, "ess").status, Status::Fail);
    assert!(new_policy.cdf.lower.iter().chain(&new_policy.cdf.upper).all(Option::is_none));
    assert!(new_policy.cdf.reason.as_ref().unwrap().in_words(Voice::Plain).contains("8.0 rows"));
    for interval in intervals(new_policy) {
        assert!(interval.lower.is_none() && interval.upper.is_none() && interval.reason.is_some());
    }
    assert!(ends(&evaluation.comparisons[0]).iter().all(Option::is_none));
    assert_eq!(evaluation.comparisons[0].dominance, None);
    // What is logged is worth what it is.
    assert!(evaluation.policies[0].mean.lower.is_some());

    // 400 rows are worth 57: enough for the mean, not for a tail of .05.
    let evaluation = truth.log(&spec, 400, &mut Random(1)).evaluate(&quick()).unwrap();
    let policy = new(&evaluation);
    assert!(policy.mean.lower.is_some() && policy.cdf.half_width.is_some());
    assert!(policy.cvar[0].interval.lower.is_none() && policy.cvar[0].interval.reason.is_some());
    assert!(policy.cvar[2].interval.lower.is_some());
}

#[test]
fn nothing_is_drawn_where_intervals_are_switched_off() {
    let evaluation =
        summarise(&Spec::new(Structure::Auto, ["new"]), &contextual_log(3, 400, 3, 3)).evaluate(&points()).unwrap();
    for interval in evaluation.policies.iter().flat_map(intervals) {
        assert!(interval.estimate.is_some() && interval.lower.is_none());
        assert_eq!(interval.reason, Some(Reason::SwitchedOff));
    }
    assert!(evaluation.policies.iter().all(|p| p.cdf.half_width.is_none()));
}

#[test]
fn the_guaranteed_band_is_wider_and_says_what_it_rests_on() {
    let truth = Truth::slices(4);
    let summary = truth.log(&Spec::new(Structure::Additive, ["new"]), 10_000, &mut Random(1));
    let run = |band: Band, min_propensity: Option<f64>| {
        let mut settings = quick();
        (settings.band, settings.min_propensity) = (band, min_propensity);
        summary.evaluate(&settings)
    };
    let known = run(Band::Bernstein, Some(1.0 / 3.0)).unwrap();
    assert_eq!(check(&known, "guarantee").status, Status::Ok);
    let seen = run(Band::Bernstein, None).unwrap();
    assert_eq!(check(&seen, "guarantee").status, Status::Warn);
    assert_eq!(new(&known).cdf, new(&seen).cdf, "the log's smallest propensity is the true one");
    let multiplier = run(Band::Multiplier, None).unwrap();
    let answers = truth.answers();
    let cdf = &new(&known).cdf;
    for (i, v) in cdf.reward.iter().enumerate() {
        let (lower, upper, f) = (cdf.lower[i].unwrap(), cdf.upper[i].unwrap(), answers.cdf(*v));
        assert!(lower <= f && f <= upper && lower <= cdf.estimate[i] && cdf.estimate[i] <= upper);
    }
    let width = |e: &Evaluation| {
        let cdf = &new(e).cdf;
        cdf.upper.iter().zip(&cdf.lower).map(|(u, l)| u.unwrap() - l.unwrap()).sum::<f64>() / cdf.upper.len() as f64
    };
    assert!(width(&known) > 1.5 * width(&multiplier) && width(&known) < 0.3, "{}", width(&known));
    let median = &new(&known).quantiles[1].interval;
    assert!(median.lower.unwrap() <= answers.quantile(0.5) && answers.quantile(0.5) <= median.upper.unwrap());
    assert!(new(&known).mean.lower.is_none() && new(&known).mean.reason.is_some());
    let error = run(Band::Bernstein, Some(0.5)).unwrap_err();
    assert!(matches!(error, Error::BadSetting { setting: "min-propensity", .. }), "{error}");
    assert!(error.to_string().contains("slot 1"), "{error}");
}

/// Rows of one user are all alike: intervals must be as wide as those of as many rows as there are users.
#[test]
fn clusters_widen_intervals() {
    let users = contextual_log(8, 600, 2, 3);
    let repeat = 5;
    let add = |summary: &mut Summary| {
        let mut block = Block::new(summary.spec());
        for (user, slate) in users.iter().enumerate() {
            block.reset(repeat, 2);
            for row in 0..repeat {
                block.column_mut(Field::Reward)[row] = slate.reward;
                for slot in 0..2 {
                    block.column_mut(Field::Logging { slot })[row] = slate.mu[slot];
                    block.column_mut(Field::Target { policy: 0, slot })[row] = slate.pi[slot];
                }
                if summary.spec().cluster.is_some() {
                    block.set_cluster(row, &Segment::Text(format!("user {user}")));
                }
            }
            summary.add(&block).unwrap();
        }
    };
    let spec = Spec::new(Structure::Additive, ["new"]);
    let run = |spec: &Spec| {
        let mut summary = Summary::new(spec.clone()).unwrap();
        add(&mut summary);
        let mut settings = quick();
        settings.draws = 1000;
        summary.evaluate(&settings).unwrap()
    };
    let (clustered, naive) = (run(&spec.clone().clustered("user")), run(&spec));
    let mut settings = quick();
    settings.draws = 1000;
    let once = summarise(&spec, &users).evaluate(&settings).unwrap();
    let half = |i: &Interval| (i.upper.unwrap() - i.lower.unwrap()) / 2.0;
    let widths = |e: &Evaluation| [new(e).cdf.half_width.unwrap(), half(&new(e).mean), half(&new(e).cvar[2].interval)];
    let (clustered_widths, naive_widths, once_widths) = (widths(&clustered), widths(&naive), widths(&once));
    for i in 0..3 {
        // Some users share one of 512 groups by chance, which changes nothing but the noise.
        assert!((clustered_widths[i] / once_widths[i] - 1.0).abs() < 0.15, "{clustered_widths:?} {once_widths:?}");
        assert!((naive_widths[i] * 5f64.sqrt() / once_widths[i] - 1.0).abs() < 0.15, "{naive_widths:?}");
    }
    assert_eq!(check(&clustered, "clusters").status, Status::Ok);
    assert!(check(&clustered, "clusters").value.unwrap() > 300.0);
    // Checks know of the clusters too: five rows alike are worth one.
    let rows = |e: &Evaluation| check(e, "ess").value.unwrap();
    assert!((rows(&clustered) * 5.0 / rows(&naive) - 1.0).abs() < 0.2, "{} {}", rows(&clustered), rows(&naive));
}

#[test]
fn a_quantile_in_a_coarse_bin_has_no_interval() {
    let mut random = Random(3);
    let row = |_| {
        let reward = random.uniform().max(1e-9).powf(-1.5);
        Slate { reward, mu: vec![0.5], pi: vec![0.5], chi: vec![0.0] }
    };
    let slates: Vec<Slate> = (0..20_000).map(row).collect();
    let spec = Spec::new(Structure::Additive, ["new"]);
    let linear = summarise(&spec, &slates).evaluate(&quick()).unwrap();
    assert_eq!(check(&linear, "bins").status, Status::Fail);
    let median = &new(&linear).quantiles[1].interval;
    assert!(
        median.lower.is_none()
            && median.reason.as_ref().unwrap().in_words(Voice::Plain).contains("use logarithmic bins")
    );
    let log = summarise(&spec.with_binning("log".parse().unwrap()), &slates).evaluate(&quick()).unwrap();
    let median = &new(&log).quantiles[1].interval;
    assert!(median.lower.unwrap() < 2f64.powf(1.5) && median.upper.unwrap() > 2f64.powf(1.5));
}

#[test]
fn few_clusters_are_warned_of() {
    let mut slates = contextual_log(9, 500, 2, 3);
    slates.iter_mut().enumerate().for_each(|(i, s)| s.reward = (i % 20) as f64 * 1e-6);
    let evaluation =
        summarise(&Spec::new(Structure::Additive, ["new"]).clustered("user"), &slates).evaluate(&quick()).unwrap();
    assert_eq!(check(&evaluation, "clusters").status, Status::Warn);
    // Five are too few for any interval.
    slates.iter_mut().enumerate().for_each(|(i, s)| s.reward = (i % 5) as f64 * 1e-6);
    let evaluation =
        summarise(&Spec::new(Structure::Additive, ["new"]).clustered("user"), &slates).evaluate(&quick()).unwrap();
    assert_eq!(check(&evaluation, "clusters").status, Status::Fail);
    let all = evaluation.policies.iter().flat_map(intervals);
    assert!(all.into_iter().all(|i| i.lower.is_none() && i.reason.is_some()));
    assert_eq!(evaluation.comparisons[0].dominance, None);
    // A guarantee for independent rows is none for clusters.
    let mut settings = quick();
    settings.band = Band::Bernstein;
    let summary = summarise(&Spec::new(Structure::Additive, ["new"]).clustered("user"), &slates);
    assert!(summary.evaluate(&settings).is_err());
}

#[test]
fn cvar_is_less_biased_on_request() {
    let truth = Truth::slices(4);
    let exact = truth.answers().cvar(0.1);
    let mean_error = |debias: bool| {
        let one = |trial: u64| {
            let mut settings = quick();
            (settings.debias_cvar, settings.alphas) = (debias, vec![0.1]);
            let spec = Spec::new(Structure::Additive, ["new"]);
            let evaluation = truth.log(&spec, 500, &mut Random(trial)).evaluate(&settings).unwrap();
            let cvar = &new(&evaluation).cvar[0].interval;
            assert!(cvar.lower.is_none_or(|l| l <= cvar.estimate.unwrap()));
            cvar.estimate.unwrap() - exact
        };
        (0..150).map(one).sum::<f64>() / 150.0
    };
    let (plain, debiased) = (mean_error(false), mean_error(true));
    assert!(debiased.abs() < 0.6 * plain.abs(), "{plain} {debiased}");
}

#[test]
fn wrong_propensities_and_wrong_chi_are_found() {
    let truth = Truth::slices(4);
    let mut wrong = truth.clone();
    wrong.mu[0][1].iter_mut().for_each(|p| *p *= 1.5);
    let mut rows = Vec::new();
    let mut random = Random(2);
    for _ in 0..10_000 {
        let actions: Vec<usize> = (0..3).map(|_| random.below(3)).collect();
        let mu: Vec<f64> = (0..3).map(|k| wrong.mu[0][k][actions[k]]).collect();
        let pi: Vec<f64> = (0..3).map(|k| wrong.pi[0][k][actions[k]]).collect();
        rows.push(Slate { reward: random.uniform(), mu, pi, chi: vec![2.0; 3] });
    }
    let spec = Spec::new(Structure::Additive, ["new"]);
    let evaluation = summarise(&spec, &rows).evaluate(&points()).unwrap();
    let found = check(&evaluation, "propensities");
    assert_eq!(found.status, Status::Fail);
    assert!(found.finding.in_words(Voice::Plain).contains("slot 2"), "{:?}", found.finding);

    rows.iter_mut().for_each(|row| {
        row.mu = vec![1.0 / 3.0; 3];
        row.chi = vec![1.0; 3];
    });
    for structure in [Structure::Additive, Structure::Auto] {
        let evaluation = summarise(&Spec::new(structure, ["new"]).with_chi(), &rows).evaluate(&points()).unwrap();
        assert_eq!(check(&evaluation, "chi").status, Status::Fail);
        assert_eq!(new(&evaluation).correction, Some(slateval::Correction::ControlVariate));
        // Nor is it used to tell what the log is worth.
        assert_eq!(new(&evaluation).diagnostics.design_ess_from, slateval::DesignSource::Ratios);
        let worth = new(&evaluation).diagnostics.design_ess.unwrap();
        assert!((worth / (10_000.0 / 7.0) - 1.0).abs() < 0.1, "{worth}");
    }
}

/// Fifty segments that do not differ: the two furthest apart are no evidence that they do.
#[test]
fn disparities_know_that_they_were_looked_for() {
    let mut excluded = 0;
    for seed in 0..10 {
        let spec = Spec::new(Structure::Additive, ["new"]).by("country");
        let mut summary = Summary::new(spec).unwrap();
        let mut block = Block::new(summary.spec());
        for (i, rows) in contextual_log(seed, 7500, 2, 3).chunks(125).enumerate() {
            block.reset(rows.len(), 2);
            for (row, slate) in rows.iter().enumerate() {
                block.column_mut(Field::Reward)[row] = slate.reward;
                for slot in 0..2 {
                    block.column_mut(Field::Logging { slot })[row] = slate.mu[slot];
                    block.column_mut(Field::Target { policy: 0, slot })[row] = slate.pi[slot];
                }
                block.set_segment(row, &Segment::Int(((i * 500 + row) % 50) as i64));
            }
            summary.add(&block).unwrap();
        }
        let evaluation = summary.evaluate(&quick()).unwrap();
        let mean = evaluation.disparities.iter().find(|d| d.policy == "logging" && d.metric == "mean").unwrap();
        excluded += u32::from(mean.interval.lower.unwrap() > 0.0);
    }
    assert!(excluded <= 2, "{excluded} of 10");
}

/// An order of one's own choice, from a summary that kept them all.
#[test]
fn any_kept_order_can_be_shown() {
    let slates = contextual_log(12, 1500, 3, 3);
    let auto = summarise(&Spec::new(Structure::Auto, ["new"]).with_chi(), &slates);
    for structure in [Structure::Additive, Structure::Order(2), Structure::Order(3)] {
        let mut settings = quick();
        let fixed = summarise(&Spec::new(structure.clone(), ["new"]).with_chi(), &slates).evaluate(&settings).unwrap();
        settings.structure = Some(structure);
        let shown = auto.evaluate(&settings).unwrap();
        assert!(new(&shown).selection.is_none() && new(&shown).mean.if_order_holds.is_none());
        for (a, b) in intervals(new(&fixed)).into_iter().zip(intervals(new(&shown))) {
            for (a, b) in [(a.estimate, b.estimate), (a.lower, b.lower), (a.upper, b.upper)] {
                assert!((a.unwrap() - b.unwrap()).abs() < 1e-6, "{a:?} {b:?}");
            }
        }
    }
    for refused in [Structure::Product, Structure::Order(5)] {
        let mut settings = quick();
        settings.structure = Some(refused);
        assert!(matches!(auto.evaluate(&settings), Err(Error::BadSetting { setting: "structure", .. })));
    }
}

/// Items drawn without replacement from five, taken for independent slots.
#[test]
fn a_log_without_repeats_is_flagged() {
    let mut random = Random(4);
    let row = |_| {
        let mut items: Vec<usize> = (0..5).collect();
        let shown: Vec<usize> = (0..3).map(|_| items.swap_remove(random.below(items.len()))).collect();
        let pi = shown.iter().enumerate().map(|(k, &item)| f64::from(u8::from(item == k))).collect();
        Slate { reward: random.uniform(), mu: vec![0.2; 3], pi, chi: vec![4.0; 3] }
    };
    let rows: Vec<Slate> = (0..10_000).map(row).collect();
    for structure in [Structure::Additive, Structure::Auto] {
        let evaluation = summarise(&Spec::new(structure, ["new"]), &rows).evaluate(&points()).unwrap();
        let found = check(&evaluation, "factored");
        assert_ne!(found.status, Status::Ok);
        assert!(found.finding.in_words(Voice::Plain).contains("ranking:5"), "{:?}", found.finding);
    }
}

#[test]
fn bad_settings_are_refused() {
    let summary = summarise(&Spec::new(Structure::Additive, ["new"]), &contextual_log(1, 50, 2, 2));
    let refused = |change: fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        assert!(matches!(summary.evaluate(&settings), Err(Error::BadSetting { .. })));
    };
    refused(|s| s.confidence = 1.0);
    refused(|s| s.confidence = 95.0);
    refused(|s| s.draws = 5);
    refused(|s| s.min_propensity = Some(0.0));
    assert!(Summary::new(Spec::new(Structure::Additive, ["new"]).with_baseline("old")).is_err());
}

/// One row, one slot, equal weights, atoms: no panic, no NaN.
#[test]
fn small_and_odd_logs_have_sensible_intervals() {
    let one = |reward: f64| Slate { reward, mu: vec![0.5], pi: vec![0.5], chi: vec![0.0] };
    for slates in
        [vec![one(1.0)], vec![one(1.0), one(2.0)], vec![one(3.0); 40], (0..40).map(|i| one(f64::from(i % 2))).collect()]
    {
        for structure in [Structure::Auto, Structure::Additive, Structure::Product] {
            for chi in [false, true] {
                let spec = Spec::new(structure.clone(), ["new"]);
                let spec = if chi { spec.with_chi() } else { spec };
                let evaluation = summarise(&spec, &slates).evaluate(&quick()).unwrap();
                for interval in evaluation.policies.iter().flat_map(intervals) {
                    let numbers = [interval.estimate, interval.lower, interval.upper];
                    assert!(numbers.into_iter().flatten().all(f64::is_finite), "{interval:?}");
                    assert!(interval.lower.is_some() || interval.reason.is_some(), "{interval:?}");
                }
            }
        }
    }
}
