//! `slateval reproduce`: the paper's experiments, beside its printed figures.

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Serialize;
use slateval_logs::shown_path;
use slateval_sim::on_threads;
use slateval_sim::study::experiments::{self, Run};
use slateval_sim::study::{Results, Study, figure, report};

use crate::notes;
use crate::output::{self, write_bytes};
use crate::progress::bar;
use crate::reproduce_args::{Experiment, Reproduce};

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    slateval: &'static str,
    studies: &'a [Results],
}

pub(crate) fn run(arguments: &Reproduce) -> Result<()> {
    let figures = arguments.figures.clone().or_else(|| arguments.default_figures());
    let csv = arguments.csv.as_deref().map(|path| ("--csv", path));
    let outputs: Vec<_> = output::json_file(&arguments.json).into_iter().chain(csv).collect();
    output::check(&outputs, arguments.ratings.as_slice())?;
    if let Some(folder) = figures.as_deref().filter(|folder| !folder.is_dir()) {
        bail!("--figures {}: there is no such directory", shown_path(folder));
    }
    let results = on_threads(arguments.threads.map(usize::from), || results(arguments))??;
    if let Some(folder) = &figures {
        for study in &results {
            write_bytes(&folder.join(format!("{}.svg", study.name)), figure::errors(study).as_bytes())?;
        }
    }
    if let Some(path) = &arguments.csv {
        write_bytes(path, report::csv(&results).as_bytes())?;
    }
    let document =
        Document { schema: "slateval/reproduction/1", slateval: env!("CARGO_PKG_VERSION"), studies: &results };
    let json = || Ok(serde_json::to_string_pretty(&document)? + "\n");
    output::print_or_json(&arguments.json, json, || results.iter().map(report::table).collect::<Vec<_>>().join("\n"))
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
