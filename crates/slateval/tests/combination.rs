//! Linear combinations of metrics: the same numbers as an evaluation where it has them, and honest ones beyond.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/truth.rs"]
mod truth;

use common::{Random, Slate, contextual_log, points, quick, summarise};
use slateval::Reason;
use slateval::{
    Band, Binning, Combination, Correction, CorrectionChoice, Error, Evaluation, Interval, LOGGING, Metric,
    PolicyEvaluation, Segment, Settings, Spec, Structure, Summary, Tail, Term,
};
use truth::Truth;

fn sum(terms: &[(f64, Metric, &str)]) -> Combination {
    let terms = terms.iter().map(|&(coefficient, metric, policy)| Term::new(coefficient, metric, policy)).collect();
    Combination { terms, constant: 0.0 }
}

fn of(summary: &Summary, terms: &[(f64, Metric, &str)], settings: &Settings) -> Interval {
    summary.combination(&sum(terms), None, settings).unwrap()
}

/// Every metric of one policy that an evaluation has, with its interval there.
fn metrics<'e>(policy: &'e PolicyEvaluation, settings: &Settings) -> Vec<(Metric, &'e Interval)> {
    let mut all = vec![(Metric::Mean, &policy.mean), (Metric::Variance, &policy.variance), (Metric::Std, &policy.std)];
    all.extend(policy.quantiles.iter().map(|q| (Metric::Quantile(q.level), &q.interval)));
    all.extend(policy.var.iter().map(|v| (Metric::var(v.alpha, settings), &v.interval)));
    all.extend(policy.cvar.iter().map(|c| (Metric::Cvar(c.alpha), &c.interval)));
    all
}

/// Single metrics and differences are, to the last bit, those of the evaluation.
fn same_as_evaluated(summary: &Summary, evaluation: &Evaluation, settings: &Settings) {
    let (mut asked, mut expected) = (Vec::new(), Vec::new());
    for policy in &evaluation.policies {
        for (metric, interval) in metrics(policy, settings) {
            asked.push(sum(&[(1.0, metric, &policy.name)]));
            expected.push(interval);
        }
    }
    for c in &evaluation.comparisons {
        let mut all = vec![(Metric::Mean, &c.mean)];
        all.extend(c.cvar.iter().map(|t| (Metric::Cvar(t.alpha), &t.interval)));
        all.extend(c.quantiles.iter().map(|q| (Metric::Quantile(q.level), &q.interval)));
        for (metric, interval) in all {
            // Either way round.
            asked.push(sum(&[(1.0, metric, &c.policy), (-1.0, metric, &c.baseline)]));
            asked.push(sum(&[(-1.0, metric, &c.baseline), (1.0, metric, &c.policy)]));
            expected.extend([interval, interval]);
        }
    }
    let found = summary.combinations(&asked, None, settings).unwrap();
    for ((asked, found), expected) in asked.iter().zip(&found).zip(expected) {
        assert_eq!(found.interval, *expected, "{asked:?}");
    }
    // One by one they are the same as all together.
    for (asked, found) in asked.iter().zip(&found).step_by(29) {
        assert_eq!(summary.combination(asked, None, settings).unwrap(), found.interval, "{asked:?}");
    }
}

#[test]
fn what_an_evaluation_has_is_the_same_here() {
    let slates = contextual_log(5, 600, 3, 3);
    let base = Spec::new(Structure::Auto, ["new", "half"]);
    let specs = [
        base.clone().with_baseline("half"),
        base.clone().with_chi().with_baseline("new"),
        Spec::new(Structure::Additive, ["new"]).with_chi(),
        base.clustered("user").with_baseline("half"),
        Spec::new(Structure::Product, ["new", "half"]),
    ];
    for spec in &specs {
        let summary = summarise(spec, &slates);
        let mut settings = quick();
        same_as_evaluated(&summary, &summary.evaluate(&settings).unwrap(), &settings);
        settings.debias_cvar = true;
        settings.tail = Tail::Upper;
        same_as_evaluated(&summary, &summary.evaluate(&settings).unwrap(), &settings);
    }
}

