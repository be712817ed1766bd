//! `slateval merge` and `slateval show`: summaries from disk.

use std::path::Path;

use anyhow::{Context, Result};
use slateval::Summary;

use crate::args::{Merge, Show};
use crate::output::{self, write_summary};
use crate::settings::Record;

pub(crate) fn run(arguments: &Merge) -> Result<()> {
    output::check(&[("--output", &arguments.output)], &[])?;
    let mut merged: Option<Summary> = None;
    for path in &arguments.summaries {
        let summary = read(path)?;
        match &mut merged {
            None => merged = Some(summary),
            Some(merged) => merged
                .merge(&summary)
                .with_context(|| format!("{} and {}", arguments.summaries[0].display(), path.display()))?,
        }
    }
    let merged = merged.context("give at least one summary")?;
    write_summary(&merged, &arguments.output)?;
    eprintln!("{}: {} slates in all", arguments.output.display(), merged.rows());
    Ok(())
}

pub(crate) fn show(arguments: &Show) -> Result<()> {
    output::check(&arguments.output.files(), std::slice::from_ref(&arguments.summary))?;
    let summary = read(&arguments.summary)?;
    let settings = arguments.method.settings(None);
    let evaluation = summary.evaluate(&settings).with_context(|| arguments.summary.display().to_string())?;
    let record = Record::of_summary(&arguments.summary.display().to_string(), summary.spec(), &settings);
    output::show(&evaluation, &record, &arguments.output)
}

fn read(path: &Path) -> Result<Summary> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Summary::from_bytes(&bytes).with_context(|| path.display().to_string())
}
