//! Rows and files that cannot be used: refused with several named at once, or skipped, counted and told.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use common::{Run, additive, slateval, slateval_with_input};
use tempfile::tempdir;

const HEADER: &str = "reward,mu_1,pi_1\n";
const GOOD: &str = "1,0.5,0.25\n0,0.5,0.75\n";

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn evaluate(arguments: &[&str]) -> Run {
    slateval(&additive(&[&["evaluate"], arguments].concat()))
}

fn evaluate_input(arguments: &[&str], input: &[u8]) -> Run {
    slateval_with_input(&additive(&[&["evaluate"], arguments].concat()), input)
}

fn json(arguments: &[&str]) -> serde_json::Value {
    evaluate(&[arguments, &["--json", "-"]].concat()).json()
}

/// Each kind of bad row, among good ones.
fn mixed() -> String {
    let bad = ["1,n/a,0.5", "1,0,0.5", "1,0.5", ",0.5,0.5", "1,0.5,,", "NaN,0.5,0.5"];
    format!("{HEADER}{}{}", GOOD.repeat(100), bad.map(|row| format!("{row}\n{GOOD}")).concat())
}

#[test]
fn a_log_is_refused_for_several_rows_at_once() {
    let folder = tempdir().unwrap();
    let log = write(folder.path(), "a.csv", &mixed());
    let run = evaluate(&[&log]);
    assert_eq!(run.code, 2);
    for words in [
        "6 rows cannot be used",
        "a.csv, row 201: `mu_1` is `n/a`, which is not a number",
        "a.csv, row 204: `mu_1` is 0",
        "a.csv, row 207: 2 cells, and the header has 3",
        "a.csv, row 210: `reward` is null",
        "a.csv, row 213: more than 3 cells",
        "a.csv, row 216: `reward` is NaN",
        "--on-bad-row skip",
    ] {
        assert!(run.stderr.contains(words), "`{words}` is not in {}", run.stderr);
    }
    // Never more than twenty.
    let log = write(folder.path(), "b.csv", &format!("{HEADER}{}", "1,0,0.5\n1,n/a,0.5\n".repeat(500)));
    let run = evaluate(&[&log]);
    assert!(
        run.stderr.contains("20 rows cannot be used") && run.stderr.contains("there may be more"),
        "{}",
        run.stderr
    );
    assert_eq!(run.stderr.matches("b.csv, row").count(), 20);
}

#[test]
fn skipped_rows_change_no_number_and_are_told_everywhere() {
    let folder = tempdir().unwrap();
    let log = write(folder.path(), "a.csv", &mixed());
    let clean = write(folder.path(), "clean.csv", &format!("{HEADER}{}", GOOD.repeat(106)));
    let page = folder.path().join("page.html").display().to_string();
    let found = json(&[&log, "--on-bad-row", "skip", "--report", &page]);
    let expected = json(&[&clean]);
    assert_eq!(found["log"]["rows"], 212);
    for metric in ["mean", "variance", "quantiles", "cvar"] {
        assert_eq!(found["policies"][1][metric], expected["policies"][1][metric], "{metric}");
    }
    let skipped = found["log"]["skipped"].as_array().unwrap();
    let counts: Vec<(&str, u64)> =
        skipped.iter().map(|s| (s["reason"].as_str().unwrap(), s["rows"].as_u64().unwrap())).collect();
    assert_eq!(counts, [("not-a-number", 1), ("missing", 1), ("out-of-range", 2), ("malformed", 2)]);
    let first = &skipped[0]["examples"][0];
    assert_eq!(
        (first["row"].as_u64(), first["column"].as_str(), first["value"].as_str()),
        (Some(201), Some("mu_1"), Some("n/a"))
    );
    assert!(first["file"].as_str().unwrap().ends_with("a.csv"));
    assert_eq!(found["settings"]["log"]["on_bad_row"], "skip");
    // 6 of 218 rows: a warning.
    let checks = found["policies"][1]["diagnostics"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "skipped").unwrap();
    assert_eq!(check["status"], "warn");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("a.csv, row 201: `mu_1` is n/a"), "the page says nothing of it");
    let text = evaluate(&[&log, "--on-bad-row", "skip"]).stdout;
    assert!(text.contains("Skipped: 1 row with text in place of a number"), "{text}");
    assert!(text.contains("a.csv, row 216: `reward` is NaN"), "{text}");
    assert!(evaluate(&[&clean]).stdout.contains("Checks:") && !evaluate(&[&clean]).stdout.contains("kipped"));
}

