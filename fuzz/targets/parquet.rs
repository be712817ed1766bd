//! Parquet files: what `parquet-floats` reads, the `parquet` crate's Arrow reader reads too, with the same values.
#![no_main]

#[path = "../../crates/parquet-floats/tests/oracle/compare.rs"]
mod compare;

use compare::{Part, compare};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    compare(&bytes.to_vec().into(), &Part::all(100));
});
