//! `slateval inspect`: the doctor.

use anyhow::Result;
use slateval::{Evaluation, Spec};
use slateval_logs::{ColumnUse, Columns, Log};
use slateval_report::{Inspection, Look, Noticed, SchemaColumn, Voice, columns_found, inspection, inspection_json};

use crate::args::Inspect;
use crate::notes;
use crate::output::{self, print, write_bytes};
use crate::reading::{Reading, open, warn_of_overlaps};
use crate::resume::Work;
use crate::settings::{Record, provenance};

pub(crate) fn run(arguments: &Inspect) -> Result<()> {
    output::check_standard_output()?;
    let columns = arguments.columns.resolve()?;
    let settings = arguments.draw.settings();
    let names = columns.targets.iter().map(|t| t.name.clone());
    let mut wanted = Spec::new(arguments.assumed.structure(), names).with_binning(arguments.assumed.bins);
    wanted.target_slots = arguments.assumed.target_slots;
    wanted.propensities = arguments.assumed.propensities;
    wanted.interactions = arguments.interactions;
    wanted.columns = provenance(&columns, &wanted.structure);
    settings.check_for(&wanted)?;

    let log = open(&arguments.logs, &arguments.columns)?.with_every_row_looked_at();
    let file = arguments.json.as_deref().filter(|path| path.as_os_str() != "-");
    let work_file = arguments.resume.as_deref();
    let outputs = file.map(|path| ("--json", path)).into_iter().chain(work_file.map(|path| ("--resume", path)));
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
    let record = Record::of_log(&arguments.logs, &columns, &spec, &settings).tolerating(arguments.columns.tolerance());
    let reading = Reading { log, columns, spec };
    let work = work_file.map(Work::new);
    let work_for = work.as_ref().map(|work| (work, &record));
    let summary = reading.summarize(settings.threads, arguments.progress, work_for)?;

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
    show(&found, &record, arguments)?;
    work.map_or(Ok(()), |work| work.finish())
}

fn noticed(reading: &Reading, evaluation: &Evaluation) -> Noticed {
    let Reading { log, columns, spec } = reading;
    let suspicions = log.suspicions(columns, spec, evaluation);
    Noticed {
        shorter_slates: log.shorter_slates(),
        alike_rows: log.alike_rows().map(|alike| alike.rows),
        suspicions: suspicions.iter().map(ToString::to_string).collect(),
    }
}

/// Shows what was found of a log that lacks a column.
fn show_columns(log: &Log, columns: &Columns, wanted: &Spec, arguments: &Inspect) -> Result<()> {
    if arguments.json.as_deref().is_some_and(|path| path.as_os_str() == "-") {
        return Ok(());
    }
    let found = log.describe_in_part(columns, wanted);
    let uses: Vec<SchemaColumn> = found.uses.into_iter().map(column).collect();
    print(&(columns_found(&uses, &found.unused) + "\n"))
}

fn show(found: &Inspection, record: &Record, arguments: &Inspect) -> Result<()> {
    match &arguments.json {
        Some(path) if path.as_os_str() == "-" => {
            for warning in slateval_report::warnings(&found.evaluation, Look::default()) {
                notes::warn(&warning);
            }
            found.noticed.suspicions.iter().for_each(|text| notes::warn(&format!("warning  {text}")));
            return print(&inspection_json(found, record, Voice::CommandLine)?);
        }
        Some(path) => write_bytes(path, inspection_json(found, record, Voice::CommandLine)?.as_bytes())?,
        None => {}
    }
    print(&(inspection(found, output::look()) + "\n"))
}

fn column(found: ColumnUse) -> SchemaColumn {
    let ColumnUse { role, policy, name, columns, data_type, used } = found;
    SchemaColumn { role: role.word(), policy, name, columns, data_type, used }
}
