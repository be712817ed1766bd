//! From a log to its summary: a plan of tasks, each task's part, and the parts merged in the order of the plan.

use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use serde::{Deserialize, Serialize};
use slateval::{Segment, Spec, Summary};

use crate::columns::{Columns, Found, Layout, RowFormat};
use crate::error::{Error, Result};
use crate::formats::{self, Batches, Footers, Format, Input, PIECE, Part, Pieces, STDIN, guarded};
use crate::reading::log::{Log, LogFile};
use crate::reading::merge::Merge;
use crate::reading::progress::{self, Meter, Progress};
use crate::rows::{Done, LongRows, WideRows};

/// Rows from which on a task is large enough: row groups are taken together until then.
pub(crate) const TASK_ROWS: u64 = 262_144;

/// A part of a log that can be summarised by itself, on any machine that sees the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The file.
    pub file: PathBuf,
    /// Which of its row groups (Parquet); all of it if there are none.
    pub row_groups: Option<Range<usize>>,
    /// The columns that the file's directories spell out. Whether they are numbers is a matter of all files of the log,
    /// so a task has to be told.
    pub partition: Vec<(String, Segment)>,
}

impl Log {
    /// The log cut into tasks: a pure function of the files, whatever the number of threads or machines.
    ///
    /// Slates of a log in long format may cross row groups, so [`Log::plan_for`] cuts such a log by files.
    pub fn plan(&self) -> Vec<Task> {
        self.tasks(&RowFormat::Wide)
    }

    /// Like [`Log::plan`], for the row format of these columns.
    pub fn plan_for(&self, columns: &Columns) -> Vec<Task> {
        self.tasks(&columns.format)
    }

    fn tasks(&self, format: &RowFormat) -> Vec<Task> {
        self.files.iter().flat_map(|file| tasks_of(file, format)).map(|(task, _)| task).collect()
    }

    /// Reads the log once, on so many threads (all processors if `None`), and merges the parts in the order of the plan:
    /// the same files give the same summary, bit for bit, whatever the number of threads. At most a few parts are in
    /// memory at a time.
    ///
    /// # Errors
    /// The first error in the order of the plan; [`Error::NoRows`] if there are none.
    pub fn summarize(
        &self,
        columns: &Columns,
        spec: &Spec,
        threads: Option<usize>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Summary> {
        self.summarize_while(columns, spec, threads, &|now| {
            progress(now);
            ControlFlow::Continue(())
        })
    }

    /// Like [`Log::summarize`], as long as `watch` says so. It is asked after every batch, on any thread.
    ///
    /// # Errors
    /// Those of [`Log::summarize`], and [`Error::Stopped`].
    pub fn summarize_while(
        &self,
        columns: &Columns,
        spec: &Spec,
        threads: Option<usize>,
        watch: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
    ) -> Result<Summary> {
        self.summarize_in_pieces(columns, spec, threads, watch, PIECE)
    }

    /// Reads the log with plain text files cut into pieces of so many bytes.
    fn summarize_in_pieces(
        &self,
        columns: &Columns,
        spec: &Spec,
        threads: Option<usize>,
        watch: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
        piece_bytes: u64,
    ) -> Result<Summary> {
        let threads = threads.filter(|&n| n > 0).unwrap_or_else(processors);
        let tasks: Vec<(Task, u64)> = self.files.iter().flat_map(|file| tasks_of(file, &columns.format)).collect();
        let meter = Meter::new(watch);
        let job = Job { columns, spec, footers: &Footers::default() };
        let cuts: Vec<Option<Pieces>> =
            tasks.iter().map(|(task, bytes)| pieces_of(task, *bytes, columns, piece_bytes)).collect::<Result<_>>()?;
        let units: Vec<Unit<'_>> =
            tasks.iter().zip(&cuts).flat_map(|(task, cut)| units_of(task, cut.as_ref())).collect();
        let part = |i: usize| {
            let unit = &units[i];
            let meter = meter.task(unit.bytes);
            let input = match unit.task.file == Path::new(STDIN) {
                true => Some(self.take_input()?),
                false => None,
            };
            job.unit(unit, input, &|rows, part| meter.add(rows, part))
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(units.len().max(1)));
        let pool = pool.build().map_err(|e| Error::Threads(e.to_string()))?;
        let merge = Merge::new(Summary::new(spec.clone())?, 2 * threads);
        pool.broadcast(|_| merge.work(units.len(), &part));
        let total = merge.finish()?;
        if total.rows() == 0 { Err(Error::NoRows { paths: self.given.clone() }) } else { Ok(total) }
    }

    fn take_input(&self) -> Result<Input> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        input.take().ok_or(Error::InputUsedUp)
    }
}

pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// The tasks of a file, each with the bytes it stands for.
fn tasks_of(file: &LogFile, format: &RowFormat) -> Vec<(Task, u64)> {
    let task = |row_groups| Task { file: file.path.clone(), row_groups, partition: file.partition.clone() };
    match (&file.head.row_groups, format) {
        (Some(groups), RowFormat::Wide) => {
            let share = |range: &Range<usize>| share(file.head.bytes, groups, range);
            cut(groups).into_iter().map(|range| (task(Some(range.clone())), share(&range))).collect()
        }
        _ => vec![(task(None), file.head.bytes)],
    }
}

/// The part of a file's bytes that some row groups stand for, cut at rows so that the parts add up.
fn share(bytes: u64, groups: &[u64], range: &Range<usize>) -> u64 {
    let rows = |groups: &[u64]| groups.iter().map(|&rows| u128::from(rows)).sum::<u128>();
    let upto = |group: usize| u128::from(bytes) * rows(&groups[..group]) / rows(groups).max(1);
    u64::try_from(upto(range.end) - upto(range.start)).unwrap_or(bytes)
}

/// Runs of consecutive row groups with [`TASK_ROWS`] rows or more, and what is left at the end.
fn cut(groups: &[u64]) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let (mut start, mut rows) = (0, 0);
    for (i, group) in groups.iter().enumerate() {
        rows += group;
        if rows >= TASK_ROWS || i + 1 == groups.len() {
            cuts.push(start..i + 1);
            (start, rows) = (i + 1, 0);
        }
    }
    cuts
}

/// The summary of one task. `spec` must come from [`Log::spec`].
///
/// A task sees one file: that all files of a log in long format number slots from the same base is checked by
/// [`Log::summarize`] alone.
///
/// # Errors
/// If the file cannot be read, or holds what no reward or probability can be; rows are those of the file.
pub fn partial(task: &Task, columns: &Columns, spec: &Spec) -> Result<Summary> {
    partial_in_pieces(task, columns, spec, PIECE)
}

fn partial_in_pieces(task: &Task, columns: &Columns, spec: &Spec, piece_bytes: u64) -> Result<Summary> {
    let bytes = std::fs::metadata(&task.file).map_or(0, |file| file.len());
    let job = Job { columns, spec, footers: &Footers::default() };
    let cut = pieces_of(task, bytes, columns, piece_bytes)?;
    let mut total: Option<Summary> = None;
    for unit in units_of(&(task.clone(), bytes), cut.as_ref()) {
        let part = job.unit(&unit, None, &|_, _| ControlFlow::Continue(()))?.summary;
        match &mut total {
            Some(total) => total.merge(&part)?,
            none => *none = Some(part),
        }
    }
    total.map_or_else(|| Ok(Summary::new(spec.clone())?), Ok)
}

/// A task, or a piece of one that reads a text file: what one thread does at a time.
///
/// The pieces of a task are merged before the task is, so that it makes no difference to the numbers whether a task is
/// read by [`partial`] or by many threads.
#[derive(Debug)]
struct Unit<'a> {
    task: &'a Task,
    piece: Option<(&'a Pieces, usize)>,
    /// Whether it is the task's last.
    last: bool,
    bytes: u64,
}

/// The pieces that a task's file is cut into. Slates of a log in long format may cross any cut.
fn pieces_of(task: &Task, bytes: u64, columns: &Columns, piece_bytes: u64) -> Result<Option<Pieces>> {
    if columns.format != RowFormat::Wide {
        return Ok(None);
    }
    Ok(Pieces::of(&task.file, Format::detect(&task.file)?, bytes, piece_bytes))
}

fn units_of<'a>((task, bytes): &'a (Task, u64), cut: Option<&'a Pieces>) -> Vec<Unit<'a>> {
    let Some(pieces) = cut else { return vec![Unit { task, piece: None, last: true, bytes: *bytes }] };
    let count = pieces.count();
    let share = |i: usize| bytes * (i as u64 + 1) / count as u64 - bytes * i as u64 / count as u64;
    let unit = |i: usize| Unit { task, piece: Some((pieces, i)), last: i + 1 == count, bytes: share(i) };
    (0..count).map(unit).collect()
}

/// Takes the rows of a batch, and the part of the task that is done after it; says whether to go on.
type Report<'a> = &'a dyn Fn(u64, progress::Part) -> ControlFlow<()>;

/// What all tasks are read for.
struct Job<'a> {
    columns: &'a Columns,
    spec: &'a Spec,
    footers: &'a Footers,
}

