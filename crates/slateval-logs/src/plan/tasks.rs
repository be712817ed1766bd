//! From a log to its summary: a plan of tasks, each task's part, and the parts merged in the order of the plan.

use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, PoisonError};

use serde::{Deserialize, Serialize};
use slateval::{IgnoredFile, Segment, SkippedExample, Spec, Summary};

use crate::columns::{Columns, RowFormat};
use crate::csv::{PIECE, Pieces};
use crate::error::{Error, Result, Tolerance, name_of};
use crate::find::{Identity, Location, Place, with_secrets};
use crate::formats::Footers;
use crate::ipc::StandardInput;
use crate::plan::checkpoint::{Checkpoints, Keeper, Merged};
use crate::plan::gather::{Gather, Plan, PlannedPart};
use crate::plan::log::{Log, LogFile};
use crate::plan::merge::Merge;
use crate::plan::plan_differences::{Planned, PlannedLog};
use crate::plan::progress::{Meter, Progress};
use crate::plan::units::{Job, Unit, pieces_of, units_of};
use crate::slates::Budget;

/// Fewest rows of a task: row groups are taken together until then.
pub(crate) const TASK_ROWS: u64 = 262_144;

/// Rows from which on any task is large enough.
const MOST_TASK_ROWS: u64 = 4_000_000;

/// Tasks that a large file is cut into at least, so that many threads share it.
const TASKS_OF_A_FILE: u64 = 16;

/// A part of a log that can be summarised by itself, on any machine that sees the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The file, or its address. It is written with the secrets of the address: whoever reads the task needs them.
    #[serde(with = "with_secrets")]
    pub file: Location,
    /// Which of its row groups (Parquet); all of it if there are none.
    pub row_groups: Option<Range<usize>>,
    /// The columns that the file's directories spell out. Whether they are numbers is a matter of all files of the log,
    /// so a task has to be told.
    pub partition: Vec<(String, Segment)>,
    /// Size and fingerprint of the file when it was planned: it has to be the same when it is read.
    #[serde(default)]
    pub file_was: Option<(u64, u64)>,
    /// What is done about bad rows. A task may be a part of a file, and a file is left out as a whole, so a bad file fails
    /// whoever reads a task by itself.
    #[serde(default)]
    pub tolerance: Tolerance,
    /// The part of the file's bytes that it stands for.
    #[serde(default)]
    pub bytes: u64,
    /// Bytes of memory that its sums may take; half of the machine's if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Files that were left out of the log, in its first task: they belong to none, and count once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<IgnoredFile>,
}

impl Log {
    /// The log cut into tasks: a pure function of the files, whatever the number of threads or machines.
    ///
    /// Slates of a log in long format may cross row groups, which [`Log::plan_for`] knows.
    pub fn plan(&self) -> Vec<Task> {
        self.tasks(&RowFormat::Wide)
    }

    /// Like [`Log::plan`], for these columns: the tasks of [`Log::summarize`].
    pub fn plan_for(&self, columns: &Columns) -> Vec<Task> {
        self.tasks(&columns.format)
    }

    fn tasks(&self, format: &RowFormat) -> Vec<Task> {
        let of_file = |file| self.tasks_of(file, format);
        let mut tasks: Vec<Task> = self.files.iter().flat_map(of_file).collect();
        tasks.iter_mut().take(1).for_each(|first| first.ignored.clone_from(&self.ignored));
        tasks
    }

    /// The tasks of a file. Other files have no part in them: what a summary remembers of a file, to tell it when it comes
    /// again, depends on how it was cut.
    fn tasks_of(&self, file: &LogFile, format: &RowFormat) -> Vec<Task> {
        let file_was = file.identity.as_ref().map(Identity::key);
        let task = |row_groups, bytes| Task {
            file: file.place.location(),
            row_groups,
            partition: file.partition.clone(),
            file_was,
            tolerance: self.tolerance,
            bytes,
            memory: self.memory,
            ignored: Vec::new(),
        };
        let all = file.head.bytes;
        match (&file.head.row_groups, format) {
            (Some(groups), RowFormat::Wide) => {
                let of_groups = |range: Range<usize>| task(Some(range.clone()), share(all, groups, &range));
                cut(groups, task_rows(groups)).into_iter().map(of_groups).collect()
            }
            _ => vec![task(None, all)],
        }
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
        self.summarize_in_pieces(columns, spec, threads, watch, None, PIECE)
    }

