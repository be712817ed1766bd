//! What is said on standard error, besides progress: as much as `--log-level` lets through.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};

use clap::ValueEnum;
use slateval::{redacted, redacted_text};
use slateval_report::printable;

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Level {
    /// Only why a run failed
    Error,
    /// Also what may be wrong with the result
    Warn,
    /// Also what was done
    Info,
    /// Also which files are read, when checkpoints are written, and how long each step takes
    Debug,
}

/// Set once, before anything is said.
static LEVEL: AtomicU8 = AtomicU8::new(Level::Info as u8);

pub(crate) fn set(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

fn say(level: Level, text: &str) {
    if level as u8 <= LEVEL.load(Ordering::Relaxed) {
        // Whether standard error can be written to changes nothing.
        let _ = writeln!(io::stderr(), "{}", printable(&without_secrets(text)));
    }
}

/// A text without the secrets of addresses, wherever on the command line they were given: a flag that wants a number, or a
/// file of this machine, may have been given an address.
pub(crate) fn without_secrets(text: &str) -> String {
    let mut text = text.to_owned();
    for word in std::env::args_os().skip(1) {
        let word = word.to_string_lossy();
        let value = word.split_once('=').map_or("", |(_, value)| value);
        for given in [&word, value].into_iter().filter(|given| redacted(given) != *given) {
            text = text.replace(given, &redacted(given));
        }
    }
    redacted_text(&text).into_owned()
}

/// Why a run failed.
pub(crate) fn error(text: &str) {
    say(Level::Error, text);
}

pub(crate) fn warn(text: &str) {
    say(Level::Warn, text);
}

pub(crate) fn info(text: &str) {
    say(Level::Info, text);
}

pub(crate) fn debug(text: &str) {
    say(Level::Debug, &format!("slateval: {text}"));
}

/// Does something, and tells how long it took.
pub(crate) fn timed<T>(what: &str, action: impl FnOnce() -> T) -> T {
    let start = std::time::Instant::now();
    let done = action();
    debug(&format!("{what}: {:.3} s", start.elapsed().as_secs_f64()));
    done
}
