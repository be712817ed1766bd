//! `slateval merge` and `slateval show`: summaries from disk.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use slateval::{Summary, shown};
use slateval_logs::{Location, Record, shown_path};

use crate::args::{Merge, Show};
use crate::notes;
use crate::output::{self, write_summary};
use crate::reading;
use crate::state_lock;

pub(crate) fn run(arguments: &Merge) -> Result<()> {
    output::check(&[("--output", &arguments.output)], &[])?;
    // Somebody may be adding to it at this moment.
    let lock = arguments.output.exists().then(|| state_lock::take(&arguments.output)).transpose()?;
    let mut merged: Option<Summary> = None;
    let mut nameless: HashMap<Vec<u8>, &Path> = HashMap::new();
    for path in &arguments.summaries {
        let summary = read(path)?;
        // Without names of files, only the sums tell.
        if !arguments.allow_duplicates
            && summary.inputs().is_empty()
            && let Some(other) = nameless.insert(summary.to_bytes(), path)
        {
            let (one, other) = (shown_path(path), shown_path(other));
            bail!("{one} and {other} are the same summary: its rows would count twice; --allow-duplicates counts them");
        }
        match &mut merged {
            None => merged = Some(summary),
            Some(merged) => merge(merged, &summary, arguments.allow_duplicates)
                .with_context(|| format!("{} and {}", shown_path(&arguments.summaries[0]), shown_path(path)))?,
        }
    }
    let merged = merged.context("give at least one summary")?;
    write_summary(&merged, &arguments.output)?;
    drop(lock);
    notes::info(&format!("{}: {} slates in all", shown_path(&arguments.output), merged.rows()));
    Ok(())
}

pub(crate) fn merge(merged: &mut Summary, summary: &Summary, allow_duplicates: bool) -> slateval::Result<()> {
    if allow_duplicates { merged.merge_duplicates(summary) } else { merged.merge(summary) }
}

pub(crate) fn show(arguments: &Show) -> Result<()> {
    output::check(&arguments.output.files(), std::slice::from_ref(&arguments.summary))?;
    let summary = read_for_results(&arguments.summary)?;
    let mut settings = arguments.method.settings();
    settings.structure.clone_from(&arguments.structure);
    check_baseline(arguments.method.baseline.as_deref(), &arguments.summary, &summary)?;
    let evaluation = summary.evaluate(&settings).with_context(|| shown_path(&arguments.summary))?;
    let record = Record::of_summary(&Location::from(&arguments.summary), summary.spec(), &settings);
    output::show(&summary, &evaluation, &settings, &record, &arguments.output)
}

/// What a comparison of two targets needs is gathered from the log's rows, or never.
pub(crate) fn check_baseline(wanted: Option<&str>, path: &Path, summary: &Summary) -> Result<()> {
    let Some(wanted) = wanted else { return Ok(()) };
    let (path, named) = (shown_path(path), shown(wanted));
    match &summary.spec().baseline {
        Some(own) if own == wanted => Ok(()),
        Some(own) => bail!(
            "--baseline {named}: {path} was made to compare with `{}`; leave the flag out, or record the other \
             with `slateval evaluate --baseline {named} --save FILE.slateval`",
            shown(own)
        ),
        None => bail!(
            "--baseline {named}: {path} does not hold what a comparison with `{named}` needs; record it with \
             `slateval evaluate --baseline {named} --save FILE.slateval`"
        ),
    }
}

/// Reads a summary whose results are about to be shown, and says which files they leave out.
pub(crate) fn read_for_results(path: &Path) -> Result<Summary> {
    let summary = read(path)?;
    reading::warn_of_ignored(&summary.ignored(), summary.ignored_files());
    Ok(summary)
}

pub(crate) fn read(path: &Path) -> Result<Summary> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", shown_path(path)))?;
    Summary::from_bytes(&bytes).with_context(|| shown_path(path))
}
