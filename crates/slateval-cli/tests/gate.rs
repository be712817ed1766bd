//! `slateval gate`: the real binary, its verdicts and its exit codes.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::{BINARY, Run, example, slateval};
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
fn mistakes_end_with_code_2() {
    let folder = Folder::new();
    for (text, expected) in [
        ("[[rule]]\nrequire = 'men(new) > 0'\n", "2:12: there is no function `men`; did you mean `mean`?"),
        ("[[rule]]\nrequire = 'mean(old) > 0'\n", "2:17: there is no policy `old`, only `logging`, `new`, `bolder`"),
        ("[[rule]]\nrequire = 'mean(new) > 0'\nsegments = 'each'\n", "3:12: there are no segments: give --by"),
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
    let sure = folder.write("sure.toml", "confidence = 0.999999\n[[rule]]\nrequire='mean(new)>0'\n");
    let run = gate(&sure, &[]);
    assert!(run.code == 2 && run.stderr.contains("a lower confidence"), "{}", run.stderr);
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

/// A log in CSV whose target columns are `pi`.
fn csv(folder: &Folder) -> String {
    let mut text = "reward,mu_1,pi_1\n".to_owned();
    for i in 0..400 {
        let (more, pi) = if i % 2 == 0 { (3.0, 0.8) } else { (0.0, 0.2) };
        text += &format!("{},0.5,{pi}\n", f64::from(i * 7 % 13) + more);
    }
    folder.write("log.csv", &text)
}

#[test]
fn any_name_is_just_a_name() {
    let folder = Folder::new();
    let log = csv(&folder);
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
