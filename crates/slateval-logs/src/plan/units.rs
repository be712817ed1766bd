//! What one thread does at a time: a task, or a piece of a task that reads a text file.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use slateval::Spec;

use crate::columns::{Columns, Found, Layout, RowFormat};
use crate::csv::Pieces;
use crate::error::{Error, OnBad, Result};
use crate::find::{Format, Identity, Place};
use crate::formats::{self, Batches, Footers, Part, Room, guarded};
use crate::ipc::StandardInput;
use crate::plan::tasks::Task;
use crate::slates::{Budget, Done, Faults, Rows};
use crate::survey::Survey;

/// A task, or a piece of one that reads a text file: what one thread does at a time.
///
/// The pieces of a task are merged before the task is, so that it makes no difference to the numbers whether a task is
/// read by [`partial`](crate::partial) or by many threads.
#[derive(Debug)]
pub(crate) struct Unit<'a> {
    pub(crate) task: &'a Task,
    /// The number of the task's file among those of the log.
    pub(crate) file: usize,
    pub(crate) place: &'a Place,
    piece: Option<(&'a Pieces, usize)>,
    /// Whether it is the task's last.
    last: bool,
    pub(crate) bytes: u64,
    /// Of the task's file.
    identity: Option<&'a Identity>,
}

/// The pieces that a task's file is cut into. Slates of a log in long format may cross any cut.
pub(crate) fn pieces_of(place: &Place, bytes: u64, columns: &Columns, piece_bytes: u64) -> Result<Option<Pieces>> {
    if columns.format != RowFormat::Wide {
        return Ok(None);
    }
    Ok(Pieces::of(place, Format::detect(place)?, bytes, piece_bytes))
}

pub(crate) fn units_of<'a>(
    task: &'a Task,
    file: usize,
    place: &'a Place,
    bytes: u64,
    cut: Option<&'a Pieces>,
    identity: Option<&'a Identity>,
) -> impl Iterator<Item = Unit<'a>> {
    let count = cut.map_or(1, Pieces::count) as u64;
    (0..count).map(move |i| Unit {
        task,
        file,
        place,
        piece: cut.map(|pieces| (pieces, i as usize)),
        last: i + 1 == count,
        bytes: bytes * (i + 1) / count - bytes * i / count,
        identity,
    })
}

/// Takes how many rows and bytes were read; says whether to go on.
pub(crate) type Report<'a> = &'a dyn Fn(u64, u64) -> ControlFlow<()>;

/// What all tasks are read for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) columns: &'a Columns,
    pub(crate) spec: &'a Spec,
    pub(crate) footers: &'a Footers,
    pub(crate) budget: &'a Budget,
    pub(crate) survey: &'a Arc<Survey>,
    pub(crate) room: &'a Room,
}

