//! Dates and times as text, in the form of ISO 8601: `2024-02-29`, `12:30:00`, `2024-02-29T12:30:00.250+01:00`.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeStringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};

use crate::columns::offset_of;

/// Writes out a column of dates, times or points in time: as they are without a time zone, and as of the zone's clocks with
/// one.
///
/// # Errors
/// Time zones that are names, values that no calendar has, and other types.
pub(crate) fn as_text(array: &ArrayRef) -> Result<LargeStringArray, ArrowError> {
    let text = match array.data_type() {
        DataType::Timestamp(unit, Some(zone)) => {
            let with_offset = DataType::Timestamp(*unit, Some(offset_of(zone).into()));
            cast(&cast(array, &with_offset)?, &DataType::LargeUtf8)?
        }
        time if time.is_temporal() => cast(array, &DataType::LargeUtf8)?,
        other => return Err(ArrowError::CastError(format!("a column of type {other} has no labels"))),
    };
    Ok(text.as_string().clone())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        Date32Array, Date64Array, Float64Array, Time32MillisecondArray, Time64NanosecondArray,
        TimestampMillisecondArray, TimestampSecondArray,
    };

    use super::*;

    fn text(array: impl Array + 'static) -> String {
        let array: ArrayRef = Arc::new(array);
        let texts = as_text(&array).unwrap();
        texts.iter().map(|text| text.unwrap_or("null")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn dates_and_times_are_written_as_iso_8601() {
        assert_eq!(text(Date32Array::from(vec![Some(0), None, Some(19_782)])), "1970-01-01 null 2024-02-29");
        assert_eq!(text(Date64Array::from(vec![1_709_164_800_250])), "2024-02-29T00:00:00.250");
        assert_eq!(text(Time32MillisecondArray::from(vec![0, 45_000_500])), "00:00:00 12:30:00.500");
        assert_eq!(text(Time64NanosecondArray::from(vec![86_399_999_999_999])), "23:59:59.999999999");
        assert_eq!(text(TimestampSecondArray::from(vec![-1])), "1969-12-31T23:59:59");
    }

    #[test]
    fn points_in_time_are_those_of_their_clocks() {
        let stamps = TimestampMillisecondArray::from(vec![Some(1_709_164_800_250), None]);
        assert_eq!(text(stamps.clone()), "2024-02-29T00:00:00.250 null");
        assert_eq!(text(stamps.clone().with_timezone("+01:00")), "2024-02-29T01:00:00.250+01:00 null");
        for name in ["UTC", "Etc/UTC", "Z", "+00:00"] {
            assert_eq!(text(stamps.clone().with_timezone(name)), "2024-02-29T00:00:00.250Z null");
        }
    }

    #[test]
    fn what_no_calendar_has_and_other_types_are_refused() {
        let refused = |array: ArrayRef| as_text(&array).unwrap_err().to_string();
        refused(Arc::new(Date32Array::from(vec![i32::MAX])));
        refused(Arc::new(TimestampSecondArray::from(vec![i64::MAX])));
        refused(Arc::new(TimestampSecondArray::from(vec![0]).with_timezone("Europe/Berlin")));
        assert!(refused(Arc::new(Float64Array::from(vec![0.5]))).contains("Float64"));
    }
}