    /// Like [`Log::summarize_while`], with checkpoints from time to time, from the last of which a later call goes on. The
    /// result is the same, bit for bit, whether the reading was interrupted or not.
    ///
    /// # Errors
    /// Those of [`Log::summarize_while`]; [`Error::Checkpoint`] if a checkpoint cannot be kept, or is of other files or
    /// settings; [`Error::InputNotRepeatable`] for standard input.
    pub fn summarize_resumably(
        &self,
        columns: &Columns,
        spec: &Spec,
        threads: Option<usize>,
        watch: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
        checkpoints: &Checkpoints<'_>,
    ) -> Result<Summary> {
        if self.files.iter().any(|file| file.place.is_standard_input()) {
            return Err(Error::InputNotRepeatable);
        }
        self.summarize_in_pieces(columns, spec, threads, watch, Some(checkpoints), PIECE)
    }

    /// Reads the log with plain text files cut into pieces of so many bytes.
    pub(crate) fn summarize_in_pieces(
        &self,
        columns: &Columns,
        spec: &Spec,
        threads: Option<usize>,
        watch: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
        checkpoints: Option<&Checkpoints<'_>>,
        piece_bytes: u64,
    ) -> Result<Summary> {
        self.check_duplicates()?;
        let threads = threads.filter(|&n| n > 0).unwrap_or_else(processors);
        let of_file = |(index, file)| {
            let tasks = self.tasks_of(file, &columns.format).into_iter();
            tasks.map(move |task| (task, index, file))
        };
        let tasks: Vec<(Task, usize, &LogFile)> = self.files.iter().enumerate().flat_map(of_file).collect();
        let cuts: Vec<Option<Pieces>> = tasks
            .iter()
            .map(|(task, _, file)| pieces_of(&file.place, task.bytes, columns, piece_bytes))
            .collect::<Result<_>>()?;
        let mut units: Vec<Unit<'_>> = Vec::new();
        for ((task, index, file), cut) in tasks.iter().zip(&cuts) {
            let identity = file.identity.as_ref();
            units.extend(units_of(task, *index, &file.place, task.bytes, cut.as_ref(), identity));
        }
        let budget = Budget::new(self.memory);
        let room = budget.room(threads);
        let footers = &Footers::default();
        let job = Job { columns, spec, footers, budget: &budget, room: &room, survey: &self.survey };
        let plan = || PlannedLog {
            tasks: tasks.iter().map(|(task, _, file)| Planned::new(task, file.identity.as_ref())).collect(),
            left_out: self.unopened.iter().map(|file| file.example.file.clone()).collect(),
        };
        let mut keeper = checkpoints.map(|checkpoints| Keeper::new(checkpoints, plan()));
        let done = start(keeper.as_mut(), spec)?;
        let bytes = units.iter().take(done.units).map(|unit| unit.bytes).sum();
        let meter = Meter::new(Progress { rows: done.rows(), bytes }, watch);
        let part = |i: usize| {
            let unit = &units[i];
            let input = match unit.place.is_standard_input() {
                true => Some(self.take_input()?),
                false => None,
            };
            job.unit(unit, input, &|rows, bytes| meter.add(rows, bytes))
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(units.len().max(1)));
        let pool = pool.build().map_err(|e| Error::Threads(e.to_string()))?;
        let gather = Gather::new(done, self.tolerance, self.gather_plan(&units));
        let merge = Merge::new(gather, keeper, 2 * threads, budget.clone());
        pool.broadcast(|_| merge.work(units.len(), &part));
        Ok(ignoring(self.with_rows(merge.finish()?)?, &self.ignored))
    }

    /// Which file each unit belongs to, and which files could not be opened.
    pub(crate) fn gather_plan(&self, units: &[Unit<'_>]) -> Plan {
        let part = |unit: &Unit<'_>| PlannedPart { file: unit.file, by_tasks: unit.task.row_groups.is_some() };
        let file = |file: &LogFile| (name_of(file.path()), file.head.row_groups.iter().flatten().sum());
        Plan {
            parts: units.iter().map(part).collect(),
            files: self.files.iter().map(file).collect(),
            unopened: self.unopened.iter().map(|file| (file.before, file.example.clone())).collect(),
        }
    }

    /// Refuses a log of which nothing is left.
    pub(crate) fn with_rows(&self, summary: Summary) -> Result<Summary> {
        if summary.rows() > 0 || self.may_be_empty {
            return Ok(summary);
        }
        let (paths, skipped) = (self.given.iter().map(Location::name).collect(), summary.skipped());
        let first = skipped.iter().find_map(|part| part.examples.first());
        Err(match first {
            None => Error::NoRows { paths },
            Some(first) => Error::NothingLeft {
                paths,
                rows: skipped.iter().map(|part| part.rows).sum(),
                files: skipped.iter().map(|part| part.files).sum(),
                first: place_of(first),
            },
        })
    }

    fn take_input(&self) -> Result<StandardInput> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let used_up =
            || Error::Refused("standard input has been read already; save it to a file to read it again".into());
        input.take().ok_or_else(used_up)
    }
}

