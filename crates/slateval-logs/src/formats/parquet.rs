//! Parquet: some columns of some row groups.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetStatisticsPolicy;

use crate::error::{Error, Result};
use crate::formats::batches::{BATCH, Batches, Choose, Head, Part};
use crate::formats::detect::{Format, open_file};

const NAME: &str = "Parquet file";

/// The footer read last. Tasks of one file follow each other, and a footer may describe thousands of row groups.
#[derive(Debug, Default)]
pub(crate) struct Footers {
    last: Mutex<Option<(PathBuf, ArrowReaderMetadata)>>,
}

impl Footers {
    fn load(&self, path: &Path, file: &File) -> Result<ArrowReaderMetadata> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, footer)) = last.as_ref()
            && known == path
        {
            return Ok(footer.clone());
        }
        let footer = load(path, file)?;
        *last = Some((path.into(), footer.clone()));
        Ok(footer)
    }
}

fn load(path: &Path, file: &File) -> Result<ArrowReaderMetadata> {
    // Nothing is filtered by statistics, and they are most of a footer.
    let options = ArrowReaderOptions::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
    ArrowReaderMetadata::load(file, options).map_err(|e| Error::unreadable(path, NAME, e))
}

fn group_rows(footer: &ArrowReaderMetadata) -> Vec<u64> {
    let groups = footer.metadata().row_groups().iter();
    groups.map(|g| u64::try_from(g.num_rows()).unwrap_or(0)).collect()
}

pub(crate) fn head(path: &Path, bytes: u64) -> Result<Head> {
    let footer = load(path, &open_file(path)?)?;
    Ok(Head { schema: footer.schema().clone(), bytes, row_groups: Some(group_rows(&footer)) })
}

pub(crate) fn open(path: &Path, part: &Part, footers: &Footers, choose: Choose<'_>) -> Result<Batches> {
    let file = open_file(path)?;
    let footer = footers.load(path, &file)?;
    let indices = choose(footer.schema())?.columns;
    let rows = group_rows(&footer);
    let chosen = match part {
        Part::RowGroups(groups) => groups.clone(),
        _ => 0..rows.len(),
    };
    if chosen.start > chosen.end || chosen.end > rows.len() {
        let reason = format!("row groups {chosen:?} were asked for and it has {}", rows.len());
        return Err(Error::unreadable(path, NAME, reason));
    }
    let unreadable = |e: &dyn ToString| Error::unreadable(path, Format::Parquet.name(), e.to_string());
    let mask = ProjectionMask::roots(footer.parquet_schema(), indices.iter().copied());
    let schema = footer.schema().project(&indices).map_err(|e| unreadable(&e))?;
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, footer)
        .with_projection(mask)
        .with_row_groups(chosen.clone().collect())
        .with_batch_size(BATCH)
        .build()
        .map_err(|e| unreadable(&e))?;
    let owner = path.to_owned();
    Ok(Batches {
        schema: schema.into(),
        first_row: rows[..chosen.start].iter().sum(),
        rows: Some(rows[chosen].iter().sum()),
        taken: None,
        batches: Box::new(reader.map(move |batch| batch.map_err(|e| Error::unreadable(&owner, NAME, e)))),
    })
}
