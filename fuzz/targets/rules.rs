//! The gate's rules: parsed, then judged where there are few.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use slateval::{Band, Settings, Slates, Summary};
use slateval_gate::{Rules, annotations, json, judge, markdown, text};

static SUMMARY: LazyLock<Summary> = LazyLock::new(|| {
    let rewards: Vec<f64> = (0..64).map(|row| f64::from(row % 4)).collect();
    let target: Vec<f64> = (0..64).map(|row| [0.1, 0.9][row % 2]).collect();
    let slates = Slates::new(&rewards).logging(&[0.5; 64]).target("new", &target);
    slates.summary().expect("these slates are sound")
});

fuzz_target!(|rules: &str| {
    let Ok(rules) = Rules::parse(rules, "rules.toml") else { return };
    if rules.rules.len() > 4 {
        return;
    }
    // Draws take long, and rules do not decide over them.
    let mut settings = Settings::default();
    settings.band = Band::None;
    settings.threads = Some(1);
    let Ok(verdicts) = judge(&SUMMARY, &rules, &settings) else { return };
    assert!(!text(&verdicts).is_empty() && json(&verdicts, &verdicts.settings).is_ok());
    let _ = (annotations(&verdicts), markdown(&verdicts));
});
