//! Packed summaries: `Summary::from_packed`. The same bytes are tried as a plain file too, which is then packed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slateval::Summary;
use slateval_fuzz::with_checksum;

fuzz_target!(|bytes: &[u8]| {
    let bytes = with_checksum(bytes);
    for summary in [Summary::from_packed(&bytes), Summary::from_bytes(&bytes)].into_iter().flatten() {
        let packed = summary.to_packed().expect("every summary can be packed");
        let again = Summary::from_packed(&packed).expect("what was packed can be unpacked");
        assert_eq!(again.to_bytes(), summary.to_bytes());
    }
});
