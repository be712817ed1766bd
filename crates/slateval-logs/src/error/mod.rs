//! What can go wrong with a log, named after what the user did.

mod checkpoint;
mod content;
mod likeness;
mod name;
mod remote;
mod rows;
mod table;
mod tolerance;
mod words;

use std::fmt;
use std::path::{Path, PathBuf};

use slateval::{Field, IgnoreReason, IgnoredFile, shown};

pub use checkpoint::CheckpointFault;
pub use content::ColumnContent;
pub use likeness::Likeness;
pub(crate) use name::{beginning, brief};
pub use name::{name_of, shown_path};
pub use remote::{RemoteError, RemoteFault};
pub use rows::RowFault;
pub use table::TableFormat;
pub use tolerance::{OnBad, OnUnknown, Tolerance};
use words::{column_advice, in_segments, left_out, several, unknown};
pub(crate) use words::{numbers_text, texts_text};

/// A result of reading logs.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything a log can be refused for. Rows count from 1, without the header.
///
/// Some texts are boxed so that a `Result` stays small: it is handed on for every batch.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path that does not exist.
    #[error("{}: there is no such file or directory", shown_path(.path))]
    NoSuchFile {
        /// The path given.
        path: PathBuf,
    },
    /// Something elsewhere that cannot be read.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A row that cannot be used.
    #[error("{}, {}: {fault}", shown_path(.file), .fault.place(*.row))]
    Row {
        /// The file.
        file: PathBuf,
        /// The row; of a slate that is not whole, its first.
        row: u64,
        /// Why it cannot be used.
        fault: RowFault,
    },
    /// What else a log, or a question to it, is refused for.
    #[error("{0}")]
    Refused(
        /// What is wrong, where, and what to do.
        Box<str>,
    ),
    /// A file that was written to while it was read.
    #[error(
        "{}: it changed since the log was opened, so its rows may be read in part or twice; run again when it is complete", shown_path(.path)
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A checkpoint that the reading cannot go on from.
    #[error("{0}")]
    Checkpoint(Box<CheckpointFault>),
    /// A checkpoint of a reading that cannot be repeated.
    #[error("standard input cannot be read again, so reading it cannot be resumed; save it to a file first")]
    InputNotRepeatable,
    /// A glob that fits no file.
    #[error("{pattern}: no file fits this pattern", pattern = brief(.pattern))]
    NoMatch {
        /// The pattern given.
        pattern: String,
    },
    /// A directory in which no log was found.
    #[error(
        "{}: no logs in this directory; looked for .parquet, .pq, .csv, .tsv, .jsonl, .ndjson, .json, .arrow, .ipc, \
         .feather and .arrows, and for the first bytes of Parquet, Arrow and JSON lines, and skipped names that start with \
         `_` or `.`{}", shown_path(.path), left_out(.ignored)
    )]
    NoLogs {
        /// The directory given.
        path: PathBuf,
        /// Files that are there and are no logs.
        ignored: Vec<IgnoredFile>,
    },
    /// A file that is no log.
    #[error(
        "{}: neither the name nor the first bytes tell a format that is read ({}); use one of the endings .parquet, .csv, \
         .jsonl, .arrow (text also with .gz or .zst), or convert the file", shown_path(.path), .reason.in_words()
    )]
    UnknownFormat {
        /// The file given.
        path: PathBuf,
        /// What it seems to be.
        reason: IgnoreReason,
    },
    /// Files of a directory that are no logs, where they are to be refused.
    #[error(
        "{}: neither the names nor the first bytes tell a format that is read; convert them, use an ending such as \
         .parquet, .csv or .jsonl, or move them out of the log", unknown(.files)
    )]
    UnknownFiles {
        /// The files.
        files: Vec<IgnoredFile>,
    },
    /// A file that cannot be read to its end.
    #[error("{}: not a readable {format}: {}; is it truncated or damaged?", shown_path(.path), brief(.reason))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What it was read as.
        format: &'static str,
        /// What the reader said.
        reason: String,
    },
    /// A file that is damaged in a way that the library which reads its format does not expect.
    #[error("{}: this {format} is damaged; make it anew, or fetch it again from where it came from", shown_path(.path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What it was read as.
        format: &'static str,
    },
    /// A text file whose last line has no end.
    #[error(
        "{}: the last line does not end with a line feed, so the file may have been cut short. If it is whole, add the \
         line feed (`echo >> FILE`), or allow such files", shown_path(.path)
    )]
    Unended {
        /// The file.
        path: PathBuf,
    },
    /// An Arrow stream without its end mark.
    #[error(
        "{}: the Arrow stream ends without its end mark, so it may have been cut short. If it is whole, close its writer, \
         which writes the mark, or allow such streams", shown_path(.path)
    )]
    UnendedStream {
        /// The file, or `-` for standard input.
        path: PathBuf,
    },
    /// A line that no program writes.
    #[error(
        "{}: a line is longer than {megabytes} MB, which no log needs; is it a text file with one record a line, and is \
         every quoted cell closed?", shown_path(.path)
    )]
    LongLine {
        /// The file.
        path: PathBuf,
        /// The longest line that is read.
        megabytes: usize,
    },
    /// A header of more columns than are read.
    #[error(
        "{}: there are {columns} columns, more than the {limit} that are read; a log has one row for each slate: is it \
         transposed?", shown_path(.path)
    )]
    TooManyColumns {
        /// The file.
        path: PathBuf,
        /// Its columns.
        columns: usize,
        /// The most that are read.
        limit: usize,
    },
    /// A JSON file that is one array.
    #[error("{} is a JSON array; write one object per line (JSON lines), for example with `jq -c '.[]'`", shown_path(.path))]
    JsonArray {
        /// The file.
        path: PathBuf,
    },
    /// A log without a single slate.
    #[error("there are no rows in {}: an empty log says nothing about any policy", shown(&.paths.join(", ")))]
    NoRows {
        /// The paths given.
        paths: Vec<String>,
    },
    /// A column that the log does not have.
    #[error(
        "{}: there is no column `{column}`{looked_for}; say which column holds {content}. {hint}",
        shown_path(.file), column = brief(.column), looked_for = brief(.looked_for), content = brief(&.content.to_string()),
        hint = brief(.hint)
    )]
    MissingColumn {
        /// The file.
        file: PathBuf,
        /// The column asked for.
        column: String,
        /// In which other guises it was looked for.
        looked_for: Box<str>,
        /// What it should hold.
        content: Box<ColumnContent>,
        /// The names that come nearest.
        hint: Box<str>,
    },
    /// Numbered columns with a hole in them.
    #[error(
        "{}: there is a column `{last}` but no `{column}`; slots are numbered from 1 without gaps",
        shown_path(.file), column = brief(.column), last = brief(.last)
    )]
    MissingSlot {
        /// The file.
        file: PathBuf,
        /// The column that should be there.
        column: String,
        /// A later one.
        last: String,
    },
    /// A column that cannot hold what it should.
    #[error(
        "{}: column `{column}` is of type {found}; {advice}",
        shown_path(.file), column = brief(.column), found = brief(.found)
    )]
    WrongType {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// What to do.
        advice: &'static str,
    },
    /// A column of something else than it should hold.
    #[error(
        "{}: the values of `{column}` cannot be used in {}{rows} row{}, from row {row} on: {values} {likeness}; {}",
        shown_path(.file), if *.more { "at least " } else { "" }, if *.rows == 1 { "" } else { "s" },
        column_advice(*.likeness, *.field), column = brief(.column)
    )]
    WrongColumn {
        /// The file.
        file: PathBuf,
        /// The first such row.
        row: u64,
        /// The column of that row.
        column: String,
        /// What the values stand for, where it is known.
        field: Option<Field>,
        /// The first values.
        values: Box<str>,
        /// What they look like.
        likeness: Likeness,
        /// The rows.
        rows: u64,
        /// Whether there may be more: reading stopped here.
        more: bool,
    },
    /// Several rows that cannot be used.
    #[error("{}", several(.rows, *.more))]
    BadRows {
        /// Why each of them cannot.
        rows: Vec<Error>,
        /// Whether there may be more: reading stopped here.
        more: bool,
    },
    /// A log of which everything was skipped.
    #[error(
        "nothing is left of {}: {rows} bad rows and {files} unreadable files were skipped. The first: {first}",
        shown(&.paths.join(", ")), first = brief(.first)
    )]
    NothingLeft {
        /// The paths given.
        paths: Vec<String>,
        /// The rows skipped.
        rows: u64,
        /// The files skipped.
        files: u64,
        /// What was wrong first.
        first: String,
    },
    /// A specification and columns that speak of different targets.
    #[error("there are columns for {columns} target policies and a specification of {policies}")]
    Targets {
        /// The number of targets with columns.
        columns: usize,
        /// The number of targets in the specification.
        policies: usize,
    },
    /// Whoever watched the reading had enough of it.
    #[error("reading the log was broken off")]
    Stopped,
    /// Sums that would not fit into memory.
    #[error(
        "the sums of slates of {slots} slots for {targets} target{}{} may take {needed} MB of memory, more than the {limit} MB \
         that are allowed: evaluate fewer targets at a time, name a structure (additive), use fewer bins or segments, or \
         allow more memory", if *.targets == 1 { "" } else { "s" }, in_segments(*.segments)
    )]
    TooMuchMemory {
        /// Slots of the longest slate so far.
        slots: usize,
        /// Target policies.
        targets: usize,
        /// Segments seen so far.
        segments: usize,
        /// What is needed at most.
        needed: u64,
        /// What is allowed.
        limit: u64,
    },
    /// A column that would not fit into memory while it is read.
    #[error(
        "{}: column `{column}` claims too much at a time: reading needs {needed} MB of memory, more than the {limit} MB that \
         are allowed for it: write the file again with smaller pages, row groups or record batches, or allow more memory",
        shown_path(.path), column = brief(.column)
    )]
    TooLargeToRead {
        /// The file.
        path: PathBuf,
        /// The column that needs most of it.
        column: String,
        /// Megabytes that are needed for all columns.
        needed: u64,
        /// Megabytes that are allowed.
        limit: u64,
    },
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(
        /// What the system said.
        String,
    ),
    /// What the estimators refuse.
    #[error(transparent)]
    Core(#[from] slateval::Error),
}

