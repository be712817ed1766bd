//! From every checkpoint, a reading ends with the same bytes as one without.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::sync::Mutex;

use serde_json::json;
use slateval::{Spec, Structure, Summary};

use crate::columns::{Columns, Names};
use crate::error::{CheckpointFault, Error};
use crate::plan::checkpoint::Checkpoints;
use crate::plan::log::Log;

/// Files that are cut into many pieces, with one row per slate or per slot.
struct Case {
    folder: tempfile::TempDir,
    columns: Columns,
    spec: Spec,
}

impl Case {
    fn wide() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for file in 0..3 {
            let row = |row: usize| format!("0.{row},0.3,0.{},{}\n", (row * 7 + file) % 9 + 1, row % 4);
            let rows: String = (0..40).map(row).collect();
            std::fs::write(folder.path().join(format!("{file}.csv")), format!("reward,mu_1,pi_1,who\n{rows}")).unwrap();
        }
        let columns = Columns { by: Some("who".into()), ..Columns::wide_default() };
        Case { folder, columns, spec: Spec::new(Structure::Auto, ["target"]).by("who") }
    }

    fn long() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for file in 0..5 {
            let row = |i: usize| format!("{},{},0.{i},0.5,0.{}\n", i / 2, i % 2, (i + file) % 9 + 1);
            let rows: String = (0..20).map(row).collect();
            let head = "slate_id,position,reward,pscore_item_position,evaluation_policy_pscore_item_position";
            std::fs::write(folder.path().join(format!("{file}.csv")), format!("{head}\n{rows}")).unwrap();
        }
        let columns = Names { long: true, ..Names::default() }.columns().unwrap();
        Case { folder, columns, spec: Spec::new(Structure::Additive, ["target"]) }
    }

    fn read(&self, threads: usize, checkpoints: Option<&Checkpoints<'_>>) -> crate::error::Result<Summary> {
        let log = Log::open(&[self.folder.path().display().to_string()])?;
        let go_on = |_| ControlFlow::Continue(());
        log.summarize_in_pieces(&self.columns, &self.spec, Some(threads), &go_on, checkpoints, 100)
    }

    /// All checkpoints of a reading, or most of them: how many there are is a matter of time.
    fn checkpoints(&self) -> Vec<Vec<u8>> {
        let kept = Mutex::new(Vec::new());
        let keep = |bytes: &[u8]| {
            kept.lock().unwrap().push(bytes.to_vec());
            Ok(())
        };
        self.read(1, Some(&Checkpoints { settings: json!({"seed": 0.1}), found: None, keep: &keep })).unwrap();
        kept.into_inner().unwrap()
    }
}

#[test]
fn every_checkpoint_leads_to_the_same_bytes() {
    // A file with one row per slot is one unit.
    for (case, fewest) in [(Case::wide(), 10), (Case::long(), 5)] {
        let whole = case.read(1, None).unwrap().to_bytes();
        let mut found = case.checkpoints();
        // Checkpoints of a reading that is resumed again and again, after each unit that was due.
        for _ in 0..10 {
            let last = found.first().cloned();
            let kept = Mutex::new(Vec::new());
            let keep = |bytes: &[u8]| {
                let mut kept = kept.lock().unwrap();
                if !kept.is_empty() {
                    return Err(std::io::Error::other("killed"));
                }
                kept.push(bytes.to_vec());
                Ok(())
            };
            let _ = case.read(1, Some(&Checkpoints { settings: json!({"seed": 0.1}), found: last, keep: &keep }));
            let kept = kept.into_inner().unwrap();
            found.splice(0..0, kept);
        }
        assert!(found.len() >= fewest, "{}", found.len());
        for (i, checkpoint) in found.into_iter().enumerate() {
            let keep = |_: &[u8]| Ok(());
            let settings = json!({"seed": 0.1});
            let checkpoints = Checkpoints { settings, found: Some(checkpoint), keep: &keep };
            let resumed = case.read(1 + i % 3, Some(&checkpoints)).unwrap();
            assert!(resumed.to_bytes() == whole, "checkpoint {i}");
        }
    }
}

#[test]
fn a_changed_byte_is_found() {
    let case = Case::wide();
    let good = case.checkpoints().pop().unwrap();
    for place in (0..good.len()).step_by(97) {
        let mut bad = good.clone();
        bad[place] ^= 1;
        let keep = |_: &[u8]| Ok(());
        let checkpoints = Checkpoints { settings: json!({"seed": 0.1}), found: Some(bad), keep: &keep };
        let fault = match case.read(1, Some(&checkpoints)) {
            Err(Error::Checkpoint(fault)) => *fault,
            other => panic!("{other:?}"),
        };
        let expected = if place < 8 { CheckpointFault::SomethingElse } else { CheckpointFault::Damaged };
        assert_eq!(fault, expected);
    }
}

/// A signed address is signed anew for each run, and what an earlier version kept of it is not repeated.
#[test]
fn settings_and_checkpoints_of_before_are_compared_without_secrets() {
    let case = Case::wide();
    let of = |path: &str| json!({"log": {"paths": [path]}});
    let kept = Mutex::new(None);
    let keep = |bytes: &[u8]| {
        kept.lock().unwrap().replace(bytes.to_vec());
        Ok(())
    };
    let settings = of("http://USER:PW@h/a.csv?SIG");
    case.read(1, Some(&Checkpoints { settings, found: None, keep: &keep })).unwrap();
    let found = kept.into_inner().unwrap();
    let read = |path| case.read(1, Some(&Checkpoints { settings: of(path), found: found.clone(), keep: &|_| Ok(()) }));
    read("http://h/a.csv").unwrap();
    let told = read("http://h/b.csv").unwrap_err().to_string();
    assert!(told.contains("http://h/a.csv") && !["USER", "PW", "SIG"].iter().any(|s| told.contains(s)), "{told}");
}
