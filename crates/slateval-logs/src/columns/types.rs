//! Which Arrow types can hold what.

use arrow_array::timezone::Tz;
use arrow_schema::DataType;

const NUMBER_ADVICE: &str = "numbers are needed here (floats, integers or decimals): cast it first";

/// What to do about a column of this type where numbers are needed.
pub(crate) fn number_advice(data_type: &DataType) -> &'static str {
    if data_type.is_temporal() {
        "a point in time is no number: name the column that holds the numbers, or write the number that is meant, such as \
         seconds, into a column of its own"
    } else {
        NUMBER_ADVICE
    }
}

pub(crate) const ZONE_ADVICE: &str = "what a clock in this time zone shows is not known here: cast the column to text, to \
                                      dates of that zone, or to UTC first";

/// What propensities, weights and other numbers may be.
pub(crate) fn is_number(data_type: &DataType) -> bool {
    match data_type {
        // A column of nulls only has no type of its own.
        DataType::Null => true,
        DataType::Dictionary(_, value) => is_number(value),
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => true,
        other => other.is_integer() || other.is_floating(),
    }
}

/// Rewards may be truth values too: clicked or not.
pub(crate) fn is_reward(data_type: &DataType) -> bool {
    is_number(data_type) || *data_type == DataType::Boolean
}

/// The type of a list's items, if it is a list.
pub(crate) fn list_item(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Some(item.data_type()),
        _ => None,
    }
}

pub(crate) fn is_number_list(data_type: &DataType) -> bool {
    list_item(data_type).is_some_and(is_number)
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// What slates may be told apart by.
pub(crate) fn is_key(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, value) => is_key(value),
        other => is_text(other) || other.is_integer(),
    }
}

/// What slates may be segmented by.
pub(crate) fn is_segment(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null | DataType::Boolean => true,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => {
            true
        }
        DataType::Dictionary(_, value) => is_segment(value),
        other => is_key(other),
    }
}

/// A time zone as the offset that it always has, if it is one of the names of UTC.
pub(crate) fn offset_of(zone: &str) -> &str {
    match zone {
        "UTC" | "Etc/UTC" | "Z" | "Zulu" | "Etc/Zulu" | "GMT" | "Etc/GMT" | "Universal" => "+00:00",
        other => other,
    }
}

/// Whether points in time can be told by the clocks of their zone. Offsets such as `+01:00` can; the rules behind a name
/// such as `Europe/Berlin` are not known here.
pub(crate) fn has_clock(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(_, Some(zone)) => offset_of(zone).parse::<Tz>().is_ok(),
        DataType::Dictionary(_, value) => has_clock(value),
        _ => true,
    }
}

/// Types between which files of one log may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Number,
    List,
    Bool,
    Integer,
    Text,
    /// CSV, or nothing but nulls.
    Any,
}

/// The class of a column of numbers.
pub(crate) fn number_class(data_type: &DataType) -> Class {
    // Truth values and numbers mix: they are 0 and 1.
    if list_item(data_type).is_some() { Class::List } else { Class::Number }
}

/// The class of a column of segments or slates: equal values must become equal labels.
pub(crate) fn label_class(data_type: &DataType) -> Class {
    match data_type {
        DataType::Null => Class::Any,
        DataType::Boolean => Class::Bool,
        DataType::Dictionary(_, value) => label_class(value),
        other if other.is_integer() => Class::Integer,
        _ => Class::Text,
    }
}