impl Job<'_> {
    pub(crate) fn unit(&self, unit: &Unit<'_>, input: Option<StandardInput>, report: Report<'_>) -> Result<Done> {
        let part = match (unit.piece, &unit.task.row_groups) {
            (Some((pieces, i)), _) => pieces.part(i)?,
            (None, Some(groups)) => Part::RowGroups(groups.clone()),
            (None, None) => Part::Whole,
        };
        let read = self.part(unit, &part, input, report);
        let done = match (read, part) {
            // Bad rows are counted from the piece's first, and moved when pieces are put together. For other errors, how many
            // rows stand before a piece is counted only if somebody asks: it is read again, for the message.
            (Err(Error::Stopped), _) => Err(Error::Stopped),
            (Err(Error::Remote(error)), _) => Err(Error::Remote(error)),
            (Err(_), Part::Bytes { range, fetched, .. }) if range.start > 0 => {
                let first_row = formats::rows_before(unit.place, Format::detect(unit.place)?, range.start)?;
                let silent: Report<'_> = &|_, _| ControlFlow::Continue(());
                self.part(unit, &Part::Bytes { range, first_row, fetched }, None, silent)
            }
            (done, _) => done,
        };
        let done = done?;
        unit.identity.map_or(Ok(()), |identity| identity.check(unit.place))?;
        // How many rows came from all pieces is known when they are merged.
        let input = match unit.identity {
            Some(identity) => Some(identity.input(unit.place.path(), unit.task.row_groups.clone(), 0)),
            None => unit.place.is_standard_input().then(|| Done::stream(&done.summary)),
        };
        Ok(Done { more: !unit.last, input, ..done })
    }

    fn part(&self, unit: &Unit<'_>, part: &Part, input: Option<StandardInput>, report: Report<'_>) -> Result<Done> {
        let Job { columns, spec, footers, budget, room, survey } = *self;
        let Unit { task, place, .. } = unit;
        let format = Format::detect(place)?;
        let text = format.is_text();
        let resolve = |schema: &Schema| {
            Layout::resolve(Found { file: place.path(), schema, text, partition: &task.partition }, columns, spec)
        };
        let choose = |schema: &Schema| resolve(schema).map(|layout| layout.selection());
        let batches = guarded(place, format.name(), || match input {
            Some(input) => input.batches(room, &choose),
            None => formats::open(place, format, part, footers, room, &choose),
        })?;
        let layout = resolve(&batches.schema)?;
        let file = place.path().to_owned();
        let mut rows = Rows::new(file, layout.into(), text, spec, budget.clone(), survey.clone())?;
        each(unit, format, batches, report, &mut |batch, first_row, unread| {
            rows.add(batch, first_row, unread)?;
            Ok(self.goes_on(task, rows.faults()?))
        })?;
        rows.finish()
    }

    /// Whether there is a use in more rows: a log that is refused for its bad rows need not be read to its end.
    fn goes_on(&self, task: &Task, faults: &Faults) -> ControlFlow<()> {
        match task.tolerance.bad_rows {
            OnBad::Fail if faults.are_enough() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Takes a batch, the number of rows before it in its file, and those of its rows that could not be read; says whether
/// to go on.
type Take<'a> = &'a mut dyn FnMut(&RecordBatch, u64, Vec<Error>) -> Result<ControlFlow<()>>;

fn each(unit: &Unit<'_>, format: Format, batches: Batches, report: Report<'_>, take: Take<'_>) -> Result<()> {
    let Batches { first_row, rows, taken, mut batches, bad, cut_short, .. } = batches;
    let place = unit.place;
    let (mut done, mut done_bytes) = (0, 0);
    while let Some(batch) = guarded(place, format.name(), || batches.next().transpose())? {
        if take(&batch, first_row + done, bad.take())?.is_break() {
            return Ok(());
        }
        let n = batch.num_rows() as u64;
        done += n;
        let upto = match (rows, &taken) {
            (Some(rows), _) => (u128::from(unit.bytes) * u128::from(done) / u128::from(rows.max(1))) as u64,
            (None, Some(taken)) => taken.load(Ordering::Relaxed).min(unit.bytes),
            (None, None) => 0,
        };
        go_on(report(n, upto.saturating_sub(done_bytes)))?;
        done_bytes = done_bytes.max(upto);
    }
    if !unit.task.tolerance.unended {
        if cut_short.load(Ordering::Relaxed) {
            return Err(Error::UnendedStream { path: place.path().into() });
        }
        // Of other files the end was looked at before.
        if place.is_sent_whole() {
            formats::check_end(place, format)?;
        }
    }
    go_on(report(0, unit.bytes.saturating_sub(done_bytes)))
}

pub(crate) fn go_on(answer: ControlFlow<()>) -> Result<()> {
    if answer.is_break() { Err(Error::Stopped) } else { Ok(()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::PathBuf;

    use slateval::Summary;

    use super::*;
    use crate::csv::PIECE;
    use crate::error::{OnUnknown, Tolerance};
    use crate::plan::log::Log;
    use crate::plan::progress::Progress;
    use crate::plan::tasks::partial_in_pieces;

    /// A folder of files, read in pieces of any size.
    struct Cut {
        folder: tempfile::TempDir,
        columns: Columns,
        spec: Spec,
    }

    impl Cut {
        fn new() -> Self {
            let mut spec = Spec::new(slateval::Structure::Additive, ["target"]);
            spec.by = Some("who".into());
            let columns = Columns { by: Some("who".into()), ..Columns::wide_default() };
            Cut { folder: tempfile::tempdir().unwrap(), columns, spec }
        }

        fn write(&self, name: &str, text: &str) -> PathBuf {
            let path = self.folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        }

        fn read(&self, threads: usize, piece: u64) -> Result<Summary> {
            let log = Log::open_tolerating(&[self.folder.path().display().to_string()], UNENDED)?;
            let go_on = |_: Progress| ControlFlow::Continue(());
            log.summarize_in_pieces(&self.columns, &self.spec, Some(threads), &go_on, None, piece)
        }
    }

    const UNENDED: Tolerance =
        Tolerance { bad_rows: OnBad::Fail, bad_files: OnBad::Fail, unknown_files: OnUnknown::Warn, unended: true };

    const ROWS: [&str; 7] = [
        "1,0.5,0.25,de",
        "0.25,0.5,0.75,\"f\nr\"",
        "0,0.5,0.5,\"a \"\"b\"\", c\"",
        "0.75,0.25,0.125,5\" pipe",
        "1e-1,\"0.5\",1,\"\n\"",
        "0.1,0.3,0.7,",
        "0.625, 0.5 ,0.5,\"pl\"",
    ];

    fn csv(line_end: &str, last_end: &str) -> String {
        format!("reward,mu_1,pi_1,who{line_end}{}{last_end}", ROWS.join(line_end))
    }

    #[test]
    fn csv_files_may_be_cut_anywhere() {
        for (line_end, last_end) in [("\n", "\n"), ("\n", ""), ("\r\n", "\r\n"), ("\r\n", ""), ("\n\n", "\n\n")] {
            let cut = Cut::new();
            let text = csv(line_end, last_end);
            cut.write("a.csv", &text);
            let whole = cut.read(1, PIECE).unwrap();
            assert_eq!(whole.rows(), 7);
            for piece in 1..text.len() as u64 {
                let pieces = cut.read(1, piece).unwrap();
                assert_eq!(pieces.rows(), whole.rows(), "{piece} of {text:?}");
                assert!(pieces.segments().eq(whole.segments()), "{piece} of {text:?}");
                let two = cut.read(2, piece).unwrap();
                assert!(pieces.to_bytes() == two.to_bytes(), "{piece} of {text:?}");
            }
        }
    }

    /// Whoever reads the tasks, and on however many threads, gets the same bits.
    #[test]
    fn tasks_give_what_threads_give() {
        let cut = Cut::new();
        cut.write("a.csv", &csv("\n", "\n"));
        cut.write("b.csv", &csv("\r\n", ""));
        let json = |row: usize| format!("{{\"reward\":0.{row},\"mu_1\":0.3,\"pi_1\":0.{row},\"who\":\"x\"}}\n");
        cut.write("c.jsonl", &(1..9).map(json).collect::<String>());
        for piece in [1, 10, 33, 100] {
            let log = Log::open_tolerating(&[cut.folder.path().display().to_string()], UNENDED).unwrap();
            let mut total = Summary::new(cut.spec.clone()).unwrap();
            for task in log.plan() {
                total.merge(&partial_in_pieces(&task, &cut.columns, &cut.spec, piece).unwrap()).unwrap();
            }
            assert_eq!(total.rows(), 7 + 7 + 8);
            for threads in [1, 2, 3] {
                assert!(cut.read(threads, piece).unwrap().to_bytes() == total.to_bytes(), "{piece}, {threads}");
            }
        }
    }

    #[test]
    fn errors_name_the_row_of_the_file() {
        let bad = [
            ("0.5,n/a,0.5,x", "row 8: `mu_1` is `n/a`"),
            ("0.5,0,0.5,x", "row 8: `mu_1` is 0"),
            ("0.5,,0.5,x", "row 8: `mu_1` is null"),
        ];
        for (row, message) in bad {
            let cut = Cut::new();
            let text = format!("{}{row}\n{}\n", csv("\n", "\n"), ROWS[0]);
            cut.write("a.csv", &text);
            for piece in (1..text.len() as u64).chain([PIECE]) {
                let error = cut.read(2, piece).unwrap_err().to_string();
                assert!(error.contains("a.csv") && error.contains(message), "{piece}: {error}");
            }
        }
    }

    #[test]
    fn records_of_another_length_are_refused() {
        let bad = [
            ("0.5,0.5,0.5", "row 7001: 3 cells, and the header has 4"),
            ("0.5,0.5,0.5,x,y", "row 7001: more than 4 cells, and the header has 4"),
        ];
        for (row, message) in bad {
            let cut = Cut::new();
            // Behind the rows from which types are guessed.
            let rows = [ROWS; 1000].concat().join("\n");
            cut.write("a.csv", &format!("reward,mu_1,pi_1,who\n{rows}\n{row}\n"));
            for piece in [1000, 12_345, PIECE] {
                let error = cut.read(2, piece).unwrap_err().to_string();
                assert!(error.contains("a.csv") && error.contains(message), "{piece}: {error}");
            }
        }
    }

    #[test]
    fn errors_name_the_line_of_json() {
        let cut = Cut::new();
        let line = "{\"reward\":1,\"mu_1\":0.5,\"pi_1\":0.5,\"who\":\"x\"}\n";
        let text = format!("{line}\n{line}{}{line}", line.replace("0.5", "0"));
        cut.write("a.jsonl", &text);
        for piece in (1..text.len() as u64).chain([PIECE]) {
            let error = cut.read(2, piece).unwrap_err().to_string();
            assert!(error.contains("a.jsonl, row 3: `mu_1` is 0"), "{piece}: {error}");
        }
    }
}
