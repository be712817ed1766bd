//! `slateval inspect`: the doctor.

use anyhow::Result;
use slateval::{Evaluation, Spec};
use slateval_logs::{ColumnUse, Columns, Log, Record};
use slateval_report::{Inspection, Look, Noticed, SchemaColumn, Voice, columns_found, inspection, inspection_json};

use crate::args::Inspect;
use crate::notes;
use crate::output::{self, json_file, print, print_or_json, prints_json};
use crate::reading::{Reading, open, warn_of_overlaps};

pub(crate) fn run(arguments: &Inspect) -> Result<()> {
    output::check_standard_output()?;
    let columns = arguments.columns.resolve()?;
    let settings = arguments.draw.settings();
    let mut wanted = arguments.assumed.spec(None, &columns);
    wanted.interactions = arguments.interactions;
    settings.check_for(&wanted)?;

    let log = open(&arguments.logs, &arguments.columns.opening, false)?.with_every_row_looked_at();
    let outputs = json_file(&arguments.json).into_iter().chain(arguments.running.file());
    output::check(&outputs.collect::<Vec<_>>(), log.files())?;
    let spec = match log.spec(&columns, wanted.clone()) {
        Err(error @ slateval_logs::Error::MissingColumn { .. }) => {
            show_columns(&log, &columns, &wanted, arguments)?;
            return Err(error.into());
        }
        spec => spec?,
    };
    let schema = log.describe(&columns, &spec)?;
    warn_of_overlaps(&log, &columns, &spec)?;
    let remarks = log.overlaps(&columns, &spec)?.iter().map(ToString::to_string).collect();
    let tolerance = arguments.columns.opening.tolerance();
    let reading = Reading { given: &arguments.logs, tolerance, log, columns, spec };
    let work = arguments.running.work();
    let summary = reading.summarize(&settings, arguments.running.progress, &work)?;

    let evaluation = summary.evaluate(&settings)?;
    let noticed = noticed(&reading, &evaluation);
    let found = Inspection {
        files: reading.log.files().len(),
        bytes: reading.log.bytes(),
        columns: schema.uses.into_iter().map(column).collect(),
        unused: schema.unused,
        remarks,
        evaluation,
        confidence: settings.confidence,
        interactions: arguments.interactions.then(|| summary.interactions(&settings)).transpose()?,
        band_width: arguments.band_width,
        noticed,
    };
    show(&found, &reading.record(&settings), arguments)?;
    work.finish()
}

fn noticed(reading: &Reading<'_>, evaluation: &Evaluation) -> Noticed {
    let Reading { log, columns, spec, .. } = reading;
    let suspicions = log.suspicions(columns, spec, evaluation);
    Noticed {
        shorter_slates: log.shorter_slates(),
        alike_rows: log.alike_rows().map(|alike| alike.rows),
        suspicions: suspicions.iter().map(ToString::to_string).collect(),
    }
}

/// Shows what was found of a log that lacks a column.
fn show_columns(log: &Log, columns: &Columns, wanted: &Spec, arguments: &Inspect) -> Result<()> {
    if prints_json(&arguments.json) {
        return Ok(());
    }
    let found = log.describe_in_part(columns, wanted);
    let uses: Vec<SchemaColumn> = found.uses.into_iter().map(column).collect();
    print(&(columns_found(&uses, &found.unused) + "\n"))
}

fn show(found: &Inspection, record: &Record, arguments: &Inspect) -> Result<()> {
    if prints_json(&arguments.json) {
        let warnings = slateval_report::warnings(&found.evaluation, Look::default());
        warnings.iter().for_each(|warning| notes::warn(warning));
        found.noticed.suspicions.iter().for_each(|text| notes::warn(&format!("warning  {text}")));
    }
    let json = || Ok(inspection_json(found, record, Voice::CommandLine)?);
    print_or_json(&arguments.json, json, || inspection(found, output::look()) + "\n")
}

fn column(found: ColumnUse) -> SchemaColumn {
    let ColumnUse { role, policy, name, columns, data_type, used } = found;
    SchemaColumn { role: role.word(), policy, name, columns, data_type, used }
}
