//! Summary files: `Summary::from_bytes`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slateval::Summary;
use slateval_fuzz::{evaluate, with_checksum};

fuzz_target!(|bytes: &[u8]| {
    let Ok(summary) = Summary::from_bytes(&with_checksum(bytes)) else { return };
    let written = summary.to_bytes();
    assert_eq!(Summary::from_bytes(&written).map(|again| again.to_bytes()).ok(), Some(written));
    evaluate(&summary);
    let mut twice = summary.clone();
    let _ = twice.merge_duplicates(&summary);
});
