//! `slateval evaluate`: one pass over the log, then everything that was asked for.

use anyhow::Result;

use crate::args::Evaluate;
use crate::notes;
use crate::output::{self, command, write_summary};
use crate::reading::Reading;

pub(crate) fn run(arguments: &Evaluate) -> Result<()> {
    output::check_standard_output()?;
    let settings = arguments.how.settings();
    let reading = Reading::new(&arguments.logs, &arguments.how, &settings)?;
    let mut outputs = arguments.output.files();
    outputs.extend(arguments.save.as_deref().map(|path| ("--save", path)));
    outputs.extend(arguments.running.file());
    output::check(&outputs, reading.log.files())?;
    let work = arguments.running.work();
    let mut summary = reading.summarize(&settings, arguments.running.progress, &work)?;
    arguments.day.into_iter().for_each(|day| summary.set_day(day));

    let evaluation = notes::timed("evaluating", || summary.evaluate(&settings))?;
    for suspicion in reading.log.suspicions(&reading.columns, &reading.spec, &evaluation) {
        notes::warn(&format!("warning  {suspicion}"));
    }
    summary.history_mut().commands.push(command());
    let saved = arguments.save.as_ref().map_or(Ok(()), |path| write_summary(&summary, path));
    let shown = output::show(&summary, &evaluation, &settings, &reading.record(&settings), &arguments.output);
    output::all([saved, shown])?;
    work.finish()
}
