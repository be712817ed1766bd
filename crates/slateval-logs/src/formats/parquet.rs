//! Parquet: some columns of some row groups.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::{DataType, Fields, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::ParquetStatisticsPolicy;

use crate::error::{Error, Result};
use crate::find::detect::open_file;
use crate::find::place::Place;
use crate::formats::batches::{Batches, Choose, Head, Part};
use crate::formats::dictionaries::with_dictionaries;
use crate::formats::direct::{Direct, Source};
use crate::formats::room::Room;
use crate::store::{Chunks, Columns};

const NAME: &str = "Parquet file";

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
    let schema = footer.schema().project(&selection.columns).map_err(|e| Error::unreadable(place.path(), NAME, e))?;
    let schema = Arc::new(schema);
    let first_row = rows[..chosen.start].iter().sum();
    let rows = rows[chosen.clone()].iter().sum();
    let source =
        Source { place: place.clone(), footer, columns: selection.columns, groups: chosen, held: room.reader() };
    let batches = Box::new(Direct::new(source, schema.clone(), rows)?);
    Ok(Batches { first_row, rows: Some(rows), ..Batches::new(schema, batches) })
}
