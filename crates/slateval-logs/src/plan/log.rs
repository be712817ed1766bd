//! A log on disk: its files, and whether they fit what is asked of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use rayon::prelude::*;
use slateval::{IgnoredFile, Segment, SkippedExample, Spec};

use crate::columns::{Columns, Description, Found, Overlap, Source, check_files};
use crate::error::{Error, OnBad, OnUnknown, Result, Tolerance, brief, name_of, shown_path};
use crate::find::{self, Format, Identity, Location, Place, SortedOut, begins_with, side_by_side};
use crate::formats::{self, Head, guarded};
use crate::ipc::StandardInput;
use crate::plan::gather::unusable;
use crate::slates::Budget;
use crate::survey::Survey;

/// The first bytes of a saved summary, which is easily mistaken for a log.
const SUMMARY: &[u8] = b"SLATEVAL";

/// A log found on disk: files in a fixed order, each with its schema.
///
/// Opening reads schemas and Parquet footers, and no rows.
#[derive(Debug)]
pub struct Log {
    pub(crate) given: Vec<Location>,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) files: Vec<LogFile>,
    schema: Schema,
    /// Standard input, until it is read.
    pub(crate) input: Mutex<Option<StandardInput>>,
    /// Whether a file may be read twice.
    pub(crate) duplicates: bool,
    pub(crate) tolerance: Tolerance,
    /// Bytes that sums may take, and half as many what is held of the log; half of the machine's memory if `None`.
    pub(crate) memory: Option<u64>,
    /// Whether a log without rows has a summary.
    pub(crate) may_be_empty: bool,
    /// Files that could not be opened and are left out.
    pub(crate) unopened: Vec<Unopened>,
    /// Text files without a header or a row.
    empty: Vec<PathBuf>,
    /// Files of directories that are no logs.
    pub(crate) ignored: Vec<IgnoredFile>,
    /// What is noticed while it is read.
    pub(crate) survey: Arc<Survey>,
}

/// A file that could not be opened.
#[derive(Debug)]
pub(crate) struct Unopened {
    /// The number of files that stand before it.
    pub(crate) before: usize,
    pub(crate) place: Place,
    /// Its name, and why it could not be opened.
    pub(crate) example: SkippedExample,
}

/// One file of a log.
#[derive(Debug)]
pub(crate) struct LogFile {
    pub(crate) place: Place,
    pub(crate) format: Format,
    pub(crate) head: Head,
    pub(crate) partition: Vec<(String, Segment)>,
    /// `None` for what is no file.
    pub(crate) identity: Option<Identity>,
}

impl LogFile {
    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }

    /// Rows that come from no file, under a name for messages.
    fn of_batches(name: &str, schema: SchemaRef) -> Self {
        LogFile {
            place: PathBuf::from(name).into(),
            format: Format::IpcStream,
            head: Head { schema, bytes: 0, row_groups: None },
            partition: Vec::new(),
            identity: None,
        }
    }

    pub(crate) fn found(&self) -> Found<'_> {
        Found { file: self.path(), schema: &self.head.schema, text: self.format.is_text(), partition: &self.partition }
    }
}

impl Log {
    /// Finds the files that the paths stand for: files, directories (searched for logs, told by their endings or
    /// first bytes; directories called `key=value` become a column), patterns such as `logs/*.parquet`, or `-` for an Arrow IPC stream on
    /// standard input. With the feature `object-store`, a path may also be an address: `s3://bucket/logs/`.
    ///
    /// # Errors
    /// If a path leads nowhere, or a file is not what its name says.
    pub fn open<P: Clone + Into<Location>>(paths: &[P]) -> Result<Log> {
        Log::open_tolerating(paths, Tolerance::default())
    }

    /// The same, with something else done about bad rows and files than to refuse the log.
    ///
    /// # Errors
    /// As for [`Log::open`]. A path that leads nowhere is refused in any case.
    pub fn open_tolerating<P: Clone + Into<Location>>(paths: &[P], tolerance: Tolerance) -> Result<Log> {
        Log::open_within(paths, tolerance, None)
    }

    /// Like [`Log::open_tolerating`], with `memory` bytes for opening and for reading in place of half of the machine's: see
    /// [`Log::with_memory`].
    ///
    /// # Errors
    /// As for [`Log::open_tolerating`].
    pub fn open_within<P: Clone + Into<Location>>(
        paths: &[P],
        tolerance: Tolerance,
        memory: Option<u64>,
    ) -> Result<Log> {
        let log = Log::open_what_is_left(paths, tolerance, memory)?;
        if log.files.is_empty() { Err(no_file(&log.given, &log.unopened)) } else { Ok(log) }
    }

