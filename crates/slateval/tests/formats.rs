//! Summary files of released versions stay readable, and say what they said.
#![allow(clippy::unwrap_used)]

use slateval::{Band, Settings, Summary};

/// The sample log, target `new`, structure auto with chi, 8 bins, as version 4 of the format wrote it.
const VERSION_4: &[u8] = include_bytes!("formats/summary-4.slateval");

#[test]
fn version_4_is_read() {
    let summary = Summary::from_bytes(VERSION_4).unwrap();
    assert_eq!((summary.rows(), summary.slots()), (12_000, Some(5)));
    assert_eq!(summary.to_bytes(), VERSION_4, "written again as it was");
    let evaluation = summary.evaluate(&Settings::default().with_band(Band::None)).unwrap();
    let new = evaluation.policy("new").unwrap();
    for (found, expected) in [
        (new.mean.estimate, 0.6653888838457517),
        (new.variance.estimate, 0.08911914372815893),
        (new.diagnostics.design_ess, 6970.591605386192),
    ] {
        // Libraries of other systems may round a last digit otherwise.
        assert!((found.unwrap() / expected - 1.0).abs() < 1e-12, "{found:?} against {expected}");
    }
}
