//! `slateval inspect`: the doctor.

use anyhow::Result;
use slateval::Spec;
use slateval_logs::ColumnUse;
use slateval_report::{Inspection, Look, SchemaColumn, Voice, inspection, inspection_json};

use crate::args::Inspect;
use crate::output::{self, print, write_bytes};
use crate::progress::Bar;
use crate::reading::open;
use crate::settings::{Record, provenance};

pub(crate) fn run(arguments: &Inspect) -> Result<()> {
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
    output::check(&file.map(|path| ("--json", path)).into_iter().collect::<Vec<_>>(), log.files())?;
    let spec = log.spec(&columns, wanted)?;
    let schema = log.describe(&columns, &spec)?;
    let bar = Bar::new(&log);
    let summary = log.summarize(&columns, &spec, settings.threads, &|progress| bar.show(progress));
    bar.finish();
    let summary = summary?;

    let found = Inspection {
        files: log.files().len(),
        bytes: log.bytes(),
        columns: schema.uses.into_iter().map(column).collect(),
        unused: schema.unused,
        evaluation: summary.evaluate(&settings)?,
        confidence: settings.confidence,
        interactions: arguments.interactions.then(|| summary.interactions(&settings)).transpose()?,
        band_width: arguments.band_width,
    };
    let record = Record::of_log(&arguments.logs, &columns, &spec, &settings).tolerating(arguments.columns.tolerance());
    show(&found, &record, arguments)
}

fn show(found: &Inspection, record: &Record, arguments: &Inspect) -> Result<()> {
    match &arguments.json {
        Some(path) if path.as_os_str() == "-" => {
            for warning in slateval_report::warnings(&found.evaluation, Look::default()) {
                output::warn(&warning);
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
