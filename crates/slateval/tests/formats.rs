//! Summary files of released versions stay readable, and say what they said.
#![allow(clippy::unwrap_used)]

use slateval::{Band, Settings, Summary};

/// The sample log, target `new`, structure auto with chi, 8 bins, as version 6 of the format wrote it.
const VERSION_6: &[u8] = include_bytes!("formats/summary-6.slateval");

/// The same as an earlier version wrote it.
const VERSION_4: &[u8] = include_bytes!("formats/summary-4.slateval");

#[test]
fn an_earlier_version_is_refused_by_name() {
    let message = Summary::from_bytes(VERSION_4).unwrap_err().to_string();
    assert!(message.contains("version 4") && message.contains("version 6"), "{message}");
}

#[test]
fn version_6_is_read() {
    let summary = Summary::from_bytes(VERSION_6).unwrap();
    assert_eq!((summary.rows(), summary.slots()), (12_000, Some(5)));
    assert_eq!(summary.to_bytes(), VERSION_6, "written again as it was");
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
