//! Files of JSON lines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| slateval_fuzz::read_log(bytes, ".jsonl"));
