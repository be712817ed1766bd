//! `slateval gate`: rules that continuous integration enforces.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use slateval::{Binning, Settings, Summary, TargetSlots, shown};
use slateval_gate::{Rules, Verdicts, annotations, json, judge, markdown, text};
use slateval_logs::{Location, OnBad, OnUnknown, Record, shown_path};

use crate::args::{self, Gate, GateFormat, How};
use crate::merge;
use crate::notes;
use crate::output::{self, is_broken_pipe, print};
use crate::reading::Reading;
use crate::resume::Work;

pub(crate) fn run(arguments: &Gate) -> Result<ExitCode> {
    output::check_standard_output()?;
    let rules = read_rules(arguments)?;
    let mut settings = arguments.how.settings();
    let work = arguments.running.work();
    let (verdicts, record) = match summary_among(&arguments.inputs)? {
        Some(path) => {
            settings.structure.clone_from(&arguments.how.weights.assumed.structure);
            let summary = of_summary(arguments, &path)?;
            let verdicts = judge(&summary, &rules, &settings)?;
            let record = Record::of_summary(&Location::from(&path), summary.spec(), &verdicts.settings);
            (verdicts, record)
        }
        None => of_log(arguments, &rules, &settings, &work)?,
    };
    match show(&verdicts, &record, arguments.format) {
        // Whoever closed the pipe still wants to know whether the rules hold.
        Err(error) if is_broken_pipe(&error) => {}
        shown => shown?,
    }
    work.finish()?;
    Ok(if verdicts.passed() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn read_rules(arguments: &Gate) -> Result<Rules> {
    let path = arguments.rules.display().to_string();
    let text = std::fs::read_to_string(&arguments.rules).with_context(|| format!("cannot read {}", shown(&path)))?;
    let mut rules = Rules::parse(&text, &path)?;
    if let Some(confidence) = arguments.how.method.draw.confidence {
        if let Err(why) = Rules::check_confidence(confidence) {
            bail!("--confidence {confidence}: {why}");
        }
        rules.confidence = confidence;
    }
    Ok(rules)
}

fn of_log(arguments: &Gate, rules: &Rules, settings: &Settings, work: &Work<'_>) -> Result<(Verdicts, Record)> {
    // What cannot be judged is refused before an hour is spent on the log.
    let first = slateval_gate::settings(rules, settings)?;
    let reading = Reading::new(&arguments.inputs, &arguments.how, &first)?;
    rules.check_for(&reading.spec)?;
    output::check(&Vec::from_iter(arguments.running.file()), reading.log.files())?;
    let summary = reading.summarize(&first, arguments.running.progress, work)?;
    let verdicts = judge(&summary, rules, settings)?;
    let record = reading.record(&verdicts.settings);
    Ok((verdicts, record))
}

fn of_summary(arguments: &Gate, path: &Path) -> Result<Summary> {
    if let Some(flag) = flag_of_a_log(arguments) {
        bail!("{flag}: this is decided when a log is read, and {} is a summary of one; leave it out", shown_path(path));
    }
    let summary = merge::read_for_results(path)?;
    merge::check_baseline(arguments.how.method.baseline.as_deref(), path, &summary)?;
    Ok(summary)
}

/// The summary, if the input is one: by its name, or by how it begins.
fn summary_among(inputs: &[Location]) -> Result<Option<PathBuf>> {
    let is_summary = |path: &PathBuf| {
        let mut start = [0; 8];
        let begins = |mut file: File| file.read_exact(&mut start).is_ok() && Summary::is_summary(&start);
        let named = path.extension().is_some_and(|ending| ending == "slateval");
        named || (path.is_file() && File::open(path).is_ok_and(begins))
    };
    let summaries: Vec<PathBuf> = inputs.iter().filter_map(Location::local).filter(is_summary).collect();
    match (&summaries[..], inputs.len()) {
        ([], _) => Ok(None),
        ([one], 1) => Ok(Some(one.clone())),
        ([one], _) => bail!("{} is a summary and the others are not: give a log, or one summary", shown_path(one)),
        _ => bail!(
            "these are {} summaries: merge them first, with `slateval merge {} -o all.slateval`",
            summaries.len(),
            summaries.iter().map(|path| shown_path(path)).collect::<Vec<_>>().join(" ")
        ),
    }
}

/// The first flag that only makes sense while a log is read.
fn flag_of_a_log(arguments: &Gate) -> Option<&'static str> {
    let How { columns, weights, .. } = &arguments.how;
    let args::Columns { opening, reward, logging, target, chi, anywhere, weight, long, slate, by, cluster } = columns;
    let assumed = &weights.assumed;
    let given = [
        ("--allow-duplicates", opening.allow_duplicates),
        ("--resume", arguments.running.resume.is_some()),
        ("--allow-unended", opening.allow_unended),
        ("--memory", opening.memory.is_some()),
        ("--on-bad-row", opening.on_bad_row != OnBad::Fail),
        ("--on-bad-file", opening.on_bad_file != OnBad::Fail),
        ("--on-unknown-file", opening.on_unknown_file != OnUnknown::Warn),
        ("--reward", reward.is_some()),
        ("--logging", logging.is_some()),
        ("--target", !target.is_empty()),
        ("--chi", !chi.is_empty()),
        ("--anywhere", !anywhere.is_empty()),
        ("--weight", !weight.is_empty()),
        ("--long", *long),
        ("--slate", slate.is_some()),
        ("--by", by.is_some()),
        ("--cluster", cluster.is_some()),
        ("--estimator", weights.estimator.is_some()),
        ("--target-slots", assumed.target_slots != TargetSlots::Independent),
        ("--propensities", !assumed.propensities.is_known()),
        ("--bins", assumed.bins != Binning::default()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
}

fn show(verdicts: &Verdicts, record: &Record, format: GateFormat) -> Result<()> {
    match format {
        GateFormat::Text => print(&text(verdicts)),
        GateFormat::Json => print(&json(verdicts, record)?),
        GateFormat::Github => {
            if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) {
                append(Path::new(&path), &markdown(verdicts));
            }
            print(&annotations(verdicts))
        }
    }
}

/// A run's summary is shared by its steps: each adds to it. Without it the verdicts are still what they are.
fn append(path: &Path, text: &str) {
    let file = OpenOptions::new().append(true).create(true).open(path);
    if let Err(error) = file.and_then(|mut file| file.write_all(text.as_bytes())) {
        notes::warn(&format!("slateval: warning: cannot write the run's summary to {}: {error}", shown_path(path)));
    }
}
