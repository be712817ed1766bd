//! A simulated log as one Parquet file, any number of rows in constant memory; or as record batches.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::rows::Rows;
use crate::simulation::Simulation;

/// The name of a target whose columns go without one: `pi_1` in place of `pi_NAME_1`.
pub const PLAIN_TARGET: &str = "target";

impl Simulation {
    /// Writes the first `rows` rows of the log of a seed, drawn on so many threads and the same for any number of them.
    /// `progress` gets the number of rows written so far.
    ///
    /// The columns are `context`, `reward`, `item_1..K` (from 0), `mu_1..K`, and for each target `pi_1..K`, `chi_1..K`
    /// and, where logging is a ranking, `any_1..K`; with its name after the `pi` unless it is called `target`.
    ///
    /// # Errors
    /// [`Error::Write`]; what was written until then is no file.
    pub fn write_parquet(
        &self,
        rows: u64,
        seed: u64,
        threads: usize,
        out: impl Write + Send,
        progress: &dyn Fn(u64),
    ) -> Result<()> {
        let failed = |e: parquet::errors::ParquetError| Error::Write(e.to_string());
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = ArrowWriter::try_new(out, self.schema()?, Some(properties)).map_err(failed)?;
        let chunks = rows.div_ceil(Self::CHUNK);
        let threads = (threads.max(1) as u64).min(chunks.max(1));
        std::thread::scope(|scope| {
            // Each thread draws every so-manieth chunk, and the writer asks them in turn: the order is that of the log,
            // and a thread that is ahead waits.
            let mut queues = Vec::new();
            for thread in 0..threads {
                let (sender, receiver) = sync_channel(1);
                queues.push(receiver);
                scope.spawn(move || {
                    for chunk in (thread..chunks).step_by(threads as usize) {
                        // A writer that failed does not listen any more.
                        if sender.send(self.batch(seed, chunk, rows)).is_err() {
                            return;
                        }
                    }
                });
            }
            for chunk in 0..chunks {
                let batch = queues[(chunk % threads) as usize].recv();
                let batch = batch.map_err(|e| Error::Write(e.to_string()))??;
                writer.write(&batch).map_err(failed)?;
                progress(((chunk + 1) * Self::CHUNK).min(rows));
            }
            Ok::<(), Error>(())
        })?;
        writer.close().map_err(failed)?;
        Ok(())
    }

    /// The first `rows` rows of the log of a seed in memory, drawn on the threads of the current pool: the columns of
    /// [`write_parquet`](Simulation::write_parquet).
    ///
    /// # Errors
    /// [`Error::Write`] if the rows are no table, which they are.
    pub fn batches(&self, rows: u64, seed: u64) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        let chunks = 0..rows.div_ceil(Self::CHUNK);
        let batches = chunks.into_par_iter().map(|chunk| self.batch(seed, chunk, rows));
        Ok((self.schema()?, batches.collect::<Result<_>>()?))
    }

    fn batch(&self, seed: u64, chunk: u64, rows: u64) -> Result<RecordBatch> {
        let count = (rows - chunk * Self::CHUNK).min(Self::CHUNK);
        let mut drawn = Rows::default();
        self.log_from(seed, chunk).draw(count as usize, &mut drawn);
        self.table(drawn)
    }

    /// The schema of every batch: that of one without rows.
    fn schema(&self) -> Result<SchemaRef> {
        let mut none = Rows::default();
        none.resize(0, self.slots(), self.targets().len(), self.is_ranking());
        Ok(self.table(none)?.schema())
    }

    fn table(&self, rows: Rows) -> Result<RecordBatch> {
        let floats = |column: Vec<f64>| Arc::new(Float64Array::from(column)) as ArrayRef;
        let items = |column: Vec<u32>| {
            Arc::new(column.iter().map(|&a| i32::try_from(a).unwrap_or(i32::MAX)).collect::<Int32Array>()) as ArrayRef
        };
        let context: Int64Array = rows.context.iter().map(|&c| i64::try_from(c).unwrap_or(i64::MAX)).collect();
        let mut columns: Vec<(String, ArrayRef, bool)> = vec![
            ("context".to_owned(), Arc::new(context) as ArrayRef, false),
            ("reward".to_owned(), floats(rows.reward), false),
        ];
        let mut add = |name: &str, slots: Vec<ArrayRef>| {
            columns.extend(slots.into_iter().zip(1..).map(|(slot, k)| (format!("{name}_{k}"), slot, false)));
        };
        add("item", rows.items.into_iter().map(items).collect());
        add("mu", rows.mu.into_iter().map(floats).collect());
        for (target, drawn) in self.targets().iter().zip(rows.targets) {
            let name = if target.name == PLAIN_TARGET { String::new() } else { format!("_{}", target.name) };
            for (kind, slots) in [("pi", drawn.pi), ("chi", drawn.chi), ("any", drawn.anywhere)] {
                add(&format!("{kind}{name}"), slots.into_iter().map(floats).collect());
            }
        }
        RecordBatch::try_from_iter_with_nullable(columns).map_err(|e| Error::Write(e.to_string()))
    }
}