#[test]
fn what_an_evaluation_withholds_is_withheld_for_the_same_reason() {
    let slates = contextual_log(6, 400, 4, 4);
    let short = &slates[..12];
    for (spec, slates) in [
        (Spec::new(Structure::Auto, ["new", "half"]).with_baseline("half"), &slates[..]),
        (Spec::new(Structure::Auto, ["new", "half"]), short),
        (Spec::new(Structure::Product, ["new"]), short),
        (Spec::new(Structure::Additive, ["new"]), &slates[..1]),
        (Spec::new(Structure::Additive, ["new"]).clustered("user"), &slates[..6]),
    ] {
        let summary = summarise(&spec, slates);
        let mut without = quick();
        without.band = Band::None;
        let mut guaranteed = quick();
        guaranteed.band = Band::Bernstein;
        for settings in [quick(), without, guaranteed] {
            if settings.band == Band::Bernstein && spec.cluster.is_some() {
                continue;
            }
            same_as_evaluated(&summary, &summary.evaluate(&settings).unwrap(), &settings);
        }
    }
}

#[test]
fn segments_have_their_own() {
    let slates = contextual_log(7, 1600, 2, 3);
    let spec = Spec::new(Structure::Auto, ["new"]).by("device");
    let mut summary = Summary::new(spec.clone()).unwrap();
    for (i, slates) in slates.chunks(100).enumerate() {
        let mut block = slateval::Block::new(&spec);
        block.reset(slates.len(), 2);
        for (row, slate) in slates.iter().enumerate() {
            block.column_mut(slateval::Field::Reward)[row] = slate.reward;
            block.set_segment(row, &Segment::Int(i as i64 % 2));
            for slot in 0..2 {
                block.column_mut(slateval::Field::Logging { slot })[row] = slate.mu[slot];
                block.column_mut(slateval::Field::Target { policy: 0, slot })[row] = slate.pi[slot];
            }
        }
        summary.add(&block).unwrap();
    }
    let settings = Settings::default();
    let evaluation = summary.evaluate(&settings).unwrap();
    assert_eq!(evaluation.segments.len(), 2);
    for segment in &evaluation.segments {
        let (asked, expected): (Vec<_>, Vec<_>) =
            metrics(&segment.policies[1], &settings).into_iter().map(|(m, i)| (sum(&[(1.0, m, "new")]), i)).unzip();
        let found = summary.combinations(&asked, Some(&segment.value), &settings).unwrap();
        assert!(found.iter().map(|c| &c.interval).eq(expected));
    }
    let missing = summary.combination(&sum(&[(1.0, Metric::Mean, "new")]), Some(&Segment::Int(7)), &settings);
    assert!(matches!(missing, Err(Error::BadSetting { setting: "segment", .. })), "{missing:?}");
}

/// Without correction, the influence of `mean(new) + mean(half) - 2 mean(logging)` is `(G_1 + G_2 - 2) R` less its mean.
#[test]
fn three_policies_are_judged_by_the_same_rows() {
    let slates = contextual_log(8, 1200, 2, 3);
    let weight = |s: &Slate, share: f64| 1.0 + share * s.z().iter().sum::<f64>();
    let values: Vec<f64> = slates.iter().map(|s| (weight(s, 1.0) + weight(s, 0.5) - 2.0) * s.reward).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let error = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>().sqrt() / n;
    let mut settings = Settings::default();
    settings.correction = CorrectionChoice::Fixed(Correction::None);
    let terms = [(1.0, Metric::Mean, "new"), (1.0, Metric::Mean, "half"), (-2.0, Metric::Mean, LOGGING)];
    let width = |spec: &Spec, terms: &[(f64, Metric, &str)]| {
        let found = of(&summarise(spec, &slates), terms, &settings);
        assert!(found.lower.unwrap() <= found.estimate.unwrap() && found.estimate.unwrap() <= found.upper.unwrap());
        (found.estimate.unwrap(), found.upper.unwrap() - found.lower.unwrap())
    };
    let apart = Spec::new(Structure::Additive, ["new", "half"]);
    let joint = apart.clone().with_baseline("half");
    let (estimate, joint_width) = width(&joint, &terms);
    // t quantiles of some hundred degrees of freedom in place of normal ones.
    let wider = joint_width / (2.0 * 1.959_964 * error);
    assert!((estimate - mean).abs() < 1e-9 && (1.0..1.02).contains(&wider), "{wider}");
    // Without their products, the sum of two intervals at 97.5%: wider.
    let (same, apart_width) = width(&apart, &terms);
    assert!((same - estimate).abs() < 1e-12 && apart_width > joint_width, "{apart_width} and {joint_width}");

    // The same for what is read off the CDF. Draws know its spread to some percent.
    let at = slates[0].reward;
    let below = |s: &Slate| if s.reward <= at { weight(s, 1.0) + weight(s, 0.5) - 2.0 } else { 0.0 };
    let mean = slates.iter().map(below).sum::<f64>() / n;
    let error = slates.iter().map(|s| (below(s) - mean).powi(2)).sum::<f64>().sqrt() / n;
    let terms = terms.map(|(c, _, policy)| (c, Metric::Probability(at), policy));
    let (_, joint_width) = width(&joint, &terms);
    assert!((joint_width / (2.0 * 1.959_964 * error) - 1.0).abs() < 0.1, "{joint_width} and {error}");
}

