//! `slateval evaluate`: one pass over the log, then everything that was asked for.

use anyhow::Result;

use crate::args::Evaluate;
use crate::notes;
use crate::output::{self, command, write_summary};
use crate::reading::Reading;
use crate::resume::Work;
use crate::settings::Record;

pub(crate) fn run(arguments: &Evaluate) -> Result<()> {
    output::check_standard_output()?;
    let settings = arguments.method.settings(arguments.weights.estimator);
    let reading = Reading::new(&arguments.logs, &arguments.columns, &arguments.weights, &arguments.method, &settings)?;
    let mut outputs = arguments.output.files();
    outputs.extend(arguments.save.as_deref().map(|path| ("--save", path)));
    outputs.extend(arguments.resume.as_deref().map(|path| ("--resume", path)));
    output::check(&outputs, reading.log.files())?;
    let record = Record::of_log(&arguments.logs, &reading.columns, &reading.spec, &settings)
        .tolerating(arguments.columns.tolerance());
    let work = arguments.resume.as_deref().map(Work::new);
    let work_for = work.as_ref().map(|work| (work, &record));
    let mut summary = reading.summarize(settings.threads, arguments.progress, work_for)?;
    arguments.day.into_iter().for_each(|day| summary.set_day(day));

    let evaluation = notes::timed("evaluating", || summary.evaluate(&settings))?;
    for suspicion in reading.log.suspicions(&reading.columns, &reading.spec, &evaluation) {
        notes::warn(&format!("warning  {suspicion}"));
    }
    summary.history_mut().commands.push(command());
    let saved = arguments.save.as_ref().map_or(Ok(()), |path| write_summary(&summary, path));
    let shown = output::show(&summary, &evaluation, &settings, &record, &arguments.output);
    output::all([saved, shown])?;
    work.map_or(Ok(()), |work| work.finish())
}
