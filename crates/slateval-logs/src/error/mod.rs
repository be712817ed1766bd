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

use std::path::{Path, PathBuf};

use slateval::{Field, IgnoreReason, IgnoredFile, shown};

pub use checkpoint::CheckpointFault;
pub use content::ColumnContent;
pub use likeness::Likeness;
pub(crate) use name::{beginning, brief};
pub use name::{name_of, shown_path};
pub use remote::RemoteError;
pub use table::TableFormat;
pub use tolerance::{OnBad, OnUnknown, Tolerance};
use words::{column_advice, in_segments, item_text, left_out, number_advice, several, unknown};
pub(crate) use words::{numbers_text, texts_text};

/// A result of reading logs.
pub type Result<T> = std::result::Result<T, Error>;

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
    /// A file that was written to while it was read.
    #[error(
        "{}: it changed since the log was opened, so its rows may be read in part or twice; run again when it is complete", shown_path(.path)
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file that a summary has with other content.
    #[error(
        "{}: a file of this name is in it already, with other content; put the earlier file back, or make the summary \
         again from all its logs", shown_path(.path)
    )]
    OtherContent {
        /// The file.
        path: PathBuf,
    },
    /// A file of which a summary has some row groups.
    #[error(
        "{}: {known} of its {all} row groups are in it already; add the others with a plan of tasks, or make the summary \
         again from all its logs", shown_path(.path)
    )]
    KnownInPart {
        /// The file.
        path: PathBuf,
        /// Row groups that the summary has.
        known: usize,
        /// Row groups of the file.
        all: usize,
    },
    /// A checkpoint that the reading cannot go on from.
    #[error("{0}")]
    Checkpoint(Box<CheckpointFault>),
    /// A checkpoint of a reading that cannot be repeated.
    #[error("standard input cannot be read again, so reading it cannot be resumed; save it to a file first")]
    InputNotRepeatable,
    /// A pipe or a device in place of a file.
    #[error("{}: neither a file nor a directory; to read a stream, pipe it in as Arrow IPC and read `-`", shown_path(.path))]
    NotAFile {
        /// The path given.
        path: PathBuf,
    },
    /// A directory that is reached by two paths.
    #[error(
        "{}: the same directory as {}, through a link; its files would count twice: remove the link, or name the files to \
         be read", shown_path(.path), shown_path(.other)
    )]
    SameDirectory {
        /// The path that was found later.
        path: PathBuf,
        /// The path that was found first.
        other: PathBuf,
    },
    /// The folder of a table whose own log says which files and rows count.
    #[error(
        "{}: this is a table of {}, whose own log says which of its files and rows count; let something that knows the \
         format read it, such as Spark, DuckDB or deltalake, and pass what it reads (docs/tables.md)",
        shown_path(.path),
        format.name()
    )]
    Table {
        /// The folder.
        path: PathBuf,
        /// The format.
        format: TableFormat,
    },
    /// A glob that fits no file.
    #[error("{pattern}: no file fits this pattern", pattern = brief(.pattern))]
    NoMatch {
        /// The pattern given.
        pattern: String,
    },
    /// A glob that is none.
    #[error("{pattern}: not a valid pattern: {reason}", pattern = brief(.pattern), reason = brief(.reason))]
    BadPattern {
        /// The pattern given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
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
    /// Two columns of one name.
    #[error(
        "{}: there are two columns `{column}`, and nothing tells which is meant; rename or remove one",
        shown_path(.file), column = brief(.column)
    )]
    DoubleColumn {
        /// The file.
        file: PathBuf,
        /// The name.
        column: String,
    },
    /// A JSON file that is one array.
    #[error("{} is a JSON array; write one object per line (JSON lines), for example with `jq -c '.[]'`", shown_path(.path))]
    JsonArray {
        /// The file.
        path: PathBuf,
    },
    /// A summary where a log should be.
    #[error("{} is a saved summary and no log; use `slateval show` or `slateval merge`", shown_path(.path))]
    SavedSummary {
        /// The file.
        path: PathBuf,
    },
    /// Something else on standard input than can be read from there.
    #[error(
        "standard input is not an Arrow IPC stream: {reason}; `-` reads an Arrow IPC stream and nothing else: save \
         other formats to a file and read that", reason = brief(.reason)
    )]
    NotAStream {
        /// What the reader said.
        reason: String,
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
    /// Numbered columns that begin with 0.
    #[error(
        "{}: there is a column `{column}`, but slots are numbered from 1; rename the columns, or the slot `{column}` \
         stands for would be lost",
        shown_path(.file), column = brief(.column)
    )]
    SlotsFromZero {
        /// The file.
        file: PathBuf,
        /// The column numbered 0.
        column: String,
    },
    /// Numbered columns of different number.
    #[error(
        "{}: `{first}` has {first_slots} slots and `{second}` has {second_slots}; every slot needs both",
        shown_path(.file), first = brief(.first), second = brief(.second)
    )]
    SlotCounts {
        /// The file.
        file: PathBuf,
        /// A base name, such as `mu`.
        first: String,
        /// Its number of columns.
        first_slots: usize,
        /// Another base name.
        second: String,
        /// Its number of columns.
        second_slots: usize,
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
    /// Two files that are not parts of one log.
    #[error(
        "these files do not make one log: column `{column}` is {first_type} in {} and {second_type} in {}; \
         give them the same columns or read them apart",
        shown_path(.first), shown_path(.second), column = brief(.column), first_type = brief(.first_type),
        second_type = brief(.second_type)
    )]
    DifferentFiles {
        /// The column.
        column: String,
        /// One file.
        first: PathBuf,
        /// The column's type there.
        first_type: Box<str>,
        /// The other file.
        second: PathBuf,
        /// The column's type there.
        second_type: Box<str>,
    },
    /// A column that is used where it is present, in some files only.
    #[error(
        "these files do not make one log: {} has a column `{column}` and {} has not; add it to all files, or leave it \
         out: remove or rename it where it is",
        shown_path(.with), shown_path(.without), column = brief(.column)
    )]
    InSomeFiles {
        /// The column.
        column: String,
        /// A file that has it.
        with: PathBuf,
        /// A file that has not.
        without: PathBuf,
    },
    /// A value that must be there.
    #[error(
        "{}, row {row}: `{column}`{} is null: {rule}",
        shown_path(.file), item_text(.item), column = brief(.column)
    )]
    NullValue {
        /// The file.
        file: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The item of a list, from 1.
        item: Option<usize>,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// A slot that is there in one column and not in another.
    #[error(
        "{}, row {row}: `{column}`{} is null but `{other}`{} is not; a slot that the slate does not have is null in \
         both",
        shown_path(.file), item_text(.item), item_text(.other_item), column = brief(.column), other = brief(.other)
    )]
    HalfSlot {
        /// The file.
        file: PathBuf,
        /// The row.
        row: u64,
        /// The column without a value.
        column: String,
        /// The item of a list, from 1.
        item: Option<usize>,
        /// The column with a value.
        other: String,
        /// The item of a list, from 1.
        other_item: Option<usize>,
    },
    /// Lists of different lengths in one row.
    #[error(
        "{}, row {row}: list `{first}` has {first_length} items and list `{second}` has {second_length}; both need one \
         item for each slot",
        shown_path(.file), first = brief(.first), second = brief(.second)
    )]
    Lengths {
        /// The file.
        file: PathBuf,
        /// The row.
        row: u64,
        /// A list column.
        first: String,
        /// Its length in this row.
        first_length: usize,
        /// Another list column.
        second: String,
        /// Its length in this row.
        second_length: usize,
    },
    /// Slates that are longer than any slate.
    #[error(
        "{}, row {row}: this slate has {slots} slots, more than the {limit} that can be evaluated; does `{column}` hold \
         all candidates instead of the shown ones?",
        shown_path(.file), column = brief(.column)
    )]
    TooManySlots {
        /// The file.
        file: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The slots found.
        slots: usize,
        /// The most that are possible.
        limit: usize,
    },
    /// More numbered columns than any slate has slots.
    #[error(
        "{}: there are more than {limit} columns `{base}_1`, `{base}_2`, …, and slates of more slots cannot be evaluated; do \
         they hold all candidates instead of the shown ones?",
        shown_path(.file), base = brief(.base)
    )]
    TooManySlotColumns {
        /// The file.
        file: PathBuf,
        /// The name without its number.
        base: String,
        /// The most slots that are possible.
        limit: usize,
    },
    /// Text where a number should be.
    #[error(
        "{}, row {row}: `{column}` is `{value}`, which is not a number; {}",
        shown_path(.file), number_advice(*.of, .value), column = brief(.column), value = brief(.value)
    )]
    NotANumber {
        /// The file.
        file: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The text found.
        value: String,
        /// What the number would stand for, where it is known.
        of: Option<Field>,
    },
    /// A JSON line that does not fit the lines before it.
    #[error(
        "{}, row {row}: {reason}; every line must hold one JSON object of the same shape",
        shown_path(.file), reason = brief(.reason)
    )]
    BadLine {
        /// The file.
        file: PathBuf,
        /// The row.
        row: u64,
        /// What the reader said.
        reason: String,
    },
    /// A record of a CSV file that is not built like the others.
    #[error(
        "{}, row {row}: {reason}; every row of a CSV file has the cells of its header: is the file truncated or \
         damaged?",
        shown_path(.file), reason = brief(.reason)
    )]
    BadRecord {
        /// The file.
        file: PathBuf,
        /// The row.
        row: u64,
        /// What is wrong.
        reason: String,
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
    /// A value that no reward or probability can have.
    #[error(
        "{}, row {row}: `{column}`{} is {value}: {}",
        shown_path(.file), item_text(.item), .field.rule(), column = brief(.column)
    )]
    BadValue {
        /// The file.
        file: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The item of a list, from 1.
        item: Option<usize>,
        /// The value found.
        value: f64,
        /// What the value stands for.
        field: Field,
    },
    /// Long format: a slate whose positions are not 1, 2, … or 0, 1, ….
    #[error(
        "{}, slate {slate} (row {row}): positions {positions} where {wanted} were expected; the rows of one slate must \
         stand next to each other, each position once: sort the log by `{slate_column}, {position_column}`",
        shown_path(.file), slate = brief(.slate), positions = brief(.positions), wanted = brief(.wanted),
        slate_column = brief(.slate_column), position_column = brief(.position_column)
    )]
    Positions {
        /// The file.
        file: PathBuf,
        /// The slate's first row.
        row: u64,
        /// Whether the slate has its first position.
        has_first: bool,
        /// The slate.
        slate: Box<str>,
        /// The positions found.
        positions: Box<str>,
        /// The positions that so many rows should have.
        wanted: Box<str>,
        /// The column of slates.
        slate_column: Box<str>,
        /// The column of positions.
        position_column: Box<str>,
    },
    /// Long format: files that number slots from 0 and files that number them from 1.
    #[error(
        "these files do not make one log: the positions in {} begin with {first_base} and those in {} with \
         {second_base}; put all rows of a slate next to each other in one file, sorted by `{slate_column}, \
         {position_column}`, and number slots the same way in all files",
        shown_path(.first), shown_path(.second), slate_column = brief(.slate_column),
        position_column = brief(.position_column)
    )]
    PositionBases {
        /// One file.
        first: PathBuf,
        /// The number of its slates' first slot.
        first_base: u8,
        /// The other file.
        second: PathBuf,
        /// The number of its slates' first slot.
        second_base: u8,
        /// The column of slates.
        slate_column: Box<str>,
        /// The column of positions.
        position_column: Box<str>,
    },
    /// Long format: a slate in two segments or clusters.
    #[error(
        "{}, row {row}: slate {slate} has `{column}` = {second} here and {first} in its first row; a slate belongs to \
         one {noun}",
        shown_path(.file), slate = brief(.slate), column = brief(.column), first = brief(.first),
        second = brief(.second)
    )]
    TwoLabels {
        /// The file.
        file: PathBuf,
        /// The row.
        row: u64,
        /// The slate.
        slate: Box<str>,
        /// The column.
        column: Box<str>,
        /// The value in the first row.
        first: Box<str>,
        /// The value in this row.
        second: Box<str>,
        /// `segment` or `cluster`.
        noun: &'static str,
    },
    /// A specification and columns that speak of different targets.
    #[error("there are columns for {columns} target policies and a specification of {policies}")]
    Targets {
        /// The number of targets with columns.
        columns: usize,
        /// The number of targets in the specification.
        policies: usize,
    },
    /// A column of a target that is not there.
    #[error("{option} `{given}`: {why}", given = brief(.given), why = brief(.why))]
    NoTarget {
        /// What the column was to be.
        option: &'static str,
        /// The column as given.
        given: String,
        /// What is wrong with it.
        why: String,
    },
    /// A baseline that nothing can be compared with.
    #[error("baseline `{baseline}`: {why}", baseline = brief(.baseline), why = brief(.why))]
    NoBaseline {
        /// The baseline as given.
        baseline: String,
        /// What is wrong with it.
        why: String,
    },
    /// Whoever watched the reading had enough of it.
    #[error("reading the log was broken off")]
    Stopped,
    /// Standard input can be read only once.
    #[error("standard input has been read already; save it to a file to read it again")]
    InputUsedUp,
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
}
