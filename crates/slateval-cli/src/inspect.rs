//! `slateval inspect`: the doctor.

use anyhow::Result;
use slateval::Spec;
use slateval_logs::ColumnUse;
use slateval_report::{Inspection, Look, SchemaColumn, Voice, inspection, inspection_json};

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

    let log = open(&arguments.logs, &arguments.columns)?;
    let file = arguments.json.as_deref().filter(|path| path.as_os_str() != "-");
    let work_file = arguments.resume.as_deref();
    let outputs = file.map(|path| ("--json", path)).into_iter().chain(work_file.map(|path| ("--resume", path)));
    output::check(&outputs.collect::<Vec<_>>(), log.files())?;
    let spec = log.spec(&columns, wanted)?;
    let schema = log.describe(&columns, &spec)?;
    warn_of_overlaps(&log, &columns, &spec)?;
    let remarks = log.overlaps(&columns, &spec)?.iter().map(ToString::to_string).collect();
    let record = Record::of_log(&arguments.logs, &columns, &spec, &settings).tolerating(arguments.columns.tolerance());
    let reading = Reading { log, columns, spec };
    let work = work_file.map(Work::new);
    let work_for = work.as_ref().map(|work| (work, &record));
    let summary = reading.summarize(settings.threads, arguments.progress, work_for)?;

    let found = Inspection {
        files: reading.log.files().len(),
        bytes: reading.log.bytes(),
        columns: schema.uses.into_iter().map(column).collect(),
        unused: schema.unused,
        remarks,
        evaluation: summary.evaluate(&settings)?,
        confidence: settings.confidence,
        interactions: arguments.interactions.then(|| summary.interactions(&settings)).transpose()?,
        band_width: arguments.band_width,
    };
    show(&found, &record, arguments)?;
    work.map_or(Ok(()), |work| work.finish())
}

fn show(found: &Inspection, record: &Record, arguments: &Inspect) -> Result<()> {
    match &arguments.json {
        Some(path) if path.as_os_str() == "-" => {
            for warning in slateval_report::warnings(&found.evaluation, Look::default()) {
                notes::warn(&warning);
            }
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
