//! The yardstick for reading Parquet: decodes the columns that an additive evaluation needs, and drops them.
//!
//! It prints CPU-nanoseconds a row, on one thread, for each file given; the best of some passes counts.
//!
//! ```sh
//! cargo run --release -p slateval-logs --example decode -- log.parquet
//! ```
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs::{self, File};

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Rows decoded at once, as the reader does.
const BATCH: usize = 8192;
const PASSES: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let mut best = f64::INFINITY;
        let mut rows = 0;
        for _ in 0..PASSES {
            let start = cpu_nanoseconds()?;
            rows = decode(&path)?;
            best = best.min((cpu_nanoseconds()? - start) as f64 / rows as f64);
        }
        println!("{path}: {best:.1} ns a row, {rows} rows");
    }
    Ok(())
}

/// Reads the reward and the propensities, wide or as lists, and returns the number of rows.
fn decode(path: &str) -> Result<usize, Box<dyn Error>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let needed = |name: &str| name == "reward" || ["mu", "pi"].iter().any(|base| is_slot(name, base));
    let fields = builder.schema().fields().iter().enumerate();
    let roots = fields.filter(|(_, field)| needed(field.name())).map(|(i, _)| i);
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    let reader = builder.with_projection(mask).with_batch_size(BATCH).build()?;
    let mut rows = 0;
    for batch in reader {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

/// Whether a column is `base` or `base_1`, `base_2`, ….
fn is_slot(name: &str, base: &str) -> bool {
    let rest = name.strip_prefix(base);
    rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('_').is_some_and(|n| n.parse::<usize>().is_ok()))
}

/// What this process's threads have used of the processor, as Linux counts it.
fn cpu_nanoseconds() -> Result<u64, Box<dyn Error>> {
    let counts = fs::read_to_string("/proc/self/schedstat")?;
    Ok(counts.split_whitespace().next().ok_or("no count of time")?.parse()?)
}
