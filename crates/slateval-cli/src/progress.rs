//! A bar on a terminal, nothing in a pipe.

use std::io::IsTerminal;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use slateval_logs::{Log, Progress};

/// How far the reading is.
pub(crate) struct Bar {
    bar: ProgressBar,
    by_rows: bool,
    last: Mutex<u64>,
}

impl Bar {
    pub(crate) fn new(log: &Log) -> Self {
        let by_rows = log.rows().is_some();
        let length = log.rows().unwrap_or(log.bytes());
        let bar = if length > 0 { ProgressBar::new(length) } else { ProgressBar::no_length() };
        let target =
            if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        bar.set_draw_target(target);
        let template = if by_rows {
            "{wide_bar} {human_pos} of {human_len} rows, {eta} left"
        } else {
            "{wide_bar} {bytes} of {total_bytes}, {eta} left"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Bar { bar, by_rows, last: Mutex::new(0) }
    }

    /// Reports may arrive from several threads, out of order.
    pub(crate) fn show(&self, progress: Progress) {
        let now = if self.by_rows { progress.rows } else { progress.bytes };
        if let Ok(mut last) = self.last.lock()
            && now > *last
        {
            *last = now;
            self.bar.set_position(now);
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
