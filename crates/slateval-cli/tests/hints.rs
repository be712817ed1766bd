//! What a newcomer's mistakes are answered with: the real binary on the files that people write.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, additive, example, slateval};
use slateval_testing::uniform;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, lines: impl IntoIterator<Item = String>) -> String {
        let path = self.0.path().join(name);
        let text: String = lines.into_iter().map(|line| line + "\n").collect();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

fn lines(header: &str, rows: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(header.to_owned()).chain(rows).collect()
}

/// Output without line breaks, for a table may break its sentences.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn evaluate(arguments: &[&str]) -> Run {
    slateval(&additive(&[&["evaluate"], arguments].concat()))
}

/// Expects a refusal that says all of these.
fn refused(arguments: &[&str], says: &[&str]) -> String {
    let run = evaluate(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}: {}", run.stderr);
    for part in says {
        assert!(run.stderr.contains(part), "`{part}` is missing in: {}", run.stderr);
    }
    run.stderr
}

/// Three slots of two items each: logging shows the first with probability 0.8, the target with 0.4.
fn propensities(next: &mut impl FnMut() -> f64) -> Vec<(f64, f64)> {
    (0..3).map(|_| if next() < 0.8 { (0.8, 0.4) } else { (0.2, 0.6) }).collect()
}

fn long_of_whole_slates(folder: &Folder) -> String {
    let mut next = uniform(5);
    let mut rows = Vec::new();
    for slate in 0..3000 {
        let slots = propensities(&mut next);
        let (mu, pi) = slots.iter().fold((1.0, 1.0), |(mu, pi), slot| (mu * slot.0, pi * slot.1));
        rows.extend((0..3).map(|k| format!("{slate},{k},{},{mu},{pi}", u8::from(next() < 0.4))));
    }
    folder.write("long.csv", lines("slate_id,position,reward,pscore,evaluation_policy_pscore", rows.into_iter()))
}

#[test]
fn propensities_of_whole_slates_are_not_recommended() {
    let folder = Folder::new();
    let path = long_of_whole_slates(&folder);
    let message = refused(&[&path, "--long"], &["`pscore_item_position`", "the whole slate", "--logging COLUMN"]);
    assert!(!message.contains("Did you mean"), "{message}");
}

#[test]
fn propensities_of_whole_slates_are_recognised() {
    let folder = Folder::new();
    let path = long_of_whole_slates(&folder);
    let columns = ["--long", "--logging", "pscore", "--target", "evaluation_policy_pscore"];
    let says = "these look like propensities of the whole slate";
    let run = evaluate(&[&[path.as_str()], columns.as_slice()].concat());
    assert!(run.code == 0 && run.stderr.contains(says), "{}", run.stderr);
    let run = slateval(&additive(&[&["inspect", &path], columns.as_slice()].concat()));
    assert!(run.code == 0 && flat(&run.stdout).contains(says), "{}{}", run.stdout, run.stderr);
    // Logging's alone, beside the target's own of each slot.
    let mut next = uniform(6);
    let row = |_| {
        let slots = propensities(&mut next);
        let mu = slots.iter().map(|slot| slot.0).product::<f64>();
        let pi: Vec<String> = slots.iter().map(|slot| slot.1.to_string()).collect();
        format!("{},{mu},{mu},{mu},{}", next(), pi.join(","))
    };
    let path = folder.write("wide.csv", lines("reward,mu_1,mu_2,mu_3,pi_1,pi_2,pi_3", (0..3000).map(row)));
    assert!(evaluate(&[&path]).stderr.contains(says));
    // Uniform propensities of pools of different sizes are the same in all slots too, and right.
    let row = |i: usize| {
        let pool = (4 + i % 5) as f64;
        let first = if next() < 1.0 / pool { 0.5 } else { 0.5 / (pool - 1.0) };
        format!("{},{1},{1},{first},{1}", next(), 1.0 / pool)
    };
    let path = folder.write("pools.csv", lines("reward,mu_1,mu_2,pi_1,pi_2", (0..3000).map(row)));
    let run = evaluate(&[&path]);
    assert!(run.code == 0 && !run.stderr.contains("whole slate"), "{}", run.stderr);
}