#[test]
fn scaling_and_shifting_do_what_they_should() {
    let summary = summarise(&Spec::new(Structure::Additive, ["new"]), &contextual_log(9, 800, 2, 3));
    let settings = quick();
    for metric in [Metric::Mean, Metric::Std, Metric::Quantile(0.5), Metric::Cvar(0.25), Metric::Probability(2.0)] {
        let plain = of(&summary, &[(1.0, metric, "new")], &settings);
        let turned = Combination { constant: 10.0, ..sum(&[(-2.0, metric, "new")]) };
        let turned = summary.combination(&turned, None, &settings).unwrap();
        let close = |a: Option<f64>, b: Option<f64>| (a.unwrap() - (10.0 - 2.0 * b.unwrap())).abs() < 1e-9;
        assert!(close(turned.estimate, plain.estimate), "{metric:?}");
        assert!(close(turned.lower, plain.upper) && close(turned.upper, plain.lower), "{metric:?}");
        // What cancels is known without error.
        let nothing = of(&summary, &[(1.0, metric, "new"), (-1.0, metric, "new")], &settings);
        assert_eq!((nothing.lower, nothing.upper), (Some(0.0), Some(0.0)));
    }
    let ess = of(&summary, &[(1.0, Metric::Ess, LOGGING)], &settings);
    assert_eq!((ess.estimate, ess.lower, ess.upper), (Some(800.0), Some(800.0), Some(800.0)));
    let diagnostics = &summary.evaluate(&settings).unwrap().policies[1].diagnostics;
    assert_eq!(of(&summary, &[(1.0, Metric::Ess, "new")], &points()).lower, diagnostics.ess);
}

#[test]
fn probabilities_are_read_where_asked() {
    let slates: Vec<Slate> =
        contextual_log(10, 900, 2, 3).into_iter().map(|s| Slate { reward: (3.0 * s.reward).floor(), ..s }).collect();
    let summary = summarise(&Spec::new(Structure::Additive, ["new"]), &slates);
    let logged = |v: f64| slates.iter().filter(|s| s.reward <= v).count() as f64 / 900.0;
    let at = |v: f64, policy: &str| of(&summary, &[(1.0, Metric::Probability(v), policy)], &quick());
    let evaluation = summary.evaluate(&quick()).unwrap();
    let cdf = &evaluation.policies[1].cdf;
    for v in [0.0, 1.0, 2.5, 3.0, 4.999] {
        assert!((at(v, LOGGING).estimate.unwrap() - logged(v)).abs() < 1e-12, "{v}");
        let place = cdf.reward.partition_point(|r| *r <= v) - 1;
        assert!((at(v, "new").estimate.unwrap() - cdf.estimate[place]).abs() < 1e-12, "{v}");
    }
    // Of rewards that were never logged only what F is at the nearest ones is known: it never falls.
    let (below, above) = (at(-1.0, "new"), at(1e9, "new"));
    let nearest = at(cdf.reward[0], "new");
    assert_eq!((below.estimate, below.lower), (Some(0.0), Some(0.0)));
    assert!(below.upper.unwrap() >= nearest.upper.unwrap().min(1.0) && below.upper.unwrap() < 1.0, "{below:?}");
    assert_eq!((above.estimate, above.upper), (Some(1.0), Some(1.0)));
    assert!(above.lower.unwrap() > below.upper.unwrap() && above.lower.unwrap() < 1.0, "{above:?}");
    // A guaranteed band has something to say even there.
    let mut guaranteed = quick();
    guaranteed.band = Band::Bernstein;
    guaranteed.structure = None;
    let found = of(&summary, &[(1.0, Metric::Probability(2.0), "new")], &guaranteed);
    assert!(found.lower.unwrap() <= found.estimate.unwrap() && found.upper.unwrap() >= found.estimate.unwrap());
    assert!(found.upper.unwrap() - found.lower.unwrap() > 0.0);
    let both = [(1.0, Metric::Quantile(0.5), "new"), (-1.0, Metric::Quantile(0.5), LOGGING)];
    assert!(of(&summary, &both, &guaranteed).reason == Some(Reason::GuaranteeOfOnePolicy));
}

