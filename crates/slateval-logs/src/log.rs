//! A log on disk: its files, and whether they fit what is asked of them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use rayon::prelude::*;
use slateval::{Segment, Spec};

use crate::columns::{Columns, RowFormat, Source};
use crate::discover::{self, Format, STDIN};
use crate::error::{Error, Result};
use crate::ipc::Input;
use crate::layout::{Found, Layout, Shape};
use crate::segment::Place;
use crate::source::{self, Head, guarded};
use crate::types::{Class, label_class, number_class};

/// The first bytes of a saved summary, which is easily mistaken for a log.
const SUMMARY: &[u8] = b"SLATEVAL";

/// A log found on disk: files in a fixed order, each with its schema.
///
/// Opening reads schemas and Parquet footers, and no rows.
#[derive(Debug)]
pub struct Log {
    pub(crate) given: Vec<String>,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) files: Vec<LogFile>,
    schema: Schema,
    /// Standard input, until it is read.
    pub(crate) input: Mutex<Option<Input>>,
}

/// One file of a log.
#[derive(Debug)]
pub(crate) struct LogFile {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) head: Head,
    pub(crate) partition: Vec<(String, Segment)>,
}

impl LogFile {
    pub(crate) fn found(&self) -> Found<'_> {
        Found { file: &self.path, schema: &self.head.schema, text: self.format.is_text(), partition: &self.partition }
    }
}

impl Log {
    /// Finds the files that the paths stand for: files, directories (searched for files of a known ending; directories
    /// called `key=value` become a column), patterns such as `logs/*.parquet`, or `-` for an Arrow IPC stream on
    /// standard input.
    ///
    /// # Errors
    /// If a path leads nowhere, or a file is not what its name says.
    pub fn open(paths: &[String]) -> Result<Log> {
        let found = discover::files(paths)?;
        let mut input = None;
        if found.iter().any(|p| p == Path::new(STDIN)) {
            input = Some(guarded(Path::new(STDIN), Format::IpcStream.name(), Input::open)?);
        }
        let piped: Option<SchemaRef> = input.as_ref().map(|input| input.schema().into());
        let partitions = discover::partitions(&found);
        // Footers are read side by side: a log may have thousands of files. The first error in the order of files wins.
        let files: Vec<Result<LogFile>> =
            found.into_par_iter().zip(partitions).map(|(path, partition)| open_file(path, partition, &piped)).collect();
        let mut files = files.into_iter().collect::<Result<Vec<LogFile>>>()?;
        // An empty text file has no header, and nothing to add either.
        files.retain(|file| !file.head.schema.fields().is_empty());
        let Some(first) = files.first() else { return Err(Error::NoRows { paths: paths.to_vec() }) };
        let schema = with_partition(&first.head.schema, &first.partition);
        let paths_found = files.iter().map(|f| f.path.clone()).collect();
        Ok(Log { given: paths.to_vec(), paths: paths_found, files, schema, input: Mutex::new(input) })
    }

    /// A log whose rows come as record batches of this schema, to be read with [`Log::summarize_batches`]. Messages call
    /// it by the name given.
    pub fn of_batches(name: &str, schema: SchemaRef) -> Log {
        let path = PathBuf::from(name);
        let own = schema.as_ref().clone();
        let head = Head { schema, bytes: 0, row_groups: None };
        let file = LogFile { path: path.clone(), format: Format::IpcStream, head, partition: Vec::new() };
        let (given, paths) = (vec![name.to_owned()], vec![path]);
        Log { given, paths, files: vec![file], schema: own, input: Mutex::new(None) }
    }

