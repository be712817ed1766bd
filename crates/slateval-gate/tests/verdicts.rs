//! What rules come to: verdicts, their numbers and their reasons.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use slateval::{Band, PropensitySource, Settings, Slates, Structure, Summary, Tail};
use slateval_gate::{Error, Rules, Verdicts, annotations, json, judge, markdown, text};

/// Numbers in [0, 1) that are the same every time.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Slates in memory, with one target.
struct Log {
    reward: Vec<f64>,
    mu: Vec<f64>,
    pi: Vec<f64>,
}

impl Log {
    /// From the reward, the logging propensity and the target's propensities of each slate.
    fn new(rows: impl Iterator<Item = (f64, f64, Vec<f64>)>) -> Self {
        let mut log = Log { reward: Vec::new(), mu: Vec::new(), pi: Vec::new() };
        for (reward, mu, pi) in rows {
            log.reward.push(reward);
            log.mu.extend(pi.iter().map(|_| mu));
            log.pi.extend(pi);
        }
        log
    }

    fn slates<'a>(&'a self, target: &str) -> Slates<'a> {
        Slates::new(&self.reward).logging(&self.mu).target(target, &self.pi)
    }

    fn summary(&self) -> Summary {
        self.slates("target").structure(Structure::Additive).summary().unwrap()
    }
}

/// One slot of two actions, of which the target shows the better one more often; half of the propensities may be wrong.
fn one_slot(rows: usize, is_wrong: bool) -> Log {
    Log::new((0..rows).map(|i| {
        let is_good = i % 2 == 0;
        let pi = match (is_good, is_wrong) {
            (_, true) => 0.9,
            (true, _) => 0.8,
            (false, _) => 0.2,
        };
        ((i * 7 % 13) as f64 + if is_good { 3.0 } else { 0.0 }, 0.5, vec![pi])
    }))
}

/// Two slots, in three segments, for a target that shows the better actions more often. One of the slots, by chance, decides
/// over the reward.
fn by_device() -> Summary {
    let mut random = random(5);
    let log = Log::new((0..6000).map(|_| {
        let good: Vec<bool> = (0..2).map(|_| random() < 0.5).collect();
        let decides = (2.0 * random()) as usize;
        let reward = random() + f64::from(u8::from(good[decides]));
        (reward, 0.5, good.iter().map(|good| if *good { 0.7 } else { 0.3 }).collect())
    }));
    let devices = (0..6000).map(|i| ["desktop", "phone", "tablet"][i % 3]);
    log.slates("new").structure(Structure::Product).by("device", devices).summary().unwrap()
}

/// Effects of single slots only, and too few rows to tell: worth about 120 rows at order 1 and 3 at order 2. One of 20
/// items is worth showing in each of five slots, and the target shows it in 19 of 20 slates.
fn thin() -> Log {
    let mut random = random(3);
    Log::new((0..10_000).map(|_| {
        let good: Vec<bool> = (0..5).map(|_| random() < 0.05).collect();
        let slot = (5.0 * random()) as usize;
        let reward = f64::from(u8::from(random() < if good[slot] { 0.9 } else { 0.2 }));
        (reward, 0.05, good.iter().map(|good| if *good { 0.95 } else { 0.05 / 19.0 }).collect())
    }))
}

/// Effects of three slots at a time and no others: the reward is 1 where an even number of three coins shows heads.
fn parity() -> Log {
    let mut random = random(4);
    Log::new((0..5000).map(|_| {
        let heads: Vec<bool> = (0..3).map(|_| random() < 0.5).collect();
        let is_even = heads.iter().filter(|heads| **heads).count() % 2 == 0;
        let reward = f64::from(u8::from(is_even)) + random();
        (reward, 0.5, heads.iter().map(|heads| if *heads { 0.25 } else { 0.75 }).collect())
    }))
}

fn judged_with(summary: &Summary, rules: &str, settings: &Settings) -> Verdicts {
    judge(summary, &Rules::parse(rules, "rules.toml").unwrap(), settings).unwrap()
}