impl Job<'_> {
    fn unit(&self, unit: &Unit<'_>, input: Option<Input>, report: Report<'_>) -> Result<Done> {
        let part = match (unit.piece, &unit.task.row_groups) {
            (Some((pieces, i)), _) => Part::Bytes { range: pieces.range(i)?, first_row: 0 },
            (None, Some(groups)) => Part::RowGroups(groups.clone()),
            (None, None) => Part::Whole,
        };
        let read = self.part(unit.task, &part, input, report);
        let done = match (read, part) {
            // How many rows stand before a piece is counted only if somebody asks: it is read again, for the message.
            (Err(Error::Stopped), _) => Err(Error::Stopped),
            (Err(_), Part::Bytes { range, .. }) if range.start > 0 => {
                let first_row = formats::rows_before(&unit.task.file, Format::detect(&unit.task.file)?, range.start)?;
                let silent: Report<'_> = &|_, _| ControlFlow::Continue(());
                self.part(unit.task, &Part::Bytes { range, first_row }, None, silent)
            }
            (done, _) => done,
        };
        done.map(|done| Done { more: !unit.last, ..done })
    }

    fn part(&self, task: &Task, part: &Part, input: Option<Input>, report: Report<'_>) -> Result<Done> {
        let Job { columns, spec, footers } = *self;
        let format = Format::detect(&task.file)?;
        let text = format.is_text();
        let resolve = |schema: &Schema| {
            Layout::resolve(Found { file: &task.file, schema, text, partition: &task.partition }, columns, spec)
        };
        let choose = |schema: &Schema| resolve(schema).map(|layout| layout.selection());
        let batches = guarded(&task.file, format.name(), || match input {
            Some(input) => input.batches(&choose),
            None => formats::open(&task.file, format, part, footers, &choose),
        })?;
        let layout = resolve(&batches.schema)?;
        let file = task.file.clone();
        match layout.keys.clone() {
            None => {
                let mut rows = WideRows::new(file, layout, text, spec)?;
                each(task, format, batches, report, &mut |batch, first_row| rows.add(batch, first_row))?;
                Ok(Done { summary: rows.finish(), base: None, more: false })
            }
            Some(keys) => {
                let mut rows = LongRows::new(file, layout, keys, text, spec)?;
                each(task, format, batches, report, &mut |batch, first_row| rows.add(batch, first_row))?;
                rows.finish()
            }
        }
    }
}

/// Takes a batch and the number of rows before it in its file.
type Take<'a> = &'a mut dyn FnMut(&RecordBatch, u64) -> Result<()>;

fn each(task: &Task, format: Format, batches: Batches, report: Report<'_>, take: Take<'_>) -> Result<()> {
    let Batches { first_row, rows, taken, mut batches, .. } = batches;
    let mut done = 0;
    while let Some(batch) = guarded(&task.file, format.name(), || batches.next().transpose())? {
        take(&batch, first_row + done)?;
        let n = batch.num_rows() as u64;
        done += n;
        let part = match (rows, &taken) {
            (Some(rows), _) => progress::Part::Rows(done, rows),
            (None, Some(taken)) => progress::Part::Bytes(taken.load(Ordering::Relaxed)),
            (None, None) => progress::Part::Bytes(0),
        };
        go_on(report(n, part))?;
    }
    go_on(report(0, progress::Part::Whole))
}

pub(crate) fn go_on(answer: ControlFlow<()>) -> Result<()> {
    if answer.is_break() { Err(Error::Stopped) } else { Ok(()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn row_groups_are_taken_together_until_a_task_is_large() {
        assert_eq!(cut(&[100_000; 7]), [0..3, 3..6, 6..7]);
        assert_eq!(cut(&[5_000_000, 1]), [0..1, 1..2]);
        assert!(cut(&[]).is_empty());
    }

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
            let log = Log::open(&[self.folder.path().display().to_string()])?;
            let go_on = |_: Progress| ControlFlow::Continue(());
            log.summarize_in_pieces(&self.columns, &self.spec, Some(threads), &go_on, piece)
        }
    }

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
                assert_eq!(format!("{pieces:?}"), format!("{two:?}"), "{piece} of {text:?}");
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
            let log = Log::open(&[cut.folder.path().display().to_string()]).unwrap();
            let mut total = Summary::new(cut.spec.clone()).unwrap();
            for task in log.plan() {
                total.merge(&partial_in_pieces(&task, &cut.columns, &cut.spec, piece).unwrap()).unwrap();
            }
            assert_eq!(total.rows(), 7 + 7 + 8);
            for threads in [1, 2, 3] {
                assert_eq!(
                    format!("{:?}", cut.read(threads, piece).unwrap()),
                    format!("{total:?}"),
                    "{piece}, {threads}"
                );
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
