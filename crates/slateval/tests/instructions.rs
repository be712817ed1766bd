//! How many instructions a row takes on its way into a summary, and the bands of an evaluation.
//!
//! Times differ from machine to machine and from hour to hour; callgrind's counts of instructions hardly do, so that a
//! regression shows on a busy machine. The test runs itself under valgrind twice for each case, with few and with many
//! passes: their difference is free of what it costs to start and to make the rows. Limits are some 15% above what was
//! counted, in the profile that `cargo test` uses. A change that needs more instructions for a good reason raises them;
//! one that needs fewer should lower them.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "common/cases.rs"]
mod cases;

use std::io::Write;
use std::process::{Child, Command, Stdio};

use cases::cases;
use slateval::{Band, Settings, Summary};

/// The case that the test counts in a process of its own, and its passes.
const CASE: &str = "SLATEVAL_COUNTED_CASE";
const PASSES: &str = "SLATEVAL_COUNTED_PASSES";

/// Draws of the bands: few, for valgrind is slow. Their cost grows with their number.
const DRAWS: usize = 200;

/// What is counted.
#[derive(Debug, Clone, Copy)]
enum Counted {
    /// Rows of a case, added to a summary.
    Rows(&'static str),
    /// The bands of one evaluation: with them, less without them.
    Bands,
}

/// Most instructions of a row, or of the bands of an evaluation.
const LIMITS: [(Counted, f64); 6] = [
    (Counted::Rows("auto"), 1820.0),
    (Counted::Rows("auto, 10 targets"), 18_000.0),
    (Counted::Rows("additive, many propensities"), 1220.0),
    (Counted::Rows("auto, many propensities"), 1860.0),
    (Counted::Rows("auto with chi, many propensities"), 3650.0),
    (Counted::Bands, 108e6),
];

#[test]
fn rows_and_bands_take_no_more_instructions_than_they_did() {
    if let Some(reason) = why_not() {
        assert!(!reason.can_be_helped() || std::env::var_os("CI").is_none(), "{reason}: install it, as ./test does");
        // Not by a macro: those are not shown where the test passes.
        writeln!(std::io::stderr(), "skipped: {reason}").unwrap();
        return;
    }
    let mut over = Vec::new();
    for (counted, limit) in LIMITS {
        let count = instructions(counted);
        println!("{counted:?}: {count:.1} instructions, at most {limit}");
        if count > limit {
            over.push(format!("{counted:?} takes {count:.1} instructions, more than {limit}"));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

/// Why instructions are not counted on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Skipped {
    NoValgrind,
    OtherProcessor,
}

impl Skipped {
    /// Whether the machine could count them with valgrind installed. It runs on Linux alone, as far as this test goes.
    fn can_be_helped(self) -> bool {
        self == Skipped::NoValgrind && cfg!(all(target_os = "linux", target_arch = "x86_64"))
    }
}

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Skipped::NoValgrind => "valgrind is not installed",
            Skipped::OtherProcessor => "the limits are those of a processor with AVX2",
        })
    }
}

fn why_not() -> Option<Skipped> {
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !valgrind.is_ok_and(|status| status.success()) {
        return Some(Skipped::NoValgrind);
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        return None;
    }
    Some(Skipped::OtherProcessor)
}

/// Instructions of a row, or of the bands of one evaluation.
fn instructions(counted: Counted) -> f64 {
    match counted {
        Counted::Rows(name) => {
            let (few, many) = (2, 6);
            let rows = (many - few) * cases(Some(name)).map(|case| case.rows()).sum::<usize>();
            difference(start(name, few), start(name, many)) / rows as f64
        }
        Counted::Bands => difference(start("no bands", 1), start("bands", 1)),
    }
}

fn difference(less: Child, more: Child) -> f64 {
    let less = count(less);
    count(more) - less
}

/// This test's own program under callgrind, which does nothing but the work.
fn start(case: &str, passes: usize) -> Child {
    Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "the_work_that_is_counted"])
        .env(CASE, case)
        .env(PASSES, passes.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What callgrind says at the end: `==123== Collected : 456`.
fn count(child: Child) -> f64 {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let collected = said.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, count)| count.trim());
    collected.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no count in:\n{said}"))
}

#[test]
#[ignore = "the other test runs it under valgrind"]
fn the_work_that_is_counted() {
    let (Ok(name), Ok(passes)) = (std::env::var(CASE), std::env::var(PASSES)) else { return };
    let passes: usize = passes.parse().unwrap();
    match name.as_str() {
        "bands" => evaluate(Band::Multiplier, passes),
        "no bands" => evaluate(Band::None, passes),
        name => drop(summarised(name, passes)),
    }
}

fn summarised(name: &str, passes: usize) -> Summary {
    let mut case = cases(Some(name)).next().unwrap();
    (0..passes).for_each(|_| case.pass());
    case.sums.finish().into()
}

/// One target with structure auto.
fn evaluate(band: Band, passes: usize) {
    let summary = summarised("auto", passes);
    let mut settings = Settings::default();
    (settings.band, settings.draws, settings.threads) = (band, DRAWS, Some(1));
    std::hint::black_box(summary.evaluate(&settings).unwrap());
}
