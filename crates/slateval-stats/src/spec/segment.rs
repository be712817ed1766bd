//! Values of the column that rows are segmented by.

use std::fmt;

/// A value of the column that rows are segmented by.
///
/// Texts, whole numbers, truth values and options of them become segments:
///
/// ```
/// use slateval_stats::Segment;
/// assert_eq!(Segment::from("phone"), Segment::Text("phone".into()));
/// assert_eq!(Segment::from(Some(7)), Segment::Int(7));
/// assert_eq!(Segment::from(None::<bool>), Segment::Null);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Segment {
    /// No value.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Anything else, as text.
    Text(String),
}

impl From<bool> for Segment {
    fn from(value: bool) -> Self {
        Segment::Bool(value)
    }
}

impl From<&str> for Segment {
    fn from(value: &str) -> Self {
        Segment::Text(value.to_owned())
    }
}

impl From<String> for Segment {
    fn from(value: String) -> Self {
        Segment::Text(value)
    }
}

/// No value is [`Segment::Null`].
impl<T: Into<Segment>> From<Option<T>> for Segment {
    fn from(value: Option<T>) -> Self {
        value.map_or(Segment::Null, Into::into)
    }
}

/// So that a borrowed column of any of these values is one of segments.
impl<T: Clone + Into<Segment>> From<&T> for Segment {
    fn from(value: &T) -> Self {
        value.clone().into()
    }
}

macro_rules! from_whole_numbers {
    ($($number:ty)*) => {$(
        /// A number beyond `i64` becomes text.
        impl From<$number> for Segment {
            fn from(value: $number) -> Self {
                i64::try_from(value).map_or_else(|_| Segment::Text(value.to_string()), Segment::Int)
            }
        }
    )*};
}

from_whole_numbers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Null => write!(f, "(null)"),
            Segment::Bool(b) => write!(f, "{b}"),
            Segment::Int(i) => write!(f, "{i}"),
            Segment::Text(s) => write!(f, "{s}"),
        }
    }
}
