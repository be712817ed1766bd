//! The `slateval` command: parse, run, map the outcome to an exit code.

mod args;
mod evaluate;
mod gate;
mod inspect;
mod merge;
mod output;
mod progress;
mod reading;
#[cfg(feature = "simulators")]
mod reproduce;
#[cfg(feature = "simulators")]
mod reproduce_args;
mod settings;
#[cfg(feature = "simulators")]
mod simulate;
#[cfg(feature = "simulators")]
mod simulate_args;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let command = args::Arguments::parse().command;
    match run(command) {
        Ok(code) => code,
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Messages quote names and values from logs.
            let message = format!("slateval: {}{}", slateval_report::printable(&format!("{error:#}")), advice(&error));
            output::warn(&message);
            ExitCode::from(2)
        }
    }
}

/// The flag that allows what was refused.
fn advice(error: &anyhow::Error) -> &'static str {
    let known = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref() {
        Some(slateval_logs::Error::Core(core)) => of_core(core),
        Some(slateval_logs::Error::Unended { .. }) => Some(": --allow-unended"),
        Some(slateval_logs::Error::TooMuchMemory { .. }) => Some(": --memory SIZE"),
        Some(slateval_logs::Error::BadRows { .. }) => Some(
            "\nMend them, or leave them out with --on-bad-row skip, which biases the result if such rows are special.",
        ),
        _ => cause.downcast_ref().and_then(of_core),
    };
    error.chain().find_map(known).unwrap_or_default()
}

fn of_core(error: &slateval::Error) -> Option<&'static str> {
    matches!(error, slateval::Error::Duplicate { .. }).then_some("; --allow-duplicates counts them all the same")
}

fn run(command: args::Command) -> anyhow::Result<ExitCode> {
    match command {
        args::Command::Gate(arguments) => return gate::run(&arguments),
        args::Command::Evaluate(arguments) => evaluate::run(&arguments),
        args::Command::Inspect(arguments) => inspect::run(&arguments),
        args::Command::Merge(arguments) => merge::run(&arguments),
        args::Command::Show(arguments) => merge::show(&arguments),
        #[cfg(feature = "simulators")]
        args::Command::Simulate(arguments) => simulate::run(&arguments),
        #[cfg(feature = "simulators")]
        args::Command::Reproduce(arguments) => reproduce::run(&arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}
