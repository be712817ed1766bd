//! Evaluations with everything in them, as people see them.
#![allow(clippy::unwrap_used)]

use slateval::{
    Bounds, Cdf, Check, Comparison, Correction, DesignSource, Diagnostics, Dominance, Evaluation, FunctionalTest,
    Interaction, Interval, LogFacts, OrderTest, PolicyEvaluation, QuantileEstimate, RewardFacts, Segment,
    SegmentEvaluation, Selection, Settings, Status, Structure, TailEstimate,
};
use slateval_report::{Inspection, SchemaColumn, Style, inspection, inspection_json, json, table, warnings};

fn around(estimate: f64, half: f64) -> Interval {
    let bounds = Bounds { lower: Some(estimate - half / 2.0), upper: Some(estimate + half / 2.0) };
    Interval {
        estimate: Some(estimate),
        lower: Some(estimate - half),
        upper: Some(estimate + half),
        if_order_holds: Some(bounds),
        ..Interval::default()
    }
}

fn withheld(estimate: Option<f64>, reason: &str) -> Interval {
    Interval { estimate, lower: None, upper: None, reason: Some(reason.into()), ..Interval::default() }
}

fn check(name: &'static str, status: Status, message: &str) -> Check {
    Check { name, status, value: Some(12.5), message: message.into() }
}

fn policy(name: &str, mean: f64) -> PolicyEvaluation {
    let tail = |alpha| TailEstimate { alpha, interval: around(mean / 4.0, 0.012) };
    PolicyEvaluation {
        name: name.into(),
        structure: None,
        correction: None,
        selection: None,
        mean: around(mean, 0.014),
        variance: around(0.09, 0.01),
        std: around(0.3, 0.01),
        iqr: around(0.45, 0.02),
        quantiles: vec![QuantileEstimate { level: 0.5, interval: around(mean + 0.1, 0.02) }],
        var: vec![tail(0.1)],
        cvar: vec![tail(0.1)],
        cdf: Cdf {
            reward: vec![0.0, 1.0],
            raw: vec![0.4, 1.0],
            estimate: vec![0.4, 1.0],
            lower: vec![Some(0.37), Some(1.0)],
            upper: vec![Some(0.43), Some(1.0)],
            half_width: Some(0.03),
            if_order_holds: None,
            conditional: false,
            refuted: false,
            reason: None,
        },
        diagnostics: Diagnostics {
            ess: Some(4000.0),
            design_ess: Some(4000.0),
            design_ess_from: DesignSource::Ratios,
            weight_mean: 1.0,
            weight_min: -1.0,
            weight_max: 7.0,
            negative_share: 0.3,
            max_share: Some(0.001),
            weight_histogram: None,
            checks: vec![check("ess", Status::Ok, "the log is worth 4000 rows of the target's own")],
        },
    }
}

fn selection() -> Selection {
    let test = |statistic: f64, critical: f64| FunctionalTest { statistic, critical, active: statistic > critical };
    let order = |order, statistic, critical| OrderTest {
        order,
        and_above: false,
        statistic,
        critical,
        active: statistic > critical,
        design_ess: Some(900.0),
        mean: test(0.0121, 0.04),
        variance: test(0.1, 0.05),
    };
    Selection {
        orders: vec![order(2, 0.5624, 0.061), order(3, 0.03, 0.24)],
        cdf: 2,
        mean: 1,
        variance: 2,
        band: Some(3),
        reason: "order 3 is not active".into(),
    }
}

fn difference(policy: &str, baseline: &str, dominance: Option<Dominance>) -> Comparison {
    Comparison {
        policy: policy.into(),
        baseline: baseline.into(),
        paired: true,
        mean: around(0.022, 0.008),
        cvar: vec![TailEstimate { alpha: 0.1, interval: around(-0.01, 0.004) }],
        quantiles: vec![QuantileEstimate { level: 0.5, interval: around(0.03, 0.011) }],
        quantile_band: Vec::new(),
        dominance,
    }
}

