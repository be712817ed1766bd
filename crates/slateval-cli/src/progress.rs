//! How far the reading is: a bar on a terminal, lines of JSON for programs.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use slateval_logs::{Log, Progress};

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// A bar if standard error is a terminal, otherwise nothing
    Auto,
    /// An object of JSON on standard error, at most once a second, and one at the end
    Json,
    /// Nothing
    None,
}

/// How far the reading is.
pub(crate) struct Bar {
    bar: ProgressBar,
    line: Option<Mutex<Line>>,
    by_rows: bool,
    last: Mutex<u64>,
}

/// What the next line of JSON says.
#[derive(Serialize)]
struct Line {
    rows: u64,
    bytes: u64,
    files: usize,
    seconds: f64,
    total_rows: Option<u64>,
    total_bytes: u64,
    done: bool,
    #[serde(skip)]
    start: Instant,
    /// When the last line was written.
    #[serde(skip)]
    last: Instant,
}

/// A bar on a terminal, nothing in a pipe.
pub(crate) fn bar(length: u64, template: &str) -> ProgressBar {
    let bar = if length > 0 { ProgressBar::new(length) } else { ProgressBar::no_length() };
    let terminal = io::stderr().is_terminal();
    bar.set_draw_target(if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() });
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

impl Bar {
    pub(crate) fn new(log: &Log, mode: Mode) -> Self {
        let by_rows = log.rows().is_some();
        let template = if by_rows {
            "{wide_bar} {human_pos} of {human_len} rows, {eta} left"
        } else {
            "{wide_bar} {bytes} of {total_bytes}, {eta} left"
        };
        let bar = bar(log.rows().unwrap_or(log.bytes()), template);
        if mode != Mode::Auto {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let line = (mode == Mode::Json).then(|| Mutex::new(Line::new(log)));
        Bar { bar, line, by_rows, last: Mutex::new(0) }
    }

    /// Reports may arrive from several threads, out of order.
    pub(crate) fn show(&self, progress: Progress) {
        if let Some(line) = &self.line {
            line.lock().unwrap_or_else(PoisonError::into_inner).take(progress);
        }
        let now = if self.by_rows { progress.rows } else { progress.bytes };
        if let Ok(mut last) = self.last.lock()
            && now > *last
        {
            *last = now;
            self.bar.set_position(now);
        }
    }

    /// Ends it; the whole log has been read, or something went wrong.
    pub(crate) fn finish(&self, whole: bool) {
        self.bar.finish_and_clear();
        if let Some(line) = &self.line {
            line.lock().unwrap_or_else(PoisonError::into_inner).write(whole);
        }
    }
}

impl Line {
    fn new(log: &Log) -> Self {
        let (files, total_rows, total_bytes, now) = (log.files().len(), log.rows(), log.bytes(), Instant::now());
        Line { rows: 0, bytes: 0, files, seconds: 0.0, total_rows, total_bytes, done: false, start: now, last: now }
    }

    fn take(&mut self, progress: Progress) {
        self.rows = self.rows.max(progress.rows);
        self.bytes = self.bytes.max(progress.bytes);
        if self.last.elapsed() >= Duration::from_secs(1) {
            self.last = Instant::now();
            self.write(false);
        }
    }

    fn write(&mut self, done: bool) {
        self.seconds = (self.start.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        self.done = done;
        // Numbers: nothing that JSON cannot hold.
        let _ = writeln!(io::stderr(), "{}", serde_json::to_string(self).unwrap_or_default());
    }
}