/// Megabytes, rounded up.
pub(crate) fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1_000_000)
}

impl Error {
    pub(crate) fn unreadable(path: &Path, format: &'static str, reason: impl ToString) -> Self {
        Error::Unreadable { path: path.into(), format, reason: beginning(&reason.to_string()) }
    }

    /// Something about a file.
    pub(crate) fn refused(path: &Path, what: impl fmt::Display) -> Self {
        Error::Refused(format!("{}: {what}", shown_path(path)).into())
    }

    /// Two files, or what is known of them, that contradict each other.
    pub(crate) fn not_one_log(why: impl fmt::Display) -> Self {
        Error::Refused(format!("these files do not make one log: {why}").into())
    }

    /// The folder of a table whose own log says which files and rows count.
    pub(crate) fn table(folder: &Path, format: TableFormat) -> Self {
        let what = format!(
            "this is a table of {}, whose own log says which of its files and rows count; let something that knows the \
             format read it, such as Spark, DuckDB or deltalake, and pass what it reads (docs/tables.md)",
            format.name()
        );
        Error::refused(folder, what)
    }

    /// A pattern that is none.
    pub(crate) fn bad_pattern(pattern: &str, reason: impl fmt::Display) -> Self {
        let (pattern, reason) = (brief(pattern), brief(&reason.to_string()));
        Error::Refused(format!("{pattern}: not a valid pattern: {reason}").into())
    }
}
