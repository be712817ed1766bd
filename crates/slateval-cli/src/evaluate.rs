//! `slateval evaluate`: one pass over the log, then everything that was asked for.

use anyhow::Result;

use crate::args::Evaluate;
use crate::output::{self, write_summary};
use crate::reading::Reading;
use crate::settings::Record;

pub(crate) fn run(arguments: &Evaluate) -> Result<()> {
    let settings = arguments.method.settings(arguments.weights.estimator);
    let reading = Reading::new(&arguments.logs, &arguments.columns, &arguments.weights, &arguments.method, &settings)?;
    let mut outputs = arguments.output.files();
    outputs.extend(arguments.save.as_deref().map(|path| ("--save", path)));
    output::check(&outputs, reading.log.files())?;
    let summary = reading.summarize(settings.threads)?;

    let evaluation = summary.evaluate(&settings)?;
    let saved = arguments.save.as_ref().map_or(Ok(()), |path| write_summary(&summary, path));
    let record = Record::of_log(&arguments.logs, &reading.columns, &reading.spec, &settings);
    let shown = output::show(&summary, &evaluation, &settings, &record, &arguments.output);
    output::all([saved, shown])
}
