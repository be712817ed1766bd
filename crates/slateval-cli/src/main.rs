//! The `slateval` command: parse, run, map the outcome to an exit code.

mod args;
mod closed_output;
mod contents;
mod evaluate;
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

use anyhow::Context;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use slateval::{redacted, shown};
use slateval_logs::{RemoteError, RemoteFault};
use slateval_report::Voice;

fn main() -> ExitCode {
    if version::is_asked_for(std::env::args_os().skip(1).collect()) {
        return ended(output::print(&version::verbose()).map(|()| ExitCode::SUCCESS));
    }
    let parsed = args::Arguments::command().try_get_matches();
    let typed = parsed.and_then(|matches| Ok((args::Arguments::from_arg_matches(&matches)?, matches)));
    let (arguments, matches) = match typed {
        Ok(both) => both,
        Err(error) => return ended(said_by_parser(error)),
    };
    notes::set(arguments.log_level);
    signals::clean_up_when_stopped();
    ended(run(arguments.command, &matches))
}

/// Shows what the parser of the command line has to say: help on standard output, mistakes on standard error.
fn said_by_parser(error: clap::Error) -> anyhow::Result<ExitCode> {
    if !error.use_stderr() {
        output::check_standard_output()?;
    }
    let code = if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    error_in_shown_words(error).print().context(output::NOT_WRITTEN)?;
    Ok(code)
}

/// The parser quotes the words that it refuses. Words that a terminal would obey, and addresses with secrets, are parsed
/// once more as they are shown.
fn error_in_shown_words(error: clap::Error) -> clap::Error {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let shown: Vec<String> = words.iter().map(|word| shown(&redacted(word)).into_owned()).collect();
    if shown == words {
        return error;
    }
    let again = args::Arguments::command().try_get_matches_from(shown);
    again.err().unwrap_or_else(|| clap::Error::new(error.kind()).with_cmd(&args::Arguments::command()))
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
fn advice(error: &anyhow::Error) -> String {
    let known = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref() {
        Some(slateval_logs::Error::Core(core)) => of_core(core),
        Some(slateval_logs::Error::Unended { .. } | slateval_logs::Error::UnendedStream { .. }) => {
            Some(": --allow-unended".to_owned())
        }
        Some(slateval_logs::Error::UnknownFiles { .. }) => {
            Some(", or leave them out with --on-unknown-file skip".to_owned())
        }
        Some(
            slateval_logs::Error::TooMuchMemory { .. }
            | slateval_logs::Error::TooLargeToRead { .. }
            | slateval_logs::Error::Remote(RemoteError { fault: RemoteFault::WholeTooLarge { .. }, .. }),
        ) => Some(": --memory SIZE".to_owned()),
        Some(slateval_logs::Error::MissingColumn { content, .. }) => {
            let named =
                |(name, value): (_, String)| format!(" Name it with {}.", Voice::CommandLine.setting(name, &value));
            content.setting().map(named)
        }
        Some(slateval_logs::Error::WrongColumn { field: Some(slateval::Field::Reward), .. }) => {
            Some(format!(" with {}", Voice::CommandLine.setting("reward", "COLUMN")))
        }
        Some(slateval_logs::Error::BadRows { .. }) => Some(
            "\nMend them, or leave them out with --on-bad-row skip, which biases the result if such rows are special."
                .to_owned(),
        ),
        _ => cause.downcast_ref().and_then(of_core),
    };
    error.chain().find_map(known).unwrap_or_default()
}

fn of_core(error: &slateval::Error) -> Option<String> {
    let allowed = || "; --allow-duplicates counts them all the same".to_owned();
    matches!(error, slateval::Error::Duplicate { .. }).then(allowed)
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
