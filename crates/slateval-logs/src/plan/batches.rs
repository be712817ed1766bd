//! Rows that come as Arrow record batches, from another program's memory and not from files.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};
use slateval::{Spec, Summary};

use crate::columns::{Columns, Found, Layout, RowFormat};
use crate::error::{Error, Result};
use crate::find::Location;
use crate::plan::checkpoint::Merged;
use crate::plan::gather::{Gather, Plan};
use crate::plan::log::Log;
use crate::plan::merge::Merge;
use crate::plan::progress::Progress;
use crate::plan::tasks::{TASK_ROWS, processors};
use crate::plan::units::go_on;
use crate::slates::{Budget, Done, Faults, Rows};

/// How often whoever watches is asked.
const PATIENCE: Duration = Duration::from_millis(50);

/// Record batches as they come.
pub type Batches<'a> = &'a mut dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>>;

/// A piece of a batch, and where its columns and rows are.
struct Piece {
    batch: RecordBatch,
    layout: Arc<Layout>,
    first_row: u64,
}

/// A part of the rows that is summarised by itself.
struct Part {
    index: usize,
    pieces: Vec<Piece>,
}

impl Log {
    /// Reads the rows of a log made with [`Log::of_batches`]; `spec` must come from [`Log::spec`].
    ///
    /// Batches are asked for on the calling thread, which also asks `watch` every now and then whether to go on; rows
    /// are worked on by so many other threads (all processors if `None`). Only a few parts of 262,144 rows are held at a
    /// time, and they are merged in their order: the same rows give the same summary, bit for bit, whatever the number of
    /// threads.
    ///
    /// # Errors
    /// As for [`Log::summarize_while`]; rows count from 1 over all batches.
    pub fn summarize_batches(
        &self,
        columns: &Columns,
        spec: &Spec,
        threads: Option<usize>,
        batches: Batches<'_>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Summary> {
        // The slates of a long log may lie across batches, so one thread reads them all.
        let threads = match columns.format {
            RowFormat::Wide => threads.filter(|&n| n > 0).unwrap_or_else(processors),
            RowFormat::Long { .. } => 1,
        };
        let gather = Gather::new(Merged::nothing(Summary::new(spec.clone())?), self.tolerance, Plan::default());
        let budget = Budget::new(self.memory);
        let merge = Merge::new(gather, None, 2 * threads, budget.clone());
        let (sender, parts) = bounded(threads);
        let rows = AtomicU64::new(0);
        let reader = Reader { log: self, columns, spec, merge: &merge, parts: &parts, rows: &rows, budget };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| reader.work())).collect();
            let mut poll = Poll { last: Instant::now(), rows: &rows, watch };
            // The workers stop when all parts are taken and the sender is gone.
            let handed_out = reader.hand_out(batches, sender, &mut poll);
            let waited = handed_out.and_then(|()| {
                while workers.iter().any(|worker| !worker.is_finished()) {
                    std::thread::sleep(Duration::from_millis(1));
                    poll.ask()?;
                }
                Ok(())
            });
            if let Err(error) = waited {
                merge.fail(error);
                // A worker may be in the middle of a long log: it must not go on with what is waiting.
                parts.try_iter().for_each(drop);
            }
        });
        self.with_rows(merge.finish()?)
    }
}

/// Asks now and then whether to go on.
struct Poll<'a> {
    last: Instant,
    rows: &'a AtomicU64,
    watch: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
}

impl Poll<'_> {
    fn ask(&mut self) -> Result<()> {
        if self.last.elapsed() < PATIENCE {
            return Ok(());
        }
        self.last = Instant::now();
        go_on((self.watch)(Progress { rows: self.rows.load(Ordering::Relaxed), bytes: 0 }))
    }
}

/// What all threads share.
struct Reader<'a> {
    log: &'a Log,
    columns: &'a Columns,
    spec: &'a Spec,
    merge: &'a Merge<'static>,
    parts: &'a Receiver<Part>,
    rows: &'a AtomicU64,
    budget: Budget,
}