#[test]
fn probabilities_inside_a_bin_are_known_at_its_ends() {
    let slates = contextual_log(13, 2000, 2, 3);
    let slates: Vec<Slate> =
        slates.into_iter().enumerate().map(|(i, s)| Slate { reward: s.reward + i as f64 / 2000.0, ..s }).collect();
    let coarse = Binning { capacity: 16, ..Binning::default() };
    let summary = summarise(&Spec::new(Structure::Additive, ["new"]).with_binning(coarse), &slates);
    let cdf = summary.evaluate(&quick()).unwrap().policy("new").unwrap().cdf.clone();
    let at = |v: f64| of(&summary, &[(1.0, Metric::Probability(v), "new")], &quick());
    let middle = cdf.estimate.partition_point(|f| *f < 0.4);
    let (start, end) = (cdf.reward[middle - 1], cdf.reward[middle]);
    let inside = at(0.5 * (start + end));
    assert_eq!((inside.lower, inside.upper), (at(start).lower, at(end).upper));
    // So are quantiles, where the bin holds more than a little.
    let level = 0.5 * (cdf.estimate[middle - 1] + cdf.estimate[middle]);
    assert!(cdf.estimate[middle] - cdf.estimate[middle - 1] > 0.02);
    let median = of(&summary, &[(1.0, Metric::Quantile(level), "new")], &quick());
    assert!(median.lower.unwrap() <= end && cdf.reward.contains(&median.upper.unwrap()), "{median:?}");
    assert!(median.upper.unwrap() >= end, "{median:?}");
}

#[test]
fn rewards_in_single_precision_are_what_they_are_written_as() {
    let slates: Vec<Slate> = contextual_log(14, 400, 2, 3)
        .into_iter()
        .enumerate()
        .map(|(i, s)| Slate { reward: f64::from([0.1_f32, 0.2, 0.3][i % 3]), ..s })
        .collect();
    let summary = summarise(&Spec::new(Structure::Additive, ["new"]), &slates);
    let found = |v: f64| of(&summary, &[(1.0, Metric::Probability(v), LOGGING)], &quick()).estimate.unwrap();
    assert!(f64::from(0.2_f32) > 0.2);
    assert_eq!((found(0.2), found(0.199)), (267.0 / 400.0, 134.0 / 400.0));
}

#[test]
fn a_biased_weight_spoils_its_policy_though_it_only_warns() {
    let summary = summarise(&Spec::new(Structure::PaperOrder(2), ["new"]), &contextual_log(15, 400, 3, 3));
    let found = summary.combinations(&[sum(&[(1.0, Metric::Mean, "new")])], None, &quick()).unwrap();
    assert!(found[0].failed.iter().any(|f| f.check.name().as_str() == "bias"), "{found:?}");
    let worth = found[0].worth.as_ref().unwrap();
    assert!(worth.policy == "new" && worth.rows > 0.0 && worth.rows < 400.0, "{worth:?}");
    let ess = summary.combinations(&[sum(&[(1.0, Metric::Ess, "new")])], None, &quick()).unwrap();
    assert_eq!(ess[0].worth, None);
}

