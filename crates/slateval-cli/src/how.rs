//! How logs are read for a state: words of the command line, which the state remembers.

use anyhow::{Context, Result, bail};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};
use slateval::shown;
use slateval_logs::Record;

use crate::args::How;

/// What may differ from one update to the next.
const NOT_REMEMBERED: [&str; 7] =
    ["threads", "allow_duplicates", "memory", "on_bad_row", "on_bad_file", "on_unknown_file", "allow_unended"];

fn parser() -> Command {
    How::augment_args(Command::new("update").no_binary_name(true))
}

/// The words that say how logs are read, each as `--flag=value`, where they were typed and not left to their defaults.
pub(crate) fn given(matches: &ArgMatches) -> Vec<String> {
    let parser = parser();
    let mut words = Vec::new();
    for argument in parser.get_arguments() {
        let (id, Some(flag)) = (argument.get_id().as_str(), argument.get_long()) else { continue };
        if NOT_REMEMBERED.contains(&id) || matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        match argument.get_action() {
            ArgAction::SetTrue => words.push(format!("--{flag}")),
            _ => {
                let values = matches.get_raw(id).into_iter().flatten();
                words.extend(values.map(|value| format!("--{flag}={}", value.to_string_lossy())));
            }
        }
    }
    words
}

/// What the words mean.
pub(crate) fn parse(words: &[String]) -> Result<How> {
    let matches = parser().try_get_matches_from(words).context("the flags that the state remembers")?;
    Ok(How::from_arg_matches(&matches)?)
}

/// The words that hold: those remembered, if there are any, which those given must not contradict. They are never none, so
/// that a state which was made without flags is told from a summary that nobody said anything of.
pub(crate) fn agreed(remembered: &[String], given: &[String]) -> Result<Vec<String>> {
    if remembered.is_empty() {
        return Ok(if given.is_empty() { vec![default_word()] } else { given.to_vec() });
    }
    let flag = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    let is_given = |word: &&String| given.iter().any(|other| flag(other) == flag(word));
    let both: Vec<String> = remembered.iter().filter(|word| !is_given(word)).chain(given).cloned().collect();
    let differences = record(remembered)?.differences(&record(&both)?);
    if !differences.is_empty() {
        bail!(
            "its logs are read with {}; this differs: {}; leave the flags out, or make another state",
            shown(&remembered.join(" ")),
            shown(&differences.join("; "))
        );
    }
    Ok(remembered.to_vec())
}

/// A word that changes nothing.
fn default_word() -> String {
    format!("--confidence={}", slateval::Settings::default().confidence)
}

/// Everything that words decide.
fn record(words: &[String]) -> Result<Record> {
    let how = parse(words)?;
    let (columns, spec) = how.wanted()?;
    Ok(Record::of_log(&[], &columns, &spec, &how.settings()))
}