fn judged(summary: &Summary, rules: &str) -> Verdicts {
    judged_with(summary, rules, &Settings::default())
}

fn words(verdicts: &Verdicts) -> Vec<String> {
    verdicts.judgements.iter().map(|judgement| judgement.verdict.to_string()).collect()
}

/// The rules of the JSON.
fn found(verdicts: &Verdicts) -> Vec<Value> {
    let document: Value = serde_json::from_str(&json(verdicts, &Settings::default()).unwrap()).unwrap();
    assert_eq!((&document["schema"], &document["passed"]), (&"slateval/gate/1".into(), &verdicts.passed().into()));
    document["rules"].as_array().unwrap().clone()
}

fn reason(rule: &Value) -> &str {
    rule["reason"].as_str().unwrap()
}

const BETTER: &str = "[[rule]]\nrequire = 'mean(target) >= mean(logging)'\n\
                      [[rule]]\nrequire = 'mean(target) >= mean(logging)'\njudge = 'point'\n";

#[test]
fn the_numbers_are_those_of_an_evaluation() {
    let summary = by_device();
    let rules = "confidence = 0.975\n[[rule]]\nname = 'means'\nrequire = 'mean(new) >= mean(logging)'\n\
                 [[rule]]\nrequire = '9.5 <= quantile(new, 0.5)'\njudge = 'point'\n\
                 [[rule]]\nrequire = 'prob(new <= 0.5) + 0*mean(logging) < 1'\n\
                 [[rule]]\nrequire = 'std(new) - var(new, 0.05) < variance(logging) + 10'\n\
                 [[rule]]\nrequire = 'mean(new) >= mean(logging) + 0.41'\n";
    let verdicts = judged(&summary, rules);
    assert_eq!(words(&verdicts), ["holds", "does not hold", "holds", "holds", "does not hold"], "{}", text(&verdicts));
    assert_eq!((verdicts.passed(), verdicts.confidence), (false, 0.975));
    let evaluation = summary.evaluate(&Settings::default()).unwrap();
    let difference = &evaluation.comparisons[0].mean;
    let rules = found(&verdicts);
    // One end at 97.5% is an end of the interval at 95%.
    for (end, expected) in [("estimate", difference.estimate), ("lower", difference.lower), ("upper", difference.upper)]
    {
        assert!((rules[0][end].as_f64().unwrap() - expected.unwrap()).abs() < 1e-12, "{end}");
    }
    let median = evaluation.policies[1].quantiles.iter().find(|q| q.level == 0.5).unwrap();
    let estimate = 9.5 - median.interval.estimate.unwrap();
    assert!((rules[1]["estimate"].as_f64().unwrap() - estimate).abs() < 1e-12);
    assert_eq!((rules[0]["segment"].is_null(), rules[0]["judge"].as_str()), (true, Some("bound")));
    assert_eq!((rules[0]["threshold"].as_f64(), rules[1]["threshold"].as_f64()), (Some(0.0), Some(9.5)));
    assert_eq!((rules[0]["line"].as_u64(), rules[0]["column"].as_u64()), (Some(4), Some(12)));
}

#[test]
fn segments_share_the_confidence_on_request() {
    let summary = by_device();
    let rule = "[[rule]]\nrequire = 'mean(new) > 0.5'\nsegments = 'each'\n";
    let (alone, shared) = (judged(&summary, rule), judged(&summary, &format!("adjust = 'bonferroni'\n{rule}")));
    assert_eq!((alone.confidence, alone.bounds), (0.95, 3));
    assert!((shared.confidence - (1.0 - 0.05 / 3.0)).abs() < 1e-12);
    for (i, (alone, shared)) in found(&alone).iter().zip(&found(&shared)).enumerate() {
        assert_eq!(alone["segment"]["column"], "device");
        assert_eq!(alone["segment"]["value"], ["desktop", "phone", "tablet"][i]);
        assert!(shared["lower"].as_f64().unwrap() < alone["lower"].as_f64().unwrap());
        assert_eq!(shared["estimate"], alone["estimate"]);
    }
}

