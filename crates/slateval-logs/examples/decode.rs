//! The yardstick for reading Parquet: how long it takes to decode the reward and the propensities `mu`, `pi`, `pi2` and so
//! on, and to drop them. Beside it, how long slateval takes to summarise the target `pi`.
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
use slateval::{Spec, Structure};
use slateval_logs::{Columns, Log};

/// Rows decoded at once: most for which it is fastest.
const BATCH: usize = 8192;
const PASSES: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let (mut bare, mut whole) = (f64::INFINITY, f64::INFINITY);
        // In turns, so that what else the machine does is the same for both.
        for _ in 0..PASSES {
            bare = bare.min(nanoseconds_a_row(|| decode(&path))?);
            whole = whole.min(nanoseconds_a_row(|| summarize(&path))?);
        }
        println!("{path}: decoding {bare:.1}, summary {whole:.1} ns a row, {:.0}% of the speed", 100.0 * bare / whole);
    }
    Ok(())
}

fn nanoseconds_a_row(read: impl Fn() -> Result<u64, Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = cpu_nanoseconds()?;
    let rows = read()?;
    Ok((cpu_nanoseconds()? - start) as f64 / rows as f64)
}

fn summarize(path: &str) -> Result<u64, Box<dyn Error>> {
    let columns = Columns::wide_default();
    let log = Log::open(&[path.to_owned()])?;
    let spec = log.spec(&columns, Spec::new(Structure::Additive, ["target"]))?;
    Ok(log.summarize(&columns, &spec, Some(1), &|_| {})?.rows())
}

/// Reads the reward and the propensities of all policies, wide or as lists, and returns the number of rows.
fn decode(path: &str) -> Result<u64, Box<dyn Error>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let needed = |name: &str| name == "reward" || has_propensities(name);
    let fields = builder.schema().fields().iter().enumerate();
    let roots = fields.filter(|(_, field)| needed(field.name())).map(|(i, _)| i);
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    let reader = builder.with_projection(mask).with_batch_size(BATCH).build()?;
    let mut rows = 0;
    for batch in reader {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}

/// Whether a column is `mu`, `pi`, `pi2` and so on, or one of their slots, such as `mu_1`.
fn has_propensities(name: &str) -> bool {
    let is_number = |digits: &str| digits.parse::<usize>().is_ok();
    let (policy, slot) = name.split_once('_').unwrap_or((name, "1"));
    let is_target = policy.strip_prefix("pi").is_some_and(|number| number.is_empty() || is_number(number));
    is_number(slot) && (policy == "mu" || is_target)
}

/// What this process has used of the processor, threads that have ended included, as Linux counts it: in ticks of ten
/// milliseconds.
fn cpu_nanoseconds() -> Result<u64, Box<dyn Error>> {
    let counts = fs::read_to_string("/proc/self/stat")?;
    // The name in parentheses may hold blanks; user and system time are the 14th and 15th field.
    let fields = counts.rsplit_once(')').ok_or("no name")?.1;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    Ok(ticks.sum::<Result<u64, _>>()? * 10_000_000)
}
