//! `slateval reproduce`: the paper's experiments, beside its printed figures.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::Serialize;
use slateval_logs::shown_path;
use slateval_report::write_whole;
use slateval_sim::on_threads;
use slateval_sim::study::experiments::{self, Run};
use slateval_sim::study::{Results, Study, figure, report};

use crate::notes;
use crate::output;
use crate::reproduce_args::{Experiment, Reproduce};
use crate::simulate::bar;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    slateval: &'static str,
    studies: &'a [Results],
}

pub(crate) fn run(arguments: &Reproduce) -> Result<()> {
    let figures = arguments.figures.clone().or_else(|| arguments.default_figures());
    let json = arguments.json.as_deref().filter(|path| path.as_os_str() != "-");
    let mut outputs: Vec<(&'static str, &Path)> = json.map(|path| ("--json", path)).into_iter().collect();
    outputs.extend(arguments.csv.as_deref().map(|path| ("--csv", path)));
    let inputs: Vec<PathBuf> = arguments.ratings.iter().cloned().collect();
    output::check(&outputs, &inputs)?;
    if let Some(folder) = figures.as_deref().filter(|folder| !folder.is_dir()) {
        bail!("--figures {}: there is no such directory", shown_path(folder));
    }
    let results = on_threads(arguments.threads.map(usize::from), || results(arguments))??;
    if let Some(folder) = &figures {
        for study in &results {
            write(&folder.join(format!("{}.svg", study.name)), &figure::errors(study))?;
        }
    }
    if let Some(path) = &arguments.csv {
        write(path, &report::csv(&results))?;
    }
    let document =
        Document { schema: "slateval/reproduction/1", slateval: env!("CARGO_PKG_VERSION"), studies: &results };
    match &arguments.json {
        Some(path) if path.as_os_str() == "-" => {
            return output::print(&(serde_json::to_string_pretty(&document)? + "\n"));
        }
        Some(path) => write(path, &(serde_json::to_string_pretty(&document)? + "\n"))?,
        None => {}
    }
    output::print(&results.iter().map(report::table).collect::<Vec<_>>().join("\n"))
}

impl Reproduce {
    /// A figure has to go somewhere.
    fn default_figures(&self) -> Option<PathBuf> {
        (self.experiment == Experiment::Figure1).then(|| PathBuf::from("."))
    }

    fn wants(&self, experiment: Experiment) -> bool {
        match self.experiment {
            Experiment::All => true,
            Experiment::Figure1 => matches!(experiment, Experiment::Table1a | Experiment::Table1b),
            own => own == experiment,
        }
    }
}

fn results(arguments: &Reproduce) -> Result<Vec<Results>> {
    let run = Run {
        trials: arguments.trials.map(|n| n as usize),
        sizes: arguments.sizes.clone(),
        seed: arguments.seed,
        truth_rows: arguments.truth_rows,
    };
    let mut studies: Vec<Study> = Vec::new();
    if arguments.wants(Experiment::Table1a) {
        studies.extend(experiments::table_1a(&run)?);
    }
    if arguments.wants(Experiment::Table1b) {
        studies.extend(table_1b(arguments, &run)?);
    }
    if arguments.wants(Experiment::Table2) {
        studies.extend(experiments::table_2(&run)?);
    }
    studies.iter().map(run_study).collect()
}

fn table_1b(arguments: &Reproduce, run: &Run) -> Result<Vec<Study>> {
    let Some(ratings) = &arguments.ratings else {
        if arguments.experiment == Experiment::Table1b {
            bail!("table-1b needs --ratings FILE, for example ratings.csv of MovieLens");
        }
        notes::warn("slateval: table 1(b) is left out, for it needs --ratings FILE");
        return Ok(Vec::new());
    };
    let bar = bar(1000, "{wide_bar} fitting a model of the ratings, {eta} left");
    let studies = experiments::table_1b(run, ratings, &|share| bar.set_position((1000.0 * share) as u64));
    bar.finish_and_clear();
    Ok(studies?)
}

fn run_study(study: &Study) -> Result<Results> {
    let template = format!("{{wide_bar}} {}: {{pos}} of {{len}} trials, {{eta}} left", study.name);
    let bar = bar(study.trials as u64, &template);
    let results = study.run(&|| bar.inc(1));
    bar.finish_and_clear();
    Ok(results?)
}

fn write(path: &Path, text: &str) -> Result<()> {
    let failed = |source| slateval_report::Error::Write { path: path.display().to_string(), source };
    Ok(write_whole(path, |file| file.write_all(text.as_bytes()).map_err(failed))?)
}
