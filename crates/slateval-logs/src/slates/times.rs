//! Dates and times as text, in the form of ISO 8601: `2024-02-29`, `12:30:00`, `2024-02-29T12:30:00.250+01:00`.

use std::fmt::Debug;

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{
    as_datetime, date32_to_datetime, date64_to_datetime, time32ms_to_time, time32s_to_time, time64ns_to_time,
    time64us_to_time,
};
use arrow_array::timezone::Tz;
use arrow_array::types::{
    ArrowTemporalType, ArrowTimestampType, Date32Type, Date64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, LargeStringArray};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use chrono::{SecondsFormat, TimeZone, Utc};

use crate::columns::offset_of;

/// Writes out a column of dates, times or points in time.
///
/// # Errors
/// Times zones that are names, values that no calendar has, and other types.
pub(crate) fn as_text(array: &ArrayRef) -> Result<LargeStringArray, ArrowError> {
    match array.data_type() {
        DataType::Date32 => written::<Date32Type, _>(array, |v| date32_to_datetime(v).map(|time| time.date())),
        DataType::Date64 => written::<Date64Type, _>(array, date64_to_datetime),
        DataType::Time32(TimeUnit::Second) => written::<Time32SecondType, _>(array, time32s_to_time),
        DataType::Time32(_) => written::<Time32MillisecondType, _>(array, time32ms_to_time),
        DataType::Time64(TimeUnit::Microsecond) => written::<Time64MicrosecondType, _>(array, time64us_to_time),
        DataType::Time64(_) => written::<Time64NanosecondType, _>(array, time64ns_to_time),
        DataType::Timestamp(TimeUnit::Second, zone) => stamps::<TimestampSecondType>(array, zone.as_deref()),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => stamps::<TimestampMillisecondType>(array, zone.as_deref()),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => stamps::<TimestampMicrosecondType>(array, zone.as_deref()),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => stamps::<TimestampNanosecondType>(array, zone.as_deref()),
        other => Err(ArrowError::CastError(format!("a column of type {other} has no labels"))),
    }
}

/// Points in time: as they are without a time zone, and as of the zone's clocks with one.
fn stamps<T: ArrowTimestampType>(array: &ArrayRef, zone: Option<&str>) -> Result<LargeStringArray, ArrowError> {
    let Some(zone) = zone else { return written::<T, _>(array, as_datetime::<T>) };
    let zone: Tz = offset_of(zone).parse()?;
    let local = |value: i64| {
        let time = Utc.from_utc_datetime(&as_datetime::<T>(value)?).with_timezone(&zone);
        Some(time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    };
    each::<T>(array, local)
}

/// Values by way of one of the calendar's types, whose debug form is that of ISO 8601.
fn written<T: ArrowTemporalType, V: Debug>(
    array: &ArrayRef,
    convert: impl Fn(T::Native) -> Option<V>,
) -> Result<LargeStringArray, ArrowError> {
    each::<T>(array, |value| convert(value).map(|value| format!("{value:?}")))
}

fn each<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    text: impl Fn(T::Native) -> Option<String>,
) -> Result<LargeStringArray, ArrowError> {
    let convert = |value: Option<T::Native>| match value {
        None => Ok(None),
        Some(value) => text(value).map(Some).ok_or_else(|| {
            ArrowError::CastError(format!("{value:?} is no date or time that a {} can hold", array.data_type()))
        }),
    };
    array.as_primitive::<T>().iter().map(convert).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        Date32Array, Date64Array, Float64Array, PrimitiveArray, Time32MillisecondArray, Time32SecondArray,
        Time64MicrosecondArray, Time64NanosecondArray,
    };

    use super::*;

    /// Checks that a column is written as Arrow's cast writes it.
    fn check(array: impl Array + 'static) {
        let array: ArrayRef = Arc::new(array);
        let cast = arrow_cast::cast(&array, &DataType::LargeUtf8);
        match (as_text(&array), cast) {
            (Ok(own), Ok(cast)) => assert_eq!(&own, cast.as_string::<i64>(), "{}", array.data_type()),
            (own, cast) => assert!(own.is_err() && cast.is_err(), "{own:?}, {cast:?}"),
        }
    }

    fn check_stamps<T: ArrowTimestampType>(second: i64) {
        let values = [0, 1, -1, 1_709_164_800, 86_399].map(|s| Some(s * second));
        let parts = [second / 2, second / 1000, 1, -second / 3].map(|part| Some(1_709_164_800 * second + part));
        let values: PrimitiveArray<T> = values.into_iter().chain(parts).chain([None]).collect();
        check(values.clone());
        let text_in = |zone: &str| {
            let array: ArrayRef = Arc::new(values.clone().with_timezone(zone));
            as_text(&array).unwrap()
        };
        for name in ["UTC", "Etc/UTC", "Z"] {
            assert_eq!(text_in(name), text_in("+00:00"));
        }
        for zone in ["+01:00", "-0930", "+00:00", "Europe/Berlin", "nowhere"] {
            check(values.clone().with_timezone(zone));
        }
        check(PrimitiveArray::<T>::from_iter_values([i64::MAX]));
        check(PrimitiveArray::<T>::from_iter_values([i64::MIN]).with_timezone("+02:00"));
    }

    #[test]
    fn dates_and_times_are_written_as_arrows_cast_writes_them() {
        check(Date32Array::from(vec![Some(0), None, Some(19_782), Some(-1), Some(-800_000), Some(3_000_000)]));
        check(Date32Array::from(vec![i32::MAX]));
        check(Date64Array::from(vec![Some(0), None, Some(1_709_164_800_250), Some(-1)]));
        check(Time32SecondArray::from(vec![Some(0), None, Some(86_399), Some(45_000)]));
        check(Time32SecondArray::from(vec![86_400]));
        check(Time32MillisecondArray::from(vec![0, 1, 86_399_999, 45_000_500]));
        check(Time64MicrosecondArray::from(vec![0, 1, 86_399_999_999, 45_000_500_000]));
        check(Time64NanosecondArray::from(vec![0, 1, 86_399_999_999_999, 45_000_500_000_000]));
        check_stamps::<TimestampSecondType>(1);
        check_stamps::<TimestampMillisecondType>(1000);
        check_stamps::<TimestampMicrosecondType>(1_000_000);
        check_stamps::<TimestampNanosecondType>(1_000_000_000);
    }

    #[test]
    fn other_types_are_refused() {
        let array: ArrayRef = Arc::new(Float64Array::from(vec![0.5]));
        assert!(as_text(&array).unwrap_err().to_string().contains("Float64"));
    }
}
