//! Ratings from disk: comma-separated with a header, `::`-separated without one, or Parquet.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::str::FromStr;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, RecordBatch};
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
    let reader = BufReader::with_capacity(1 << 20, File::open(path).map_err(|e| unreadable(path, e))?);
    let mut places: Option<Places> = None;
    let mut ratings = Vec::new();
    for (line, number) in reader.lines().zip(1..) {
        let line = line.map_err(|e| unreadable(path, e))?;
        let text = line.trim_end();
        if text.is_empty() {
            continue;
        }
        if let Some(places) = &places {
            ratings.push(places.parse(path, number, text)?);
            continue;
        }
        let (found, is_header) = Places::of_first_line(path, text)?;
        if !is_header {
            ratings.push(found.parse(path, number, text)?);
        }
        places = Some(found);
    }
    Ok(ratings)
}

/// Where the fields of a line are: user, item and rating.
struct Places {
    separator: &'static str,
    fields: [usize; 3],
}

impl Places {
    /// From the first line, and whether it is a header.
    fn of_first_line(path: &Path, text: &str) -> Result<(Self, bool)> {
        let text = text.trim_start_matches('\u{feff}');
        let separator = ["::", "\t", ","].into_iter().find(|s| text.contains(s)).unwrap_or(",");
        let names: Vec<&str> = text.split(separator).map(|name| name.trim_matches('"')).collect();
        let is_header = names.first().is_none_or(|first| first.parse::<i64>().is_err());
        let fields = if is_header { find_columns(path, &names)? } else { [0, 1, 2] };
        Ok((Places { separator, fields }, is_header))
    }

    fn parse(&self, path: &Path, line: u64, text: &str) -> Result<Rating> {
        let field = |place: usize| text.split(self.separator).nth(place).map_or("", |f| f.trim().trim_matches('"'));
        let bad = |what, value: &str| Error::BadRating {
            path: path.display().to_string(),
            line,
            value: value.to_owned(),
            what,
        };
        let [user, item, rating] = self.fields.map(field);
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
    let column =
        |name: &str| batch.column_by_name(name).ok_or_else(|| unreadable(path, format!("`{name}` is missing")));
    let [users, items, values] = names;
    let user_ids = numbers(path, users, column(users)?, Some, whole)?;
    let item_ids = numbers(path, items, column(items)?, Some, whole)?;
    let values_read = numbers(path, values, column(values)?, |v| Some(v as f64), Some)?;
    for ((user, item), rating) in user_ids.into_iter().zip(item_ids).zip(values_read) {
        if !rating.is_finite() {
            return Err(unreadable(path, format!("`{values}` has the value {rating}")));
        }
        ratings.push(Rating { user, item, rating: rating as f32 });
    }
    Ok(())
}

/// A float that is a whole number.
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 2_f64.powi(63)).then_some(value as i64)
}

/// The numbers of a column of any numeric type, or of text that holds numbers.
fn numbers<N: FromStr>(
    path: &Path,
    name: &str,
    column: &ArrayRef,
    of_int: impl Fn(i64) -> Option<N>,
    of_float: impl Fn(f64) -> Option<N>,
) -> Result<Vec<N>> {
    macro_rules! each {
        ($kind:ty, $number:expr) => {
            column.as_primitive::<$kind>().iter().map(|value| value.and_then($number)).collect()
        };
    }
    let parsed = |text: Option<&str>| text.and_then(|text| text.trim().parse().ok());
    let found: Vec<Option<N>> = match column.data_type() {
        DataType::Int8 => each!(Int8Type, |v| of_int(v.into())),
        DataType::Int16 => each!(Int16Type, |v| of_int(v.into())),
        DataType::Int32 => each!(Int32Type, |v| of_int(v.into())),
        DataType::Int64 => each!(Int64Type, &of_int),
        DataType::UInt8 => each!(UInt8Type, |v| of_int(v.into())),
        DataType::UInt16 => each!(UInt16Type, |v| of_int(v.into())),
        DataType::UInt32 => each!(UInt32Type, |v| of_int(v.into())),
        DataType::UInt64 => each!(UInt64Type, |v| i64::try_from(v).ok().and_then(&of_int)),
        DataType::Float16 => each!(Float16Type, |v| of_float(v.into())),
        DataType::Float32 => each!(Float32Type, |v| of_float(v.into())),
        DataType::Float64 => each!(Float64Type, &of_float),
        DataType::Decimal128(_, scale) => {
            each!(Decimal128Type, |v| of_float(v as f64 / 10_f64.powi((*scale).into())))
        }
        DataType::Utf8 => column.as_string::<i32>().iter().map(parsed).collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(parsed).collect(),
        DataType::Utf8View => column.as_string_view().iter().map(parsed).collect(),
        other => return Err(unreadable(path, format!("`{name}` is of type {other}; numbers are needed"))),
    };
    let bad = found.iter().filter(|number| number.is_none()).count();
    match bad {
        0 => Ok(found.into_iter().flatten().collect()),
        _ => Err(unreadable(path, format!("`{name}` has {bad} nulls or values that are no numbers"))),
    }
}