#[test]
fn many_skipped_rows_fail_the_check_and_the_gate() {
    let folder = tempdir().unwrap();
    let log = write(folder.path(), "a.csv", &format!("{HEADER}{}{}", GOOD.repeat(500), "1,2,0.5\n".repeat(60)));
    let found = json(&[&log, "--on-bad-row", "skip"]);
    let checks = found["policies"][1]["diagnostics"]["checks"].as_array().unwrap();
    assert_eq!(checks.iter().find(|check| check["name"] == "skipped").unwrap()["status"], "fail");
    assert_eq!(found["log"]["skipped"][0]["rows"], 60);
    assert_eq!(found["log"]["skipped"][0]["examples"].as_array().unwrap().len(), 20);
    let rules = write(folder.path(), "rules.toml", "[[rule]]\nname = \"x\"\nrequire = \"mean(target) >= 0\"\n");
    let arguments = ["gate", &log, "--structure", "additive", "--rules", &rules];
    assert_eq!(slateval(&[&arguments[..], &["--on-bad-row", "skip"]].concat()).code, 1);
    // Nothing is left of a log of bad rows alone.
    let log = write(folder.path(), "bad.csv", &format!("{HEADER}{}", "1,2,0.5\n".repeat(3)));
    let run = evaluate(&[&log, "--on-bad-row", "skip"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("nothing is left") && run.stderr.contains("3 bad rows"), "{}", run.stderr);
}

#[test]
fn json_lines_are_skipped_one_by_one() {
    let folder = tempdir().unwrap();
    let line = "{\"reward\":1,\"mu\":[0.5],\"pi\":[0.25]}\n";
    let bad = ["{\"reward\":1,\"mu\":[0.5]\n", "7\n", "{\"reward\":1,\"mu\":[0.5],\"pi\":[0.5],\"pi\":[0.5]}\n"];
    let text = format!("{}{}{}", line.repeat(1200), bad.map(|b| format!("{b}{line}")).concat(), line.repeat(10));
    let log = write(folder.path(), "a.jsonl", &text);
    let run = evaluate(&[&log]);
    assert!(
        run.stderr.contains("3 rows cannot be used") && run.stderr.contains("`pi` is there twice"),
        "{}",
        run.stderr
    );
    let found = json(&[&log, "--on-bad-row", "skip"]);
    assert_eq!(found["log"]["rows"], 1213);
    assert_eq!(found["log"]["skipped"][0]["rows"], 3);
    assert_eq!(found["log"]["skipped"][0]["examples"][2]["row"], 1205);
}

#[test]
fn a_bad_row_spoils_its_slate_and_no_other() {
    let folder = tempdir().unwrap();
    let head = "slate_id,position,reward,pscore_item_position,evaluation_policy_pscore_item_position\n";
    let slate = |id: usize| format!("s{id},1,1,0.5,0.5\ns{id},2,0,0.5,0.25\n");
    let good: String = (0..200).map(slate).collect();
    let bad = [
        // A value that is no number; one that cannot be; a gap; a row without its slate, between two slates.
        ("s900,1,1,n/a,0.5\ns900,2,1,0.5,0.5\n", 1),
        ("s901,1,1,0.5,0.5\ns901,2,1,0.5,7\n", 1),
        ("s902,1,1,0.5,0.5\ns902,3,1,0.5,0.5\n", 1),
        ("s903,1,1,0.5,0.5\nbroken\ns904,1,1,0.5,0.5\n", 2),
    ];
    for (rows, slates) in bad {
        let log = write(folder.path(), "long.csv", &format!("{head}{good}{rows}{}", slate(999)));
        let found = json(&[&log, "--long", "--on-bad-row", "skip"]);
        assert_eq!(found["log"]["rows"], 201, "{rows}");
        let skipped: u64 =
            found["log"]["skipped"].as_array().unwrap().iter().map(|s| s["rows"].as_u64().unwrap()).sum();
        assert_eq!(skipped, slates, "{rows}");
        assert_eq!(evaluate(&[&log, "--long"]).code, 2, "{rows}");
    }
    // The rows of a slate that lie apart: some of them were taken for a slate, so nothing can be skipped.
    let log = write(folder.path(), "long.csv", &format!("{head}{good}s0,3,1,0.5,0.5\n"));
    let run = evaluate(&[&log, "--long", "--on-bad-row", "skip"]);
    assert!(run.code == 2 && run.stderr.contains("sort the log"), "{}", run.stderr);
}

#[test]
fn bad_files_are_skipped_as_a_whole() {
    let folder = tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    for name in ["a.csv", "c.csv"] {
        write(&logs, name, &format!("{HEADER}{}", GOOD.repeat(50)));
    }
    fs::write(logs.join("b.parquet"), b"PAR1 is not enough").unwrap();
    // The quote is found when most rows have been read.
    write(&logs, "d.csv", &format!("{HEADER}{}1,\"0.5,0.5\n", GOOD.repeat(50_000)));
    let logs = logs.display().to_string();
    let run = evaluate(&[&logs]);
    assert!(run.code == 2 && run.stderr.contains("b.parquet"), "{}", run.stderr);
    let found = json(&[&logs, "--on-bad-file", "skip"]);
    assert_eq!(found["log"]["rows"], 200);
    let skipped = &found["log"]["skipped"][0];
    assert_eq!((skipped["reason"].as_str(), skipped["files"].as_u64()), (Some("unreadable-file"), Some(2)));
    assert!(skipped["examples"][0]["file"].as_str().unwrap().ends_with("b.parquet"));
    assert!(skipped["examples"][1]["value"].as_str().unwrap().contains("nothing closes it"));
    // Two of four files.
    let checks = found["policies"][1]["diagnostics"]["checks"].as_array().unwrap();
    assert_eq!(checks.iter().find(|check| check["name"] == "skipped").unwrap()["status"], "fail");
}

#[test]
fn what_was_skipped_is_saved_and_merged_whatever_the_threads() {
    let folder = tempdir().unwrap();
    let text = |bad: &str| format!("{HEADER}{}{bad}\n{GOOD}{bad}\n", GOOD.repeat(400_000));
    let (a, b) = (write(folder.path(), "a.csv", &text("1,2,0.5")), write(folder.path(), "b.csv", &text("1,x,0.5")));
    let path = |name: &str| folder.path().join(name).display().to_string();
    let save = |logs: &[&str], threads: &str, name: &str| {
        let run = evaluate(&[logs, &["--on-bad-row", "skip", "--threads", threads, "--save", &path(name)]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
    };
    save(&[&a, &b], "1", "one.slateval");
    save(&[&a, &b], "3", "three.slateval");
    // All but the command that is kept.
    let content = |name: &str| {
        let mut summary = slateval::Summary::from_bytes(&fs::read(path(name)).unwrap()).unwrap();
        summary.history_mut().commands.clear();
        summary.to_bytes()
    };
    assert!(content("one.slateval") == content("three.slateval"));
    save(&[&a], "2", "a.slateval");
    save(&[&b], "2", "b.slateval");
    let merged = slateval(&["merge", &path("a.slateval"), &path("b.slateval"), "-o", &path("both.slateval")]);
    assert_eq!(merged.code, 0, "{}", merged.stderr);
    for name in ["one.slateval", "both.slateval"] {
        let skipped = slateval(&["show", &path(name), "--json", "-"]).json()["log"]["skipped"].clone();
        assert_eq!((&skipped[0]["rows"], &skipped[1]["rows"]), (&2.into(), &2.into()));
        // Rows of the file, not of the piece that a thread read.
        assert_eq!(skipped[1]["examples"][1]["row"], 800_004);
    }
}

#[test]
fn a_text_file_without_its_last_line_feed_may_be_cut_short() {
    let folder = tempdir().unwrap();
    let whole = format!("{HEADER}{}", GOOD.repeat(50));
    let log = write(folder.path(), "a.csv", whole.trim_end());
    let run = evaluate(&[&log]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("a.csv: the last line does not end with a line feed"), "{}", run.stderr);
    assert!(run.stderr.contains("--allow-unended"), "{}", run.stderr);
    assert_eq!(json(&[&log, "--allow-unended"])["log"]["rows"], 100);
    assert_eq!(json(&[&log, "--allow-unended"])["settings"]["log"]["allow_unended"], true);
    for (name, end) in [("b.csv", "\n"), ("c.csv", "\r\n"), ("d.csv", "\n\n")] {
        let log = write(folder.path(), name, &format!("{}{end}", whole.trim_end()));
        assert_eq!(evaluate(&[&log]).code, 0, "{end:?}");
    }
    let line = "{\"reward\":1,\"mu\":[0.5],\"pi\":[0.25]}";
    let log = write(folder.path(), "a.jsonl", &format!("{line}\n{line}"));
    assert!(evaluate(&[&log]).stderr.contains("a.jsonl: the last line"));
    assert_eq!(json(&[&log, "--allow-unended"])["log"]["rows"], 2);
}

#[test]
fn an_arrow_stream_without_its_end_mark_may_be_cut_short() {
    let folder = tempdir().unwrap();
    let column = |value: f64| Arc::new(Float64Array::from(vec![value; 100])) as ArrayRef;
    let columns = [("reward", column(1.0)), ("mu_1", column(0.5)), ("pi_1", column(0.25))];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let mut whole = Vec::new();
    let mut writer = StreamWriter::try_new(&mut whole, &rows.schema()).unwrap();
    writer.write(&rows).unwrap();
    writer.write(&rows).unwrap();
    writer.finish().unwrap();
    drop(writer);
    // The mark is eight bytes long; a part of it is none.
    for missing in [8, 5, 4, 1] {
        let cut = &whole[..whole.len() - missing];
        let log = folder.path().join("a.arrows");
        fs::write(&log, cut).unwrap();
        let log = log.display().to_string();
        for (run, name) in [(evaluate(&[&log]), "a.arrows"), (evaluate_input(&["-"], cut), "-")] {
            assert_eq!(run.code, 2, "{missing}");
            let words = format!("{name}: the Arrow stream ends without its end mark");
            assert!(run.stderr.contains(&words) && run.stderr.contains("--allow-unended"), "{}", run.stderr);
        }
        assert_eq!(json(&[&log, "--allow-unended"])["log"]["rows"], 200);
        assert_eq!(evaluate_input(&["-", "--allow-unended"], cut).code, 0);
    }
    let good = write(folder.path(), "b.csv", &format!("{HEADER}{GOOD}"));
    let log = folder.path().join("a.arrows").display().to_string();
    let skipped = json(&[&log, &good, "--on-bad-file", "skip"]);
    assert_eq!((&skipped["log"]["rows"], &skipped["log"]["skipped"][0]["files"]), (&2.into(), &1.into()));
    assert_eq!(evaluate_input(&["-"], &whole).code, 0);
}

#[test]
fn two_columns_of_one_name_are_refused_where_they_are_read() {
    let folder = tempdir().unwrap();
    let log = write(folder.path(), "a.csv", "reward,mu_1,pi_1,mu_1,x,x\n1,0.5,0.5,0.25,1,2\n");
    let run = evaluate(&[&log]);
    assert!(run.code == 2 && run.stderr.contains("two columns `mu_1`"), "{}", run.stderr);
    let log = write(folder.path(), "b.csv", "reward,mu_1,pi_1,x,x\n1,0.5,0.5,1,2\n0,0.5,0.5,1,2\n");
    assert_eq!(evaluate(&[&log]).code, 0);
}

#[test]
fn a_bad_file_takes_no_other_with_it() {
    let folder = tempdir().unwrap();
    let parquet = |name: &str| {
        let path = folder.path().join(name);
        fs::copy(common::example("slates.parquet"), &path).unwrap();
        path.display().to_string()
    };
    let (one, two) = (parquet("one.parquet"), parquet("two.parquet"));
    let junk = write(folder.path(), "junk.csv.gz", "this is no gzip");
    let cut = folder.path().join("cut.csv.gz");
    // Its header can be read, and its end cannot.
    let columns = |name: &str| (1..=5).map(|slot| format!(",{name}_{slot}")).collect::<String>();
    let header = format!("reward{}{}{}", columns("mu"), columns("pi_new"), columns("chi_new"));
    let row = format!("1{}{}{}\n", ",0.5".repeat(5), ",0.25".repeat(5), ",0.1".repeat(5));
    let text = format!("{header}\n{}", row.repeat(50_000));
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, text.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    fs::write(&cut, &packed[..packed.len() / 2]).unwrap();
    let cut = cut.display().to_string();
    let skip = ["--target", "new=pi_new", "--on-bad-file", "skip", "--band", "none"];
    for logs in [vec![&one, &two, &cut], vec![&one, &cut, &two], vec![&cut, &one, &two], vec![&one, &junk, &two, &cut]]
    {
        let logs: Vec<&str> = logs.iter().map(|log| log.as_str()).collect();
        assert_eq!(json(&[&logs, skip.as_slice()].concat())["log"]["rows"], 24_000, "{logs:?}");
    }
}

#[test]
fn a_quote_too_many_swallows_no_rows() {
    let folder = tempdir().unwrap();
    let row = |label: &str| format!("1,0.5,0.25,{label}\n");
    let rows = |labels: [&str; 5]| format!("reward,mu_1,pi_1,device\n{}", labels.map(row).concat());
    for labels in [["a", "\"a", "a", "\"a", "a"], ["a", "\"a", "\"b\"", "a", "a"], ["a", "\"a\"b", "a", "a", "a"]] {
        let log = write(folder.path(), "a.csv", &rows(labels));
        let run = evaluate(&[&log, "--by", "device"]);
        assert_eq!(run.code, 2, "{labels:?}: {}", run.stdout);
        assert!(run.stderr.contains("a quote is missing, or there is one too many"), "{}", run.stderr);
    }
    let log = write(folder.path(), "b.csv", &rows(["\"a\"", "\"a \"\"b\"\"\"", "a\"b", "\"a\nb\"", ""]));
    assert_eq!(json(&[&log, "--by", "device"])["log"]["rows"], 5);
}

/// Text among the first values of a column of numbers is a bad row as it is later on.
#[test]
fn text_among_the_first_numbers_of_json_lines_is_a_bad_row() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl").display().to_string();
    let line = |i: usize, mu: &str| format!("{{\"reward\":{},\"mu_1\":{mu},\"pi_1\":0.25}}\n", i % 3);
    for (bad, shown) in [("\"oops\"", "oops"), ("true", "true"), ("{}", "{}")] {
        let text: String = (0..200).map(|i| line(i, if i == 7 { bad } else { "0.5" })).collect();
        std::fs::write(&log, text).unwrap();
        let run = slateval(&["evaluate", &log, "--structure", "additive"]);
        assert_eq!(run.code, 2, "{}", run.stdout);
        let wanted = format!("log.jsonl, row 8: `mu_1` is `{shown}`, which is not a number");
        assert!(run.stderr.contains(&wanted), "{wanted}: {}", run.stderr);
        let run = slateval(&["evaluate", &log, "--structure", "additive", "--on-bad-row", "skip", "--json", "-"]);
        let json = run.json();
        assert_eq!(json["log"]["rows"], 199);
        let skipped = &json["log"]["skipped"][0];
        assert_eq!((&skipped["reason"], &skipped["rows"]), (&"not-a-number".into(), &1.into()));
        assert_eq!(skipped["examples"][0]["column"], "mu_1");
    }
    // Items of lists likewise.
    let list = |i: usize| if i == 3 { "[0.5,\"x\"]" } else { "[0.5,0.5]" };
    let row = |i: usize| format!("{{\"reward\":{},\"mu\":{},\"pi\":[0.25,0.75]}}\n", i % 3, list(i));
    std::fs::write(&log, (0..100).map(row).collect::<String>()).unwrap();
    let run = slateval(&["evaluate", &log, "--structure", "additive", "--on-bad-row", "skip", "--json", "-"]);
    assert_eq!(run.json()["log"]["rows"], 99);
    // A column of text is no column of numbers.
    std::fs::write(&log, (0..9).map(|i| line(i, "\"x\"")).collect::<String>()).unwrap();
    let run = slateval(&["evaluate", &log, "--structure", "additive", "--on-bad-row", "skip"]);
    assert!(run.code == 2 && run.stderr.contains("column `mu_1` is of type Utf8"), "{}", run.stderr);
}

#[test]
fn empty_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("full.csv"), "reward,mu_1,pi_1\n1,0.5,0.5\n0,0.5,0.25\n").unwrap();
    for name in ["a.csv", "b.jsonl"] {
        std::fs::write(path(name), "").unwrap();
    }
    let run = slateval(&["evaluate", &path(""), "--structure", "additive"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let words = ["2 files without a header or a row passed over: ", "a.csv", "b.jsonl"];
    words.iter().for_each(|word| assert!(run.stderr.contains(word), "{word}: {}", run.stderr));
    let alone = slateval(&["evaluate", &path("a.csv")]);
    assert!(alone.code == 2 && alone.stderr.contains("there are no rows in"), "{}", alone.stderr);
}

#[test]
fn long_names_and_values_are_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv").display().to_string();
    let long = "x".repeat(100_000);
    for text in [
        format!("{long},mu_1,pi_1\nn/a,0.5,0.5\n"),
        format!("{long},mu_1,pi_1\n{long},0.5,0.5\n"),
        format!("{long},mu_1,pi_1\n1e999,0.5,0.5\n"),
        format!("{long},mu_1,pi_1\n,0.5,0.5\n"),
        format!("{long},{long},mu_1,pi_1\n1,1,0.5,0.5\n"),
        format!("{long}y,mu_1,pi_1\n1,0.5,0.5\n"),
    ] {
        std::fs::write(&log, text).unwrap();
        let run = slateval(&["evaluate", &log, "--reward", &long]);
        assert_eq!(run.code, 2, "{}", run.stdout);
        assert!(run.stderr.len() < 2500, "{} characters: {}", run.stderr.len(), &run.stderr[..2500]);
    }
}

#[test]
fn json_lines_without_a_readable_line_are_a_bad_file() {
    let folder = tempdir().unwrap();
    let line = "{\"reward\":1,\"mu_1\":0.5,\"pi_1\":0.25}\n";
    let good = write(folder.path(), "good.jsonl", &line.repeat(50));
    let skip = ["--on-bad-file", "skip", "--on-bad-row", "skip"];
    for (what, bytes) in
        [("garbage", b"\x93\xf0\x01 no json\nat all\n".to_vec()), ("zeros", vec![0; 5000]), ("cut", line[..20].into())]
    {
        let bad = folder.path().join("bad.jsonl");
        fs::write(&bad, bytes).unwrap();
        let bad = bad.display().to_string();
        for logs in [[good.as_str(), &bad], [&bad, &good]] {
            let found = json(&[&logs, skip.as_slice()].concat());
            assert_eq!(found["log"]["rows"], 50, "{what}");
            let skipped = &found["log"]["skipped"][0];
            assert_eq!((&skipped["reason"], &skipped["files"]), (&"unreadable-file".into(), &1.into()), "{what}");
        }
        let run = evaluate(&[&good, &bad, "--on-bad-row", "skip"]);
        assert!(run.code == 2 && run.stderr.contains("bad.jsonl, row 1"), "{what}: {}", run.stderr);
    }
}
