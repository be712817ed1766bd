//! Ratings from disk: comma-separated with a header, `::`-separated without one, or Parquet.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::error::{Error, Result};

/// One rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// Who.
    pub user: i64,
    /// What.
    pub item: i64,
    /// How good.
    pub rating: f32,
}

/// Names of the three columns, as far as they are known to occur; case and underscores do not matter.
const COLUMNS: [(&str, &[&str]); 3] = [
    ("user", &["userid", "user"]),
    ("item", &["movieid", "itemid", "item", "movie"]),
    ("rating", &["rating", "score", "stars"]),
];

/// Reads a file of ratings: `userId,movieId,rating,timestamp` with a header, `UserID::MovieID::Rating::Timestamp`
/// without one, or Parquet with the columns of the former.
///
/// # Errors
/// [`Error::Unreadable`] for a file that cannot be read, [`Error::BadRating`] for a line that is no rating.
pub fn read_ratings(path: &Path) -> Result<Vec<Rating>> {
    let ratings = match path.extension().and_then(|e| e.to_str()) {
        Some("parquet") => read_parquet(path)?,
        _ => read_text(path)?,
    };
    match ratings.is_empty() {
        true => Err(Error::TooFewRatings(format!("{} has none", path.display()))),
        false => Ok(ratings),
    }
}

fn unreadable(path: &Path, reason: impl ToString) -> Error {
    Error::Unreadable { path: path.display().to_string(), reason: reason.to_string() }
}

fn read_text(path: &Path) -> Result<Vec<Rating>> {
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path).map_err(|e| unreadable(path, e))?);
    let mut line = String::new();
    let mut places: Option<Places> = None;
    let mut ratings = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        if reader.read_line(&mut line).map_err(|e| unreadable(path, e))? == 0 {
            return Ok(ratings);
        }
        number += 1;
        let text = line.trim_end();
        if text.is_empty() {
            continue;
        }
        match &places {
            None => {
                let (found, is_header) = Places::of_first_line(path, text)?;
                if !is_header {
                    ratings.push(found.parse(path, number, text)?);
                }
                places = Some(found);
            }
            Some(places) => ratings.push(places.parse(path, number, text)?),
        }
    }
}

/// Where the fields of a line are.
struct Places {
    separator: &'static str,
    user: usize,
    item: usize,
    rating: usize,
}

impl Places {
    /// From the first line, and whether it is a header.
    fn of_first_line(path: &Path, text: &str) -> Result<(Self, bool)> {
        let text = text.trim_start_matches('\u{feff}');
        let separator = ["::", "\t", ","].into_iter().find(|s| text.contains(s)).unwrap_or(",");
        let names: Vec<&str> = text.split(separator).map(|name| name.trim_matches('"')).collect();
        if names.first().is_some_and(|first| first.parse::<i64>().is_ok()) {
            return Ok((Places { separator, user: 0, item: 1, rating: 2 }, false));
        }
        let [user, item, rating] = find_columns(path, &names)?;
        Ok((Places { separator, user, item, rating }, true))
    }

    fn parse(&self, path: &Path, line: u64, text: &str) -> Result<Rating> {
        let mut found = [""; 3];
        let last = self.user.max(self.item).max(self.rating);
        for (place, field) in text.split(self.separator).enumerate().take(last + 1) {
            for (wanted, found) in [self.user, self.item, self.rating].into_iter().zip(&mut found) {
                if place == wanted {
                    *found = field.trim().trim_matches('"');
                }
            }
        }
        let bad = |what, value: &str| Error::BadRating {
            path: path.display().to_string(),
            line,
            value: value.to_owned(),
            what,
        };
        let [user, item, rating] = found;
        Ok(Rating {
            user: user.parse().map_err(|_| bad("user id", user))?,
            item: item.parse().map_err(|_| bad("movie id", item))?,
            rating: rating.parse().ok().filter(|r: &f32| r.is_finite()).ok_or_else(|| bad("rating", rating))?,
        })
    }
}

fn find_columns(path: &Path, names: &[&str]) -> Result<[usize; 3]> {
    let plain = |name: &str| name.trim().replace(['_', ' '], "").to_lowercase();
    let mut found = [0; 3];
    for ((what, known), found) in COLUMNS.iter().zip(&mut found) {
        *found = names.iter().position(|name| known.contains(&plain(name).as_str())).ok_or_else(|| {
            unreadable(
                path,
                format!("there is no {what} column among {}; expected userId,movieId,rating", names.join(", ")),
            )
        })?;
    }
    Ok(found)
}

fn read_parquet(path: &Path) -> Result<Vec<Rating>> {
    let file = File::open(path).map_err(|e| unreadable(path, e))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| unreadable(path, e))?;
    let schema = builder.schema().clone();
    let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    let places = find_columns(path, &names)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), places);
    let reader = builder.with_projection(mask).build().map_err(|e| unreadable(path, e))?;
    let mut ratings = Vec::new();
    for batch in reader {
        let batch = batch.map_err(|e| unreadable(path, e))?;
        read_batch(path, &batch, places.map(|place| names[place]), &mut ratings)?;
    }
    Ok(ratings)
}

fn read_batch(path: &Path, batch: &RecordBatch, names: [&str; 3], ratings: &mut Vec<Rating>) -> Result<()> {
    let column = |name: &str, kind: &DataType| {
        let column = batch.column_by_name(name).ok_or_else(|| unreadable(path, format!("`{name}` is missing")))?;
        let cast = arrow_cast::cast(column, kind).map_err(|e| unreadable(path, format!("`{name}`: {e}")))?;
        match cast.null_count() {
            0 => Ok(cast),
            nulls => Err(unreadable(path, format!("`{name}` has {nulls} nulls or values that are no numbers"))),
        }
    };
    let [users, items] = [column(names[0], &DataType::Int64)?, column(names[1], &DataType::Int64)?];
    let values = column(names[2], &DataType::Float64)?;
    let ids = users.as_primitive::<Int64Type>().values().iter().zip(items.as_primitive::<Int64Type>().values());
    for ((&user, &item), &rating) in ids.zip(values.as_primitive::<Float64Type>().values()) {
        if !rating.is_finite() {
            return Err(unreadable(path, format!("`{}` has the value {rating}", names[2])));
        }
        ratings.push(Rating { user, item, rating: rating as f32 });
    }
    Ok(())
}
