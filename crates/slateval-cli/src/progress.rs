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
    lines: Option<Mutex<Lines>>,
    by_rows: bool,
    last: Mutex<u64>,
}

/// Lines of JSON.
struct Lines {
    files: usize,
    total_rows: Option<u64>,
    total_bytes: u64,
    start: Instant,
    /// When the last line was written.
    last: Instant,
    now: Progress,
}

#[derive(Serialize)]
struct Line {
    rows: u64,
    bytes: u64,
    files: usize,
    seconds: f64,
    total_rows: Option<u64>,
    total_bytes: u64,
    done: bool,
}

impl Bar {
    pub(crate) fn new(log: &Log, mode: Mode) -> Self {
        let by_rows = log.rows().is_some();
        let length = log.rows().unwrap_or(log.bytes());
        let bar = if length > 0 { ProgressBar::new(length) } else { ProgressBar::no_length() };
        let shown = mode == Mode::Auto && std::io::stderr().is_terminal();
        bar.set_draw_target(if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() });
        let template = if by_rows {
            "{wide_bar} {human_pos} of {human_len} rows, {eta} left"
        } else {
            "{wide_bar} {bytes} of {total_bytes}, {eta} left"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let lines = (mode == Mode::Json).then(|| Mutex::new(Lines::new(log)));
        Bar { bar, lines, by_rows, last: Mutex::new(0) }
    }

    /// Reports may arrive from several threads, out of order.
    pub(crate) fn show(&self, progress: Progress) {
        if let Some(lines) = &self.lines {
            lines.lock().unwrap_or_else(PoisonError::into_inner).take(progress);
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
        if let Some(lines) = &self.lines {
            lines.lock().unwrap_or_else(PoisonError::into_inner).write(whole);
        }
    }
}

impl Lines {
    fn new(log: &Log) -> Self {
        let now = Instant::now();
        Lines {
            files: log.files().len(),
            total_rows: log.rows(),
            total_bytes: log.bytes(),
            start: now,
            last: now,
            now: Progress::default(),
        }
    }

    fn take(&mut self, progress: Progress) {
        self.now.rows = self.now.rows.max(progress.rows);
        self.now.bytes = self.now.bytes.max(progress.bytes);
        if self.last.elapsed() >= Duration::from_secs(1) {
            self.last = Instant::now();
            self.write(false);
        }
    }

    fn write(&self, done: bool) {
        let line = Line {
            rows: self.now.rows,
            bytes: self.now.bytes,
            files: self.files,
            seconds: (self.start.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            total_rows: self.total_rows,
            total_bytes: self.total_bytes,
            done,
        };
        // Numbers: nothing that JSON cannot hold.
        let _ = writeln!(io::stderr(), "{}", serde_json::to_string(&line).unwrap_or_default());
    }
}
