//! The `slateval` command: parse, run, map the outcome to an exit code.

mod args;
mod contents;
mod evaluate;
mod freed_memory;
mod gate;
mod how;
mod inspect;
mod merge;
mod notes;
mod output;
mod progress;
mod reading;
#[cfg(feature = "simulators")]
mod reproduce;
#[cfg(feature = "simulators")]
mod reproduce_args;
mod resume;
mod settings;
mod signals;
#[cfg(feature = "simulators")]
mod simulate;
#[cfg(feature = "simulators")]
mod simulate_args;
mod state_lock;
mod update;
mod version;

use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

fn main() -> ExitCode {
    freed_memory::keep();
    if version::is_asked_for(std::env::args_os().skip(1).collect()) {
        return ended(output::print(&version::verbose()).map(|()| ExitCode::SUCCESS));
    }
    let matches = args::Arguments::command().get_matches();
    let arguments = args::Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    notes::set(arguments.log_level);
    signals::clean_up_when_stopped();
    ended(run(arguments.command, &matches))
}

fn ended(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            notes::error(&format!("slateval: {error:#}{}", advice(&error)));
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

fn run(command: args::Command, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let given = || matches.subcommand().map_or_else(Vec::new, |(_, matches)| how::given(matches));
    match command {
        args::Command::Gate(arguments) => return gate::run(&arguments),
        args::Command::Evaluate(arguments) => evaluate::run(&arguments),
        args::Command::Inspect(arguments) => inspect::run(&arguments),
        args::Command::Update(arguments) => update::run(&arguments, &given()),
        args::Command::Contents(arguments) => contents::run(&arguments),
        args::Command::Merge(arguments) => merge::run(&arguments),
        args::Command::Show(arguments) => merge::show(&arguments),
        #[cfg(feature = "simulators")]
        args::Command::Simulate(arguments) => simulate::run(&arguments),
        #[cfg(feature = "simulators")]
        args::Command::Reproduce(arguments) => reproduce::run(&arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}
