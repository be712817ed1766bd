//! Evaluations with everything in them, as people see them.
#![allow(clippy::unwrap_used)]

use slateval::{
    Bounds, Cdf, CdfBand, Check, CheckName, Comparison, Correction, DesignSource, Diagnostics, Dominance, Effects,
    Evaluation, Finding, Functional, FunctionalTest, Interaction, Interval, LogFacts, OrderTest, PolicyEvaluation,
    QuantileEstimate, Reason, Refutation, Remedy, RewardFacts, Segment, SegmentEvaluation, Selection, SelectionReason,
    Settings, Status, Structure, TailEstimate, Untested,
};
use slateval_report::{
    CdfPoints, Detail, Inspection, Look, Noticed, SchemaColumn, Style, Voice, inspection, inspection_json, json, table,
    warnings,
};

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

fn withheld(estimate: Option<f64>, reason: Reason) -> Interval {
    Interval { estimate, lower: None, upper: None, reason: Some(reason), ..Interval::default() }
}

fn check(status: Status, finding: Finding) -> Check {
    Check::new(status, Some(12.5), finding)
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
        probabilities: Vec::new(),
        cdf: Cdf {
            reward: vec![0.0, 1.0],
            raw: vec![0.4, 1.0],
            estimate: vec![0.4, 1.0],
            lower: vec![Some(0.37), Some(1.0)],
            upper: vec![Some(0.43), Some(1.0)],
            half_width: Some(0.03),
            if_order_holds: None,
            conditional: false,
            refuted: None,
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
            checks: vec![check(
                Status::Ok,
                Finding::WorthRows { rows: 4000.0, is_enough: true, remedy: Remedy::Structure },
            )],
        },
    }
}