/// Where something was left out, in words.
fn place_of(example: &SkippedExample) -> String {
    let row = example.row.map_or(String::new(), |row| format!(", row {row}"));
    let column = example.column.as_ref().map_or(String::new(), |column| format!("`{column}` is "));
    format!("{}{row}: {column}{}", example.file, example.value.as_deref().unwrap_or_default())
}

/// What an earlier reading left, or nothing.
fn start(keeper: Option<&mut Keeper<'_>>, spec: &Spec) -> Result<Merged> {
    match keeper.map_or(Ok(None), Keeper::found)? {
        Some(merged) => Ok(merged),
        None => Ok(Merged::nothing(Summary::new(spec.clone())?)),
    }
}

pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// The part of a file's bytes that some row groups stand for, cut at rows so that the parts add up.
fn share(bytes: u64, groups: &[u64], range: &Range<usize>) -> u64 {
    let rows = |groups: &[u64]| groups.iter().map(|&rows| u128::from(rows)).sum::<u128>();
    let upto = |group: usize| u128::from(bytes) * rows(&groups[..group]) / rows(groups).max(1);
    u64::try_from(upto(range.end) - upto(range.start)).unwrap_or(bytes)
}

/// Rows from which on a task of a file is large enough. The sums of many segments cost more to begin and to merge than some
/// hundred thousand rows to add. Tasks are the same with segments and without, and so are the sums of the whole log.
fn task_rows(groups: &[u64]) -> u64 {
    let rows = groups.iter().fold(0_u64, |sum, &rows| sum.saturating_add(rows));
    (rows / TASKS_OF_A_FILE).clamp(TASK_ROWS, MOST_TASK_ROWS)
}

/// Runs of consecutive row groups with so many rows or more, and what is left at the end.
fn cut(groups: &[u64], task_rows: u64) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let (mut start, mut rows) = (0, 0);
    for (i, group) in groups.iter().enumerate() {
        rows += group;
        if rows >= task_rows || i + 1 == groups.len() {
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

pub(crate) fn partial_in_pieces(task: &Task, columns: &Columns, spec: &Spec, piece_bytes: u64) -> Result<Summary> {
    let budget = Budget::new(task.memory);
    let room = budget.room(1);
    let place = Place::at(&task.file, room.most())?;
    let bytes = place.size()?;
    let (footers, survey) = (Footers::default(), Arc::default());
    let job = Job { columns, spec, footers: &footers, budget: &budget, room: &room, survey: &survey };
    let cut = pieces_of(&place, bytes, columns, piece_bytes)?;
    let identity = Identity::of(&place)?;
    if task.file_was.is_some_and(|was| was != identity.key()) {
        return Err(Error::Changed { path: place.path().into() });
    }
    let mut gather = Gather::new(Merged::nothing(Summary::new(spec.clone())?), task.tolerance, Plan::default());
    for unit in units_of(task, 0, &place, bytes, cut.as_ref(), Some(&identity)) {
        gather.add(job.unit(&unit, None, &|_, _| ControlFlow::Continue(())))?;
    }
    Ok(ignoring(gather.finish()?, &task.ignored))
}

/// A summary that knows which files were left out of its log.
pub(crate) fn ignoring(mut summary: Summary, ignored: &[IgnoredFile]) -> Summary {
    ignored.iter().for_each(|file| summary.ignore(file.clone()));
    summary
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn row_groups_are_taken_together_until_a_task_is_large() {
        assert_eq!(cut(&[100_000; 7], TASK_ROWS), [0..3, 3..6, 6..7]);
        assert_eq!(cut(&[5_000_000, 1], TASK_ROWS), [0..1, 1..2]);
        assert!(cut(&[], TASK_ROWS).is_empty());
    }

    #[test]
    fn tasks_of_large_files_are_larger() {
        let tasks = |groups: &[u64]| cut(groups, task_rows(groups)).len();
        assert_eq!(tasks(&[100_000; 7]), 3, "a small file");
        assert_eq!(tasks(&[100_000; 200]), 16);
        assert_eq!(tasks(&[1_000_000; 20]), 10, "row groups stay whole");
        assert_eq!(tasks(&[1_000_000; 200]), 50, "no task needs more rows than these");
        assert_eq!(task_rows(&[u64::MAX; 2]), MOST_TASK_ROWS);
    }
}