fn evaluation() -> Evaluation {
    let mut new = policy("new", 0.534);
    new.structure = Some(Structure::Order(2));
    new.correction = Some(Correction::ControlVariate);
    new.selection = Some(selection());
    let mut bolder = policy("bolder", 0.6);
    bolder.structure = Some(Structure::Additive);
    bolder.correction = Some(Correction::None);
    bolder.cvar[0].interval = withheld(Some(0.02), "the tail rests on 4 effective rows");
    bolder.std = withheld(None, "the variance came out at or below 0");
    bolder.diagnostics.checks.push(check("tail", Status::Warn, "look at larger alphas"));
    bolder.diagnostics.checks.push(check("variance", Status::Fail, "it is not given"));
    let mut logging = policy("logging", 0.512);
    logging.diagnostics.checks.clear();
    Evaluation {
        log: LogFacts { rows: 12_000, slots: Some(5), reward: RewardFacts { min: 0.0, max: 1.0, distinct: Some(2) } },
        policies: vec![logging, new, bolder],
        comparisons: vec![
            difference("new", "logging", Some(Dominance::Policy)),
            difference("bolder", "logging", Some(Dominance::None)),
            difference("bolder", "new", None),
        ],
        segments: Vec::new(),
        disparities: Vec::new(),
    }
}

fn shown(evaluation: &Evaluation) -> String {
    table(evaluation, &Settings::default(), Style::Plain)
}