    /// Refuses batches that do not continue this log: their schema became another one.
    pub(crate) fn check_next(&self, schema: &SchemaRef, row: u64, columns: &Columns, spec: &Spec) -> Result<()> {
        let name = |file: &LogFile| format!("{} from row {} on", file.path.display(), row + 1);
        let file = |file: &LogFile| LogFile {
            path: name(file).into(),
            format: file.format,
            head: Head { schema: schema.clone(), bytes: 0, row_groups: None },
            partition: Vec::new(),
        };
        let next: Vec<LogFile> = self.files.iter().map(file).collect();
        check_files(self.files.iter().chain(&next), columns, spec)
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

    /// Completes a specification for this log: which targets have chi, and the columns of segments and clusters.
    ///
    /// # Errors
    /// If a column that the specification needs is missing or of a type that cannot hold it, or if files differ in it.
    pub fn spec(&self, columns: &Columns, mut spec: Spec) -> Result<Spec> {
        if columns.targets.len() != spec.policies.len() {
            return Err(Error::Targets { columns: columns.targets.len(), policies: spec.policies.len() });
        }
        spec.by.clone_from(&columns.by);
        spec.cluster.clone_from(&columns.cluster);
        let slots = spec.structure.needs().slots;
        spec.policies.iter_mut().for_each(|p| p.chi = false);
        if slots {
            for (policy, target) in spec.policies.iter_mut().zip(&columns.targets) {
                policy.chi = self.has_chi(&target.chi, &columns.format)?;
            }
        }
        check_files(self.files.iter(), columns, &spec)?;
        Ok(spec)
    }

    /// Whether a target has chi: if it is asked for, or there. Left out in silence where some files lack it, it would
    /// cost the estimators that need it.
    fn has_chi(&self, chi: &Source, format: &RowFormat) -> Result<bool> {
        let name = match chi {
            Source::Column(_) => return Ok(true),
            Source::Absent => return Ok(false),
            Source::IfPresent(name) => name,
        };
        let column = |file: &LogFile| file.found().column_of(name, format);
        let with = self.files.iter().find_map(|file| column(file).map(|column| (file, column)));
        let without = self.files.iter().find(|file| column(file).is_none());
        match (with, without) {
            (Some((with, column)), Some(without)) => {
                Err(Error::InSomeFiles { column, with: with.path.clone(), without: without.path.clone() })
            }
            (with, _) => Ok(with.is_some()),
        }
    }
}

/// Refuses files that lack a column, or that do not make one log.
fn check_files<'a>(files: impl Iterator<Item = &'a LogFile>, columns: &Columns, spec: &Spec) -> Result<()> {
    let mut first: Option<(&LogFile, Vec<Need>)> = None;
    for file in files {
        let layout = Layout::resolve(file.found(), columns, spec);
        let Some((known, needs)) = &first else {
            first = Some((file, needs_of(&layout?, file)));
            continue;
        };
        let differs = |need: &Need, second_type: String| Error::DifferentFiles {
            column: need.column.clone(),
            first: known.path.clone(),
            first_type: need.found.as_str().into(),
            second: file.path.clone(),
            second_type: second_type.into(),
        };
        match layout {
            Ok(layout) => {
                let own = needs_of(&layout, file);
                compare(needs, &own).map_err(|(need, found)| differs(need, found))?;
                // The other way round for slots that the first file has not.
                compare(&own, needs).map_err(|(need, _)| {
                    differs(&Need { found: "absent".into(), ..need.clone() }, need.found.clone())
                })?;
            }
            Err(error) => {
                let lacks = |need: &&Need| error_is_about(&error, &need.column);
                return Err(match needs.iter().find(lacks) {
                    Some(need) => differs(need, type_of(file, &need.column)),
                    None => error,
                });
            }
        }
    }
    Ok(())
}

fn open_file(path: PathBuf, partition: Vec<(String, Segment)>, piped: &Option<SchemaRef>) -> Result<LogFile> {
    if discover::begins_with(&path, SUMMARY) {
        return Err(Error::SavedSummary { path });
    }
    let format = Format::detect(&path)?;
    let head = match piped {
        Some(schema) if path == Path::new(STDIN) => Head { schema: schema.clone(), bytes: 0, row_groups: None },
        _ => guarded(&path, format.name(), || source::head(&path, format))?,
    };
    Ok(LogFile { path, format, head, partition })
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

/// A column that is needed, and what it is in one file.
#[derive(Debug, Clone)]
struct Need {
    column: String,
    class: Class,
    found: String,
}

/// Every column that a layout reads.
fn needs_of(layout: &Layout, file: &LogFile) -> Vec<Need> {
    let number = |index: usize| {
        let field = file.head.schema.field(index);
        let class = number_class(field.data_type());
        Need { column: field.name().clone(), class, found: field.data_type().to_string() }
    };
    let mut needs: Vec<Need> = layout.scalars.iter().map(|s| number(s.index)).collect();
    for group in &layout.groups {
        match &group.shape {
            Shape::Wide(columns) => needs.extend(columns.iter().map(|&i| number(i))),
            Shape::List(column) | Shape::Long(column) => needs.push(number(*column)),
        }
    }
    for label in &layout.labels {
        needs.push(match &label.place {
            Place::Column(index) => {
                let class = label_class(file.head.schema.field(*index).data_type());
                Need { class: if file.format.is_text() { Class::Any } else { class }, ..number(*index) }
            }
            Place::Constant(value) => {
                let (class, found) = match value {
                    Segment::Int(_) => (Class::Integer, "a directory of whole numbers".to_owned()),
                    Segment::Null => (Class::Any, "a directory".to_owned()),
                    _ => (Class::Text, "a directory of text".to_owned()),
                };
                Need { column: label.name.clone(), class, found }
            }
        });
    }
    needs
}

/// The first column of one file that another has differently, and what it is there.
fn compare<'a>(first: &'a [Need], second: &[Need]) -> std::result::Result<(), (&'a Need, String)> {
    for need in first {
        let Some(other) = second.iter().find(|n| n.column == need.column) else {
            return Err((need, "absent".into()));
        };
        let fits = need.class == other.class || need.class == Class::Any || other.class == Class::Any;
        if !fits {
            return Err((need, other.found.clone()));
        }
    }
    Ok(())
}

fn type_of(file: &LogFile, column: &str) -> String {
    let field = file.head.schema.field_with_name(column);
    field.map_or("absent".into(), |f| f.data_type().to_string())
}

fn error_is_about(error: &Error, needed: &str) -> bool {
    match error {
        Error::MissingColumn { column, .. } => needed == column || needed == format!("{column}_1"),
        Error::MissingSlot { column, .. } | Error::WrongType { column, .. } => needed == column,
        _ => false,
    }
}