#[test]
fn bad_terms_are_refused() {
    let summary = summarise(&Spec::new(Structure::Additive, ["new"]), &contextual_log(11, 50, 2, 2));
    for (metric, policy, setting) in [
        (Metric::Mean, "old", "policy"),
        (Metric::Quantile(1.0), "new", "quantile"),
        (Metric::Cvar(0.0), "new", "alpha"),
        (Metric::Probability(f64::NAN), "new", "reward"),
    ] {
        let found = summary.combination(&sum(&[(1.0, metric, policy)]), None, &quick());
        assert!(matches!(found, Err(Error::BadSetting { setting: s, .. }) if s == setting), "{found:?}");
    }
}

#[test]
fn a_spoiled_policy_is_named() {
    // Propensities that are half of what they are.
    let wrong: Vec<Slate> = contextual_log(12, 2000, 2, 3)
        .into_iter()
        .map(|s| Slate { mu: s.mu.iter().map(|p| 0.5 * p).collect(), ..s })
        .collect();
    let summary = summarise(&Spec::new(Structure::Additive, ["new"]), &wrong);
    let both = [sum(&[(1.0, Metric::Mean, "new")]), sum(&[(1.0, Metric::Mean, LOGGING)])];
    let found = summary.combinations(&both, None, &quick()).unwrap();
    // Wrong propensities make slots look dependent, and the structure wrong, too.
    let expected = ["propensities", "factored", "structure"];
    assert_eq!((found[0].failed[0].policy.as_str(), found[0].failed[0].check.name().as_str()), ("new", "propensities"));
    assert!(found[0].failed.iter().all(|f| expected.contains(&f.check.name().as_str())), "{found:?}");
    assert!(found[1].failed.is_empty());
}

/// One end of an interval at 90% is to hold with 95%, for what is drawn or added up together; what is split holds at least
/// as often.
#[test]
fn one_sided_bounds_hold_as_often_as_they_say() {
    let truth = Truth::slices(4);
    let logging = Truth { pi: truth.mu.clone(), ..truth.clone() }.answers();
    let new = truth.answers();
    let combinations = [
        (sum(&[(1.0, Metric::Mean, "new"), (-0.98, Metric::Mean, LOGGING)]), new.mean - 0.98 * logging.mean),
        (
            sum(&[(1.0, Metric::Cvar(0.1), "new"), (-1.0, Metric::Cvar(0.1), LOGGING)]),
            new.cvar(0.1) - logging.cvar(0.1),
        ),
        (sum(&[(1.0, Metric::Mean, "new"), (-0.5, Metric::Cvar(0.1), "new")]), new.mean - 0.5 * new.cvar(0.1)),
    ];
    let asked: Vec<Combination> = combinations.iter().map(|(c, _)| c.clone()).collect();
    let spec = Spec::new(Structure::Additive, ["new"]);
    let mut settings = quick();
    settings.confidence = 0.9;
    settings.draws = 400;
    const TRIALS: u64 = 300;
    let mut held = [[0.0; 2]; 3];
    for trial in 0..TRIALS {
        let summary = truth.log(&spec, 1000, &mut Random(7000 + trial));
        let found = summary.combinations(&asked, None, &settings).unwrap();
        for ((held, found), (_, truth)) in held.iter_mut().zip(&found).zip(&combinations) {
            held[0] += f64::from(u8::from(found.interval.lower.unwrap() <= *truth));
            held[1] += f64::from(u8::from(found.interval.upper.unwrap() >= *truth));
        }
    }
    let shares = held.map(|both| both.map(|count| count / TRIALS as f64));
    // Three standard errors of a share of .95.
    let tolerance = 3.0 * (0.95 * 0.05 / TRIALS as f64).sqrt();
    for share in shares[..2].iter().flatten() {
        assert!((share - 0.95).abs() < tolerance, "{shares:?}");
    }
    assert!(shares[2].iter().all(|share| *share > 0.95 - tolerance), "{shares:?}");
    assert!(shares[2].iter().sum::<f64>() >= 1.9, "{shares:?}");
}
