//! The command line: one argument on each line. The command is a program and no library, so its own source is read here.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../crates/slateval-cli/src/args.rs"]
mod args;
#[path = "../../crates/slateval-cli/src/notes.rs"]
mod notes;
#[path = "../../crates/slateval-cli/src/progress.rs"]
mod progress;
#[path = "../../crates/slateval-cli/src/reproduce_args.rs"]
mod reproduce_args;
#[path = "../../crates/slateval-cli/src/settings.rs"]
mod settings;
#[path = "../../crates/slateval-cli/src/simulate_args.rs"]
mod simulate_args;

use args::{Arguments, Columns, Command, Method};
use clap::Parser;
use libfuzzer_sys::fuzz_target;
use slateval::{Spec, Structure};

fuzz_target!(|lines: &str| {
    let words = std::iter::once("slateval").chain(lines.lines());
    let Ok(arguments) = Arguments::try_parse_from(words) else { return };
    match &arguments.command {
        Command::Evaluate(evaluate) => {
            resolve(&evaluate.columns, &evaluate.method, evaluate.weights.structure());
        }
        Command::Gate(gate) => resolve(&gate.columns, &gate.method, gate.weights.structure()),
        _ => {}
    }
});

/// Goes as far as the command goes before it opens a log.
fn resolve(columns: &Columns, method: &Method, structure: Structure) {
    let Ok(columns) = columns.resolve() else { return };
    let policies = columns.targets.iter().map(|target| target.name.as_str());
    let _ = method.settings(None).check_for(&Spec::new(structure, policies));
    let _ = method.baseline(&columns);
}
