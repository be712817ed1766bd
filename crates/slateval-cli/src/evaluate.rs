//! `slateval evaluate`: one pass over the log, then everything that was asked for.

use anyhow::Result;
use slateval::Spec;
use slateval_logs::Log;

use crate::args::Evaluate;
use crate::output::{self, write_summary};
use crate::progress::Bar;
use crate::settings::{Record, provenance};

pub(crate) fn run(arguments: &Evaluate) -> Result<()> {
    let columns = arguments.columns.resolve()?;
    let settings = arguments.method.settings(arguments.weights.estimator);
    let names = columns.targets.iter().map(|t| t.name.clone());
    let mut wanted = Spec::new(arguments.weights.structure(), names).with_binning(arguments.weights.assumed.bins);
    wanted.target_slots = arguments.weights.assumed.target_slots;
    wanted.baseline = arguments.method.baseline(&columns)?;
    wanted.columns = provenance(&columns, &wanted.structure);
    settings.check_for(&wanted)?;

    let log = Log::open(&arguments.logs)?;
    let mut outputs = arguments.output.files();
    outputs.extend(arguments.save.as_deref().map(|path| ("--save", path)));
    output::check(&outputs, log.files())?;
    let spec = log.spec(&columns, wanted)?;
    let bar = Bar::new(&log);
    let summary = log.summarize(&columns, &spec, settings.threads, &|progress| bar.show(progress));
    bar.finish();
    let summary = summary?;

    let evaluation = summary.evaluate(&settings)?;
    if let Some(path) = &arguments.save {
        write_summary(&summary, path)?;
    }
    let record = Record::of_log(&arguments.logs, &columns, &spec, &settings);
    output::show(&summary, &evaluation, &settings, &record, &arguments.output)
}