#[test]
fn more_bounds_than_draws_can_serve_are_refused() {
    let summary = one_slot(400, false).summary();
    let many = format!("confidence = 0.9999999\nadjust = 'bonferroni'\n{}", BETTER.repeat(9));
    for rules in [many.as_str(), &format!("confidence = 0.999999\n{BETTER}")] {
        let refused = judge(&summary, &Rules::parse(rules, "rules.toml").unwrap(), &Settings::default()).unwrap_err();
        assert!(matches!(refused, Error::TooManyBounds { .. }), "{refused}");
        let message = refused.to_string();
        assert!(message.contains("have fewer rules or segments, a lower confidence"), "{message}");
    }
}

#[test]
fn what_never_varied_is_not_certain() {
    let log = Log::new((0..400).map(|i| (0.0, 0.5, vec![if i % 2 == 0 { 0.6 } else { 0.4 }])));
    let rules = "[[rule]]\nrequire = 'mean(target) >= mean(logging)'\n[[rule]]\nrequire = 'variance(target) <= 1'\n";
    let verdicts = judged(&log.summary(), rules);
    assert_eq!(words(&verdicts), ["cannot tell"; 2]);
    assert!(reason(&found(&verdicts)[0]).contains("all rewards are alike"));
}

#[test]
fn few_rows_show_nothing() {
    let log = Log::new((0..80).map(|i| ((5 + i % 7) as f64, 0.5, vec![if i % 2 == 0 { 0.6 } else { 0.4 }])));
    let rules = "[[rule]]\nrequire = 'mean(target) > 0'\n[[rule]]\nrequire = 'ess(target) >= 1000'\n\
                 [[rule]]\nrequire = 'mean(target) > 0'\njudge = 'point'\n";
    let verdicts = judged(&log.summary(), rules);
    assert_eq!(words(&verdicts), ["cannot tell", "does not hold", "holds"]);
    let found = found(&verdicts);
    let expected = "rows of the target's own, and 100 are needed for a verdict";
    assert!(reason(&found[0]).ends_with(expected), "{}", reason(&found[0]));
}

#[test]
fn the_upper_tail_is_named() {
    let summary = one_slot(400, false).summary();
    let rules = "[[rule]]\nrequire = 'cvar(target, 0.25) > 0'\n";
    let upper = judged_with(&summary, rules, &Settings::default().with_tail(Tail::Upper));
    assert!(upper.passed() && text(&upper).contains("var and cvar are of the upper tail"), "{}", text(&upper));
    assert!(!text(&judged(&summary, rules)).contains("upper tail"));
}

#[test]
fn wrong_propensities_show_nothing() {
    let rules = "[[rule]]\nrequire = 'mean(target) > 0'\n[[rule]]\nrequire = 'mean(target) > 0'\njudge = 'point'\n\
                 [[rule]]\nrequire = 'mean(logging) > 0'\n";
    let verdicts = judged(&one_slot(400, true).summary(), rules);
    assert_eq!(words(&verdicts), ["cannot tell", "holds", "holds"]);
    let found = found(&verdicts);
    assert!(found[..2].iter().all(|rule| reason(rule).contains("`propensities`")), "{found:?}");
    assert_eq!(found[0]["failed_checks"][0]["name"], "propensities");
}

/// Numbers that rest on an estimate of the logging policy show nothing.
#[test]
fn estimated_propensities_cannot_tell() {
    let log = one_slot(400, false);
    assert_eq!(words(&judged(&log.summary(), BETTER)), ["holds"; 2]);
    let estimated = log.slates("target").structure(Structure::Additive).propensities(PropensitySource::Estimated);
    let verdicts = judged(&estimated.summary().unwrap(), BETTER);
    assert_eq!(words(&verdicts), ["cannot tell", "holds"]);
    let shown = text(&verdicts);
    assert!(shown.contains("the check `estimated-propensities` of target warns"), "{shown}");
}

