//! `slateval update`: a summary that grows day by day.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use slateval::{Settings, Skipped, Summary};
use slateval_logs::{Location, Log, Record, name_of, shown_path};

use crate::args::{How, Update};
use crate::how;
use crate::merge;
use crate::notes;
use crate::output::{self, command, counted, names, print, write_summary};
use crate::reading::{Reading, open};
use crate::resume::Work;
use crate::state_lock;

/// What came of the logs.
struct Added {
    state: Summary,
    files: usize,
    rows: u64,
    /// What was left out of them.
    skipped: Vec<Skipped>,
    /// Files whose rows were in the state before.
    known: Vec<PathBuf>,
    /// Whether the state is another one now.
    changed: bool,
}

/// Adds logs to a state; `given` are the words of the command line that say how logs are read.
pub(crate) fn run(arguments: &Update, given: &[String]) -> Result<()> {
    output::check_standard_output()?;
    if arguments.logs.iter().any(Location::is_standard_input) && !arguments.how.columns.opening.allow_duplicates {
        bail!(
            "standard input has no name, so that an update which is tried again would count it twice; write it to a file \
             first, or say --allow-duplicates"
        );
    }
    let path = std::fs::canonicalize(&arguments.state).unwrap_or_else(|_| arguments.state.clone());
    let shown = shown_path(&arguments.state);
    let mut outputs = arguments.output.files();
    outputs.push(("the state", &arguments.state));
    output::check(&outputs, &[])?;
    let lock = state_lock::take(&arguments.state)?;
    let state = read_state(&path)?;
    let words =
        how::agreed(state.as_ref().map_or(&[], |state| &state.history().reading), given).with_context(|| shown)?;
    let mut how = how::parse(&words)?;
    how.columns.opening = arguments.how.columns.opening;
    let mut settings = how.settings();
    settings.threads = arguments.how.method.draw.threads.map(usize::from);
    // A bad file is remembered, also if nothing else comes with it.
    let log = open(&arguments.logs, &how.columns.opening, state.is_some())?;
    output::check(&outputs, log.files())?;
    let added = add(arguments, (&how, words), &settings, state, log)?;
    if added.changed {
        write_summary(&added.state, &path)?;
    }
    drop(lock);
    tell(arguments, &added)?;
    show(arguments, &added.state, &settings)
}

fn read_state(path: &Path) -> Result<Option<Summary>> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        _ => Ok(Some(merge::read(path)?)),
    }
}

/// Reads what is new in the logs and adds it to the state.
fn add(
    arguments: &Update,
    (how, words): (&How, Vec<String>),
    settings: &Settings,
    state: Option<Summary>,
    log: Log,
) -> Result<Added> {
    let shown = shown_path(&arguments.state);
    let (log, known) = match &state {
        Some(state) => log.without_known(state).with_context(|| shown.clone())?,
        None => (log, Vec::new()),
    };
    let log = log.remembering_content()?;
    let mut new = read_new(arguments, how, settings, log, state.as_ref())?;
    let skipped = new.skipped();
    let with_rows = new.inputs().into_iter().filter(|input| input.rows > 0);
    let files = with_rows.map(|input| &input.name).collect::<BTreeSet<_>>().len();
    let Some(mut state) = state else {
        remember(&mut new, arguments, words);
        return Ok(Added { rows: new.rows(), state: new, files, skipped, known, changed: true });
    };
    let bad: BTreeSet<&str> = state.skipped_files().collect();
    let mut seen: Vec<String> = known.iter().map(|path| name_of(path)).collect();
    // An input without good rows had bad ones, which count once.
    let changed = new.rows() > 0
        || !new.inputs().is_empty()
        || !state.knows_ignored(&new)
        || new.skipped_files().any(|name| !bad.contains(name))
        || seen.iter().any(|name| bad.contains(name.as_str()));
    if changed {
        remember(&mut new, arguments, words);
        // A file that was read, or is bad again, is no longer the bad file of before.
        seen.extend(new.inputs().into_iter().map(|input| input.name.clone()));
        seen.extend(new.skipped_files().map(str::to_owned));
        seen.iter().for_each(|name| state.forget_skipped_file(name));
        merge::merge(&mut state, &new, arguments.how.columns.opening.allow_duplicates).with_context(|| shown)?;
    }
    Ok(Added { state, files, rows: new.rows(), skipped, known, changed })
}

/// Lets a summary of new files say how it came about.
fn remember(new: &mut Summary, arguments: &Update, words: Vec<String>) {
    if new.rows() > 0 {
        arguments.day.into_iter().for_each(|day| new.set_day(day));
    }
    new.history_mut().commands.push(command());
    new.history_mut().reading = words;
}

/// The summary of new files; it may have no rows if there is a state without them.
fn read_new(arguments: &Update, how: &How, settings: &Settings, log: Log, state: Option<&Summary>) -> Result<Summary> {
    let log = match state {
        Some(state) if log.files().is_empty() => return Ok(log.summarize_unopened(state.spec())?),
        Some(_) => log.allow_empty(),
        None => log,
    };
    let (columns, wanted) = how.wanted()?;
    settings.check_for(&wanted)?;
    let reading = Reading::of(&arguments.logs, &how.columns.opening, log, columns, wanted)?;
    reading.summarize(settings, arguments.progress, &Work::new(None))
}

/// Says what was added: the result of an update, unless it is to show another.
fn tell(arguments: &Update, added: &Added) -> Result<()> {
    let (new, known) = (counted(added.files as u64, "file"), counted(added.known.len() as u64, "file"));
    let mut text = format!("{}: ", shown_path(&arguments.state));
    text += &match added.files {
        0 => "nothing added".to_owned(),
        _ => format!("{new} with {} added", counted(added.rows, "slate")),
    };
    if !added.known.is_empty() {
        text += &format!("; {known} skipped, in it already: {}", names(&added.known));
    }
    let left_out: u64 = added.skipped.iter().map(|part| part.rows).sum();
    let bad_files: u64 = added.skipped.iter().map(|part| part.files).sum();
    if left_out > 0 || bad_files > 0 {
        text += &format!("; bad and left out: {}, {}", counted(left_out, "row"), counted(bad_files, "file"));
    }
    text += &format!("; {} in all", counted(added.state.rows(), "slate"));
    if arguments.output.is_asked_for() {
        notes::info(&text);
        return Ok(());
    }
    print(&(text + "\n"))
}

/// Evaluates the state, if an output is asked for.
fn show(arguments: &Update, state: &Summary, settings: &Settings) -> Result<()> {
    if !arguments.output.is_asked_for() {
        return Ok(());
    }
    let evaluation = notes::timed("evaluating", || state.evaluate(settings))?;
    let record = Record::of_summary(&Location::from(&arguments.state), state.spec(), settings);
    output::show(state, &evaluation, settings, &record, &arguments.output)
}
