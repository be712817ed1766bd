//! Running the binary.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use slateval_testing::Log;

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

/// Effects of single slots only, and too few rows to tell.
pub fn thin_log() -> String {
    Log::thin(10_000).csv()
}

/// Effects of three slots at a time and no others.
pub fn parity_log() -> String {
    Log::parity(5000).csv()
}
