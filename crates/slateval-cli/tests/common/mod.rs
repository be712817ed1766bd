//! Running the binary.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

pub const BINARY: &str = env!("CARGO_BIN_EXE_slateval");

/// What a run of the binary left behind.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, 0, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }
}

pub fn slateval(arguments: &[&str]) -> Run {
    slateval_with_input(arguments, b"")
}

pub fn slateval_with_input(arguments: &[&str], input: &[u8]) -> Run {
    let mut command = Command::new(BINARY);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A run that refuses its arguments does not wait for its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The arguments with a structure, where they say none: for tests whose point is not the choice of one.
pub fn additive<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let chosen = arguments.iter().any(|a| a.starts_with("--structure") || *a == "--estimator");
    let structure: &[&str] = if chosen { &[] } else { &["--structure", "additive"] };
    [arguments, structure].concat()
}

/// A file of the repository's examples.
pub fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).display().to_string()
}

/// Numbers in [0, 1) that are the same every time.
pub fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A log as CSV: a row for each slate, from its reward, its propensities and its segment.
fn csv(slots: usize, rows: impl Iterator<Item = (f64, f64, Vec<f64>, usize)>) -> String {
    let names = |base: &str| (1..=slots).map(|k| format!(",{base}_{k}")).collect::<String>();
    let mut text = format!("reward{}{},city\n", names("mu"), names("pi"));
    for (reward, mu, pi, city) in rows {
        text += &reward.to_string();
        text += &format!(",{mu}").repeat(slots);
        pi.iter().for_each(|p| text += &format!(",{p}"));
        text += &format!(",city {city}\n");
    }
    text
}

/// Effects of single slots only, and too few rows to tell: worth about 120 rows at order 1 and 3 at order 2. One of 20
/// items is worth showing in each of five slots, and the target shows it in 19 of 20 slates.
pub fn thin_log() -> String {
    let mut random = random(3);
    let row = |i: usize| {
        let good: Vec<bool> = (0..5).map(|_| random() < 0.05).collect();
        let slot = (5.0 * random()) as usize;
        let reward = f64::from(u8::from(random() < if good[slot] { 0.9 } else { 0.2 }));
        (reward, 0.05, good.iter().map(|g| if *g { 0.95 } else { 0.05 / 19.0 }).collect(), i % 2)
    };
    csv(5, (0..10_000).map(row))
}

/// Effects of three slots at a time and no others: the reward is 1 where an even number of three coins shows heads.
pub fn parity_log() -> String {
    let mut random = random(4);
    let row = |i: usize| {
        let heads: Vec<bool> = (0..3).map(|_| random() < 0.5).collect();
        let even = heads.iter().filter(|h| **h).count() % 2 == 0;
        let reward = f64::from(u8::from(even)) + random();
        (reward, 0.5, heads.iter().map(|h| if *h { 0.25 } else { 0.75 }).collect(), i % 2)
    };
    csv(3, (0..5000).map(row))
}
