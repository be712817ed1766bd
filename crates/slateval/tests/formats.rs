//! Summary files of released versions stay readable, and say what they said.
#![allow(clippy::unwrap_used)]

use slateval::{Band, Settings, Slates, Spec, Structure, Summary};

/// The sample log, target `new`, structure auto with chi, 8 bins, as version 6 of the format wrote it.
const VERSION_6: &[u8] = include_bytes!("formats/summary-6.slateval");

/// The same with a history, which was added to the header without a new version: who does not know it misreads nothing.
const VERSION_6_WITH_HISTORY: &[u8] = include_bytes!("formats/summary-6-history.slateval");

/// The same as an earlier version wrote it.
const VERSION_4: &[u8] = include_bytes!("formats/summary-4.slateval");

#[test]
fn an_earlier_version_is_refused_by_name() {
    let message = Summary::from_bytes(VERSION_4).unwrap_err().to_string();
    assert!(message.contains("version 4") && message.contains("version 6"), "{message}");
}

#[test]
fn a_later_version_says_who_reads_it() {
    let mut later = VERSION_6.to_vec();
    later[8] = 7;
    let message = Summary::from_bytes(&later).unwrap_err().to_string();
    assert!(message.contains("version 7") && message.contains("up to 6"), "{message}");
    assert!(message.contains("read it with slateval 0.1.0 or newer"), "{message}");
    later.truncate(40);
    let message = Summary::from_bytes(&later).unwrap_err().to_string();
    assert!(message.contains("read it with the slateval that wrote it"), "{message}");
}

/// Fields that were added to the header later change nothing for those who do not ask for them.
#[test]
fn a_history_is_read_and_written_again() {
    let mut summary = Summary::from_bytes(VERSION_6).unwrap();
    summary.set_day("2024-05-31".parse().unwrap());
    summary.history_mut().commands.push("slateval update state.slateval log.parquet".into());
    summary.history_mut().reading.push("--target=new=pi_new".into());
    assert!(summary.to_bytes() == VERSION_6_WITH_HISTORY, "as it was written when history was added");
    let read = Summary::from_bytes(VERSION_6_WITH_HISTORY).unwrap();
    assert_eq!(read.history(), summary.history());
    assert!(read.inputs().iter().all(|input| input.day.is_some()));
    assert_eq!(read.rows(), summary.rows());
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

/// Rewards far from zero are measured from a whole number in their middle, which may lie just outside of them.
#[test]
fn rewards_far_from_zero_are_read_again() {
    for (from, sign) in [(1e9, 1.0), (1e9, -1.0), (1e3, 1.0)] {
        let reward: Vec<f64> = (0..300).map(|i| sign * (from + 0.5 + f64::from(i % 100) / 250.0)).collect();
        let (mu, pi) = (vec![[0.5]; reward.len()], vec![[0.25]; reward.len()]);
        let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"])).unwrap();
        Slates::new(&reward).logging(&mu).target("new", &pi).add_to(&mut summary).unwrap();
        let bytes = summary.to_bytes();
        assert!(Summary::from_bytes(&bytes).unwrap().to_bytes() == bytes, "{from}");
    }
}