fn selection() -> Selection {
    let test = |statistic: f64, critical: f64| FunctionalTest { statistic, critical, active: statistic > critical };
    let order = |order, statistic, critical, variance| OrderTest {
        order,
        and_above: false,
        statistic,
        critical,
        active: statistic > critical,
        design_ess: Some(900.0),
        mean: test(0.0121, 0.04),
        variance: test(variance, 0.05),
    };
    Selection {
        orders: vec![order(2, 0.5624, 0.061, 0.1), order(3, 0.03, 0.24, 0.02)],
        cdf: 2,
        mean: 1,
        variance: 2,
        band: Some(3),
        reason: SelectionReason::default(),
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
        probabilities: Vec::new(),
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
    bolder.cvar[0].interval = withheld(Some(0.02), Reason::ThinTail { rows: 4.0, needed: 5.0 });
    bolder.std = withheld(None, Reason::NoVariance { structure: None });
    bolder.diagnostics.checks.push(check(Status::Warn, Finding::TailRows { alpha: 0.1, rows: 4.0, is_enough: false }));
    bolder.diagnostics.checks.push(check(Status::Fail, Finding::NoVariance(Remedy::Structure)));
    let mut logging = policy("logging", 0.512);
    logging.diagnostics.checks.clear();
    Evaluation {
        log: LogFacts {
            rows: 12_000,
            slots: Some(5),
            reward: RewardFacts { min: 0.0, max: 1.0, distinct: Some(2) },
            skipped: Vec::new(),
            ignored: Vec::new(),
            ignored_files: 0,
            inputs: Vec::new(),
        },
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
    table(evaluation, &Settings::default(), FULL)
}

/// A reason as the command line says it.
fn worded(reason: &Reason) -> String {
    Voice::CommandLine.reason(reason)
}

/// Whether no line is too long, but for the checks, which stand on a line each.
fn fits(text: &str) -> bool {
    let is_check = |line: &&str| line.starts_with("FAILED  ") || line.starts_with("warning  ");
    text.lines().filter(|line| !is_check(line)).all(|line| line.chars().count() <= 100)
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
    assert!(fits(&text), "{text}");
}

#[test]
fn what_is_missing_is_explained_once() {
    let text = shown(&evaluation());
    assert!(text.contains("0.020 [–]"), "{text}");
    let flat = flat(&text);
    assert_eq!(
        flat.matches(
            "[–] no interval: the tail rests on 4.0 effective rows, and 5 are needed for an interval (bolder: CVaR 10%)"
        )
        .count(),
        1
    );
    assert_eq!(flat.matches("– no estimate: the variance came out at or below 0 (bolder: std)").count(), 1, "{text}");

    let mut none = evaluation();
    let bare = |interval: &mut Interval| *interval = withheld(interval.estimate, Reason::SwitchedOff);
    for p in &mut none.policies {
        let tails = p.var.iter_mut().chain(&mut p.cvar).map(|t| &mut t.interval);
        let quantiles = p.quantiles.iter_mut().map(|q| &mut q.interval);
        [&mut p.mean, &mut p.std, &mut p.iqr].into_iter().chain(tails).chain(quantiles).for_each(bare);
        p.std.estimate = Some(0.3);
        (p.cdf.half_width, p.cdf.reason) = (None, Some(Reason::SwitchedOff));
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
        "new: order:2 structure, control-variate weights Order chosen from the data: 2 for the CDF, 1 for the mean, 2 \
         for the variance; the band is at order 3.",
        "at a joint level of 5%: order 2: CDF 0.562 > 0.0610, mean 0.0121 ≤ 0.0400, variance 0.100 > 0.0500;",
        "order 3: CDF 0.0300 ≤ 0.240",
        "too small to be found cannot spoil them; effects of orders further up that do not show would",
        "bolder: additive structure, uncorrected weights",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    let mut wide = evaluation();
    let above = |order, and_above| OrderTest { order, and_above, ..selection().orders[1].clone() };
    wide.policies[1].selection.as_mut().unwrap().orders.extend([above(4, false), above(5, true)]);
    assert!(flat(&shown(&wide)).contains("; orders 4 and 5 or more do not show."), "{}", shown(&wide));
    // A statistic above its critical value need not be active, for all orders share one level.
    let orders = &mut wide.policies[1].selection.as_mut().unwrap().orders;
    orders[1].mean = FunctionalTest { statistic: 0.06, critical: 0.05, active: false };
    let text = flat(&shown(&wide));
    assert!(text.contains("mean 0.0600 > 0.0500 (by itself, not jointly), variance"), "{text}");
    // What shows is laid open, however far up.
    let orders = &mut wide.policies[1].selection.as_mut().unwrap().orders;
    orders[3].mean = FunctionalTest { statistic: 0.07, critical: 0.05, active: true };
    let text = flat(&shown(&wide));
    assert!(text.contains("; order 5 or more: CDF 0.0300 ≤ 0.240, mean 0.0700 > 0.0500, variance"), "{text}");
    assert!(
        text.contains("; order 4 does not show.") && text.contains("The log contradicts this: the check"),
        "{text}"
    );
}

#[test]
fn independent_slots_are_taken_for_granted_once() {
    let granted = "Taken for granted: the target fills its slots independently of each other, given the context. No log \
                   can show this; if they depend on each other (no item twice, say), use --target-slots joint.";
    assert_eq!(flat(&shown(&evaluation())).matches(granted).count(), 1);
    assert_eq!(flat(&inspection(&inspected(evaluation()), FULL)).matches(granted).count(), 1);
    // Weights of order 1 multiply nothing.
    let mut additive = evaluation();
    additive.policies[1] = additive.policies[2].clone();
    assert!(!shown(&additive).contains("Taken for granted"), "{}", shown(&additive));
    // An interval that stands is at a higher order than its estimate, whatever the CDF's.
    additive.policies[1].selection = Some(Selection {
        orders: Vec::new(),
        cdf: 1,
        mean: 1,
        variance: 1,
        band: None,
        reason: SelectionReason::default(),
    });
    assert!(shown(&additive).contains("Taken for granted"), "{}", shown(&additive));
    let policy = &mut additive.policies[1];
    for interval in [&mut policy.mean, &mut policy.variance] {
        *interval = conditional(interval, THIN);
    }
    assert!(!shown(&additive).contains("Taken for granted"), "{}", shown(&additive));
}

const FULL: Look = Look { style: Style::Plain, voice: Voice::CommandLine, detail: Detail::Full };
const THIN: Reason = Reason::Untested { order: 1, why: Untested::NoTest };
const ADDITIVE: Refutation = Refutation::Structure(Structure::Additive);
const WRONG: Reason = Reason::Refuted { effects: Effects { slots: 3, and_above: false } };

fn conditional(interval: &Interval, reason: Reason) -> Interval {
    let reason = Some(reason);
    Interval { lower: None, upper: None, conditional: true, reason, ..interval.clone() }
}

fn refuted(interval: &Interval, reason: Reason) -> Interval {
    Interval { if_order_holds: None, refuted: Some(ADDITIVE), reason: Some(reason), ..interval.clone() }
}

/// Every interval of a policy and of its comparison with logging, changed.
fn each_interval(evaluation: &mut Evaluation, policy: usize, change: &dyn Fn(&Interval) -> Interval) {
    let of = &mut evaluation.policies[policy];
    let tails = of.var.iter_mut().chain(&mut of.cvar).map(|t| &mut t.interval);
    let quantiles = of.quantiles.iter_mut().map(|q| &mut q.interval);
    let own = [&mut of.mean, &mut of.variance, &mut of.std, &mut of.iqr].into_iter().chain(tails).chain(quantiles);
    let difference = &mut evaluation.comparisons[policy - 1];
    difference.dominance = None;
    let theirs = [&mut difference.mean, &mut difference.cvar[0].interval, &mut difference.quantiles[0].interval];
    own.chain(theirs).for_each(|interval| *interval = change(interval));
}

/// `new` has conditional intervals, `bolder` refuted ones.
fn marked() -> Evaluation {
    let mut marked = evaluation();
    marked.policies[2] =
        PolicyEvaluation { cvar: policy("x", 0.6).cvar, std: policy("x", 0.6).std, ..marked.policies[2].clone() };
    each_interval(&mut marked, 1, &|interval| conditional(interval, THIN));
    each_interval(&mut marked, 2, &|interval| refuted(interval, WRONG));
    let new = &mut marked.policies[1].cdf;
    let band = CdfBand { lower: new.lower.clone(), upper: new.upper.clone() };
    (new.conditional, new.half_width, new.if_order_holds) = (true, None, Some(band));
    (new.lower, new.upper, new.reason) = (vec![None; 2], vec![None; 2], Some(THIN));
    (marked.policies[2].cdf.refuted, marked.policies[2].cdf.reason) = (Some(ADDITIVE), Some(WRONG));
    marked.policies[1].diagnostics.checks.push(check(Status::Warn, Finding::Order(Box::default())));
    marked.policies[2].diagnostics.checks.push(check(
        Status::Fail,
        Finding::StructureRefuted { why: WRONG, spoils: vec![Functional::Mean], remedy: Remedy::Structure },
    ));
    marked
}

#[test]
fn marks_say_what_an_interval_rests_on_and_are_explained_once() {
    let text = shown(&marked());
    for expected in [
        " mean        0.5120 [0.4980, 0.5260]  0.5340 (0.5270, 0.5410)?  0.6000 [0.5860, 0.6140]!",
        " mean        +0.0220 (+0.0180, +0.0260)?  +0.0220 [+0.0140, +0.0300]!  +0.0220 [+0.0140, +0.0300]",
        "±0.0300  ",
        "(±0.0300)?",
        "±0.0300!",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    assert!(fits(&text), "{text}");
    let flat = flat(&text);
    let thin = "(…)? holds if slots do not interact: this log is too thin to tell (effects of more slots could not be tested) \
                (new; new vs logging)";
    assert_eq!(flat.matches(thin).count(), 1, "{text}");
    assert_eq!(flat.matches(&format!("[…]! {} (bolder; bolder vs logging)", worded(&WRONG))).count(), 1, "{text}");
    // Once in the note; of what is refuted, also beside dominance and in the check that is not passed.
    let said = |text: &str| flat.matches(text).count();
    assert_eq!((said("too thin to tell"), said("effects of 3 slots")), (1, 3), "{text}");
    // The structure of one is refuted; of the other nothing is known.
    let cannot = format!("bolder vs logging: cannot tell whether one dominates ({})", worded(&WRONG));
    assert_eq!((said("dominates"), said(&cannot)), (1, 1), "{text}");
}

#[test]
fn different_reasons_are_listed_by_policy() {
    const OTHER: Reason = Reason::Untested { order: 2, why: Untested::JointSlots };
    let mut both = marked();
    each_interval(&mut both, 2, &|interval| conditional(&around(interval.estimate.unwrap(), 0.02), OTHER));
    let flat = flat(&shown(&both));
    assert!(flat.contains("could not be tested) (new; new vs logging)"), "{flat}");
    assert!(flat.contains("this cannot be tested (bolder; bolder vs logging)"), "{flat}");
}

#[test]
fn marked_segments_and_bands_are_explained() {
    let mut parts = marked();
    let mut part = segment(parts.policies.clone());
    part.comparisons = parts.comparisons.clone();
    parts.segments.push(part);
    let text = flat(&shown(&parts));
    assert_eq!(text.matches("(…)? holds only under an assumption about how slots interact").count(), 1, "{text}");
    assert_eq!(text.matches("[…]! not to be relied on: the log contradicts the structure").count(), 1, "{text}");
    let text = flat(&inspection(&inspected(marked()), FULL));
    assert!(text.contains(&format!("CDF band: 0.0600 wide in all at 95% confidence; {}", worded(&THIN))), "{text}");
    assert!(text.contains(&format!("5,280 more than there are; {}", worded(&WRONG))), "{text}");
    let json = inspection_json(&inspected(marked()), &"settings", Voice::CommandLine).unwrap();
    assert_eq!(
        (json.matches("\"conditional\": true").count(), json.matches("\"refuted\": \"additive\"").count()),
        (1, 1)
    );
}

#[test]
fn a_failed_check_never_hides() {
    let text = shown(&evaluation());
    assert!(text.contains("FAILED  bolder: variance — the variance came out at or below 0 and is not given"), "{text}");
    assert_eq!(text.lines().last(), Some("Checks: 2 passed, 1 warned, 1 failed (bolder: variance)."));
    let lines = warnings(&evaluation(), FULL);
    assert_eq!(lines.len(), 3);
    assert!(lines[2].contains("1 failed"));

    let mut quiet = evaluation();
    quiet.policies.truncate(2);
    assert!(warnings(&quiet, FULL).is_empty());
    quiet.segments.push(segment(evaluation().policies));
    let text = shown(&quiet);
    assert!(text.contains(" de (30)") && !text.contains("]!"), "a variance is not everything\n{text}");
    assert!(flat(&text).ends_with(
        "Checks: 1 passed, 0 warned, 0 failed; in segments: 2 passed, 1 warned (de: bolder: tail), 1 failed (de: bolder: \
         variance)."
    ));
    assert_eq!(warnings(&quiet, FULL).len(), 1, "segments count too");
}

/// A segment's checks that did not pass are named; of many, the first.
#[test]
fn checks_of_many_segments_are_named_as_far_as_a_line_goes() {
    let mut many = evaluation();
    for place in 0..20 {
        let mut part = segment(evaluation().policies);
        part.value = Segment::Int(place);
        many.segments.push(part);
    }
    let last = warnings(&many, FULL).pop().unwrap();
    assert!(fits(&shown(&many)) && flat(&shown(&many)).ends_with(&last), "{last}");
    assert!(last.contains("40 passed, 20 warned (0: bolder: tail; 1: bolder: tail; "), "{last}");
    let more = "and 14 more, which the file that --json writes names";
    assert_eq!(last.matches(more).count(), 2, "{last}");
    assert!(flat(&inspection(&inspected(many.clone()), FULL)).contains("20 failed (0: bolder: variance; 1: "));
    let json: serde_json::Value =
        serde_json::from_str(&inspection_json(&inspected(many), &"settings", Voice::CommandLine).unwrap()).unwrap();
    for part in json["segments"].as_array().unwrap() {
        let named: Vec<(&str, &str, &str)> = part["not_passed"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| (c["policy"].as_str().unwrap(), c["name"].as_str().unwrap(), c["status"].as_str().unwrap()))
            .collect();
        assert_eq!(named, [("bolder", "tail", "warn"), ("bolder", "variance", "fail")]);
    }
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
    assert!(fits(&text), "{text}");
}

#[test]
fn nobody_is_said_to_dominate_where_nothing_can_be_told() {
    let mut spoiled = evaluation();
    let (check, policy) = (CheckName::Propensities, "new\n".to_owned());
    let reason = Reason::CheckNotPassed { check, policy, in_whole_log: false };
    each_interval(&mut spoiled, 1, &|interval| Interval {
        refuted: Some(Refutation::Check(check)),
        reason: Some(reason.clone()),
        ..interval.clone()
    });
    let text = flat(&shown(&spoiled));
    assert!(!text.contains("new dominates"), "{text}");
    let why = r"new vs logging: cannot tell whether one dominates (the check `propensities` of `new\n` did not pass)";
    assert!(text.contains(why), "{text}");
}

#[test]
fn names_cannot_speak_to_the_terminal() {
    let mut rude = evaluation();
    rude.policies[1].name = "n\u{1b}[2Jew\n".into();
    rude.comparisons[0].policy = "n\u{1b}[2Jew".into();
    let mut part = segment(rude.policies.clone());
    part.value = Segment::Text("\u{9b}31m".into());
    rude.segments.push(part);
    let looked = inspected(rude.clone());
    for text in [shown(&rude), inspection(&looked, FULL), warnings(&rude, FULL).concat()] {
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
        remarks: Vec::new(),
        evaluation,
        confidence: 0.95,
        interactions: Some(vec![pair([1, 3], 0.01), pair([2, 3], 0.3)]),
        band_width: 0.05,
        noticed: Noticed::default(),
    }
}

#[test]
fn an_inspection_says_what_to_do() {
    let text = inspection(&inspected(evaluation()), FULL);
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
    assert!(fits(&text), "{text}");
}

#[test]
fn json_of_both_kinds() {
    let text = json(&evaluation(), &"settings", Voice::CommandLine, CdfPoints::Thinned).unwrap();
    assert!(text.contains("\"if_order_holds\"") && text.contains("\"half_width\": 0.03"));
    assert!(text.contains("\"dominance\": \"policy\"") && text.contains("\"band\": 3"));
    let text = inspection_json(&inspected(evaluation()), &"settings", Voice::CommandLine).unwrap();
    assert!(text.starts_with("{\n  \"schema\": \"slateval/inspection/1\""), "{text}");
    for expected in ["\"rows_needed\": 17280", "\"reward_type\": \"binary\"", "\"failed\": 1", "\"active\": true"] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
}