    /// The same, though no file may be left: all of them are bad and skipped, or empty.
    ///
    /// # Errors
    /// As for [`Log::open_within`].
    pub fn open_what_is_left<P: Clone + Into<Location>>(
        paths: &[P],
        tolerance: Tolerance,
        memory: Option<u64>,
    ) -> Result<Log> {
        Log::of_locations(paths.iter().cloned().map(Into::into).collect(), tolerance, memory)
    }

    fn of_locations(given: Vec<Location>, tolerance: Tolerance, memory: Option<u64>) -> Result<Log> {
        let room = Budget::new(memory).room(1).most();
        let SortedOut { logs: found, ignored } = find::files(&given, room)?.sort_out()?;
        if tolerance.unknown_files == OnUnknown::Fail && !ignored.is_empty() {
            return Err(Error::UnknownFiles { files: ignored });
        }
        let mut input = None;
        if let Some(place) = found.iter().find(|place| place.is_standard_input()) {
            input = Some(guarded(place, Format::IpcStream.name(), StandardInput::open)?);
        }
        let piped: Option<SchemaRef> = input.as_ref().map(|input| input.schema().into());
        let partitions = find::partitions(&found);
        // Footers are read side by side: a log may have thousands of files. The first error in the order of files wins.
        let open = || -> Vec<(Place, Result<LogFile>)> {
            let files = found.par_iter().cloned().zip(partitions);
            let open = |(place, partition): (Place, _)| (place.clone(), open_file(place, partition, &piped, tolerance));
            files.map(open).collect()
        };
        let opened = side_by_side(found.iter(), open)?;
        let Opened { files, unopened, empty } = usable(opened, tolerance)?;
        let input = Mutex::new(input);
        Ok(Log { input, tolerance, memory, unopened, empty, ignored, ..Log::of_files(given, files) })
    }

    fn of_files(given: Vec<Location>, files: Vec<LogFile>) -> Log {
        let columns = |first: &LogFile| with_partition(&first.head.schema, &first.partition);
        Log {
            given,
            paths: files.iter().map(|file| file.path().into()).collect(),
            schema: files.first().map_or_else(Schema::empty, columns),
            files,
            input: Mutex::new(None),
            duplicates: false,
            tolerance: Tolerance::default(),
            memory: None,
            may_be_empty: false,
            unopened: Vec::new(),
            empty: Vec::new(),
            ignored: Vec::new(),
            survey: Arc::default(),
        }
    }

    /// The same, though a file may be in it twice, by two paths: its rows are then counted twice. Without this,
    /// [`summarize`](Log::summarize) refuses it.
    pub fn allow_duplicates(mut self) -> Self {
        self.duplicates = true;
        self
    }

    /// The same with so many bytes of memory for sums in place of half of the machine's, and half as many for what is held of
    /// the log while it is read. A log that may take more is refused; the numbers never depend on it.
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Refuses a log with the same file in it by two paths, as [`summarize`](Log::summarize) does. Copies are files of
    /// their own: small ones may well be alike.
    ///
    /// # Errors
    /// Names the two paths.
    pub fn check_duplicates(&self) -> Result<()> {
        let mut known: HashMap<FileName, &Path> = HashMap::new();
        for file in self.files.iter().filter(|_| !self.duplicates) {
            let Some(identity) = &file.identity else { continue };
            let name = match (identity.number(), file.place.tag()) {
                (Some(number), _) => FileName::Number(number),
                (None, Some(tag)) => FileName::Tagged(name_of(file.path()), tag.to_owned()),
                (None, None) => FileName::Location(match std::fs::canonicalize(file.path()) {
                    Ok(path) => path.into(),
                    Err(_) => file.place.location(),
                }),
            };
            if let Some(other) = known.insert(name, file.path()) {
                return Err(slateval::Error::Duplicate { name: name_of(file.path()), known: name_of(other) }.into());
            }
        }
        Ok(())
    }

    /// A log whose rows come as record batches of this schema, to be read with [`Log::summarize_batches`]. Messages call
    /// it by the name given.
    pub fn of_batches(name: &str, schema: SchemaRef) -> Log {
        Log::of_files(vec![name.into()], vec![LogFile::of_batches(name, schema)])
    }