impl Reader<'_> {
    /// Cuts batches into parts of equal size, and sends them to the workers.
    fn hand_out(&self, batches: Batches<'_>, sender: Sender<Part>, poll: &mut Poll<'_>) -> Result<()> {
        let mut known: Option<(SchemaRef, Arc<Layout>)> = None;
        let (mut index, mut pieces, mut held, mut row) = (0, Vec::new(), 0, 0);
        for batch in batches {
            let batch = batch.map_err(|e| self.refuse(&e))?;
            let layout = self.layout(&mut known, &batch, row)?;
            let mut start = 0;
            while start < batch.num_rows() {
                let taken = (TASK_ROWS as usize - held).min(batch.num_rows() - start);
                let piece = batch.slice(start, taken);
                pieces.push(Piece { batch: piece, layout: layout.clone(), first_row: row });
                (start, held, row) = (start + taken, held + taken, row + taken as u64);
                if held == TASK_ROWS as usize {
                    self.send(Part { index, pieces: std::mem::take(&mut pieces) }, &sender, poll)?;
                    (index, held) = (index + 1, 0);
                }
            }
            poll.ask()?;
        }
        if pieces.is_empty() { Ok(()) } else { self.send(Part { index, pieces }, &sender, poll) }
    }

    /// Waits until a worker has room for a part, and asks meanwhile whether to go on.
    fn send(&self, mut part: Part, sender: &Sender<Part>, poll: &mut Poll<'_>) -> Result<()> {
        // The error that made the workers stop is the one to report.
        while !self.merge.has_failed() {
            let sent = sender.send_timeout(part, PATIENCE);
            poll.ask()?;
            match sent {
                Ok(()) => return Ok(()),
                Err(SendTimeoutError::Timeout(waiting) | SendTimeoutError::Disconnected(waiting)) => part = waiting,
            }
        }
        Ok(())
    }

    fn refuse(&self, error: &ArrowError) -> Error {
        let name = self.log.paths.first().map(|path| path.as_path());
        Error::unreadable(name.unwrap_or("data".as_ref()), "stream of record batches", error)
    }

    /// Where this batch has its columns: looked up again where its schema is another than that of the batch before.
    fn layout(
        &self,
        known: &mut Option<(SchemaRef, Arc<Layout>)>,
        batch: &RecordBatch,
        row: u64,
    ) -> Result<Arc<Layout>> {
        let schema = batch.schema_ref();
        if let Some((own, layout)) = known
            && (Arc::ptr_eq(own, schema) || own.fields() == schema.fields())
        {
            return Ok(layout.clone());
        }
        let Some(file) = self.log.files.first() else {
            return Err(Error::NoRows { paths: self.log.given.iter().map(Location::name).collect() });
        };
        self.log.check_next(schema, row, self.columns, self.spec)?;
        let found = Found { schema, ..file.found() };
        let layout = Arc::new(Layout::resolve(found, self.columns, self.spec)?);
        *known = Some((schema.clone(), layout.clone()));
        Ok(layout)
    }

    fn work(&self) {
        match self.columns.format {
            RowFormat::Wide => {
                for part in self.parts {
                    if !self.merge.admit(part.index) {
                        return;
                    }
                    self.merge.run(part.index, || self.summarize(part.pieces));
                }
            }
            RowFormat::Long { .. } => {
                self.merge.run(0, || self.summarize(self.parts.iter().flat_map(|part| part.pieces)));
            }
        }
    }

    fn summarize(&self, pieces: impl IntoIterator<Item = Piece>) -> Result<Done> {
        let mut rows: Option<Rows> = None;
        for Piece { batch, layout, first_row } in pieces {
            let rows = match &mut rows {
                Some(rows) => rows,
                none => {
                    let (name, layout) = (self.log.paths.first().cloned().unwrap_or_default(), layout.clone());
                    let (budget, survey) = (self.budget.clone(), self.log.survey.clone());
                    none.insert(Rows::new(name, layout, false, self.spec, budget, survey)?)
                }
            };
            rows.relayout(&layout);
            rows.add(&batch, first_row, Vec::new())?;
            self.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        }
        rows.map_or_else(|| self.nothing(), Rows::finish)
    }

    /// What comes of no rows.
    fn nothing(&self) -> Result<Done> {
        Ok(Done::of_rows(Summary::new(self.spec.clone())?, 0, Faults::default()))
    }
}