#[test]
fn switched_off_intervals_tell_nothing() {
    let none = Settings::default().with_band(Band::None);
    let verdicts = judged_with(&one_slot(400, false).summary(), BETTER, &none);
    assert_eq!(words(&verdicts), ["cannot tell", "holds"]);
    assert!(reason(&found(&verdicts)[0]).contains("switched off"));
}

#[test]
fn a_bound_under_a_condition_shows_nothing() {
    let log = thin();
    let verdicts = judged(&log.slates("target").summary().unwrap(), BETTER);
    assert_eq!(words(&verdicts), ["cannot tell", "holds"]);
    let rule = &found(&verdicts)[0];
    assert_eq!((&rule["conditional"], &rule["refuted"]), (&true.into(), &Value::Null), "{rule}");
    assert!(rule["lower"].is_null() && rule["failed_checks"].as_array().unwrap().is_empty(), "{rule}");
    let why = reason(rule);
    assert!(why.starts_with("the bound holds only if slots do not interact: this log is too thin to tell"), "{why}");
    assert!(why.ends_with("; under this condition the rule would hold"), "{why}");
    // With the structure named, the assumption is the user's.
    assert_eq!(words(&judged(&log.summary(), BETTER)), ["holds"; 2]);
}

#[test]
fn a_structure_that_the_log_contradicts_shows_nothing() {
    let log = parity();
    let verdicts = judged(&log.summary(), BETTER);
    assert_eq!(words(&verdicts)[0], "cannot tell");
    let rule = &found(&verdicts)[0];
    assert_eq!((&rule["conditional"], &rule["refuted"]), (&false.into(), &"additive".into()), "{rule}");
    assert_eq!(rule["failed_checks"][0]["name"], "structure");
    let expected = "nothing can be shown: the check `structure` of target failed: the log contradicts this structure";
    assert!(reason(rule).starts_with(expected), "{}", reason(rule));
    // At the order that is there it holds.
    assert_eq!(words(&judged(&log.slates("target").summary().unwrap(), BETTER)), ["holds"; 2]);
}

#[test]
fn any_name_is_just_a_name() {
    let log = one_slot(400, false);
    for name in ["<script>alert(1)</script>", "a b", "50%,:x", "new-1", "über", "x\"y", "tab[2J"] {
        let quoted = serde_json::to_string(name).unwrap();
        let rules = format!("[[rule]]\nname = {quoted}\nrequire = '''mean({quoted}) > mean(logging)'''\n");
        let summary = log.slates(name).structure(Structure::Additive).summary().unwrap();
        let verdicts = judged(&summary, &rules);
        assert!(verdicts.passed(), "{name}: {}", text(&verdicts));
    }
}

#[test]
fn annotations_and_tables_are_escaped() {
    let rules = "[[rule]]\nname = '''50%,:|<b>\n::error::x'''\nrequire = 'mean(target) >= mean(logging)'\n\
                 [[rule]]\nname = 'no'\nrequire = 'mean(target) < mean(logging)'\n";
    let rules = Rules::parse(rules, "rules,50%.toml").unwrap();
    let verdicts = judge(&one_slot(400, false).summary(), &rules, &Settings::default()).unwrap();
    let shown = annotations(&verdicts);
    let lines: Vec<&str> = shown.lines().collect();
    let expected =
        "::notice file=rules%2C50%25.toml,line=4,col=12,title=holds%3A 50%25%2C%3A|<b> \\%3A%3Aerror%3A%3Ax::";
    assert!(lines[0].starts_with(expected), "{shown}");
    assert!(lines[1].starts_with("::error file=") && lines[1].contains("line=7,col=12"), "{shown}");
    assert_eq!(lines[2..], ["1 of 2 rules hold."]);
    let table = markdown(&verdicts);
    assert!(table.starts_with("### slateval gate: 1 of 2 rules hold.\n"), "{table}");
    assert!(table.contains("| holds | 50%,&#58;&#124;&#60;b&#62;"), "{table}");
    assert_eq!(table.lines().filter(|line| line.starts_with("| ")).count(), 3, "{table}");
}