    /// The same with something else done about bad rows than to refuse the log, for [`Log::of_batches`].
    pub fn tolerating(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Refuses batches that do not continue this log: their schema became another one.
    pub(crate) fn check_next(&self, schema: &SchemaRef, row: u64, columns: &Columns, spec: &Spec) -> Result<()> {
        let name = |file: &LogFile| format!("{} from row {} on", file.path().display(), row + 1);
        let file = |file: &LogFile| LogFile::of_batches(&name(file), schema.clone());
        let next: Vec<LogFile> = self.files.iter().map(file).collect();
        check_files(self.files.iter().chain(&next).map(LogFile::found), columns, spec)
    }

    /// The columns of the first file, those that its directories spell out included. Types of CSV and JSON files are
    /// guessed from their first rows.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The number of rows, if it is known without reading them: Parquet only.
    pub fn rows(&self) -> Option<u64> {
        let rows = |file: &LogFile| file.head.row_groups.as_ref().map(|groups| groups.iter().sum::<u64>());
        self.files.iter().map(rows).sum()
    }

    /// The size of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|f| f.head.bytes).sum()
    }

    /// The files, in the order they are read in.
    pub fn files(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Text files that have neither a header nor a row. They are passed over.
    pub fn empty_files(&self) -> &[PathBuf] {
        &self.empty
    }

    /// Files that were found in directories and left out, because neither their names nor their first bytes are those of a
    /// log. Names that begin with `_` or `.` are what engines keep beside the data, and are not among them.
    pub fn ignored(&self) -> &[IgnoredFile] {
        &self.ignored
    }

    /// Columns that could be read in two ways; `spec` must come from [`Log::spec`].
    ///
    /// # Errors
    /// As for [`Log::spec`].
    pub fn overlaps(&self, columns: &Columns, spec: &Spec) -> Result<Vec<Overlap>> {
        Overlap::among(self.files.iter().map(LogFile::found), columns, spec)
    }

    /// Completes a specification for this log: which targets have chi, and the columns of segments and clusters.
    ///
    /// # Errors
    /// If a column that the specification needs is missing or of a type that cannot hold it, or if files differ in it.
    pub fn spec(&self, columns: &Columns, mut spec: Spec) -> Result<Spec> {
        if columns.targets.len() != spec.policies.len() {
            return Err(Error::Targets { columns: columns.targets.len(), policies: spec.policies.len() });
        }
        spec.by = columns.by.as_ref().map(|name| self.label_name(name));
        spec.cluster.clone_from(&columns.cluster);
        let slots = spec.structure.needs().slots;
        spec.policies.iter_mut().for_each(|p| p.chi = false);
        if slots {
            for (policy, target) in spec.policies.iter_mut().zip(&columns.targets) {
                policy.chi = self.has_chi(&target.chi, columns)?;
                if let (true, false, Source::Column(column) | Source::IfPresent(column)) =
                    (policy.chi, spec.columns.is_empty(), &target.chi)
                {
                    spec.columns.insert(format!("chi {}", target.name), column.clone());
                }
            }
        }
        check_files(self.files.iter().map(LogFile::found), columns, &spec)?;
        Ok(spec)
    }

    /// What a label is called: several columns the same, with blanks behind their commas or without.
    fn label_name(&self, name: &str) -> String {
        match self.schema.index_of(name) {
            Ok(_) => name.to_owned(),
            Err(_) => name.split(',').map(str::trim).collect::<Vec<_>>().join(", "),
        }
    }

    /// Which columns play which roles; `spec` must come from [`Log::spec`]. Types are those of the first file.
    ///
    /// # Errors
    /// As for [`Log::spec`].
    pub fn describe(&self, columns: &Columns, spec: &Spec) -> Result<Description> {
        let Some(file) = self.files.first() else { return Ok(Description { uses: Vec::new(), unused: Vec::new() }) };
        let all: Vec<String> = self.schema.fields().iter().map(|f| f.name().clone()).collect();
        Description::of(file.found(), &all, columns, spec)
    }

    /// The same where columns are missing: what was found of those that every log needs.
    pub fn describe_in_part(&self, columns: &Columns, spec: &Spec) -> Description {
        let Some(file) = self.files.first() else { return Description { uses: Vec::new(), unused: Vec::new() } };
        let all: Vec<String> = self.schema.fields().iter().map(|f| f.name().clone()).collect();
        Description::in_part(file.found(), &all, columns, spec)
    }

    /// Whether a target has chi: if it is asked for, or there. Left out in silence where some files lack it, it would
    /// cost the estimators that need it.
    fn has_chi(&self, chi: &Source, columns: &Columns) -> Result<bool> {
        let name = match chi {
            Source::Column(_) => return Ok(true),
            Source::Absent => return Ok(false),
            Source::IfPresent(name) => name,
        };
        let column = |file: &LogFile| file.found().column_of(name, columns);
        let with = self.files.iter().find_map(|file| column(file).map(|column| (file, column)));
        let without = self.files.iter().find(|file| column(file).is_none());
        match (with, without) {
            (Some((with, column)), Some(without)) => {
                let (column, with, without) = (brief(&column), shown_path(with.path()), shown_path(without.path()));
                Err(Error::not_one_log(format!(
                    "{with} has a column `{column}` and {without} has not; add it to all files, or leave it out: remove or \
                     rename it where it is"
                )))
            }
            (with, _) => Ok(with.is_some()),
        }
    }
}

/// What is the same for all paths to a file.
#[derive(PartialEq, Eq, Hash)]
enum FileName {
    /// Device and number.
    Number((u64, u64)),
    /// An object's name and tag: however its address is signed, it is the same.
    Tagged(String, String),
    /// Without a tag, addresses that differ in what follows `?` are taken for two objects.
    Location(Location),
}

/// Files sorted out.
#[derive(Default)]
struct Opened {
    files: Vec<LogFile>,
    /// Those that cannot be used.
    unopened: Vec<Unopened>,
    empty: Vec<PathBuf>,
}

/// Sorts out the files that could not be opened, if the log is not refused for them.
fn usable(opened: Vec<(Place, Result<LogFile>)>, tolerance: Tolerance) -> Result<Opened> {
    let mut found = Opened::default();
    for (place, file) in opened {
        match file {
            // An empty text file has no header, and nothing to add either.
            Ok(file) if file.head.schema.fields().is_empty() => found.empty.push(place.path().into()),
            Ok(file) => found.files.push(file),
            Err(error) if tolerance.bad_files == OnBad::Skip && error.prevents_opening() => {
                let example = unusable(name_of(place.path()), &error);
                found.unopened.push(Unopened { before: found.files.len(), place, example });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Why there is no file to be read.
fn no_file(given: &[Location], unopened: &[Unopened]) -> Error {
    let paths = given.iter().map(Location::name).collect();
    match unopened.first() {
        None => Error::NoRows { paths },
        Some(first) => {
            let first = first.example.value.clone().unwrap_or_default();
            Error::NothingLeft { paths, rows: 0, files: unopened.len() as u64, first }
        }
    }
}

fn open_file(
    place: Place,
    partition: Vec<(String, Segment)>,
    piped: &Option<SchemaRef>,
    tolerance: Tolerance,
) -> Result<LogFile> {
    if begins_with(&place, SUMMARY) {
        let path = shown_path(place.path());
        let what = format!("{path} is a saved summary and no log; use `slateval show` or `slateval merge`");
        return Err(Error::Refused(what.into()));
    }
    let format = Format::detect(&place)?;
    let head = match piped {
        Some(schema) if place.is_standard_input() => Head { schema: schema.clone(), bytes: 0, row_groups: None },
        _ => guarded(&place, format.name(), || formats::head(&place, format))?,
    };
    // What a server sends as a whole is looked at when it was read.
    if !tolerance.unended && !place.is_sent_whole() {
        formats::check_end(&place, format)?;
    }
    let identity = if place.is_standard_input() { None } else { Some(Identity::of(&place)?) };
    Ok(LogFile { place, format, head, partition, identity })
}

fn with_partition(schema: &Schema, partition: &[(String, Segment)]) -> Schema {
    let mut fields: Vec<Field> = schema.fields().iter().map(|f| f.as_ref().clone()).collect();
    for (key, value) in partition {
        if schema.index_of(key).is_err() {
            let data_type = if matches!(value, Segment::Int(_)) { DataType::Int64 } else { DataType::Utf8 };
            fields.push(Field::new(key, data_type, true));
        }
    }
    Schema::new(fields)
}