/// Text without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn estimates_stand_beside_their_intervals() {
    let text = shown(&evaluation());
    for expected in [
        " mean        0.512 [0.498, 0.526]",
        "0.534 [0.520, 0.548]",
        "new vs logging",
        "bolder vs new",
        "+0.022 [+0.014, +0.030]",
        "±0.0300",
        "new dominates logging",
        "bolder vs logging: neither is shown to dominate the other",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    assert_eq!(text.matches("95% confidence").count(), 1, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn what_is_missing_is_explained_once() {
    let text = shown(&evaluation());
    assert!(text.contains("0.020 [–]"), "{text}");
    let flat = flat(&text);
    assert_eq!(flat.matches("[–] no interval: the tail rests on 4 effective rows (bolder: CVaR 10%)").count(), 1);
    assert_eq!(flat.matches("– no estimate: the variance came out at or below 0 (bolder: std)").count(), 1, "{text}");

    let mut none = evaluation();
    let bare = |interval: &mut Interval| *interval = withheld(interval.estimate, "intervals are switched off");
    for p in &mut none.policies {
        let tails = p.var.iter_mut().chain(&mut p.cvar).map(|t| &mut t.interval);
        let quantiles = p.quantiles.iter_mut().map(|q| &mut q.interval);
        [&mut p.mean, &mut p.std, &mut p.iqr].into_iter().chain(tails).chain(quantiles).for_each(bare);
        p.std.estimate = Some(0.3);
        (p.cdf.half_width, p.cdf.reason) = (None, Some("intervals are switched off".into()));
        p.cdf.lower.iter_mut().chain(&mut p.cdf.upper).for_each(|end| *end = None);
    }
    for c in &mut none.comparisons {
        [&mut c.mean, &mut c.cvar[0].interval, &mut c.quantiles[0].interval].into_iter().for_each(bare);
    }
    let text = shown(&none);
    assert!(!text.contains('[') && !text.contains("confidence"), "{text}");
    assert_eq!(text.matches("No intervals: intervals are switched off").count(), 1, "{text}");
    assert_eq!(text.matches("switched off").count(), 1, "{text}");
}

#[test]
fn the_choice_of_an_order_is_laid_open() {
    let text = flat(&shown(&evaluation()));
    for expected in [
        "new: order:2 structure, control-variate weights, target slots independent given the context",
        "Order chosen from the data: 2 for the CDF, 1 for the mean, 2 for the variance; the band is at order 3.",
        "order 2: CDF 0.562 > 0.0610, mean 0.0121 ≤ 0.0400, variance 0.100 > 0.0500",
        "order 3: CDF 0.0300 ≤ 0.240",
        "need not trust the choice",
        "bolder: additive structure, uncorrected weights",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
}

#[test]
fn a_failed_check_never_hides() {
    let text = shown(&evaluation());
    assert!(text.contains("FAILED  bolder: variance — it is not given"), "{text}");
    assert_eq!(text.lines().last(), Some("Checks: 2 passed, 1 warned, 1 failed (bolder: variance)."));
    let lines = warnings(&evaluation(), Style::Plain);
    assert_eq!(lines.len(), 3);
    assert!(lines[2].contains("1 failed"));

    let mut quiet = evaluation();
    quiet.policies.truncate(2);
    assert!(warnings(&quiet, Style::Plain).is_empty());
    quiet.segments.push(segment(evaluation().policies));
    let text = shown(&quiet);
    assert!(text.contains(" de (30)") && !text.contains("do not rely"), "a variance is not everything\n{text}");
    let mut spoiled = quiet.clone();
    spoiled.segments[0].policies[1].diagnostics.checks.push(check("bias", Status::Warn, "off"));
    let marked = shown(&spoiled);
    assert!(
        marked.contains("!de (30)") && marked.contains("1 segment has failed checks, or biased weights"),
        "{marked}"
    );
    assert!(text.ends_with("Checks: 1 passed, 0 warned, 0 failed; in segments: 2 passed, 1 warned, 1 failed."));
    assert_eq!(warnings(&quiet, Style::Plain).len(), 1, "segments count too");
}

fn segment(policies: Vec<PolicyEvaluation>) -> SegmentEvaluation {
    SegmentEvaluation {
        column: "country".into(),
        value: Segment::Text("de".into()),
        rows: 30,
        policies,
        comparisons: Vec::new(),
    }
}

#[test]
fn segments_are_set_against_logging_in_mean_and_tail() {
    let mut parts = evaluation();
    let mut part = segment(parts.policies.clone());
    part.comparisons = parts.comparisons.clone();
    part.value = Segment::Null;
    parts.segments.push(part);
    let text = shown(&parts);
    assert!(text.contains("∅ (null) (30)") && text.contains(" CVaR 10% by country "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn nobody_is_said_to_dominate_where_nothing_can_be_told() {
    let mut spoiled = evaluation();
    spoiled.policies[1].diagnostics.checks.push(check("propensities", Status::Fail, "off"));
    let text = flat(&shown(&spoiled));
    assert!(!text.contains("new dominates") && text.contains("cannot tell whether one dominates"), "{text}");
}

#[test]
fn names_cannot_speak_to_the_terminal() {
    let mut rude = evaluation();
    rude.policies[1].name = "n\u{1b}[2Jew\n".into();
    rude.comparisons[0].policy = "n\u{1b}[2Jew".into();
    rude.policies[1].mean.reason = Some("\u{7}".into());
    let mut part = segment(rude.policies.clone());
    part.value = Segment::Text("\u{9b}31m".into());
    rude.segments.push(part);
    let looked = inspected(rude.clone());
    for text in [shown(&rude), inspection(&looked, Style::Plain), warnings(&rude, Style::Plain).concat()] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
}

fn inspected(evaluation: Evaluation) -> Inspection {
    let column = |role, columns: &[&str]| SchemaColumn {
        role,
        policy: (role == "chi").then(|| "new".to_owned()),
        name: "mu".into(),
        columns: columns.iter().map(|c| (*c).to_owned()).collect(),
        data_type: Some("Float32".into()),
        used: !columns.is_empty(),
    };
    let pair = |slots, strength| Interaction {
        policy: "new".into(),
        slots,
        strength,
        critical: 0.05,
        active: strength > 0.05,
    };
    Inspection {
        files: 2,
        bytes: 1_250_000,
        columns: vec![column("reward", &["r"]), column("logging", &["mu_1", "mu_2", "mu_3"]), column("chi", &[])],
        unused: ["x_1", "x_2", "x_3", "user"].map(str::to_owned).to_vec(),
        evaluation,
        confidence: 0.95,
        interactions: Some(vec![pair([1, 3], 0.01), pair([2, 3], 0.3)]),
        band_width: 0.05,
    }
}

#[test]
fn an_inspection_says_what_to_do() {
    let text = inspection(&inspected(evaluation()), Style::Plain);
    for expected in [
        "2 files, 1.2 MB: 12,000 slates, 5 slots",
        "Rewards: binary, 0 and 1",
        "mu_1 … mu_3",
        "not found, so control variates will be used",
        "not used: x_1 … x_3, user",
        "Order chosen from the data",
        "0.0600 wide in all at 95% confidence",
        "they interact",
        "no more than noise",
        "`--structure interactions:2+3` allows these",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    // (0.06 / 0.05)^2 = 1.44.
    assert!(flat(&text).contains("a width of 0.05 takes 17,280 slates, 5,280 more than there are"), "{text}");
    assert!(text.find("2+3") < text.find("1+3"), "the strongest first\n{text}");
    assert_eq!(text.lines().last(), Some("1 check failed: bolder: variance; 1 warning: bolder: tail."));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn json_of_both_kinds() {
    let text = json(&evaluation(), &"settings").unwrap();
    assert!(text.contains("\"if_order_holds\"") && text.contains("\"half_width\": 0.03"));
    assert!(text.contains("\"dominance\": \"policy\"") && text.contains("\"band\": 3"));
    let text = inspection_json(&inspected(evaluation()), &"settings").unwrap();
    assert!(text.starts_with("{\n  \"schema\": \"slateval/inspection/1\""), "{text}");
    for expected in ["\"rows_needed\": 17280", "\"reward_type\": \"binary\"", "\"failed\": 1", "\"active\": true"] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
}
