//! Parquet: some columns of some row groups.

mod dictionaries;

use std::error::Error as StdError;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::{DataType, Fields, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::ParquetStatisticsPolicy;
use parquet_floats::{Memory, Request, Source, Use};

use crate::error::{Error, Result};
use crate::find::detect::open_file;
use crate::find::place::Place;
use crate::formats::batches::{BATCH, Batches, Choose, Head, Part};
use crate::formats::room::{Held, Holding, Room};
use crate::store::{self, Chunks, Columns, refused};
use dictionaries::with_dictionaries;

const NAME: &str = "Parquet file";

/// The environment variable that, set to `library`, has the `parquet` crate decode all columns. It tells whether a fault is
/// this project's.
const SWITCH: &str = "SLATEVAL_PARQUET";

/// The footer read last. Tasks of one file follow each other, and a footer may describe thousands of row groups.
#[derive(Debug, Default)]
pub(crate) struct Footers {
    last: Mutex<Option<(PathBuf, ArrowReaderMetadata)>>,
}

impl Footers {
    fn load(&self, place: &Place) -> Result<ArrowReaderMetadata> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, footer)) = last.as_ref()
            && known == place.path()
        {
            return Ok(footer.clone());
        }
        let footer = load(place)?;
        *last = Some((place.path().into(), footer.clone()));
        Ok(footer)
    }
}

fn load(place: &Place) -> Result<ArrowReaderMetadata> {
    // Nothing is filtered by statistics, and they are most of a footer.
    let options = ArrowReaderOptions::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
    let loaded = match place {
        Place::Local(path) => ArrowReaderMetadata::load(&open_file(path)?, options.clone()),
        Place::Object(object) => {
            ArrowReaderMetadata::load(&Chunks(Arc::new(Columns::none(object.clone()))), options.clone())
        }
    };
    loaded.and_then(|footer| in_utc(footer, options)).map_err(|e| place.unreadable(NAME, e))
}

/// Times of the old kind of 96 bits, which Spark and Impala write, are points in time: Spark counts them from midnight
/// in UTC, whatever its session's time zone, though the file does not say so.
fn in_utc(footer: ArrowReaderMetadata, options: ArrowReaderOptions) -> ParquetResult<ArrowReaderMetadata> {
    let kinds = footer.parquet_schema().root_schema().get_fields();
    let is_old = |column: usize| {
        let kind = kinds.get(column).filter(|kind| kind.is_primitive());
        kind.is_some_and(|kind| kind.get_physical_type() == Type::INT96)
    };
    let schema = footer.schema();
    if !(0..schema.fields().len()).any(is_old) {
        return Ok(footer);
    }
    let fields = schema.fields().iter().enumerate().map(|(column, field)| match field.data_type() {
        DataType::Timestamp(unit, None) if is_old(column) => {
            Arc::new(field.as_ref().clone().with_data_type(DataType::Timestamp(*unit, Some("UTC".into()))))
        }
        _ => field.clone(),
    });
    let schema = Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone());
    ArrowReaderMetadata::try_new(footer.metadata().clone(), options.with_schema(Arc::new(schema)))
}

fn group_rows(footer: &ArrowReaderMetadata) -> Vec<u64> {
    let groups = footer.metadata().row_groups().iter();
    groups.map(|g| u64::try_from(g.num_rows()).unwrap_or(0)).collect()
}

pub(crate) fn head(place: &Place, bytes: u64) -> Result<Head> {
    let footer = load(place)?;
    Ok(Head { schema: footer.schema().clone(), bytes, row_groups: Some(group_rows(&footer)) })
}

pub(crate) fn open(place: &Place, part: &Part, footers: &Footers, room: &Room, choose: Choose<'_>) -> Result<Batches> {
    let footer = footers.load(place)?;
    let selection = choose(footer.schema())?;
    let rows = group_rows(&footer);
    let chosen = match part {
        Part::RowGroups(groups) => groups.clone(),
        _ => 0..rows.len(),
    };
    if chosen.start > chosen.end || chosen.end > rows.len() {
        let reason = format!("row groups {chosen:?} were asked for and it has {}", rows.len());
        return Err(Error::unreadable(place.path(), NAME, reason));
    }
    let footer = with_dictionaries(footer, &selection.labels, chosen.clone());
    let first_row = rows[..chosen.start].iter().sum();
    let rows = rows[chosen.clone()].iter().sum();
    let held = room.reader();
    let request = Request {
        source: source(place, &footer, &selection.columns, chosen.clone())?,
        footer,
        columns: selection.columns,
        row_groups: chosen,
        batch_rows: BATCH,
        memory: held.clone(),
        library_only: is_library_only(place)?,
    };
    let kinds = request.footer.clone();
    let place = place.clone();
    let failed = move |error: parquet_floats::Error| {
        let column = |leaf: usize| {
            let column = kinds.parquet_schema().get_column_root_idx(leaf);
            kinds.schema().field(column).name().clone()
        };
        held.failure(place.path(), column).unwrap_or_else(|| place.unreadable(NAME, error))
    };
    let batches = parquet_floats::open(request).map_err(&failed)?;
    let schema = batches.schema().clone();
    let batches = Box::new(batches.map(move |batch| batch.map_err(&failed)));
    Ok(Batches { first_row, rows: Some(rows), ..Batches::new(schema, batches) })
}

/// Whether the `parquet` crate is to decode all columns: see [`SWITCH`].
fn is_library_only(place: &Place) -> Result<bool> {
    match std::env::var_os(SWITCH) {
        None => Ok(false),
        Some(value) if value.is_empty() => Ok(false),
        Some(value) if value == "library" => Ok(true),
        Some(value) => {
            let reason =
                format!("the environment variable {SWITCH} is {value:?}, and may be \"library\" or not be set");
            Err(Error::unreadable(place.path(), NAME, reason))
        }
    }
}

/// Where the bytes of some columns come from.
fn source(place: &Place, footer: &ArrowReaderMetadata, columns: &[usize], groups: Range<usize>) -> Result<Source> {
    Ok(match place {
        Place::Local(path) => Source::File(open_file(path)?),
        Place::Object(object) => {
            let ranges = store::ranges(footer.metadata(), columns, groups);
            let columns = Arc::new(Columns::new(object.clone(), ranges));
            Source::Fetch(Box::new(move |start, least| columns.bytes(start, least, u64::MAX).map_err(refused)))
        }
    })
}

impl Memory for Held {
    fn hold(&self, leaf: usize, used: Use, bytes: u64) -> std::result::Result<(), Box<dyn StdError + Send + Sync>> {
        let what = match used {
            Use::Page => Holding::Page,
            Use::Dictionary => Holding::Dictionary,
            Use::Values => Holding::Values,
        };
        Ok(Held::hold(self, leaf, what, bytes)?)
    }

    fn has_room_for(&self, bytes: u64) -> bool {
        self.has_share_for(bytes)
    }
}
