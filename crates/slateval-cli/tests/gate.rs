//! `slateval gate`: the real binary, its verdicts and its exit codes.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{BINARY, Run, example, parity_log, slateval, thin_log};
use serde_json::Value;

const TARGETS: [&str; 4] = ["--target", "new=pi_new", "--target", "bolder=pi_bolder"];

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }
}

fn gate(rules: &str, more: &[&str]) -> Run {
    let log = example("slates.parquet");
    slateval(&[["gate", &log, "--rules", rules].as_slice(), &TARGETS, more].concat())
}

/// A run that may have failed.
fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr))
}

fn verdicts(run: &Run) -> Vec<String> {
    json(run)["rules"].as_array().unwrap().iter().map(|r| r["verdict"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_examples_end_as_their_names_say() {
    let by = ["--by", "device"];
    let passes = gate(&example("gate/passes.toml"), &by);
    assert_eq!(passes.code, 0, "{}{}", passes.stdout, passes.stderr);
    assert!(passes.stdout.ends_with("5 of 5 rules hold.\n"), "{}", passes.stdout);
    assert!(passes.stdout.contains("device = tablet: holds"), "{}", passes.stdout);
    assert!(passes.stdout.contains("Each of 6 bounds is at 99.167%"), "{}", passes.stdout);
    assert_eq!(passes.stderr, "");

    let fails = gate(&example("gate/fails.toml"), &[]);
    assert_eq!(fails.code, 1, "{}{}", fails.stdout, fails.stderr);
    assert!(fails.stdout.contains("does not hold: the worst tenth does not suffer"), "{}", fails.stdout);
    assert!(fails.stdout.contains("at most −0.0"), "{}", fails.stdout);
    assert!(fails.stdout.ends_with("1 of 2 rules hold.\n"), "{}", fails.stdout);

    let unknown = gate(&example("gate/cannot-tell.toml"), &by);
    assert_eq!(unknown.code, 1, "{}{}", unknown.stdout, unknown.stderr);
    assert!(unknown.stdout.contains("cannot tell: every device gains"), "{}", unknown.stdout);
    assert!(unknown.stdout.contains("could be as low as −"), "{}", unknown.stdout);
    assert!(unknown.stdout.contains("by the estimate alone"), "{}", unknown.stdout);
}

#[test]
fn the_numbers_are_those_of_an_evaluation() {
    let folder = Folder::new();
    let rules = folder.write(
        "rules.toml",
        "[[rule]]\nname = 'means'\nrequire = 'mean(new) >= mean(logging)'\n\
         [[rule]]\nrequire = 'cvar(bolder, 0.1) > 0.01'\n\
         [[rule]]\nrequire = '0.9 <= quantile(new, 0.5)'\njudge = 'point'\n\
         [[rule]]\nrequire = 'prob(new <= 0.5) + 0*mean(bolder) < 1'\n\
         [[rule]]\nrequire = 'std(new) - var(new, 0.05) < variance(logging) + 10'\n",
    );
    let run = gate(&rules, &["--format", "json", "--confidence", "0.975"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let found = json(&run);
    assert_eq!(found["schema"], "slateval/gate/1");
    assert_eq!((found["passed"].as_bool(), found["confidence"].as_f64()), (Some(false), Some(0.975)));
    assert_eq!(found["adjust"], "none");
    assert_eq!(verdicts(&run), ["holds", "cannot tell", "does not hold", "holds", "holds"]);
    let log = example("slates.parquet");
    let evaluation = slateval(&[["evaluate", &log, "--json", "-"].as_slice(), &TARGETS].concat()).json();
    let rule = |i: usize| &found["rules"][i];
    let difference = &evaluation["comparisons"][0]["mean"];
    let close = |a: &Value, b: f64| assert!((a.as_f64().unwrap() - b).abs() < 1e-12, "{a} and {b}");
    // One end at 97.5% is an end of the interval at 95%.
    for end in ["estimate", "lower", "upper"] {
        close(&rule(0)[end], difference[end].as_f64().unwrap());
        close(&rule(1)[end], evaluation["policies"][2]["cvar"][1][end].as_f64().unwrap() - 0.01);
    }
    close(&rule(2)["estimate"], 0.9 - evaluation["policies"][1]["quantiles"][1]["estimate"].as_f64().unwrap());
    assert_eq!((rule(0)["segment"].is_null(), rule(0)["judge"].as_str()), (true, Some("bound")));
    assert_eq!((rule(1)["threshold"].as_f64(), rule(2)["threshold"].as_f64()), (Some(0.01), Some(0.9)));
    assert_eq!((rule(0)["line"].as_u64(), rule(0)["column"].as_u64()), (Some(3), Some(12)));
    assert!(rule(1)["reason"].as_str().unwrap().contains("times as many rows"), "{}", rule(1));
}

#[test]
fn a_summary_is_as_good_as_its_log() {
    let folder = Folder::new();
    let (saved, disguised) = (folder.path("log.slateval"), folder.path("log.bin"));
    let saved = saved.to_str().unwrap();
    let log = example("slates.parquet");
    let by = ["--by", "device"];
    assert_eq!(slateval(&[["evaluate", &log, "--save", saved].as_slice(), &TARGETS, &by].concat()).code, 0);
    std::fs::copy(saved, &disguised).unwrap();
    let rules = example("gate/cannot-tell.toml");
    let of_log = gate(&rules, &["--format", "json", "--by", "device"]);
    for summary in [saved, disguised.to_str().unwrap()] {
        let of_summary = slateval(&["gate", summary, "--rules", &rules, "--format", "json"]);
        assert_eq!(of_summary.code, 1, "{}", of_summary.stderr);
        let (mut of_summary, mut of_log) = (json(&of_summary), json(&of_log));
        assert!(of_summary["rows"].as_u64() > Some(0) && of_summary["settings"]["summary"] == summary, "{of_summary}");
        assert_eq!(of_log["settings"]["log"]["paths"][0], log);
        // But for where the rows came from.
        for key in ["log", "summary"] {
            of_summary["settings"].as_object_mut().unwrap().remove(key);
            of_log["settings"].as_object_mut().unwrap().remove(key);
        }
        assert_eq!(of_summary, of_log);
    }
    let several = slateval(&["gate", saved, saved, "--rules", &rules]);
    assert!(several.code == 2 && several.stderr.contains("slateval merge"), "{}", several.stderr);
    let flags = slateval(&["gate", saved, "--rules", &rules, "--by", "device"]);
    assert!(flags.code == 2 && flags.stderr.contains("--by"), "{}", flags.stderr);
    let baseline = slateval(&["gate", saved, "--rules", &rules, "--baseline", "new"]);
    assert!(baseline.code == 2 && baseline.stderr.contains("--baseline new"), "{}", baseline.stderr);
    let broken = folder.write("broken.slateval", "SLATEVAL and nothing more");
    assert_eq!(slateval(&["gate", &broken, "--rules", &rules]).code, 2);
}

#[test]
fn segments_share_the_confidence_on_request() {
    let folder = Folder::new();
    let rule = "[[rule]]\nrequire = 'mean(new) > 0.5'\nsegments = 'each'\n";
    let alone = folder.write("alone.toml", rule);
    let shared = folder.write("shared.toml", &format!("adjust = 'bonferroni'\n{rule}"));
    let by = ["--by", "device", "--format", "json"];
    let (alone, shared) = (json(&gate(&alone, &by)), json(&gate(&shared, &by)));
    assert_eq!(alone["confidence_each"].as_f64(), Some(0.95));
    assert!((shared["confidence_each"].as_f64().unwrap() - (1.0 - 0.05 / 3.0)).abs() < 1e-12);
    for i in 0..3 {
        let (alone, shared) = (&alone["rules"][i], &shared["rules"][i]);
        assert_eq!(alone["segment"]["column"], "device");
        assert_eq!(alone["segment"]["value"], ["desktop", "phone", "tablet"][i]);
        assert!(shared["lower"].as_f64().unwrap() < alone["lower"].as_f64().unwrap());
        assert_eq!(shared["estimate"], alone["estimate"]);
    }
    let path = folder.write("again.toml", rule);
    let without = gate(&path, &[]);
    assert_eq!(without.code, 2);
    assert!(without.stderr.contains("again.toml:3:12: there are no segments: give --by"), "{}", without.stderr);
}

#[test]
fn mistakes_have_a_place() {
    let folder = Folder::new();
    for (text, expected) in [
        ("", "1:1: there are no rules"),
        ("confidence = 0.95\n", "2:1: there are no rules"),
        ("[[rule]]\nrequire = 'men(new) > 0'\n", "2:12: there is no function `men`; did you mean `mean`?"),
        ("[[rule]]\nrequire = \"mean(\\\"new\\\") => 0\"\n", "2:26: write >= in place of =>"),
        ("[[rule]]\nrequire = 'mean(new)*mean(new) > 0'\n", "2:21: only linear"),
        ("[[rule]]\nrequire = '''\nmean(new) >\n  cvar(new 0.1)'''\n", "4:12: a comma is missing"),
        ("[[rule]]\nrequire = 'mean(old) > 0'\n", "2:17: there is no policy `old`, only `logging`, `new`, `bolder`"),
        ("[[rule]]\nname = 'x'\n", "1:1: this rule has no `require`"),
        ("[[rule]]\nrequire = 3\n", "2:11: `require` must be text in quotes, and this is a number"),
        ("[[rule]]\nrequires = 'mean(new) > 0'\n", "2:1: a rule has no key `requires`; did you mean `require`?"),
        ("[[rule]]\nrequire = 'mean(new) > 0'\njudge = 'ponit'\n", "3:9: `judge` must be \"bound\" or \"point\""),
        ("[[rule]]\nrequire = 'mean(new) > 0'\nsegments = 'all'\n", "3:12: `segments` must be \"each\"; leave it out"),
        ("adjust = 'holm'\n", "1:10: `adjust` must be \"none\" or \"bonferroni\""),
        (
            "confidence = 95\n",
            "1:14: `confidence`: a one-sided confidence must be above 0.5 and below 1; for 95% write 0.95",
        ),
        ("confidence = 0.5\n", "1:14: `confidence`"),
        ("confidence = true\n", "1:14: `confidence` must be a number"),
        ("[rule]\nrequire = 'mean(new) > 0'\n", "1:1: write [[rule]]"),
        ("[[rule]\n", "1:8: this is no TOML"),
    ] {
        let path = folder.write("rules.toml", text);
        let run = gate(&path, &[]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{text}");
        assert!(run.stderr.contains(&format!("rules.toml:{expected}")), "{text}\n{}", run.stderr);
        assert!(run.stderr.trim_end().ends_with('^'), "{}", run.stderr);
    }
    let path = folder.write("rules.toml", "[[rule]]\nrequire = 'mean(new) > 0'\n");
    assert!(gate(&path, &["--confidence", "0.4"]).stderr.contains("--confidence 0.4"));
    let missing = gate("no-such.toml", &[]);
    assert!(missing.code == 2 && missing.stderr.contains("no-such.toml"), "{}", missing.stderr);
    let many =
        format!("confidence = 0.9999999\nadjust = 'bonferroni'\n{}", "[[rule]]\nrequire='mean(new)>0'\n".repeat(9));
    let run = gate(&folder.write("many.toml", &many), &[]);
    assert!(run.code == 2 && run.stderr.contains("have fewer rules or segments"), "{}", run.stderr);
    let sure = folder.write("sure.toml", "confidence = 0.999999\n[[rule]]\nrequire='mean(new)>0'\n");
    let run = gate(&sure, &[]);
    assert!(run.code == 2 && run.stderr.contains("a lower confidence"), "{}", run.stderr);
}

#[test]
fn what_never_varied_is_not_certain() {
    let folder = Folder::new();
    let text = "reward,mu_1,pi_1\n".to_owned() + &"0,0.5,0.6\n0,0.5,0.4\n".repeat(200);
    let log = folder.write("zeros.csv", &text);
    let rules = folder.write(
        "rules.toml",
        "[[rule]]\nrequire = 'mean(target) >= mean(logging)'\n[[rule]]\nrequire = 'variance(target) <= 1'\n",
    );
    let run = slateval(&["gate", &log, "--rules", &rules, "--format", "json"]);
    assert_eq!((run.code, verdicts(&run)), (1, vec!["cannot tell".to_owned(); 2]), "{}", run.stdout);
    assert!(json(&run)["rules"][0]["reason"].as_str().unwrap().contains("all rewards are alike"), "{}", run.stdout);
}

#[test]
fn few_rows_show_nothing() {
    let folder = Folder::new();
    let mut text = "reward,mu_1,pi_1\n".to_owned();
    (0..80).for_each(|i| text += &format!("{},0.5,{}\n", 5 + i % 7, if i % 2 == 0 { 0.6 } else { 0.4 }));
    let log = folder.write("few.csv", &text);
    let rules = folder.write(
        "rules.toml",
        "[[rule]]\nrequire = 'mean(target) > 0'\n[[rule]]\nrequire = 'ess(target) >= 1000'\n\
         [[rule]]\nrequire = 'mean(target) > 0'\njudge = 'point'\n",
    );
    let run = slateval(&["gate", &log, "--rules", &rules, "--format", "json"]);
    assert_eq!(verdicts(&run), ["cannot tell", "does not hold", "holds"]);
    let reason = json(&run)["rules"][0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.ends_with("rows of the target's own, and 100 are needed for a verdict"), "{reason}");
}

#[test]
fn thin_tails_are_bounded_by_thicker_ones() {
    let folder = Folder::new();
    let rules = folder.write(
        "rules.toml",
        "[[rule]]\nrequire = 'prob(new <= 0) <= 0.3'\n[[rule]]\nrequire = 'cvar(new, 0.25) > 0'\n",
    );
    let run = gate(&rules, &["--tail", "upper"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("var and cvar are of the upper tail"), "{}", run.stdout);
}

#[test]
fn github_sees_annotations_and_a_table() {
    let folder = Folder::new();
    let rules = folder.write(
        "rules,50%.toml",
        "[[rule]]\nname = '''50%,:|<b>\n::error::x'''\nrequire = 'mean(new) >= mean(logging)'\n\
         [[rule]]\nname = 'no'\nrequire = 'mean(new) < mean(logging)'\n\
         [[rule]]\nname = 'who knows'\nrequire = 'cvar(bolder, 0.25) > cvar(logging, 0.25)'\n",
    );
    let summary = folder.write("summary.md", "before\n");
    let log = example("slates.parquet");
    let mut command = Command::new(BINARY);
    command.args(["gate", &log, "--rules", &rules, "--format", "github"]).args(TARGETS);
    let output = command.env("GITHUB_STEP_SUMMARY", &summary).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!((output.status.code(), lines.len()), (Some(1), 4), "{shown}");
    assert!(lines[0].starts_with("::notice file="), "{shown}");
    assert!(
        lines[0].contains("rules%2C50%25.toml,line=4,col=12,title=holds%3A 50%25%2C%3A|<b> \\%3A%3Aerror%3A%3Ax::")
    );
    assert!(lines[1].starts_with("::error file=") && lines[1].contains("line=7,col=12"), "{shown}");
    assert!(lines[2].starts_with("::warning file=") && lines[2].contains("not shown"), "{shown}");
    assert_eq!(lines[3], "1 of 3 rules hold.");
    let table = std::fs::read_to_string(&summary).unwrap();
    assert!(table.starts_with("before\n### slateval gate"), "{table}");
    assert!(table.contains("| holds | 50%,&#58;&#124;&#60;b&#62;"), "{table}");
    assert_eq!(table.lines().filter(|l| l.starts_with("| ")).count(), 4, "{table}");
    let output = command.env("GITHUB_STEP_SUMMARY", folder.path("no/such/folder.md")).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stdout).unwrap()), (Some(1), shown));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write the run's summary"));
}

/// A log in CSV whose target columns are `pi`; half of the propensities may be wrong.
fn csv(folder: &Folder, wrong: bool) -> String {
    let mut text = "reward,mu_1,pi_1\n".to_owned();
    for i in 0..400 {
        let good = i % 2 == 0;
        let pi = match (good, wrong) {
            (_, true) => 0.9,
            (true, _) => 0.8,
            (false, _) => 0.2,
        };
        text += &format!("{},0.5,{pi}\n", (i * 7 % 13) as f64 + if good { 3.0 } else { 0.0 });
    }
    folder.write("log.csv", &text)
}

#[test]
fn any_name_is_just_a_name() {
    let folder = Folder::new();
    let log = csv(&folder, false);
    for name in ["<script>alert(1)</script>", "a b", "50%,:x", "new-1", "über", "x\"y", "tab\u{1b}[2J"] {
        let written = serde_json::to_string(name).unwrap();
        let quoted = written.replace("\\u001b", "\u{1b}");
        let rules = format!("[[rule]]\nname = {written}\nrequire = '''mean({quoted}) > mean(logging)'''\n");
        let rules = rules.replace("\u{1b}", "");
        let target = format!("{}=pi", name.replace('\u{1b}', ""));
        let rules = folder.write("rules.toml", &rules);
        for format in ["text", "json", "github"] {
            let run = slateval(&["gate", &log, "--rules", &rules, "--target", &target, "--format", format]);
            assert_eq!(run.code, 0, "{name} as {format}: {}{}", run.stdout, run.stderr);
            assert!(!run.stdout.contains('\u{1b}'));
        }
    }
}

#[test]
fn wrong_propensities_show_nothing() {
    let folder = Folder::new();
    let log = csv(&folder, true);
    let rules = folder.write(
        "rules.toml",
        "[[rule]]\nrequire = 'mean(target) > 0'\n[[rule]]\nrequire = 'mean(target) > 0'\njudge = 'point'\n\
         [[rule]]\nrequire = 'mean(logging) > 0'\n",
    );
    let run = slateval(&["gate", &log, "--rules", &rules, "--format", "json"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(verdicts(&run), ["cannot tell", "holds", "holds"]);
    let found = json(&run);
    for rule in 0..2 {
        let reason = found["rules"][rule]["reason"].as_str().unwrap();
        assert!(reason.contains("`propensities`"), "{reason}");
    }
    assert_eq!(found["rules"][0]["failed_checks"][0]["name"], "propensities");
}

#[test]
fn switched_off_intervals_tell_nothing() {
    let rules = example("gate/fails.toml");
    let run = gate(&rules, &["--band", "none", "--format", "json"]);
    assert_eq!(verdicts(&run), ["cannot tell", "cannot tell"]);
    assert!(json(&run)["rules"][0]["reason"].as_str().unwrap().contains("switched off"));
    assert!(Path::new(&rules).exists());
}

const BETTER: &str = "[[rule]]\nrequire = 'mean(target) >= mean(logging)'\n[[rule]]\nrequire = 'mean(target) >= mean(logging)'\njudge = 'point'\n";

#[test]
fn a_bound_under_a_condition_shows_nothing() {
    let folder = Folder::new();
    let (log, rules) = (folder.write("thin.csv", &thin_log()), folder.write("rules.toml", BETTER));
    let run = slateval(&["gate", &log, "--rules", &rules, "--format", "json"]);
    assert_eq!((run.code, verdicts(&run)), (1, vec!["cannot tell".to_owned(), "holds".to_owned()]), "{}", run.stdout);
    let found = json(&run);
    let rule = &found["rules"][0];
    assert_eq!((&rule["conditional"], &rule["refuted"]), (&true.into(), &Value::Null), "{rule}");
    assert!(rule["lower"].is_null() && rule["failed_checks"].as_array().unwrap().is_empty(), "{rule}");
    let reason = rule["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("the bound holds only if slots do not interact: this log is too thin to tell"),
        "{reason}"
    );
    assert!(reason.ends_with("; under this condition the rule would hold"), "{reason}");
    // With the structure named, the assumption is the user's.
    let named = slateval(&["gate", &log, "--rules", &rules, "--format", "json", "--structure", "additive"]);
    assert_eq!((named.code, verdicts(&named)), (0, vec!["holds".to_owned(); 2]), "{}", named.stdout);
}

#[test]
fn a_structure_that_the_log_contradicts_shows_nothing() {
    let folder = Folder::new();
    let (log, rules) = (folder.write("parity.csv", &parity_log()), folder.write("rules.toml", BETTER));
    let run = slateval(&["gate", &log, "--rules", &rules, "--format", "json", "--structure", "additive"]);
    assert_eq!((run.code, &verdicts(&run)[0]), (1, &"cannot tell".to_owned()), "{}", run.stdout);
    let found = json(&run);
    let rule = &found["rules"][0];
    assert_eq!((&rule["conditional"], &rule["refuted"]), (&false.into(), &"additive".into()), "{rule}");
    assert_eq!(rule["failed_checks"][0]["name"], "structure");
    let reason = rule["reason"].as_str().unwrap();
    let expected = "nothing can be shown: the check `structure` of target failed: the log contradicts this structure";
    assert!(reason.starts_with(expected), "{reason}");
    // At the order that is there it holds.
    let chosen = slateval(&["gate", &log, "--rules", &rules, "--format", "json"]);
    assert_eq!((chosen.code, verdicts(&chosen)), (0, vec!["holds".to_owned(); 2]), "{}", chosen.stdout);
}

/// Numbers that rest on an estimate of the logging policy show nothing, from a log and from its summary.
#[test]
fn estimated_propensities_cannot_tell() {
    let folder = Folder::new();
    let rules = folder.write("rules.toml", "[[rule]]\nrequire = 'mean(new) >= 0'\n");
    let known = gate(&rules, &["--format", "json"]);
    assert_eq!((known.code, verdicts(&known)), (0, vec!["holds".to_owned()]));
    let estimated = gate(&rules, &["--propensities", "estimated", "--format", "json"]);
    assert_eq!((estimated.code, verdicts(&estimated)), (1, vec!["cannot tell".to_owned()]));
    let text = gate(&rules, &["--propensities", "estimated"]).stdout;
    assert!(text.contains("the check `estimated-propensities` of new warns"), "{text}");

    let saved = folder.path("day.slateval").display().to_string();
    let log = example("slates.parquet");
    let evaluate = ["evaluate", &log, "--propensities", "estimated", "--band", "none", "--save", &saved];
    let run = slateval(&[evaluate.as_slice(), &TARGETS].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let of_summary = slateval(&["gate", &saved, "--rules", &rules, "--format", "json"]);
    assert_eq!(verdicts(&of_summary), ["cannot tell"]);
    let flag = slateval(&["gate", &saved, "--rules", &rules, "--propensities", "estimated"]);
    assert!(flag.code == 2 && flag.stderr.contains("--propensities"), "{}", flag.stderr);
    assert_eq!(slateval(&["evaluate", &log, "--propensities", "guessed"]).code, 2);
}

/// A number anywhere in a summary that no log can have, with a checksum that fits, is refused: nothing is judged.
#[test]
fn a_made_up_summary_is_not_judged() {
    let folder = Folder::new();
    let saved = folder.path("day.slateval").display().to_string();
    let log = example("slates.parquet");
    let run =
        slateval(&["evaluate", &log, "--target", "new=pi_new", "--band", "none", "--save", &saved, "--bins", "64"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let rules = folder.write("rules.toml", "[[rule]]\nrequire = 'mean(new) >= 0'\n");
    assert_eq!(slateval(&["gate", &saved, "--rules", &rules]).code, 0);

    let bytes = std::fs::read(&saved).unwrap();
    let header = u64::from_le_bytes(bytes[12..20].try_into().unwrap()) as usize;
    let (numbers, end) = (20 + header, bytes.len() - 4);
    let places: Vec<usize> = (numbers..end).step_by(8).collect();
    for &at in places.iter().step_by(places.len() / 40) {
        let mut made = bytes.clone();
        made[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
        let checksum = crc32fast::hash(&made[..end]);
        made[end..].copy_from_slice(&checksum.to_le_bytes());
        std::fs::write(&saved, made).unwrap();
        let run = slateval(&["gate", &saved, "--rules", &rules]);
        assert_eq!(run.code, 2, "NaN at {}: {}", (at - numbers) / 8, run.stdout);
        assert!(run.stderr.contains("its numbers are those of no log: in the whole log, the "), "{}", run.stderr);
    }
}