#[test]
fn what_is_no_propensity_is_said_once() {
    let folder = Folder::new();
    type Case = (&'static str, fn(usize) -> f64, &'static str);
    let cases: [Case; 4] = [
        ("logs", |i| (0.1 + 0.1 * (i % 7) as f64).ln(), "look like logarithms of propensities"),
        ("percent", |i| 12.5 + (i % 7) as f64, "look like percentages: divide them by 100"),
        ("items", |i| (100 + 37 * (i % 11)) as f64, "look like the numbers of items"),
        ("either", |i| (2 + i % 50) as f64, "look like percentages or the numbers of items"),
    ];
    for (name, mu, says) in cases {
        let row = |i: usize| format!("{},{},0.5", i % 2, mu(i));
        let path = folder.write(&format!("{name}.csv"), lines("reward,mu_1,pi_1", (0..500).map(row)));
        let message = refused(&[&path], &[says, "`mu_1`", "500 rows, from row 1 on", "(0, 1]"]);
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    // Single odd values are named one by one, as before.
    let row = |i: usize| format!("1,{},0.5", if i < 2 { "1.5" } else { "0.5" });
    let path = folder.write("odd.csv", lines("reward,mu_1,pi_1", (0..100).map(row)));
    refused(&[&path], &["2 rows cannot be used", "row 1: `mu_1` is 1.5", "row 2: `mu_1` is 1.5"]);
}

#[test]
fn text_in_the_reward_is_not_told_to_be_left_out() {
    let folder = Folder::new();
    for value in ["clicked", "2024-05-01 12:00:00"] {
        let path = folder.write("text.csv", lines("reward,mu_1,pi_1", [format!("{value},0.5,0.5")].into_iter()));
        let message = refused(&[&path], &[value, "name the column that holds the rewards"]);
        assert!(!message.contains("empty"), "{message}");
    }
    let slot = folder.write("slot.csv", lines("reward,mu_1,pi_1", ["1,half,0.5".to_owned()].into_iter()));
    refused(&[&slot], &["`mu_1` is `half`", "empty in all columns"]);
    let list = folder.write("list.csv", lines("reward,mu,pi", ["1,\"[0.5, 0.5]\",0.5".to_owned()].into_iter()));
    refused(&[&list], &["text files have no lists", "one column for each slot"]);
}

#[test]
fn a_reward_column_of_text_or_times_is_said_once() {
    let folder = Folder::new();
    for (values, found) in [
        (["yes", "no"], "`yes`, `no`, `yes`, `no`, `yes` are not numbers"),
        (["2024-01-01T00:00:00", "2024-01-02"], "`2024-01-01T00:00:00`, `2024-01-02`"),
    ] {
        let row = |i: usize| format!("{},0.5,0.5", values[i % 2]);
        let path = folder.write("text.csv", lines("reward,mu_1,pi_1", (0..100).map(row)));
        for message in [refused(&[&path], &[]), slateval(&["inspect", &path]).stderr] {
            for says in [found, "`reward`", "at least 100 rows, from row 1 on", "with --reward COLUMN"] {
                assert!(message.contains(says), "`{says}` is missing in: {message}");
            }
            assert!(message.lines().count() == 1 && !message.contains("skip"), "{message}");
        }
    }
    // Cells that are text here and there are named one by one, as before.
    let row = |i: usize| format!("{},0.5,0.5", if i % 9 == 5 { "n/a" } else { "1" });
    let path = folder.write("some.csv", lines("reward,mu_1,pi_1", (0..40).map(row)));
    refused(&[&path], &["4 rows cannot be used", "row 6: `reward` is `n/a`", "--on-bad-row skip"]);
}

#[test]
fn exchanged_propensities_with_zeros_are_said_once() {
    let folder = Folder::new();
    let mut next = uniform(8);
    let mut row = |_| {
        let slots = [0; 2].map(|_| if next() < 0.4 { "0" } else { "0.5" });
        format!("{},{},0.3,0.7", next(), slots.join(","))
    };
    let rows: Vec<String> = (0..500).map(&mut row).collect();
    let path = folder.write("zeros.csv", lines("reward,mu_1,mu_2,pi_1,pi_2", rows.clone().into_iter()));
    for message in [refused(&[&path], &[]), slateval(&["inspect", &path]).stderr] {
        for says in ["rows, from row 1 on", "logging and target look exchanged", "(0, 1]"] {
            assert!(message.contains(says), "`{says}` is missing in: {message}");
        }
        assert!(message.lines().count() == 1 && !message.contains("skip"), "{message}");
    }
    let long = rows.iter().enumerate().flat_map(|(slate, row)| {
        let cells: Vec<&str> = row.split(',').collect();
        [format!("{slate},1,1,{},{}", cells[1], cells[3]), format!("{slate},2,1,{},{}", cells[2], cells[4])]
    });
    let long = folder.write("long.csv", lines("slate_id,position,reward,p,q", long));
    let columns = ["--long", "--logging", "p", "--target", "q"];
    refused(&[&[long.as_str()], columns.as_slice()].concat(), &["rows, from row", "logging and target look exchanged"]);
    // A target that has zeros itself is not the policy that wrote the log.
    let rows =
        rows.into_iter().enumerate().map(|(i, row)| if i % 9 == 2 { row.replace("0.3,0.7", "0,0.7") } else { row });
    let path = folder.write("both.csv", lines("reward,mu_1,mu_2,pi_1,pi_2", rows));
    let message = refused(&[&path], &["20 rows cannot be used"]);
    assert!(!message.contains("exchanged"), "{message}");
}

#[test]
fn exchanged_propensities_are_named() {
    let folder = Folder::new();
    let mut next = uniform(7);
    let row = |_| {
        let slots = propensities(&mut next);
        let column = |of: fn(&(f64, f64)) -> f64| slots.iter().map(|s| of(s).to_string()).collect::<Vec<_>>().join(",");
        format!("{},{},{}", next(), column(|slot| slot.0), column(|slot| slot.1))
    };
    let rows: Vec<String> = (0..5000).map(row).collect();
    let right = folder.write("right.csv", lines("reward,mu_1,mu_2,mu_3,pi_1,pi_2,pi_3", rows.clone().into_iter()));
    let run = evaluate(&[&right]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let wrong = folder.write("wrong.csv", lines("reward,pi_1,pi_2,pi_3,mu_1,mu_2,mu_3", rows.into_iter()));
    let says = "logging and target `target` look exchanged";
    for run in [evaluate(&[&wrong]), evaluate(&[&wrong, "--json", "-"])] {
        assert!(run.code == 0 && run.stderr.contains(says), "{}", run.stderr);
    }
    let run = slateval(&additive(&["inspect", &wrong]));
    assert!(flat(&run.stdout).contains(says), "{}", run.stdout);
    let json = slateval(&additive(&["inspect", &wrong, "--json", "-"])).json();
    assert!(json["suspicions"][0].as_str().unwrap().starts_with(says), "{}", json["suspicions"]);
}

/// Half of what the target shows was never logged: two of four items in each slot.
#[test]
fn a_target_without_support_leads_to_no_structure() {
    let folder = Folder::new();
    let mut next = uniform(8);
    let row = |_| {
        let first: Vec<bool> = (0..6).map(|_| next() < 0.5).collect();
        let pi: Vec<String> = first.iter().map(|f| if *f { "0.4" } else { "0.1" }.to_owned()).collect();
        let reward = first.iter().filter(|f| **f).count() as f64 / 6.0 + 0.2 * next();
        format!("{reward}{},{}", ",0.5".repeat(6), pi.join(","))
    };
    let names = |base: &str| (1..=6).map(|k| format!(",{base}_{k}")).collect::<String>();
    let header = format!("reward{}{}", names("mu"), names("pi"));
    let path = folder.write("log.csv", lines(&header, (0..20_000).map(row)));
    for command in ["evaluate", "inspect"] {
        for more in [&[][..], &["--structure", "additive"], &["--structure", "order:2"]] {
            let run = slateval(&[&[command, &path], more].concat());
            let said = flat(&format!("{}{}", run.stdout, run.stderr));
            assert!(run.code == 0 && said.contains("propensities"), "{said}");
            for advice in ["--structure", "assume less", "simpler structure", "assumes nothing"] {
                assert!(!said.contains(advice), "{command} {more:?} advises `{advice}`: {said}");
            }
        }
    }
}

#[test]
fn a_missing_column_comes_with_its_flag() {
    let folder = Folder::new();
    let row = |i: usize| format!("{},0.5,{}", i % 2, if i.is_multiple_of(2) { 0.9 } else { 0.1 });
    let path = folder.write("log.csv", lines("clicks,mu_1,pi_1", (0..100).map(row)));
    refused(&[&path], &["no column `reward`", "Name it with --reward COLUMN."]);
    refused(&[&path, "--reward", "clicks", "--logging", "p"], &["Name it with --logging COLUMN."]);
    refused(&[&path, "--reward", "clicks", "--target", "new=q"], &["Name it with --target new=COLUMN."]);
    refused(&[&path, "--reward", "clicks", "--by", "city"], &["Name it with --by COLUMN."]);
    let run = slateval(&["inspect", &path]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    for found in ["reward", "not found", "mu_1", "pi_1", "not used: clicks"] {
        assert!(run.stdout.contains(found), "{found} in {}", run.stdout);
    }
    assert!(run.stderr.contains("Name it with --reward COLUMN."), "{}", run.stderr);
}

#[test]
fn a_wrong_separator_is_named() {
    let folder = Folder::new();
    for (name, separator) in [("tabs.csv", "\t"), ("semicolons.csv", ";"), ("bars.csv", "|"), ("commas.tsv", ",")] {
        let rows = ["reward,mu_1,pi_1", "1,0.5,0.5"].map(|row| row.replace(',', separator));
        let message =
            refused(&[&folder.write(name, rows)], &["is the separator right?", ".csv", "commas", ".tsv", "tabs"]);
        assert!(!message.contains("Did you mean"), "{message}");
    }
}

#[test]
fn a_column_of_numbers_is_one_slot() {
    let folder = Folder::new();
    let row = |i: usize| format!("{},{},0.5,{}", i % 3, i % 2, if i.is_multiple_of(2) { 0.9 } else { 0.1 });
    let path = folder.write("log.csv", lines("position,click,propensity_score,new", (0..400).map(row)));
    let columns = ["--reward", "click", "--logging", "propensity_score", "--target", "new"];
    let json = evaluate(&[&[path.as_str(), "--json", "-"], columns.as_slice()].concat()).json();
    assert_eq!((json["log"]["rows"].as_u64(), json["log"]["slots"].as_u64()), (Some(400), Some(1)));
    let numbered = folder.write("numbered.csv", lines("position,reward,mu_1,pi_1", (0..400).map(row)));
    let mean = |json: &serde_json::Value| json["policies"][1]["mean"].clone();
    assert_eq!(mean(&json), mean(&evaluate(&[&numbered, "--json", "-"]).json()));
    let run = slateval(&additive(&[&["inspect", &path], columns.as_slice()].concat()));
    assert!(run.stdout.contains("1 slot"), "{}", run.stdout);
    // A row of a long log is one slot of several.
    let long =
        folder.write("long.csv", lines("slate_id,position,reward,mu,pi", (0..4).map(|i| format!("{i},{}", row(i)))));
    refused(&[&long], &["long format"]);
}

#[test]
fn rows_that_were_written_twice_are_noticed() {
    let folder = Folder::new();
    let mut next = uniform(9);
    let rows: Vec<String> = (0..2000)
        .map(|_| {
            let slots = propensities(&mut next);
            format!("{},{},{}", next(), slots[0].0, slots[0].1)
        })
        .collect();
    let twice = rows.iter().chain(&rows[..500]).cloned();
    let path = folder.write("twice.csv", lines("reward,mu_1,pi_1", twice));
    let run = slateval(&additive(&["inspect", &path]));
    assert!(flat(&run.stdout).contains("about 500 rows are like an earlier row"), "{}", run.stdout);
    assert_eq!(slateval(&additive(&["inspect", &path, "--json", "-"])).json()["log"]["alike_rows"], 500);
    let path = folder.write("once.csv", lines("reward,mu_1,pi_1", rows.into_iter()));
    let run = slateval(&additive(&["inspect", &path]));
    assert!(run.code == 0 && !run.stdout.contains("like an earlier"), "{}", run.stdout);
    // Clicks repeat by chance.
    let row = |i: usize| format!("{},0.5,{}", i % 2, if i.is_multiple_of(4) { 0.9 } else { 0.1 });
    let path = folder.write("clicks.csv", lines("reward,mu_1,pi_1", (0..2000).map(row)));
    let run = slateval(&additive(&["inspect", &path]));
    assert!(!run.stdout.contains("written twice"), "{}", run.stdout);
}

#[test]
fn a_slate_reward_repeated_on_each_slot_is_noticed() {
    let folder = Folder::new();
    let header = "slate_id,position,reward,pscore_item_position,evaluation_policy_pscore_item_position";
    let log = |name: &str, repeated: bool| {
        let rows = (0..600).map(|row| {
            let (slate, slot) = (row / 3, row % 3);
            let reward = if repeated { slate % 4 } else { (slate + slot) % 4 };
            format!("{slate},{slot},{reward},0.5,{}", if (slate + slot) % 2 == 0 { 0.75 } else { 0.25 })
        });
        folder.write(name, lines(header, rows))
    };
    let says = "is it the slate's reward, repeated on each slot?";
    let repeated = evaluate(&[&log("repeated.csv", true), "--long"]);
    assert!(repeated.code == 0 && repeated.stderr.contains(says), "{}", repeated.stderr);
    let own = evaluate(&[&log("own.csv", false), "--long"]);
    assert!(own.code == 0 && !own.stderr.contains(says), "{}", own.stderr);
}

#[test]
fn shorter_slates_are_counted() {
    let folder = Folder::new();
    let row = |i: usize| match i % 4 {
        0 => "{\"reward\":1,\"mu\":[0.5],\"pi\":[0.5]}".to_owned(),
        _ => format!("{{\"reward\":{},\"mu\":[0.5,0.5],\"pi\":[0.75,0.25]}}", i % 2),
    };
    let path = folder.write("log.jsonl", (0..200).map(row));
    let run = slateval(&additive(&["inspect", &path]));
    let first = run.stdout.lines().next().unwrap();
    assert!(first.ends_with("200 slates, 2 slots, 50 slates are shorter"), "{first}");
    assert_eq!(slateval(&additive(&["inspect", &path, "--json", "-"])).json()["log"]["shorter_slates"], 50);
}

#[test]
fn several_targets_are_called_by_their_columns() {
    let log = example("slates.parquet");
    let json = evaluate(&[&log, "--target", "pi_new", "--target", "pi_bolder", "--json", "-"]).json();
    let names: Vec<&str> = json["policies"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["logging", "new", "bolder"]);
    let alone = evaluate(&[&log, "--target", "pi_new", "--json", "-"]).json();
    assert_eq!(alone["policies"][1]["name"], "target");
}
